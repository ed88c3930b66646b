//! Spans.

pub(crate) mod action;
pub(crate) mod counts;
mod families;
pub(crate) mod family;
mod file_calls;
pub(crate) mod inputs;
pub(crate) mod machine;
mod needs;
pub(crate) mod outcome;
pub(crate) mod period;
pub(crate) mod place;
pub(crate) mod span;
pub(crate) mod subjects;
pub(crate) mod threads;

pub use counts::Unmatched;
pub use families::Families;
pub use family::Family;
pub use needs::NEEDS;
pub use period::{Period, PeriodError};
pub use place::EventPlace;
pub use span::{Completeness, Span, SpanThread, Waker};
pub use threads::{ThreadFacts, ThreadId};
