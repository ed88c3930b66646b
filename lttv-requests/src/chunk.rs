//! The results of calls of [`service_chunk`](crate::Scheduler::service_chunk).

use ltt_read::Timestamp;

use crate::identity::{ComputationId, Owner, RequestId};

/// The results of a call of [`service_chunk`](crate::Scheduler::service_chunk), and of
/// the previous call if that one panicked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkReport {
    /// The number of events read for requests. Each event counts once, however many
    /// requests receive it. Events that are left out because [no filter lets them
    /// pass](crate::EventFilter::selection) do not count; events that are looked at do.
    pub read: u64,
    /// The number of events read only to bring state to the position of a request.
    pub replayed: u64,
    /// The number of events delivered. Each event counts once per request that it is
    /// delivered to.
    pub delivered: u64,
    /// The number of seeks. Leaving out all events of a stretch counts as one.
    pub seeks: u64,
    /// The number of events that a long seek has passed over. The seek may continue in
    /// the next call.
    pub passed_over: u64,
    /// The requests that started.
    pub started: Vec<RequestId>,
    /// The requests that ended, in this order. Requests that end before they start are
    /// not included, [by default](crate::Scheduler::set_report_unstarted); nor are those that
    /// the application has cancelled, which [`cancel`](crate::Scheduler::cancel) returned.
    pub finished: Vec<Finished>,
    /// The requests that were interrupted in favour of others; they continue later at
    /// their positions.
    pub interrupted: Vec<RequestId>,
    /// The progress of a replay, if state has not yet reached the position of a request.
    pub replay: Option<Replay>,
    /// The number of events read in the [background](crate::Background).
    pub computed: u64,
    /// The notifications from background computations.
    pub notifications: Vec<Notification>,
    /// The time before which all answers are final, while the traceset is growing: no event before
    /// it can still arrive. `None` if the traceset is complete.
    pub final_until: Option<Timestamp>,
    /// The status of the scheduler: whether to call again.
    pub status: Status,
}

/// The progress of a replay: events are read again to bring state to a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replay {
    /// The time that state has reached.
    pub at: Timestamp,
    /// The time that state has to reach. `None` for the end of the traceset.
    pub to: Option<Timestamp>,
}

/// The status of a scheduler after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Status {
    /// No work remains, not even in the background: call again after submitting a
    /// request.
    #[default]
    Idle,
    /// Work remains: call again.
    More,
    /// Requests or computations [wait](crate::EventsRequest::waiting) for events that are still to
    /// be recorded: call again after [`continue_with`](crate::Scheduler::continue_with).
    Waiting,
    /// The scheduler is paused; work may remain.
    Paused,
}

impl ChunkReport {
    /// Returns `true` if work remains, so that the application should call again.
    pub fn has_more(&self) -> bool {
        self.status == Status::More
    }
}

/// The reason why a request ended. If several apply, it is the first of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FinishReason {
    /// A hook or the filter of the request panicked. If a hook after the request
    /// panicked, only [`Finished`] has this reason: the hooks after the request are
    /// called with the reason that applied before.
    Panicked,
    /// The request was cancelled, by the application or a hook.
    Cancelled,
    /// The traceset changed, and the request depends on a position or trace of the
    /// previous one.
    TracesetChanged,
    /// A hook called [`Control::stop`](crate::Control::stop); the event was delivered.
    Stopped,
    /// The limit on events was reached.
    EventCount,
    /// The limit on matching events was reached.
    MatchCount,
    /// The traceset is growing, and all events that are final have been delivered. The request
    /// did not [wait](crate::EventsRequest::waiting) for more.
    Pending,
    /// The traceset has no more events.
    EndOfTraceset,
    /// The next event is not before the end position.
    EndPosition,
    /// All events before the end time have been delivered.
    EndTime,
}

impl FinishReason {
    /// Returns `true` if the request received all of its events: one of its ends was reached, or
    /// that of the traceset.
    ///
    /// ```
    /// use lttv_requests::FinishReason;
    ///
    /// assert!(FinishReason::EndTime.is_complete());
    /// assert!(!FinishReason::Pending.is_complete());
    /// ```
    pub const fn is_complete(self) -> bool {
        match self {
            FinishReason::Panicked
            | FinishReason::Cancelled
            | FinishReason::TracesetChanged
            | FinishReason::Stopped
            | FinishReason::Pending => false,
            FinishReason::EventCount
            | FinishReason::MatchCount
            | FinishReason::EndOfTraceset
            | FinishReason::EndPosition
            | FinishReason::EndTime => true,
        }
    }

    /// Returns a name for logs and scripts, such as `end_time`.
    pub const fn name(self) -> &'static str {
        match self {
            FinishReason::Panicked => "panicked",
            FinishReason::Cancelled => "cancelled",
            FinishReason::TracesetChanged => "traceset_changed",
            FinishReason::Stopped => "stopped",
            FinishReason::EventCount => "num_events",
            FinishReason::MatchCount => "num_matches",
            FinishReason::Pending => "pending",
            FinishReason::EndOfTraceset => "end_of_traceset",
            FinishReason::EndPosition => "end_position",
            FinishReason::EndTime => "end_time",
        }
    }
}

/// The end of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finished {
    /// The id of the request.
    pub request: RequestId,
    /// The owner of the request.
    pub owner: Owner,
    /// The reason of the end.
    pub reason: FinishReason,
    /// `true` if the request had started: its `before_request` hooks were called.
    pub started: bool,
    /// The number of events of the traceset, or of the request's trace, that the request
    /// went through, whether or not a hook was called for them. If the request has a filter
    /// that [knows some events in advance](crate::EventFilter::selection), and no limit on
    /// events, others may not have been read: then it is the number of events that passed.
    pub events: u64,
}

/// A notification: a computation has met the condition of an owner or is complete, or it
/// no longer will.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notification {
    /// The owner that requested the notification.
    pub owner: Owner,
    /// The computation.
    pub computation: ComputationId,
    /// Tells whether the condition was met.
    pub outcome: NotificationOutcome,
}

/// The outcome that a notification reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NotificationOutcome {
    /// The condition was met, or the computation is complete.
    Reached,
    /// The condition will not be met: the computation was given up or a hook of it
    /// panicked, the owner was removed, or the traceset changed. The owner may request the
    /// computation again.
    Cancelled,
}
