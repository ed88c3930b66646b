//! What each process did.

use std::borrow::Cow;

use ltt_read::Timestamp;
use lttv_state::kernel::{
    ExecutionMode, NameId, Process, ProcessIx, ProcessStatus, Serial, Tid, Transition,
};

use super::chart::{Drawn, KernelChart, KernelRows, Place};
use super::paint::Paint;
use super::row::SegmentState;

/// What each process did in a time window: a row each.
///
/// ```
/// use lttv_context::{Traceset, TracesetContext};
/// use lttv_requests::{Budget, Owner, Scheduler, TimeWindow};
/// use lttv_requests::views::ControlFlow;
/// use lttv_state::kernel::KernelState;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let state = context.attach(KernelState::new());
/// let all = TimeWindow::of(context.contexts().time_span().expect("some events"));
/// let mut scheduler = Scheduler::new(context);
///
/// let view = ControlFlow::new(all, all.width() / 1000); // a thousand pixels
/// scheduler.submit(view.request(Owner::fresh(), state))?;
/// while scheduler.service_chunk(Budget::default()).has_more() {}
///
/// for (row, label) in view.timeline().rows().iter().zip(view.labels().iter()) {
///     let colors = row.segments().map(|segment| segment.state.paint().color());
///     println!("{} {:?}: {} segments", label.name, label.tid, colors.count());
/// }
/// # assert!(view.timeline().rows().len() > 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type ControlFlow = KernelChart<ProcessRows>;

/// Which process a row is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessKey {
    /// The index of its trace.
    pub trace: usize,
    /// Which of the trace's processes.
    pub serial: Serial,
}

/// What is written beside the row of a process: as known at last.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessLabel {
    /// Its name.
    pub name: String,
    /// The name that it gave itself as a thread (LTTng 0.x).
    pub brand: String,
    /// Its id: what user space calls a thread id. `None` for what stands in for a
    /// process that is not known, such as that which runs where the trace begins.
    pub tid: Option<Tid>,
    /// That of its thread group: what user space calls a process id.
    pub pid: Option<Tid>,
    /// That of its parent.
    pub parent: Option<Tid>,
    /// Its CPU, at last.
    pub cpu: Option<u32>,
    /// When it was forked, or else when the trace first told of it.
    pub birth: Timestamp,
}

impl ProcessLabel {
    /// What it is called: its name, or where it was if it has none.
    pub fn title(&self) -> Cow<'_, str> {
        match (self.tid, self.cpu) {
            (Some(0), Some(cpu)) if self.name.is_empty() => format!("swapper/{cpu}").into(),
            (None, Some(cpu)) => format!("? on CPU {cpu}").into(),
            _ => (&*self.name).into(),
        }
    }
}

/// What a process is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProcessState {
    /// Whether it runs, or what it waits for.
    pub status: ProcessStatus,
    /// In which mode it executes, or was when it had to wait.
    pub mode: ExecutionMode,
    /// The name of the system call, interrupt or exception: its trace's state knows
    /// it ([`TraceState::name`](lttv_state::kernel::TraceState::name)).
    pub submode: NameId,
}

impl ProcessState {
    /// What a process is doing now.
    pub fn of(process: &Process) -> Self {
        let (status, mode) = (process.status(), process.mode());
        ProcessState { status, mode, submode: process.submode() }
    }

    /// How it is drawn.
    pub fn paint(self) -> Paint {
        Paint::of_process(self.status, self.mode)
    }
}

impl SegmentState for ProcessState {
    fn is_active(self) -> bool {
        self.paint().is_active()
    }

    fn looks_like(self, other: Self) -> bool {
        self.paint() == other.paint()
    }
}

/// Rows of processes: of each trace, who is at each place of the table of processes.
#[derive(Debug, Default)]
pub struct ProcessRows(Vec<Vec<Option<Shown>>>);

/// A process that has a row.
#[derive(Debug, Clone, Copy)]
struct Shown {
    serial: Serial,
    row: usize,
    /// What its label says.
    name: NameId,
    brand: NameId,
}

impl KernelRows for ProcessRows {
    type Key = ProcessKey;
    type State = ProcessState;
    type Label = ProcessLabel;

    fn look_at_all(&mut self, drawn: &mut Drawn<Self>, at: Place<'_>) {
        for (ix, _) in at.state.processes() {
            self.look_at(drawn, at, ix);
        }
    }

    fn follow(&mut self, drawn: &mut Drawn<Self>, at: Place<'_>, _: Transition) {
        for ix in at.state.touched() {
            self.look_at(drawn, at, *ix);
        }
    }

    fn order(key: &ProcessKey, label: &ProcessLabel) -> impl Ord {
        let cpu = label.cpu.filter(|_| label.tid.is_none_or(|tid| tid == 0));
        (label.tid, cpu, label.birth, *key)
    }
}

impl ProcessRows {
    /// Puts a process's row right.
    fn look_at(&mut self, drawn: &mut Drawn<Self>, at: Place<'_>, ix: ProcessIx) {
        let (Place { trace, state, time }, Drawn { timeline, labels }) = (at, drawn);
        if self.0.len() <= trace {
            self.0.resize_with(trace + 1, Vec::new);
        }
        let places = &mut self.0[trace];
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
            let row = timeline.place(ProcessKey { trace, serial });
            Shown { serial, row, name, brand }
        });
        timeline.change(shown.row, time, Some(ProcessState::of(process)));
        if let Some(label) = labels.get_mut(shown.row) {
            (label.tid, label.pid, label.cpu) = (process.tid(), process.pid(), process.cpu());
            label.parent = process.parent();
            // Texts are copied only when they change.
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
