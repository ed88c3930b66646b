//! What the last event changed, for those who account for it.

use super::modes::ExecutionMode;
use ltt_read::Timestamp;

use super::names::NameId;
use super::process::{Process, Serial};
use super::resources::{RequestKind, SourceKind};
use super::syscalls::Transfer;
use super::table::ProcessIx;

/// What an event changed, beyond what the state after it tells.
///
/// Whoever follows the state by hooks after [`Priority::STATE`] finds in it what
/// they would otherwise need a hook before it for.
///
/// [`Priority::STATE`]: lttv_hooks::Priority::STATE
#[derive(Debug, Default)]
pub struct Effect {
    pub(super) cpu: Option<u32>,
    /// Its place among CPUs.
    pub(super) place: usize,
    pub(super) time: i64,
    pub(super) ended: Option<Ended>,
    pub(super) waited: Option<Waited>,
    pub(super) target: Option<ProcessIx>,
    /// Whether `rest` has anything, as it has after few events.
    has_rest: bool,
    rest: Rest,
}

/// What few events change.
#[derive(Debug, Default)]
pub(super) struct Rest {
    pub(super) lost_since: Option<i64>,
    pub(super) transferred: Option<(ProcessIx, Transfer, u64)>,
    pub(super) request: Option<Request>,
    pub(super) renamed: Vec<(Serial, NameId)>,
    pub(super) gone: Vec<Process>,
}

/// A system call, interrupt or exception that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// Who was in it.
    pub process: ProcessIx,
    /// Its mode.
    pub mode: ExecutionMode,
    /// Its submode.
    pub submode: NameId,
    /// Which interrupt or exception; `None` for a system call.
    pub source: Option<(SourceKind, u32)>,
    /// How long it took, in ns.
    pub elapsed: u64,
    /// How long of that a CPU was on it or on what was within it, in ns.
    pub cpu_time: u64,
}

/// A process runs again: how long it did not. Times are in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waited {
    /// Who waited.
    pub process: ProcessIx,
    /// How long for something to happen.
    pub blocked: u64,
    /// How long for a CPU; after its birth too.
    pub ready: u64,
    /// How long it took from its being woken up (the first time, if it was more than
    /// once) to its running; `None` if it was not woken up.
    pub since_wakeup: Option<u64>,
}

/// What became of a request to a block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// Index of the device in [`TraceState::devices`](super::TraceState::devices).
    pub device: usize,
    /// Which way it moves data.
    pub kind: RequestKind,
    /// How many bytes; 0 if the event does not tell.
    pub bytes: u64,
    /// What became of it.
    pub step: RequestStep,
}

/// What becomes of a request to a block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestStep {
    /// It was given to the device.
    Issued,
    /// The device has completed it.
    Completed,
}

impl Effect {
    pub(super) fn begin(&mut self, cpu: u32, place: usize, time: i64) {
        self.cpu = Some(cpu);
        self.place = place;
        self.time = time;
        self.ended = None;
        self.waited = None;
        self.target = None;
        if self.has_rest {
            self.has_rest = false;
            self.rest.clear();
        }
    }

    /// What is seldom, to be added to.
    pub(super) fn rest(&mut self) -> &mut Rest {
        self.has_rest = true;
        &mut self.rest
    }

    /// Whether it is no more than who runs, in what, what they waited for, and who was
    /// woken up.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        !self.has_rest
    }

    /// The CPU of the event; `None` before the first.
    #[inline]
    pub fn cpu(&self) -> Option<u32> {
        self.cpu
    }

    /// The place of that CPU among all that are known.
    #[inline]
    pub(crate) fn place(&self) -> usize {
        self.place
    }

    /// The time of the event: that of its delivery.
    #[inline]
    pub fn time(&self) -> Timestamp {
        Timestamp::from_ns(self.time)
    }

    /// Since when, in ns, it has not been known who ran on that CPU: known only
    /// now.
    #[inline]
    pub fn lost_since(&self) -> Option<i64> {
        self.rest.lost_since
    }

    /// What ended, of what was seen to begin and to end.
    #[inline]
    pub fn ended(&self) -> &[Ended] {
        self.ended.as_slice()
    }

    /// The wait of the process that now runs, if it has just begun to.
    #[inline]
    pub fn waited(&self) -> Option<Waited> {
        self.waited
    }

    /// How many bytes a process read or wrote by the system call that ended.
    pub fn transferred(&self) -> Option<(ProcessIx, Transfer, u64)> {
        self.rest.transferred
    }

    /// A request to a block device.
    pub fn request(&self) -> Option<Request> {
        self.rest.request
    }

    /// Processes that got another name, with that.
    pub fn renamed(&self) -> &[(Serial, NameId)] {
        &self.rest.renamed
    }

    /// Processes that are gone, as they were last.
    pub fn gone(&self) -> &[Process] {
        &self.rest.gone
    }

    /// The process that the event was about, if not the one that ran (LTTV's target
    /// pid).
    pub fn target(&self) -> Option<ProcessIx> {
        self.target
    }
}

impl Rest {
    #[cold]
    fn clear(&mut self) {
        (self.lost_since, self.transferred, self.request) = (None, None, None);
        self.renamed.clear();
        self.gone.clear();
    }
}
