//! Events recorded for the state: what their transitions need, without the state.
//!
//! Events are recorded slice by slice, on whatever thread reads them. A follower then applies the
//! slices in order, without reading the events again.

mod events;
mod follower;
mod recorder;

pub(crate) use events::{RecordedEvent, RecordedEvents};
pub(crate) use follower::{Followed, Follower, FollowerObserver};
pub(crate) use recorder::Recorder;
