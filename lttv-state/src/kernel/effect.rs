//! The effect of the last event, for analyses that account for time and data.

use super::modes::ExecutionMode;
use ltt_read::Timestamp;

use super::names::NameId;
use super::process::{Process, Serial};
use super::resources::{RequestKind, SourceKind};
use super::syscalls::Transfer;
use super::table::ProcessIndex;

/// The changes made by an event that the state after it does not show.
///
/// It provides hooks after [`Priority::STATE`] with information that would otherwise
/// require a second hook before the state.
///
/// [`Priority::STATE`]: lttv_hooks::Priority::STATE
#[derive(Debug, Default)]
pub struct Effect {
    pub(super) cpu: Option<u32>,
    /// The index of that CPU in `TraceState::cpus`.
    pub(super) place: usize,
    pub(super) time: i64,
    pub(super) ended: Option<Ended>,
    pub(super) waited: Option<Wait>,
    pub(super) target: Option<ProcessIndex>,
    /// True if `rare` contains anything. After most events it is empty.
    has_rare: bool,
    rare: RareChanges,
}

/// The changes that only few events make.
#[derive(Debug, Default)]
pub(super) struct RareChanges {
    pub(super) losses: Vec<LossOnCpu>,
    /// The waits of processes that turned out to have run, or are gone.
    pub(super) lost_waits: Vec<LostWait>,
    /// The time of the CPU's last event, if nothing tells which process ran since.
    pub(super) unseen_since: Option<i64>,
    pub(super) transferred: Option<(ProcessIndex, Transfer, u64)>,
    /// `true` if the process that was switched in was thought to run on another CPU.
    pub(super) left_other_cpu: bool,
    pub(super) request: Option<Request>,
    pub(super) renamed: Vec<(Serial, NameId)>,
    pub(super) gone: Vec<Process>,
}

/// An interval before an event in which it is unknown which process ran on a CPU. A loss of events is told with the
/// first event of any CPU after its start, and again with the first event of its CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LossOnCpu {
    /// The index of the CPU in the state's table of CPUs.
    pub(crate) place: usize,
    pub(crate) cpu: u32,
    pub(crate) since: i64,
    /// `true` if an event before told of it as well.
    pub(crate) is_told_again: bool,
    /// The processes of which the states became unknown.
    pub(crate) processes: Vec<ProcessIndex>,
    /// The waits that they were in.
    waits: Vec<LostWait>,
}

/// The wait of a process up to the time since which its state is unknown, with times in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LostWait {
    pub(crate) process: Serial,
    /// The number of the CPU for which it waited.
    pub(crate) cpu: u32,
    pub(crate) blocked: u64,
    pub(crate) ready: u64,
}

impl LostWait {
    /// Creates the wait of a process for a CPU, with the times blocked and ready; `None` if it did not wait.
    pub(super) fn new(process: Serial, cpu: u32, (blocked, ready): (u64, u64)) -> Option<Self> {
        ((blocked, ready) != (0, 0)).then_some(LostWait { process, cpu, blocked, ready })
    }
}

impl LossOnCpu {
    /// Creates a loss that no event has told of, of a CPU at an index with a number.
    pub(super) fn new(place: usize, cpu: u32, since: i64) -> Self {
        let (processes, waits) = (Vec::new(), Vec::new());
        LossOnCpu { place, cpu, since, is_told_again: false, processes, waits }
    }

    /// Adds a process that waited until its state became unknown, with the times in ns for which it was blocked and
    /// ready.
    pub(super) fn add(&mut self, ix: ProcessIndex, process: Serial, wait: (u64, u64)) {
        self.processes.push(ix);
        self.waits.extend(LostWait::new(process, self.cpu, wait));
    }

    /// Returns the number of the CPU.
    pub fn cpu(&self) -> u32 {
        self.cpu
    }

    /// Returns the index of the CPU: see [`TraceState::cpu_index`](super::TraceState::cpu_index).
    pub fn cpu_index(&self) -> usize {
        self.place
    }

    /// Returns the start of the interval: the last event of the CPU before the loss.
    pub fn since(&self) -> Timestamp {
        Timestamp::from_ns(self.since)
    }

    /// Returns `true` if an event before told of it as well.
    pub fn is_told_again(&self) -> bool {
        self.is_told_again
    }

    /// Returns the processes of which the states are unknown since: the one that ran, and those that ran last on the CPU
    /// or waited for it. The event itself may have changed them since.
    pub fn processes(&self) -> &[ProcessIndex] {
        &self.processes
    }
}

/// A system call, interrupt or exception that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// The process that executed it.
    pub process: ProcessIndex,
    /// The execution mode of its frame.
    pub mode: ExecutionMode,
    /// The submode of its frame: the name of the system call, interrupt or exception.
    pub submode: NameId,
    /// The kind and number of the interrupt or exception; `None` for a system call.
    pub source: Option<(SourceKind, u32)>,
    /// The time from its entry to its exit, in ns.
    pub elapsed: u64,
    /// The part of `elapsed` during which a CPU executed it or anything nested in it, in
    /// ns.
    pub cpu_time: u64,
}

/// The wait of a process that was switched in, with times in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait {
    /// The process that was switched in.
    pub process: ProcessIndex,
    /// The process that was switched out; `None` if the event has no valid id of it.
    pub previous: Option<ProcessIndex>,
    /// The time blocked: waiting for something to happen, such as the first wake-up of a new thread, in ns.
    pub blocked: u64,
    /// The time ready: waiting for a CPU, in ns; also since its fork, if the trace has no first wake-ups of threads.
    pub ready: u64,
    /// The time from its wake-up (the first one, if there were several) to its switch-in,
    /// in ns; `None` if no wake-up was seen.
    pub since_wakeup: Option<u64>,
}

/// A step in the life of a request to a block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// The index of the device in [`TraceState::devices`](super::TraceState::devices); `None`
    /// if the event does not name it, as in LTTng 0.x.
    pub device: Option<usize>,
    /// The direction in which the request moves data.
    pub kind: RequestKind,
    /// The size of the request in bytes; 0 if the event does not contain it.
    pub bytes: u64,
    /// The step: inserted, merged, issued or completed.
    pub step: RequestStep,
}

/// A step in the life of a request to a block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestStep {
    /// The request was added to the device's queue. Some kernels issue requests without this
    /// step.
    Inserted,
    /// Data to be moved became a part of a request that was in the queue.
    Merged,
    /// The request was issued to the device.
    Issued,
    /// The request was completed by the device.
    Completed,
}

impl Effect {
    /// Resets the effect for an event of a CPU at a time, in ns.
    pub(super) fn begin(&mut self, cpu: u32, place: usize, time: i64) {
        self.cpu = Some(cpu);
        self.place = place;
        self.time = time;
        self.ended = None;
        self.waited = None;
        self.target = None;
        if self.has_rare {
            self.has_rare = false;
            self.rare.clear();
        }
    }

    /// Returns the rare changes, to be added to.
    pub(super) fn rare_mut(&mut self) -> &mut RareChanges {
        self.has_rare = true;
        &mut self.rare
    }

    /// Returns `true` if the event made no rare change: nothing beyond the process that
    /// runs, its frame, its wait, and the process that was woken up.
    #[inline]
    pub(crate) fn is_common(&self) -> bool {
        !self.has_rare
    }

    /// Returns the CPU of the last event; `None` before the first event.
    #[inline]
    pub fn cpu(&self) -> Option<u32> {
        self.cpu
    }

    /// Returns the index of that CPU in the state's table of CPUs.
    #[inline]
    pub(crate) fn place(&self) -> usize {
        self.place
    }

    /// Returns the time at which the last event was delivered.
    #[inline]
    pub fn time(&self) -> Timestamp {
        Timestamp::from_ns(self.time)
    }

    /// Returns the intervals before the event in which it is unknown which processes ran on CPUs: since events
    /// were lost, or since the event names another process than the one that was thought to run. Such an
    /// interval ends with the next event of its CPU, which may be a later one.
    #[inline]
    pub fn losses(&self) -> &[LossOnCpu] {
        &self.rare.losses
    }

    /// Returns the waits that ended with the knowledge of the state of their processes.
    pub(crate) fn lost_waits(&self) -> impl Iterator<Item = &LostWait> {
        self.losses().iter().flat_map(|loss| &loss.waits).chain(&self.rare.lost_waits)
    }

    /// Returns the time from which on, until the event, nothing tells which process ran on the event's CPU, since the
    /// trace has no switches.
    #[inline]
    pub(crate) fn unseen_since(&self) -> Option<Timestamp> {
        self.rare.unseen_since.map(Timestamp::from_ns)
    }

    /// Returns the system call, interrupt or exception that ended with the event, if its
    /// entry was seen as well.
    #[inline]
    pub fn ended(&self) -> Option<&Ended> {
        self.ended.as_ref()
    }

    /// Returns the wait of the process that the event switched in; `None` if the event is
    /// not a switch.
    #[inline]
    pub fn waited(&self) -> Option<Wait> {
        self.waited
    }

    /// Returns the number of bytes that a process read or wrote by the system call that
    /// ended, with the process and the direction. In LTTng 0.x it is the number that the
    /// process requested, at the event of the read or write within the system call.
    pub fn transferred(&self) -> Option<(ProcessIndex, Transfer, u64)> {
        self.rare.transferred
    }

    /// Returns `true` if the event switched in a process that was thought to run on another CPU, of which it is now
    /// unknown what runs there.
    pub fn left_other_cpu(&self) -> bool {
        self.rare.left_other_cpu
    }

    /// Returns the request to a block device that the event is about.
    pub fn request(&self) -> Option<Request> {
        self.rare.request
    }

    /// Returns the processes that the event renamed, with their new names.
    pub(crate) fn renamed(&self) -> &[(Serial, NameId)] {
        &self.rare.renamed
    }

    /// Returns the processes that the event removed, in their last state.
    pub fn removed(&self) -> &[Process] {
        &self.rare.gone
    }

    /// Returns the process that the event names, for events about a process that need not
    /// be the running one, such as wake-ups, migrations, forks, exits and dumps (LTTV's
    /// target pid).
    pub fn subject(&self) -> Option<ProcessIndex> {
        self.target
    }
}

impl RareChanges {
    #[cold]
    fn clear(&mut self) {
        self.losses.clear();
        self.lost_waits.clear();
        (self.unseen_since, self.transferred, self.request) = (None, None, None);
        self.left_other_cpu = false;
        self.renamed.clear();
        self.gone.clear();
    }
}
