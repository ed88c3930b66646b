//! What each process was doing: follows the kernel's state, and gives each process
//! a row.

use ltt_read::Timestamp;
use lttv_context::EventCall;
use lttv_state::kernel::{KernelState, NameId, Process, ProcessIx, TraceState, Transition};

use crate::palette::Paint;

/// What is kept of a row's states, as they come: in order of time.
pub trait Track: Default {
    /// What all rows have in common.
    type Scale;

    /// Another state begins at a time, in ns; or the same goes on. The name is that
    /// of the system call, interrupt or exception.
    fn set(&mut self, scale: &Self::Scale, time: i64, paint: Paint, name: NameId);

    /// Nothing is there any more from a time on, in ns.
    fn end(&mut self, scale: &Self::Scale, time: i64);
}

/// Which process a row is of: trace, and number in it.
pub type RowKey = (usize, u32);

/// A row: a process.
#[derive(Debug, Clone)]
pub struct ProcessRow<T> {
    /// Which.
    pub key: RowKey,
    /// Its id; `None` for what ran on a CPU while that is not known.
    pub tid: Option<i32>,
    /// The id of its thread group.
    pub pid: Option<i32>,
    /// The id of its parent.
    pub ppid: Option<i32>,
    /// Its name.
    pub name: String,
    /// What it calls itself.
    pub brand: String,
    /// The CPU it was on last.
    pub cpu: Option<u32>,
    /// When it was born, or first seen.
    pub birth: Timestamp,
    /// What it was doing.
    pub track: T,
    names: (NameId, NameId),
}

impl<T> ProcessRow<T> {
    /// What it is called: its name, or where it was if it has none.
    pub fn title(&self) -> String {
        match (self.tid, self.cpu) {
            (Some(0), Some(cpu)) if self.name.is_empty() => format!("swapper/{cpu}"),
            (None, Some(cpu)) => format!("? on CPU {cpu}"),
            _ => self.name.clone(),
        }
    }

    /// LTTV's order: by process id (that of idle processes by CPU), time of birth,
    /// and trace.
    pub fn order(&self) -> impl Ord + use<T> {
        let cpu = self.cpu.filter(|_| self.tid.is_none_or(|tid| tid == 0));
        (self.tid.unwrap_or(-1), cpu, self.birth, self.key)
    }
}

/// Rows for all processes.
#[derive(Debug)]
pub struct ControlFlow<T: Track> {
    scale: T::Scale,
    rows: Vec<ProcessRow<T>>,
    /// Row of the process that was last seen at a place of the state's table, by
    /// trace; `u32::MAX` if there is none yet.
    places: Vec<Vec<u32>>,
    /// Who ran on each CPU, by trace.
    running: Vec<Vec<Option<ProcessIx>>>,
}

impl<T: Track> ControlFlow<T> {
    /// Nothing yet.
    pub fn new(scale: T::Scale) -> Self {
        ControlFlow { scale, rows: Vec::new(), places: Vec::new(), running: Vec::new() }
    }

    /// What all rows have in common.
    pub fn scale(&self) -> &T::Scale {
        &self.scale
    }

    /// The rows, in the order in which processes were seen.
    pub fn rows(&self) -> &[ProcessRow<T>] {
        &self.rows
    }

    /// What rows have in common, and each row's states.
    pub fn tracks_mut(&mut self) -> (&T::Scale, impl Iterator<Item = &mut T>) {
        (&self.scale, self.rows.iter_mut().map(|row| &mut row.track))
    }

    /// The state at a time.
    pub fn begin(&mut self, kernel: &KernelState, time: Timestamp) {
        for (trace, state) in kernel.traces().enumerate() {
            self.look_at_all(trace, state, time.ns());
        }
    }

    /// An event, after the state took notice of it.
    #[inline]
    pub fn event(&mut self, kernel: &KernelState, call: &EventCall<'_, '_>) {
        let trace = call.trace.index();
        let Some(transition) = kernel.transition(trace, call.event.type_id()) else { return };
        let (Some(state), Some(cpu)) = (kernel.trace(trace), kernel.cpu_of(call)) else { return };
        self.transition(trace, state, transition, cpu, call.time().ns());
    }

    fn transition(
        &mut self,
        trace: usize,
        state: &TraceState,
        transition: Transition,
        cpu: u32,
        time: i64,
    ) {
        let effect = state.effect();
        if effect.lost_since().is_some() || transition == Transition::DumpEnd {
            self.look_at_all(trace, state, time);
        }
        if let Some(of) = state.cpu(cpu) {
            let before = self.running_on(trace, cpu).replace(of.running());
            if let Some(before) = before.filter(|before| *before != of.running()) {
                self.look_at(trace, state, before, time);
            }
            self.look_at(trace, state, of.running(), time);
        }
        if let Some(target) = effect.target() {
            self.look_at(trace, state, target, time);
        }
    }

    fn running_on(&mut self, trace: usize, cpu: u32) -> &mut Option<ProcessIx> {
        let (trace, cpu) = (trace, cpu as usize);
        if self.running.len() <= trace {
            self.running.resize_with(trace + 1, Vec::new);
        }
        if self.running[trace].len() <= cpu {
            self.running[trace].resize(cpu + 1, None);
        }
        &mut self.running[trace][cpu]
    }

    fn look_at_all(&mut self, trace: usize, state: &TraceState, time: i64) {
        for (ix, _) in state.processes() {
            self.look_at(trace, state, ix, time);
        }
        for (cpu, of) in state.cpus() {
            *self.running_on(trace, cpu) = Some(of.running());
        }
    }

    #[inline]
    fn look_at(&mut self, trace: usize, state: &TraceState, ix: ProcessIx, time: i64) {
        let last = self.places.get(trace).and_then(|places| places.get(ix.index()).copied());
        let last = last.map_or(usize::MAX, |last| last as usize);
        let process = state.process(ix);
        let serial = process.map(|process| process.serial().0);
        if let Some(row) = self.rows.get_mut(last)
            && serial != Some(row.key.1)
        {
            row.track.end(&self.scale, time);
        }
        let Some(process) = process else { return };
        let place = match self.rows.get(last) {
            Some(row) if serial == Some(row.key.1) => last,
            _ => self.add(trace, ix, process),
        };
        let Some(row) = self.rows.get_mut(place) else { return };
        let paint = Paint::of_process(process.status(), process.mode());
        row.track.set(&self.scale, time, paint, process.submode());
        if row.names != (process.name(), process.brand()) || row.tid != process.tid() {
            describe(row, state, process);
        }
        row.cpu = process.cpu();
    }

    #[cold]
    fn add(&mut self, trace: usize, ix: ProcessIx, process: &Process) -> usize {
        if self.places.len() <= trace {
            self.places.resize_with(trace + 1, Vec::new);
        }
        let places = &mut self.places[trace];
        if places.len() <= ix.index() {
            places.resize(ix.index() + 1, u32::MAX);
        }
        let place = self.rows.len();
        places[ix.index()] = place as u32;
        self.rows.push(ProcessRow {
            key: (trace, process.serial().0),
            tid: process.tid(),
            pid: None,
            ppid: None,
            name: String::new(),
            brand: String::new(),
            cpu: process.cpu(),
            birth: process.creation().unwrap_or(process.insertion()),
            track: T::default(),
            names: (NameId::UNKNOWN, NameId::UNKNOWN),
        });
        place
    }
}

#[cold]
fn describe<T>(row: &mut ProcessRow<T>, state: &TraceState, process: &Process) {
    row.names = (process.name(), process.brand());
    row.name = state.name(process.name()).to_owned();
    row.brand = state.name(process.brand()).to_owned();
    row.tid = process.tid();
    row.pid = process.pid();
    row.ppid = process.parent();
}
