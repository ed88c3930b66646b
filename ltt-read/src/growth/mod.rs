//! Traces that are still being recorded.
//!
//! Each version of a growing trace is an immutable [`Trace`](crate::Trace) that extends the previous one.
//! The owner of a source, such as a [`Follower`](crate::Follower), polls it and hands the next version to
//! each layer above, without threads or callbacks. Indices, layouts and positions stay valid.
//!
//! A tracefile without data has a *lower time bound*: no event to come is earlier. The bound
//! depends on the data of the tracefile alone and not on how a merge came there, so what was final stays
//! final after a seek. A new tracefile has no bound until its first packet. Only reading
//! finds an event of a type that is not declared yet; a seek stops there.
//! The least bound of all tracefiles is the *watermark* of a merge: up to there, the order is final.

mod follow;
mod growing_schema;
mod growing_trace;
mod stream;

pub use follow::Follower;
pub use growing_trace::GrowingTrace;
