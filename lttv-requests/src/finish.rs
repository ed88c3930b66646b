//! How requests end.

use crate::identity::{Owner, RequestId};

/// Why a request ended. If several hold, it is the first of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FinishReason {
    /// One of its hooks panicked, or its filter did. For a hook after the request,
    /// [`Finished`] alone says so: all hooks after the request are called with the reason
    /// that held before.
    Panicked,
    /// It was cancelled, by whom ever.
    Cancelled,
    /// The traceset changed, so that its position means nothing any more.
    TracesetChanged,
    /// One of its hooks said so; the event was delivered.
    Stopped,
    /// As many events as it wanted were delivered.
    EventCount,
    /// As many matching events as it wanted were delivered.
    MatchCount,
    /// There are no more events.
    EndOfTraceset,
    /// The next event is not before its end position.
    EndPosition,
    /// The next event is not before its end time.
    EndTime,
}

impl FinishReason {
    /// A name for logs and scripts: `end_time`, say.
    pub const fn name(self) -> &'static str {
        match self {
            FinishReason::Panicked => "panicked",
            FinishReason::Cancelled => "cancelled",
            FinishReason::TracesetChanged => "traceset_changed",
            FinishReason::Stopped => "stopped",
            FinishReason::EventCount => "num_events",
            FinishReason::MatchCount => "num_matches",
            FinishReason::EndOfTraceset => "end_of_traceset",
            FinishReason::EndPosition => "end_position",
            FinishReason::EndTime => "end_time",
        }
    }
}

/// A request that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finished {
    /// Which.
    pub request: RequestId,
    /// Whose.
    pub owner: Owner,
    /// Why.
    pub reason: FinishReason,
    /// How many events of the traceset, or of the one trace that it was for, it
    /// went through, whether or not a hook was called for them.
    pub events: u64,
}
