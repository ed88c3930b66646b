//! Traces that are still being recorded.

mod follow;
mod growing_schema;
mod growing_trace;
mod stream;

pub use follow::Follower;
pub use growing_trace::GrowingTrace;
