//! What each process did.

use std::cell::{Ref, RefCell};
use std::rc::Rc;

use ltt_read::Timestamp;
use lttv_context::Handle;
use lttv_state::kernel::{
    ExecutionMode, KernelState, NameId, Process, ProcessIx, ProcessStatus, Serial, Tid, Transition,
};

use super::chart::{Chart, Drawn, Place, Rows};
use super::color::Color;
use super::timeline::Timeline;
use crate::identity::Owner;
use crate::request::EventsRequest;
use crate::window::TimeWindow;

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
///     let colors = row.segments().map(|segment| segment.state.color());
///     println!("{} {:?}: {} segments", label.name, label.tid, colors.count());
/// }
/// # assert!(view.timeline().rows().len() > 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ControlFlow {
    inner: Rc<RefCell<Chart<Processes>>>,
}

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
    /// Its id: what user space calls a thread id.
    pub tid: Tid,
    /// That of its thread group: what user space calls a process id.
    pub pid: Option<Tid>,
    /// That of its parent.
    pub parent: Option<Tid>,
    /// Its CPU, at last.
    pub cpu: Option<u32>,
    /// When it was forked, or else when the trace first told of it.
    pub birth: Timestamp,
}

/// What a process is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProcessState {
    /// Whether it runs, or what it waits for.
    pub status: ProcessStatus,
    /// In which mode it executes, or was when it had to wait.
    pub mode: ExecutionMode,
}

impl ProcessState {
    /// What a process is doing now.
    pub fn of(process: &Process) -> Self {
        ProcessState { status: process.status(), mode: process.mode() }
    }

    /// The colour that LTTV gives it.
    pub const fn color(self) -> Color {
        Color::rgb(match (self.status, self.mode) {
            (ProcessStatus::Run, ExecutionMode::User) => 0x00ff00,
            (ProcessStatus::Run, ExecutionMode::Syscall) => 0x019eff,
            (ProcessStatus::Run, ExecutionMode::Trap) => 0xffff01,
            (ProcessStatus::Run, ExecutionMode::Irq) => 0xff5e00,
            (ProcessStatus::Run, ExecutionMode::Softirq) => 0xff9496,
            (ProcessStatus::Wait, _) => 0x660000,
            (ProcessStatus::WaitCpu, _) => 0x777700,
            (ProcessStatus::Zombie, _) => 0x64005d,
            (ProcessStatus::WaitFork, _) => 0x076400,
            (ProcessStatus::Exit, _) => 0x890084,
            (ProcessStatus::Dead, _) => 0x000000,
            (ProcessStatus::Run, ExecutionMode::Unknown) | (ProcessStatus::Unnamed, _) => 0xffffff,
        })
    }
}

/// Of each trace, who is at each place of the table of processes.
#[derive(Debug, Default)]
struct Processes(Vec<Vec<Option<Shown>>>);

/// A process that has a row.
#[derive(Debug, Clone, Copy)]
struct Shown {
    serial: Serial,
    row: usize,
    /// What its label says.
    name: NameId,
    brand: NameId,
}

impl ControlFlow {
    /// No rows yet. The resolution is in ns: the time that a pixel stands for.
    pub fn new(window: TimeWindow, resolution: u64) -> Self {
        ControlFlow { inner: Chart::new(window, resolution) }
    }

    /// Its rows. To be let go before the scheduler works again.
    pub fn timeline(&self) -> Ref<'_, Timeline<ProcessKey, ProcessState>> {
        Ref::map(self.inner.borrow(), |inner| &inner.drawn.timeline)
    }

    /// What is written beside the rows; as [`timeline`](Self::timeline).
    pub fn labels(&self) -> Ref<'_, [ProcessLabel]> {
        Ref::map(self.inner.borrow(), |inner| inner.drawn.labels.as_slice())
    }

    /// The rows in LTTV's order: by id, those of idle processes by CPU, then by
    /// birth and trace.
    pub fn order(&self) -> Vec<usize> {
        let inner = &self.inner.borrow().drawn;
        let mut rows: Vec<usize> = (0..inner.labels.len()).collect();
        rows.sort_by_key(|row| {
            let (label, key) = (&inner.labels[*row], inner.timeline.rows()[*row].key());
            let cpu = label.cpu.filter(|_| label.tid == 0);
            (label.tid, cpu, label.birth, key.trace)
        });
        rows
    }

    /// Shows another window. Requests of before stop. If the resolution stays the
    /// same and the window moves by whole columns, what is known of it is kept:
    /// scrolling costs no more than what comes into sight.
    pub fn show(&self, window: TimeWindow, resolution: u64) {
        self.inner.borrow_mut().show(window, resolution);
    }

    /// The stretch of time that is not known: what a [`request`](Self::request)
    /// is for. `None` if all is known.
    pub fn missing(&self) -> Option<TimeWindow> {
        self.inner.borrow().drawn.timeline.missing()
    }

    /// The request that fills it, by the state that is attached to the scheduler's
    /// context.
    pub fn request<'h>(&self, owner: Owner, state: Handle<KernelState>) -> EventsRequest<'h> {
        Chart::request(&self.inner, owner, state)
    }
}

impl Rows for Processes {
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
}

impl Processes {
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
            timeline.end_at(old.row, time);
            *place = None;
        }
        // What stands in for an unknown process has no id, and no row.
        let Some((process, tid)) = process.and_then(|p| Some((p, p.tid()?))) else { return };
        let (serial, name, brand) = (process.serial(), process.name(), process.brand());
        let known = place.is_some();
        let shown = place.get_or_insert_with(|| {
            let row = timeline.place(ProcessKey { trace, serial });
            Shown { serial, row, name, brand }
        });
        timeline.set_at(shown.row, time, ProcessState::of(process));
        if let Some(label) = labels.get_mut(shown.row) {
            (label.tid, label.pid, label.cpu) = (tid, process.pid(), process.cpu());
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
            tid,
            pid: process.pid(),
            parent: process.parent(),
            cpu: process.cpu(),
            birth: process.creation().unwrap_or(process.insertion()),
        });
    }
}
