//! What a script says.

use std::path::PathBuf;

use serde::Deserialize;

/// A script, in JSON: which traces to read, and who asks for what. What is optional
/// may be `null` or missing; other members do not count.
///
/// ```
/// use lttv_examples::request_replay::Script;
///
/// let script: Script = serde_json::from_str(
///     r#"{
///         "traces": ["examples/traces/kernel"],
///         "chunk_events": 100,
///         "requests": [
///             {"id": "a", "owner": "v1", "priority": "low", "start": null},
///             {"id": "b", "owner": "v2", "priority": "high", "start": {"event": 6000},
///              "filter": "event.name == sched_switch", "submit_at": 2, "cancel_at": 9}
///         ]
///     }"#,
/// )?;
/// assert_eq!(script.requests.len(), 2);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Deserialize)]
pub struct Script {
    /// Paths of traces, or of directories that hold some, in the traceset's order.
    pub traces: Vec<PathBuf>,
    /// The budget of a chunk, in events: by default 6000.
    pub chunk_events: Option<u64>,
    /// The requests.
    pub requests: Vec<Request>,
}

/// A request of a script.
#[derive(Debug, Clone, Deserialize)]
pub struct Request {
    /// What its lines begin with.
    pub id: String,
    /// Whose it is.
    pub owner: Option<String>,
    /// How urgent it is: by default [`Priority::Low`].
    pub priority: Option<Priority>,
    /// Where it starts: by default before the first event.
    pub start: Option<Start>,
    /// It ends before the first event at this time or later; in ns since the
    /// clock's origin, which mostly is the Unix epoch.
    pub end_time: Option<i64>,
    /// It ends before the event of this number, counted from 0.
    pub end_event: Option<u64>,
    /// It ends after so many events, whether or not they pass its filter.
    pub num_events: Option<u64>,
    /// What an event has to meet for its hook to be called.
    pub filter: Option<String>,
    /// Its hook stops it when it is called for the event of this number, counted
    /// from 1.
    pub stop_after: Option<u64>,
    /// Before which call of `service_chunk` it is submitted, counted from 0: by
    /// default before the first.
    pub submit_at: Option<u64>,
    /// Before which call it is cancelled, if it still pends then.
    pub cancel_at: Option<u64>,
}

/// How urgent a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// It can wait.
    Low,
    /// Somebody is waiting for it.
    High,
}

/// Where a request starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// Before the first event at this time or later: in ns, as
    /// [`Request::end_time`].
    Time(i64),
    /// Before the event of this number, counted from 0; behind the last one if it
    /// is the number of events.
    Event(u64),
}
