//! The contents of traces: facts, and numbers of events.

mod counts;
mod facts;

pub(crate) use counts::Counts;
pub(crate) use facts::Facts;
