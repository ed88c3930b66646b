//! The state of a trace: the open durations, and how events begin and end them.

mod calls;
mod disks;
mod futexes;
mod interrupts;
mod markers;
mod open;
#[cfg(feature = "checkpoint-files")]
mod saved;
mod scheduling;

use super::action::Action;
use super::inputs::RecordedEvent;
use super::outcome::{At, Log};
use super::period::OpenPeriods;
use super::place::Begin;
use super::threads::{NEVER, Phase, ThreadId, Threads};
use crate::kernel::{Process, TraceState};

use calls::FileFamilies;
use disks::Disks;
use futexes::Futexes;
use interrupts::{Handlers, OpenHandler};
use markers::Markers;

pub(crate) use disks::kind_of_subject;
pub(crate) use futexes::FutexFacts;
pub(crate) use interrupts::HandlerFacts;
pub(crate) use scheduling::priority_of_subject;

/// The state of a trace: the open durations, and the subjects that occurred so far.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Machine {
    cpus: Vec<CpuState>,
    pub(crate) threads: Threads,
    pub(crate) handlers: Handlers,
    pub(crate) disks: Disks,
    pub(crate) futexes: Futexes,
    pub(crate) markers: Markers,
    #[cfg_attr(feature = "checkpoint-files", serde(skip))]
    families: FileFamilies,
    #[cfg_attr(feature = "checkpoint-files", serde(skip))]
    pub(crate) periods: OpenPeriods,
}

/// The state of a CPU.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
struct CpuState {
    /// The thread that runs according to the last switch; [`ThreadId::NONE`] if that is unknown.
    current: ThreadId,
    /// `true` if the CPU is known to be idle.
    is_idle: bool,
    /// The interrupt handlers that run, the outermost first.
    stack: Vec<OpenHandler>,
    /// The first raise of each softirq since its handler last ran.
    raised: Vec<Begin>,
    /// The time of the last event after others of the CPU were lost; [`NEVER`] if none were.
    lost: i64,
}

impl Default for CpuState {
    fn default() -> Self {
        CpuState {
            current: ThreadId::NONE,
            is_idle: false,
            stack: Vec::new(),
            raised: Vec::new(),
            lost: NEVER,
        }
    }
}

impl Machine {
    /// Applies an event, after it has changed the state of the kernel.
    #[inline]
    pub(crate) fn apply(
        &mut self,
        state: &TraceState,
        action: &Action,
        event: &RecordedEvent<'_>,
        at: &At,
        log: &mut Log,
    ) {
        log.passed(at.time);
        if self.cpus.len() <= at.place {
            self.cpus.resize_with(at.place + 1, CpuState::default);
        }
        if !state.effect().is_common() {
            self.rare(state, at, log);
        }
        match action {
            Action::Switch { priority } => {
                let priority = priority.as_ref().and_then(|input| event.integer(input));
                self.switch(state, priority, at, log);
            }
            Action::Wake { thread } => self.wake(state, thread.as_ref(), event, at, log),
            Action::Entry(entry) => self.call_entry(state, entry, event, at, log),
            Action::Exit { name, result, thread } => {
                let thread = thread.as_ref();
                self.call_exit(state, *name, result.as_ref(), thread, event, at, log);
            }
            Action::HandlerEntry { kind, number, name } => {
                self.handler_entry(*kind, number, name.as_ref(), event, at, log);
            }
            Action::HandlerExit { kind, number } => {
                self.handler_exit(*kind, number.as_ref(), event, at, log);
            }
            Action::Raise { number } => self.raise(number, event, at),
            Action::Request { step, fields } => {
                self.request(state, *step, fields, event, at, log);
            }
            Action::Fork => self.fork(state),
            Action::ThreadExit => {
                let subject = state.effect().subject().and_then(|ix| state.process(ix));
                if let Some(id) = subject.and_then(|of| self.threads.find(of.serial())) {
                    self.end_call(state, id, at, log);
                    self.end_sections(id, at, log);
                }
            }
            Action::Marker { text, thread } => {
                self.marker(state, (text, thread.as_ref()), event, at, log);
            }
            Action::Other => {}
        }
    }

    /// Applies what few events do: they follow lost ones, or remove threads.
    #[cold]
    fn rare(&mut self, state: &TraceState, at: &At, log: &mut Log) {
        for process in state.effect().removed() {
            if let Some(id) = self.threads.find(process.serial()) {
                self.describe(id, process);
                self.threads.at(id).enter(Phase::Unknown, Begin::NEVER);
                self.end_call(state, id, at, log);
                self.end_sections(id, at, log);
            }
        }
        for loss in state.effect().losses() {
            // What began with the last event before is lost, too.
            let time = if loss.place == at.place { at.time } else { loss.since + 1 };
            self.lost(loss.place, time, log);
        }
    }

    /// Drops the open durations on a CPU whose events were lost before a time.
    fn lost(&mut self, place: usize, time: i64, log: &mut Log) {
        let Some(cpu) = self.cpus.get_mut(place) else { return };
        cpu.lost = time;
        self.markers.lost(time);
        cpu.raised.clear();
        cpu.is_idle = false;
        cpu.stack.drain(..).for_each(|_| log.count(|of| &mut of.lost));
        let current = std::mem::replace(&mut cpu.current, ThreadId::NONE);
        if current != ThreadId::NONE {
            self.threads.at(current).enter(Phase::Unknown, Begin::NEVER);
        }
    }

    /// Returns `true` if events of a CPU, of which something was expected since a time, were lost.
    #[inline]
    fn lost_since(&self, place: u32, time: i64) -> bool {
        self.cpus.get(place as usize).is_some_and(|cpu| cpu.lost > time)
    }

    /// Returns the number of a thread of the kernel state; `None` for idle processes and for
    /// placeholders.
    #[inline]
    fn thread_of(&mut self, process: &Process) -> Option<ThreadId> {
        let tid = process.tid().filter(|tid| *tid > 0)?;
        Some(self.threads.of_serial(process.serial(), tid))
    }

    /// Notes the name and the process of a thread.
    pub(crate) fn describe(&mut self, id: ThreadId, process: &Process) {
        if let Some(facts) = id.index().and_then(|at| self.threads.facts.get_mut(at)) {
            facts.name = process.name();
            facts.pid = process.pid();
            facts.tid = process.tid().unwrap_or(facts.tid);
        }
    }

    /// Returns the number of bytes of memory of the state.
    pub(crate) fn bytes(&self) -> usize {
        let cpus = self.cpus.iter().map(|cpu| {
            size_of::<CpuState>() + size_of_val(&*cpu.stack) + size_of_val(&*cpu.raised)
        });
        size_of::<Machine>()
            + cpus.sum::<usize>()
            + self.threads.bytes()
            + self.disks.bytes()
            + self.futexes.bytes()
            + self.markers.bytes()
            + self.periods.bytes()
    }
}
