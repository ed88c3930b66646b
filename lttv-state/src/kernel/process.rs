//! Processes and their execution stacks.

use std::hint::select_unpredictable;
use std::mem::offset_of;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use ltt_read::Timestamp;

use super::modes::{ExecutionMode, ProcessStatus, ProcessType};
use super::names::NameId;
use super::resources::{SourceKind, unpack};
#[cfg(feature = "analyses")]
use super::syscalls::{FileAction, file_action};

/// The kernel's id of a process, which user space calls a thread id. The idle process of
/// each CPU has the id 0.
pub type Tid = i32;

/// The exclusive upper limit of process ids (the kernel's `PID_MAX_LIMIT`).
pub(crate) const TID_END: Tid = 1 << 22;

/// The number of a process among all processes of a trace, in the order of their first
/// appearance. It distinguishes processes that had the same [`Tid`] one after the other.
/// Serial numbers are dense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub struct Serial(pub u32);

impl Serial {
    /// The serial number of no process: used for events of a CPU of which only events are
    /// known that change no state.
    pub const NONE: Serial = Serial(u32::MAX);

    /// Returns the serial number as an index into tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A process, which user space calls a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process(pub(super) ProcessRecord);

/// The known properties of a process.
///
/// Consecutive events are often about different processes. The fields that most events need
/// are therefore adjacent: one cache line, followed by the functions and the stack.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(C, align(64))]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct ProcessRecord {
    pub(super) tid: Option<Tid>,
    pub(super) cpu: Option<u32>,
    /// The time of the first wake-up since the process last ran. `blocked` and `ready` are
    /// the times spent in these statuses since then, up to the last status change; all in
    /// ns.
    pub(super) woken: Option<i64>,
    pub(super) blocked: u64,
    pub(super) ready: u64,
    pub(super) serial: Serial,
    pub(super) name: NameId,
    /// The epoch of the process table in which this process last changed: checkpoints share
    /// the processes that did not change.
    #[cfg_attr(feature = "checkpoint-files", serde(skip))]
    pub(super) epoch: u32,
    /// `true` if an event tells the end of the fork that created the process.
    pub(super) waits_for_fork: bool,
    pub(super) exiting: bool,
    pub(super) alive: bool,
    /// The number of signs that the process is gone, of two: it was switched out as a
    /// zombie or dead, and it was freed.
    pub(super) exit_signs: u8,
    pub(super) functions: Vec<u64>,
    /// The frames, the outermost first; never empty.
    pub(super) stack: SmallVec<[Frame; 3]>,
    pub(super) pid: Option<Tid>,
    pub(super) parent: Option<Tid>,
    pub(super) brand: NameId,
    /// The path of the file that the process executes.
    pub(super) executable: NameId,
    /// The name of the file that the current system call opens.
    pub(super) opening: NameId,
    /// `true` if the execution of a program closes the file that the current system call opens.
    pub(super) opening_closes_on_exec: bool,
    pub(super) kind: Option<ProcessType>,
    pub(super) creation: Option<i64>,
    pub(super) insertion: i64,
    /// The open files by descriptor. Checkpoint files store them separately if they
    /// changed.
    #[cfg_attr(feature = "checkpoint-files", serde(skip))]
    pub(super) files: Arc<Files>,
}

// Where numbers of 64 bits are aligned to 4 bytes, the fields take less.
const _: () =
    assert!(offset_of!(ProcessRecord, functions) <= 64, "the first fields fit a cache line");

/// Open files, ordered by descriptor.
pub(super) type Files = Vec<OpenFile>;

/// An open file of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct OpenFile {
    /// The descriptor.
    pub descriptor: i32,
    /// The path, or the name that the kernel gives an object without a path, such as `socket`.
    pub name: NameId,
    /// `true` if the execution of a program closes the file.
    pub closes_on_exec: bool,
}

/// A level of a process's execution stack: user code, a system call within it, an interrupt
/// within that, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub struct Frame {
    pub(super) mode: ExecutionMode,
    pub(super) status: ProcessStatus,
    pub(super) submode: NameId,
    /// The packed kind and number of the interrupt, softirq or exception, see
    /// [`pack`](super::resources::pack).
    pub(super) source: u32,
    pub(super) entry: i64,
    pub(super) change: i64,
    pub(super) cpu_time: u64,
}

impl Frame {
    /// Creates a frame that is entered at a time, in ns.
    pub(super) fn new(
        mode: ExecutionMode,
        submode: NameId,
        status: ProcessStatus,
        time: i64,
    ) -> Self {
        Frame { mode, status, submode, source: 0, entry: time, change: time, cpu_time: 0 }
    }

    /// Creates a frame of unknown mode, submode and status.
    pub(super) fn unknown(time: i64) -> Self {
        Self::new(ExecutionMode::Unknown, NameId::UNKNOWN, ProcessStatus::Unknown, time)
    }

    /// Adds the time since the last change to the frame's CPU time.
    #[inline]
    pub(super) fn charge(&mut self, time: i64) {
        self.cpu_time = self.cpu_time.wrapping_add(since(self.change, time));
        self.change = time;
    }

    /// Returns the execution mode of the frame.
    pub fn mode(&self) -> ExecutionMode {
        self.mode
    }

    /// Returns the submode: the name of the system call, interrupt or exception.
    pub fn submode(&self) -> NameId {
        self.submode
    }

    /// Returns the status of the process within this frame.
    pub fn status(&self) -> ProcessStatus {
        self.status
    }

    /// Returns the kind and number of the interrupt, softirq or exception; `None` for other modes.
    pub fn source(&self) -> Option<(SourceKind, u32)> {
        self.mode.has_source().then(|| unpack(self.source))
    }

    /// Returns the time at which the frame was entered.
    pub fn entry(&self) -> Timestamp {
        Timestamp::from_ns(self.entry)
    }

    /// Returns the time at which the frame's status last changed or a frame nested in it
    /// ended.
    pub fn change(&self) -> Timestamp {
        Timestamp::from_ns(self.change)
    }

    /// Returns the CPU time spent in this frame and in frames nested in it up to the last
    /// [change](Self::change), in ns.
    pub fn cpu_time(&self) -> u64 {
        self.cpu_time
    }
}

/// Returns the time from `from` to `to` in ns; 0 if `to` is earlier.
pub(super) fn since(from: i64, to: i64) -> u64 {
    if to > from { to.wrapping_sub(from) as u64 } else { 0 }
}

impl ProcessRecord {
    /// Creates a process without known properties, except for its id if that is given.
    pub(super) fn unknown(tid: Option<Tid>, serial: Serial, time: i64) -> Self {
        ProcessRecord {
            tid,
            serial,
            pid: None,
            parent: None,
            name: NameId::EMPTY,
            brand: NameId::EMPTY,
            executable: NameId::EMPTY,
            creation: None,
            insertion: time,
            kind: None,
            cpu: None,
            stack: smallvec![Frame::unknown(time)],
            functions: Vec::new(),
            files: Arc::default(),
            opening: NameId::EMPTY,
            opening_closes_on_exec: false,
            exiting: false,
            woken: None,
            blocked: 0,
            ready: 0,
            waits_for_fork: false,
            exit_signs: 0,
            alive: true,
            epoch: 0,
        }
    }

    /// Adds the time since the last change to the blocked or the ready time, according to
    /// the status. Idle tasks wait for nothing: their time off the CPU is not counted.
    pub(super) fn count_wait(&mut self, time: i64) {
        let Frame { status, change, .. } = *self.top();
        let passed = since(change, time);
        // The status is hard to predict for the processor: without branches, one of the
        // counters gets the time and the other one 0.
        let passed_if = |is: bool| select_unpredictable(is, passed, 0);
        let is_blocked = self.is_blocked(status);
        let is_ready = !is_blocked && status.waits_for_cpu();
        self.blocked = self.blocked.wrapping_add(passed_if(is_blocked));
        self.ready = self.ready.wrapping_add(passed_if(is_ready));
    }

    /// Returns `true` if the process is blocked in a status. A new process is until the end of its fork, where
    /// events tell that.
    fn is_blocked(&self, status: ProcessStatus) -> bool {
        match status {
            ProcessStatus::Wait => self.tid != Some(0),
            ProcessStatus::WaitFork => self.waits_for_fork,
            _ => false,
        }
    }

    /// Returns the innermost frame of the execution stack.
    #[inline]
    pub(super) fn top(&self) -> &Frame {
        // The stack is never empty.
        self.stack.last().unwrap_or(const { &Frame::NOTHING })
    }

    /// Returns the execution mode of the innermost frame.
    pub(super) fn mode(&self) -> ExecutionMode {
        self.top().mode
    }

    /// Returns the status in the innermost frame.
    pub(super) fn status(&self) -> ProcessStatus {
        self.top().status
    }

    /// Returns the innermost frame of the execution stack.
    #[inline]
    pub(super) fn top_mut(&mut self) -> &mut Frame {
        if self.stack.is_empty() {
            self.stack.push(Frame::unknown(self.insertion));
        }
        let last = self.stack.len() - 1;
        &mut self.stack[last]
    }

    /// Pushes a frame while the process runs.
    #[inline]
    pub(super) fn enter(&mut self, mode: ExecutionMode, submode: NameId, source: u32, time: i64) {
        let top = self.top_mut();
        top.charge(time);
        let status = top.status;
        self.stack.push(Frame { source, ..Frame::new(mode, submode, status, time) });
    }

    /// Pops the innermost frame while the process runs. Returns `None`, and changes
    /// nothing, if this is the outermost frame or has another mode.
    #[inline]
    pub(super) fn leave(&mut self, mode: ExecutionMode, time: i64) -> Option<Frame> {
        let [.., outer, top] = self.stack.as_mut_slice() else { return None };
        if top.mode != mode {
            return None;
        }
        top.charge(time);
        let frame = *top;
        outer.cpu_time = outer.cpu_time.wrapping_add(frame.cpu_time);
        outer.change = time;
        self.stack.pop();
        Some(frame)
    }
}

impl Process {
    /// Returns the kernel's id of the process; `None` for the placeholder that represents
    /// the running process of a CPU while that is unknown.
    pub fn tid(&self) -> Option<Tid> {
        self.0.tid
    }

    /// Returns the serial number, which distinguishes the process from others with the same
    /// id.
    pub fn serial(&self) -> Serial {
        self.0.serial
    }

    /// Returns the id of the thread group, which user space calls process id; `None` if
    /// unknown.
    pub fn pid(&self) -> Option<Tid> {
        self.0.pid
    }

    /// Returns the id of the parent process; `None` if unknown.
    pub fn parent(&self) -> Option<Tid> {
        self.0.parent
    }

    /// Returns the name of the process, empty if unknown.
    pub fn name(&self) -> NameId {
        self.0.name
    }

    /// Returns the name of the file that a system call of the process opens, which has just started; `None`
    /// if the call opens none, or its event has no name.
    #[cfg(feature = "analyses")]
    pub(crate) fn opening(&self, call: NameId) -> Option<NameId> {
        let is_known = self.0.opening != NameId::EMPTY && file_action(call) == FileAction::Open;
        is_known.then_some(self.0.opening)
    }

    /// Returns the path of the file that the process executes, as the last `exec` of the process or of the one
    /// that forked it has it; empty if there is none in the trace.
    pub fn executable(&self) -> NameId {
        self.0.executable
    }

    /// Returns the name that the process gave itself as a thread (LTTng 0.x), empty if
    /// there is none.
    pub fn brand(&self) -> NameId {
        self.0.brand
    }

    /// Returns the time of the fork; `None` if the fork is not in the trace.
    pub fn creation(&self) -> Option<Timestamp> {
        self.0.creation.map(Timestamp::from_ns)
    }

    /// Returns the time at which the trace first mentions the process.
    pub fn insertion(&self) -> Timestamp {
        Timestamp::from_ns(self.0.insertion)
    }

    /// Returns whether the process is a user or a kernel thread; `None` if unknown.
    pub fn kind(&self) -> Option<ProcessType> {
        self.0.kind
    }

    /// Returns the CPU that the process runs on, waits for, or last ran on; `None` if
    /// unknown.
    pub fn cpu(&self) -> Option<u32> {
        self.0.cpu
    }

    /// Returns the execution stack, the outermost frame first; never empty.
    pub fn stack(&self) -> &[Frame] {
        &self.0.stack
    }

    /// Returns the innermost frame of the execution stack.
    #[inline]
    pub fn top(&self) -> &Frame {
        self.0.top()
    }

    /// Returns the execution mode of the innermost frame.
    pub fn mode(&self) -> ExecutionMode {
        self.top().mode
    }

    /// Returns the submode of the innermost frame.
    pub fn submode(&self) -> NameId {
        self.top().submode
    }

    /// Returns the status in the innermost frame.
    pub fn status(&self) -> ProcessStatus {
        self.top().status
    }

    /// Returns the addresses of the program functions that the process is in, the outermost
    /// first.
    pub fn functions(&self) -> &[u64] {
        &self.0.functions
    }

    /// Returns the time in ns for which the process, if it does not run, has been blocked and
    /// ready at a time, since it last ran.
    pub(crate) fn waiting_until(&self, time: i64) -> (u64, u64) {
        let ProcessRecord { blocked, ready, .. } = self.0;
        let Frame { status, change, .. } = *self.top();
        let passed = since(change, time);
        match status {
            status if self.0.is_blocked(status) => (blocked.wrapping_add(passed), ready),
            status if status.waits_for_cpu() => (blocked, ready.wrapping_add(passed)),
            _ => (blocked, ready),
        }
    }

    /// Returns the address of the innermost program function; 0 if unknown.
    pub fn function(&self) -> u64 {
        self.0.functions.last().copied().unwrap_or(0)
    }

    /// Returns the known open files, ordered by descriptor. The
    /// files of a thread group are those of its first thread.
    pub fn files(&self) -> &[OpenFile] {
        &self.0.files
    }
}

impl Frame {
    const NOTHING: Frame = Frame {
        mode: ExecutionMode::Unknown,
        status: ProcessStatus::Unknown,
        submode: NameId::UNKNOWN,
        source: 0,
        entry: 0,
        change: 0,
        cpu_time: 0,
    };
}
