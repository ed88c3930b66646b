//! Events recorded for the state: what their transitions need, without the state.
//!
//! Events are recorded slice by slice, on whatever thread reads them. A follower then applies the
//! slices in order, without reading the events again.

mod events;
mod follower;
mod recorder;

pub(crate) use events::{Marks, RecordedEvent, RecordedEvents};
pub(crate) use follower::{Follower, FollowerObserver};
pub use follower::{OtherEvent, StateChange};
pub(crate) use recorder::Recorder;
