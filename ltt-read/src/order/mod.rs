//! Positions in the order of all events, and reads that know theirs.
//!
//! A [`Merge`](crate::Merge) reads the events of many tracefiles in order. An [`OrderedReader`]
//! also knows the position of the next event among all events, as an [`OrderPosition`]: also while
//! a [`SelectiveRead`] skips the events that a [selection](crate::selection) does not choose.

mod position;
mod reader;
mod selective;
mod skipping;

pub use position::{DeliveryKey, OrderPosition};
pub use reader::{Delivered, OrderedReader};
pub use selective::SelectiveRead;
pub use skipping::SkippedTo;

pub use crate::merge::Decision;
