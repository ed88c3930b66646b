//! What came of a call.

use ltt_read::Timestamp;

use crate::background::Reached;
use crate::finish::Finished;
use crate::identity::RequestId;

/// What one call of [`service_chunk`](crate::Scheduler::service_chunk) did; and the call
/// before, if that panicked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunk {
    /// Events read for requests: each once, for however many.
    pub read: u64,
    /// Events read only to bring state to where a request is.
    pub replayed: u64,
    /// Events delivered: each as often as there were requests that it was for.
    pub delivered: u64,
    /// How often reading went on elsewhere.
    pub seeks: u64,
    /// Events passed over on the way to where a seek leads, where that is far: it may
    /// have to go on in the next call.
    pub sought: u64,
    /// Requests that began.
    pub started: Vec<RequestId>,
    /// Requests that ended, in this order. Those that are cancelled before they
    /// begin are not here, [by default](crate::Scheduler::set_telling_all).
    pub finished: Vec<Finished>,
    /// Requests that have to wait for others elsewhere; they will go on where they
    /// are.
    pub interrupted: Vec<RequestId>,
    /// If state has still to be brought to where a request is: from and to where.
    pub replay: Option<Replay>,
    /// Events read in the [background](crate::Background).
    pub computed: u64,
    /// What came of computations in the background that somebody wanted to know.
    pub reached: Vec<Reached>,
    /// Whether there is more to do.
    pub status: Status,
}

/// State on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replay {
    /// The time that it has come to.
    pub at: Timestamp,
    /// The time that it has to come to; none if that is the traceset's end.
    pub to: Option<Timestamp>,
}

/// Whether there is more to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Status {
    /// Nothing pends, not even in the background: do not call before something is submitted.
    #[default]
    Idle,
    /// Call again.
    More,
    /// Something may pend, but the scheduler is paused.
    Paused,
}

impl Chunk {
    /// Whether to call again.
    pub fn has_more(&self) -> bool {
        self.status == Status::More
    }
}
