//! The contents of a script.

use std::path::PathBuf;

use serde::Deserialize;

/// A script in JSON: the traces to read and the requests to submit. Optional members may
/// be `null` or missing; unknown members are ignored.
///
/// ```json
/// {
///     "traces": ["examples/traces/kernel"],
///     "chunk_events": 100,
///     "requests": [
///         {"id": "a", "owner": "v1", "priority": "low", "start": null},
///         {"id": "b", "owner": "v2", "priority": "high", "start": {"event": 6000},
///          "filter": "event.name == sched_switch", "submit_at": 2, "cancel_at": 9}
///     ]
/// }
/// ```
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Script {
    /// The paths of traces, or of directories that contain traces, in traceset order.
    pub(crate) traces: Vec<PathBuf>,
    /// The budget of a chunk, in events: 6000 by default.
    pub(crate) chunk_events: Option<u64>,
    /// The requests, in order of submission within one call.
    pub(crate) requests: Vec<Request>,
}

/// A request of a script.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Request {
    /// The id, which is the first word of its output lines.
    pub(crate) id: String,
    /// The name of the owner: the id of the request by default.
    pub(crate) owner: Option<String>,
    /// The urgency: [`Priority::Low`] by default.
    pub(crate) priority: Option<Priority>,
    /// The start: before the first event by default.
    pub(crate) start: Option<Start>,
    /// The end time: the request ends before the first event at this time or later. In ns
    /// since the clock's origin, usually the Unix epoch.
    pub(crate) end_time: Option<i64>,
    /// The number of the event before which the request ends, counted from 0.
    pub(crate) end_event: Option<u64>,
    /// The number of events after which the request ends, including those that do not pass
    /// its filter.
    pub(crate) num_events: Option<u64>,
    /// The filter expression: hooks are called only for events that match it.
    pub(crate) filter: Option<String>,
    /// The number of the event, among those that its hook is called for, counted from 1,
    /// at which the hook stops the request.
    pub(crate) stop_after: Option<u64>,
    /// The number of the call of `service_chunk` before which it is submitted, counted from
    /// 0: the first by default.
    pub(crate) submit_at: Option<u64>,
    /// The number of the call before which it is cancelled, if it is still pending.
    pub(crate) cancel_at: Option<u64>,
}

/// The urgency of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Priority {
    /// The urgency [`Urgency::LOW`](lttv_requests::Urgency::LOW).
    Low,
    /// The urgency [`Urgency::HIGH`](lttv_requests::Urgency::HIGH).
    High,
}

/// The start of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Start {
    /// Before the first event at this time or later, in ns since the clock's origin.
    Time(i64),
    /// Before the event of this number, counted from 0; after the last event if it is the
    /// number of events.
    Event(u64),
}
