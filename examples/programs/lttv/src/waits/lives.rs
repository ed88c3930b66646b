//! The episodes of all threads of a trace, collected while its events are read.

use ltt_read::{Timestamp, TraceIndex, TracefileNumber};
use lttv_common::activity::Doing;
use lttv_context::{EventCall, Handle};
use lttv_state::kernel::{
    KernelState, ProcessIndex, RequestStep, Serial, StateChange, Tid, TraceState, Transition,
};

use super::cause::Waker;
use super::episodes::ThreadLife;

/// The episodes of all threads of a trace.
#[derive(Debug, Default)]
pub struct Lives {
    /// The threads, by serial number.
    pub(super) of: Vec<ThreadLife>,
    /// The thread at each index in the state.
    slots: Vec<Option<Serial>>,
    /// The time of the last completion of a request to a disk, by index of the CPU.
    completed: Vec<Option<i64>>,
    /// The time before which nothing counts, in ns.
    from: i64,
}

impl Lives {
    /// Creates the episodes of each trace, which start with its current state. `from` is the
    /// time of this state; without it, that of the first event of each trace.
    pub fn of_all(kernel: &KernelState, from: Option<Timestamp>) -> Vec<Lives> {
        let start = |state: &TraceState| {
            let first = state.start_time();
            Lives::at(state, from.map_or(first, |from| from.max(first)))
        };
        kernel.traces().map(start).collect()
    }

    fn at(state: &TraceState, time: Timestamp) -> Self {
        let from = time.as_ns();
        let mut lives = Lives { from, ..Lives::default() };
        for (index, _) in state.processes() {
            lives.follow(state, index, from, None);
        }
        lives
    }

    /// Records the event of a hook call, if it changes the state. The hook must be called after
    /// that of the state.
    pub fn record(
        call: &mut EventCall<'_, '_>,
        lives: Handle<Vec<Lives>>,
        kernel: Handle<KernelState>,
    ) {
        let (trace, event_type) = (call.trace.index(), call.event.type_id());
        let (tracefile, time) = (call.tracefile.number(), call.time());
        let Some((lives, kernel)) = call.extensions.get_pair_mut(lives, kernel) else { return };
        if let Some(transition) = kernel.transition(trace, event_type) {
            Self::followed(lives, kernel, (trace, tracefile), (transition, time));
        }
    }

    /// Records an event that a state has followed, in the episodes of each trace.
    pub fn changed(lives: &mut [Lives], kernel: &KernelState, change: StateChange) {
        let StateChange { trace, tracefile, transition, time, .. } = change;
        Self::followed(lives, kernel, (trace, tracefile), (transition, time));
    }

    fn followed(
        lives: &mut [Lives],
        kernel: &KernelState,
        (trace, tracefile): (TraceIndex, TracefileNumber),
        (transition, time): (Transition, Timestamp),
    ) {
        let cpu = kernel.cpu_of_tracefile(tracefile);
        if let (Some(of), Some(state), Some(cpu)) =
            (lives.get_mut(trace.0), kernel.trace(trace), cpu)
        {
            of.event(state, transition, cpu, time.as_ns());
        }
    }

    /// Records an event after it has been applied to the state.
    fn event(&mut self, state: &TraceState, transition: Transition, cpu: u32, time: i64) {
        // CPU numbers are arbitrary; indices are dense.
        let at = state.cpu_index(cpu);
        let effect = state.effect();
        if let (Some(at), Some(request)) = (at, effect.request())
            && request.step == RequestStep::Completed
        {
            if self.completed.len() <= at {
                self.completed.resize(at + 1, None);
            }
            self.completed[at] = Some(time);
        }
        let woken = effect.subject().filter(|_| transition == Transition::Wakeup);
        let running = state.cpu(cpu).map(|cpu| cpu.running());
        for &index in state.changed_processes() {
            let by = running.filter(|running| woken == Some(index) && *running != index);
            let completed = at.and_then(|at| *self.completed.get(at)?);
            let waker = by.and_then(|by| state.process(by));
            self.follow(state, index, time, waker.map(|waker| Waker::of(waker, completed)));
        }
    }

    /// Updates the activity of the process at an index.
    fn follow(&mut self, state: &TraceState, index: ProcessIndex, time: i64, waker: Option<Waker>) {
        let process = state.process(index);
        let now = process.map(|process| process.serial());
        let at = index.index();
        if self.slots.len() <= at {
            self.slots.resize(at + 1, None);
        }
        // Another process may have reused the index.
        let gone = std::mem::replace(&mut self.slots[at], now).filter(|then| now != Some(*then));
        if let Some(life) = gone.and_then(|gone| self.of.get_mut(gone.index())) {
            life.change(Doing::Unknown, time, None);
        }
        let Some(process) = process else { return };
        let serial = process.serial().index();
        if self.of.len() <= serial {
            self.of.resize(serial + 1, ThreadLife::default());
        }
        self.of[serial].update(process, time, waker);
    }

    /// Ends the episodes that are open at the end, which may be before the last event recorded.
    /// Later parts of episodes are dropped.
    pub fn finish(&mut self, end: Timestamp) {
        let (from, end) = (self.from, end.as_ns());
        for life in &mut self.of {
            life.finish(end);
            if life.episodes.last().is_some_and(|last| last.end > end) {
                life.clip(from, end);
            }
        }
    }

    /// Drops all parts of episodes outside of two times.
    pub fn clip(&mut self, begin: Timestamp, end: Timestamp) {
        self.of.iter_mut().for_each(|life| life.clip(begin.as_ns(), end.as_ns()));
    }

    /// Returns a thread; `None` if nothing is known of it.
    pub fn thread(&self, thread: Serial) -> Option<&ThreadLife> {
        self.of.get(thread.index())
    }

    /// Iterates over the threads with a known thread id, in order of appearance.
    pub fn threads(&self) -> impl Iterator<Item = &ThreadLife> {
        self.all().map(|(_, life)| life)
    }

    /// Iterates over the threads with a known thread id and their serial numbers, in order of
    /// appearance.
    pub fn all(&self) -> impl Iterator<Item = (Serial, &ThreadLife)> {
        (0..).map(Serial).zip(&self.of).filter(|(_, life)| life.tid.is_some())
    }

    /// Iterates over the threads with a thread id, in order of appearance.
    pub fn with_tid(&self, tid: Tid) -> impl Iterator<Item = Serial> {
        self.all().filter(move |(_, life)| life.tid == Some(tid)).map(|(serial, _)| serial)
    }
}
