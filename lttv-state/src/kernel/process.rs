//! Processes, and what they execute.

use std::hint::select_unpredictable;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use ltt_read::Timestamp;

use super::modes::{ExecutionMode, ProcessStatus, ProcessType};
use super::names::NameId;

/// Number of a process, as the kernel counts them: what user space calls a thread
/// id. 0 is the idle process of each CPU.
pub type Tid = i32;

/// Processes have ids below this (the kernel's `PID_MAX_LIMIT`).
pub(super) const TID_END: Tid = 1 << 22;

/// Number of a process among all that a trace ever told of: it tells processes
/// apart that had the same [`Tid`] one after the other. Dense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub struct Serial(pub u32);

impl Serial {
    /// Of no process: that of events of a CPU of which nothing but events is known that
    /// change no state.
    pub const NONE: Serial = Serial(u32::MAX);

    /// As an index into tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A process (in user space's words: a thread).
///
/// Each event may be about another one than the last. So what most of them need is
/// together: one line of the cache, then the functions and the stack.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(C, align(64))]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub struct Process {
    pub(super) tid: Option<Tid>,
    pub(super) cpu: Option<u32>,
    /// Since it last ran: when it was woken up first; how long it was blocked, and how
    /// long ready, before its last change.
    pub(super) woken: Option<i64>,
    pub(super) blocked: u64,
    pub(super) ready: u64,
    pub(super) serial: Serial,
    pub(super) name: NameId,
    /// When it was changed last, for checkpoints to share what was not.
    #[cfg_attr(feature = "checkpoint-files", serde(skip))]
    pub(super) touched: u32,
    pub(super) exiting: bool,
    pub(super) alive: bool,
    /// How many of two signs there are that it is gone: it was scheduled out for
    /// good, and it was freed.
    pub(super) farewells: u8,
    pub(super) kind: Option<ProcessType>,
    pub(super) functions: Vec<u64>,
    /// The outermost first; never empty.
    pub(super) stack: SmallVec<[Frame; 3]>,
    pub(super) pid: Option<Tid>,
    pub(super) parent: Option<Tid>,
    pub(super) brand: NameId,
    /// The file that the current system call opens.
    pub(super) opening: NameId,
    pub(super) creation: Option<i64>,
    pub(super) insertion: i64,
    /// Stored apart, where they changed.
    #[cfg_attr(feature = "checkpoint-files", serde(skip))]
    pub(super) files: Arc<Files>,
}

const _: () = assert!(std::mem::offset_of!(Process, functions) == 64, "a line of the cache");

/// Open files, by descriptor.
pub(super) type Files = Vec<(i32, NameId)>;

/// What a process executes at one depth: user code, within that maybe a system
/// call, within that maybe an interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub struct Frame {
    pub(super) mode: ExecutionMode,
    pub(super) status: ProcessStatus,
    pub(super) submode: NameId,
    /// Of the interrupt, soft interrupt or trap.
    pub(super) source: u32,
    pub(super) entry: i64,
    pub(super) change: i64,
    pub(super) cpu_time: u64,
}

impl Frame {
    pub(super) fn new(
        mode: ExecutionMode,
        submode: NameId,
        status: ProcessStatus,
        time: i64,
    ) -> Self {
        Frame { mode, status, submode, source: 0, entry: time, change: time, cpu_time: 0 }
    }

    /// Of which nothing is known.
    pub(super) fn unknown(time: i64) -> Self {
        Self::new(ExecutionMode::Unknown, NameId::UNKNOWN, ProcessStatus::Unnamed, time)
    }

    /// Counts the time since the last change as spent on a CPU.
    #[inline]
    pub(super) fn charge(&mut self, time: i64) {
        self.cpu_time = self.cpu_time.wrapping_add(since(self.change, time));
        self.change = time;
    }

    /// The mode.
    pub fn mode(&self) -> ExecutionMode {
        self.mode
    }

    /// Which system call, interrupt or exception.
    pub fn submode(&self) -> NameId {
        self.submode
    }

    /// The status.
    pub fn status(&self) -> ProcessStatus {
        self.status
    }

    /// When it was entered.
    pub fn entry(&self) -> Timestamp {
        Timestamp::from_ns(self.entry)
    }

    /// When its status changed last, or what was within it ended.
    pub fn change(&self) -> Timestamp {
        Timestamp::from_ns(self.change)
    }

    /// How long it ran on CPUs before the last change, what was within it
    /// included; in ns.
    pub fn cpu_time(&self) -> u64 {
        self.cpu_time
    }
}

/// Nanoseconds from one time to another; 0 if that is before.
pub(super) fn since(from: i64, to: i64) -> u64 {
    if to > from { to.wrapping_sub(from) as u64 } else { 0 }
}

impl Process {
    /// One of which nothing is known but its id.
    pub(super) fn unknown(tid: Option<Tid>, serial: Serial, time: i64) -> Self {
        Process {
            tid,
            serial,
            pid: None,
            parent: None,
            name: NameId::EMPTY,
            brand: NameId::EMPTY,
            creation: None,
            insertion: time,
            kind: None,
            cpu: None,
            stack: smallvec![Frame::unknown(time)],
            functions: Vec::new(),
            files: Arc::default(),
            opening: NameId::EMPTY,
            exiting: false,
            woken: None,
            blocked: 0,
            ready: 0,
            farewells: 0,
            alive: true,
            touched: 0,
        }
    }

    /// Counts the time since the last change as spent waiting, if it was.
    pub(super) fn count_wait(&mut self, time: i64) {
        let Frame { status, change, .. } = *self.top();
        let passed = since(change, time);
        // Which of them it was is hard to predict: so to each something is added, or 0.
        let passed_if = |is: bool| select_unpredictable(is, passed, 0);
        let (wait, is_ready) = (ProcessStatus::Wait, status.waits_for_cpu());
        self.blocked = self.blocked.wrapping_add(passed_if(status == wait));
        self.ready = self.ready.wrapping_add(passed_if(is_ready));
    }

    #[inline]
    pub(super) fn top_mut(&mut self) -> &mut Frame {
        if self.stack.is_empty() {
            self.stack.push(Frame::unknown(self.insertion));
        }
        let last = self.stack.len() - 1;
        &mut self.stack[last]
    }

    /// Enters something, while it runs.
    #[inline]
    pub(super) fn enter(&mut self, mode: ExecutionMode, submode: NameId, source: u32, time: i64) {
        let top = self.top_mut();
        top.charge(time);
        let status = top.status;
        self.stack.push(Frame { source, ..Frame::new(mode, submode, status, time) });
    }

    /// Leaves the innermost frame, while it runs. `None`, and nothing happens, if that
    /// is the outermost one or of another mode.
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

    /// Its id; `None` for the unknown process that stands in on a CPU until it is
    /// known who runs there.
    pub fn tid(&self) -> Option<Tid> {
        self.tid
    }

    /// Tells it from others of the same id.
    pub fn serial(&self) -> Serial {
        self.serial
    }

    /// The id of its thread group: what user space calls process id. `None` if not
    /// known.
    pub fn pid(&self) -> Option<Tid> {
        self.pid
    }

    /// The id of its parent, `None` if not known.
    pub fn parent(&self) -> Option<Tid> {
        self.parent
    }

    /// Its name, empty if not known.
    pub fn name(&self) -> NameId {
        self.name
    }

    /// The name that it gave itself as a thread (LTTng 0.x).
    pub fn brand(&self) -> NameId {
        self.brand
    }

    /// When it was forked, if that was seen.
    pub fn creation(&self) -> Option<Timestamp> {
        self.creation.map(Timestamp::from_ns)
    }

    /// When the trace first told of it.
    pub fn insertion(&self) -> Timestamp {
        Timestamp::from_ns(self.insertion)
    }

    /// Whether it is part of the kernel, `None` if not known.
    pub fn kind(&self) -> Option<ProcessType> {
        self.kind
    }

    /// The CPU that it runs on, or waits for, or ran on last.
    pub fn cpu(&self) -> Option<u32> {
        self.cpu
    }

    /// What it executes, the outermost first; never empty.
    pub fn stack(&self) -> &[Frame] {
        &self.stack
    }

    /// What it executes now.
    #[inline]
    pub fn top(&self) -> &Frame {
        // The stack is never empty.
        self.stack.last().unwrap_or(const { &Frame::NOTHING })
    }

    /// Its mode now.
    pub fn mode(&self) -> ExecutionMode {
        self.top().mode
    }

    /// Its submode now.
    pub fn submode(&self) -> NameId {
        self.top().submode
    }

    /// Its status now.
    pub fn status(&self) -> ProcessStatus {
        self.top().status
    }

    /// The functions that it is in, by address, the outermost first.
    pub fn functions(&self) -> &[u64] {
        &self.functions
    }

    /// The function that it is in, 0 if not known.
    pub fn function(&self) -> u64 {
        self.functions.last().copied().unwrap_or(0)
    }

    /// Its open files as far as known, by descriptor. Threads share those of
    /// their process, which has them.
    pub fn files(&self) -> &[(i32, NameId)] {
        &self.files
    }
}

impl Frame {
    const NOTHING: Frame = Frame {
        mode: ExecutionMode::Unknown,
        status: ProcessStatus::Unnamed,
        submode: NameId::UNKNOWN,
        source: 0,
        entry: 0,
        change: 0,
        cpu_time: 0,
    };
}
