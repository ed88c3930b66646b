//! Cheaper ways to read large traces, for programs that need them.
//!
//! Each takes more code than the types at the root of the crate, and has the same result.
//!
//! | to | use |
//! |---|---|
//! | receive the events of a merge within its loop, for some tracefiles only | [`EventSink`] |
//! | read integers that identify an event, as one key | [`KeyFields`] |
//! | test whether integers are in ranges, before anything else of an event is read | [`RangeTests`] |
//! | merge on one thread, and read the events in the same order on another | [`EventSequence`] |
//! | seek in steps, between which a program can do other things | [`TimeSearch`] |
//! | begin in the middle of large packets, with notes of an earlier read | [`Waypoints`] |
//! | read parts of files from the disk in advance, on another thread | [`Prefetch`], [`Upcoming`] |

pub use crate::event::{EventSequence, KeyFields, RangeTests};
pub use crate::merge::{EventSink, Prefetch, TimeSearch, Upcoming};
pub use crate::trace::Waypoints;
