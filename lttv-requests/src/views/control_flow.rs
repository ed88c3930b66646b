//! A chart of processes.

use std::borrow::Cow;

use ltt_read::{Timestamp, TraceIndex};
use lttv_state::kernel::{
    ExecutionMode, LossOnCpu, NameId, Process, ProcessIndex, ProcessStatus, Serial, Tid, Transition,
};

use super::chart::{ChartData, HasRows, KernelChart, KernelKey, KernelRows, Snapshot};
use super::row::SegmentState;

/// A chart of the states of each process in a time window, with one row per process.
///
/// ```
/// use lttv_context::{Traceset, TracesetContext};
/// use lttv_requests::{Budget, Owner, Scheduler};
/// use lttv_requests::views::{ControlFlow, TimeWindow};
/// use lttv_state::kernel::KernelState;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let state = context.attach(KernelState::new());
/// let all = TimeWindow::covering(context.contexts().time_span().expect("some events"));
/// let mut scheduler = Scheduler::new(context);
///
/// let view = ControlFlow::new(all, all.width() / 1000); // a thousand pixels
/// scheduler.submit(view.request(Owner::unique(), state))?;
/// while scheduler.service_chunk(Budget::default()).has_more() {}
///
/// for (row, label) in view.timeline().rows().iter().zip(view.labels().iter()) {
///     println!("{} {:?}: {} segments", label.name, label.tid, row.segments().count());
/// }
/// # assert!(view.timeline().rows().len() > 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type ControlFlow = KernelChart<ProcessKey>;

/// The key of a process's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessKey {
    /// The index of the process's trace.
    pub trace: TraceIndex,
    /// The serial number of the process in its trace.
    pub serial: Serial,
}

/// The label of a process's row, with the latest known values.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessLabel {
    /// The name of the process.
    pub name: String,
    /// The name that the thread has set for itself (LTTng 0.x).
    pub brand: String,
    /// The id of the process, called thread id in user space. `None` for a placeholder of
    /// an unknown process, such as the one that runs when the trace begins.
    pub tid: Option<Tid>,
    /// The id of its thread group, called process id in user space.
    pub pid: Option<Tid>,
    /// The id of its parent.
    pub parent: Option<Tid>,
    /// The number of its last CPU.
    pub cpu: Option<u32>,
    /// The time at which the process was forked, or of its first event if that is
    /// unknown.
    pub birth: Timestamp,
}

impl ProcessLabel {
    /// Returns the title of the row: the name of the process, or its CPU if it has no
    /// name.
    pub fn title(&self) -> Cow<'_, str> {
        match (self.tid, self.cpu) {
            (Some(0), Some(cpu)) if self.name.is_empty() => format!("swapper/{cpu}").into(),
            (None, Some(cpu)) => format!("? on CPU {cpu}").into(),
            _ => (&*self.name).into(),
        }
    }
}

/// The state of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProcessState {
    /// The status: running, or the reason for waiting.
    pub status: ProcessStatus,
    /// The mode in which the process executes, or executed before it had to wait.
    pub mode: ExecutionMode,
    /// The name of the system call, interrupt or exception, to be resolved with
    /// [`TraceState::name`](lttv_state::kernel::TraceState::name).
    pub submode: NameId,
}

impl ProcessState {
    /// The state of a process of which nothing is known.
    const UNKNOWN: ProcessState = ProcessState {
        status: ProcessStatus::Unknown,
        mode: ExecutionMode::Unknown,
        submode: NameId::UNKNOWN,
    };

    /// Creates the current state of a process.
    pub fn of(process: &Process) -> Self {
        let (status, mode) = (process.status(), process.mode());
        ProcessState { status, mode, submode: process.submode() }
    }

    /// Returns the part of the state that is drawn: any status except running takes
    /// precedence over the mode.
    fn drawn(self) -> (ProcessStatus, ExecutionMode) {
        match (self.status, self.mode) {
            (ProcessStatus::Run, mode) => (ProcessStatus::Run, mode),
            (status, _) => (status, ExecutionMode::Unknown),
        }
    }
}

impl SegmentState for ProcessState {
    fn is_active(self) -> bool {
        matches!(self.drawn().0, ProcessStatus::Run | ProcessStatus::Exit)
    }

    fn looks_like(self, other: Self) -> bool {
        self.drawn() == other.drawn()
    }
}

/// The rows of processes, by trace and index in the trace's process table.
#[derive(Debug, Default)]
pub struct ProcessRows(Vec<Vec<Option<ProcessRow>>>);

/// A process that has a row.
#[derive(Debug, Clone, Copy)]
struct ProcessRow {
    serial: Serial,
    row: usize,
    /// The names in its label.
    name: NameId,
    brand: NameId,
}

impl KernelKey for ProcessKey {
    type State = ProcessState;
    type Label = ProcessLabel;
}

impl HasRows for ProcessKey {
    type Rows = ProcessRows;
}

impl KernelRows for ProcessRows {
    type Key = ProcessKey;

    fn update_all(&mut self, data: &mut ChartData<'_, ProcessKey>, at: Snapshot<'_>) {
        for (ix, _) in at.state.processes() {
            self.update_process(data, at, ix);
        }
    }

    fn update_after(
        &mut self,
        data: &mut ChartData<'_, ProcessKey>,
        at: Snapshot<'_>,
        _: Transition,
    ) {
        for ix in at.state.changed_processes() {
            self.update_process(data, at, *ix);
        }
    }

    fn lose(&mut self, data: &mut ChartData<'_, ProcessKey>, trace: TraceIndex, loss: &LossOnCpu) {
        let Some(places) = self.0.get(trace.0) else { return };
        for ix in loss.processes() {
            if let Some(Some(shown)) = places.get(ix.index()) {
                data.timeline.change(shown.row, loss.since(), Some(ProcessState::UNKNOWN));
            }
        }
    }

    fn order(key: &ProcessKey, label: &ProcessLabel) -> impl Ord {
        let cpu = label.cpu.filter(|_| label.tid.is_none_or(|tid| tid == 0));
        (label.tid, cpu, label.birth, *key)
    }
}

impl ProcessRows {
    /// Updates the row of a process.
    fn update_process(
        &mut self,
        data: &mut ChartData<'_, ProcessKey>,
        at: Snapshot<'_>,
        ix: ProcessIndex,
    ) {
        let (Snapshot { trace, state, time }, ChartData { timeline, labels }) = (at, data);
        if self.0.len() <= trace.0 {
            self.0.resize_with(trace.0 + 1, Vec::new);
        }
        let places = &mut self.0[trace.0];
        if places.len() <= ix.index() {
            places.resize(ix.index() + 1, None);
        }
        let place = &mut places[ix.index()];
        let process = state.process(ix);
        if let Some(old) = place.filter(|old| process.is_none_or(|p| p.serial() != old.serial)) {
            timeline.change(old.row, time, None);
            *place = None;
        }
        let Some(process) = process else { return };
        let (serial, name, brand) = (process.serial(), process.name(), process.brand());
        let known = place.is_some();
        let shown = place.get_or_insert_with(|| {
            let row = timeline.row_index(ProcessKey { trace, serial });
            ProcessRow { serial, row, name, brand }
        });
        timeline.change(shown.row, time, Some(ProcessState::of(process)));
        if let Some(label) = labels.get_mut(shown.row) {
            (label.tid, label.pid, label.cpu) = (process.tid(), process.pid(), process.cpu());
            label.parent = process.parent();
            // Copying names is limited to those that have changed.
            if !known || shown.name != name {
                state.name(name).clone_into(&mut label.name);
            }
            if !known || shown.brand != brand {
                state.name(brand).clone_into(&mut label.brand);
            }
            (shown.name, shown.brand) = (name, brand);
            return;
        }
        labels.push(ProcessLabel {
            name: state.name(name).to_owned(),
            brand: state.name(brand).to_owned(),
            tid: process.tid(),
            pid: process.pid(),
            parent: process.parent(),
            cpu: process.cpu(),
            birth: process.creation().unwrap_or(process.insertion()),
        });
    }
}
