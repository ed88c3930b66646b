//! Context switches and wake-ups.

use super::Machine;
use crate::kernel::{ProcessStatus, TraceState};
use crate::spans::family::Family;
use crate::spans::inputs::{Input, RecordedEvent};
use crate::spans::outcome::{At, Ending, Log, WakerKey};
use crate::spans::place::Begin;
use crate::spans::threads::{Phase, ThreadId};

/// The number that subjects of priorities are above, so that negative ones have a number.
const PRIORITY_ZERO: i64 = 1 << 15;
/// The subject of switches without a priority.
pub(super) const NO_PRIORITY: u32 = 1 << 16;

/// Returns the priority that a subject stands for; `None` if it is unknown.
pub(crate) fn priority_of_subject(subject: u32) -> Option<i64> {
    (subject < NO_PRIORITY).then(|| i64::from(subject) - PRIORITY_ZERO)
}

fn subject_of_priority(priority: Option<u64>) -> u32 {
    priority.map_or(NO_PRIORITY, |priority| {
        let above = (priority as i64).saturating_add(PRIORITY_ZERO);
        above.clamp(0, i64::from(NO_PRIORITY) - 1) as u32
    })
}

impl Machine {
    /// Applies a context switch, with the priority of the next thread.
    #[inline]
    pub(super) fn switch(
        &mut self,
        state: &TraceState,
        priority: Option<u64>,
        at: &At,
        log: &mut Log,
    ) {
        let Some(switch) = state.effect().waited() else {
            self.cpus[at.place].current = ThreadId::NONE;
            return;
        };
        let previous = switch.previous.and_then(|ix| state.process(ix));
        if let Some(previous) = previous
            && let Some(id) = self.thread_of(previous)
        {
            let phase = match previous.status() {
                ProcessStatus::WaitCpu => Phase::Preempted,
                ProcessStatus::Zombie | ProcessStatus::Dead => Phase::Unknown,
                _ => Phase::Blocked,
            };
            let lost = self.cpus[at.place].lost;
            let thread = self.threads.at(id);
            let since = thread.since;
            if thread.phase == Phase::Runs && thread.ran_on == at.place as u32 && lost <= since.time
            {
                log.ended(Ending::new(Family::Run, id, NO_PRIORITY, since), at);
            }
            thread.ran_on = at.place as u32;
            // A wake-up without a switch-in is still to be served: the trace says nothing of its end.
            if thread.phase != Phase::Woken {
                let since = if phase == Phase::Unknown { Begin::NEVER } else { at.begin() };
                thread.enter(phase, since);
            }
            if phase == Phase::Unknown {
                self.end_call(state, id, at, log);
            }
        }
        let Some(next) = state.process(switch.process) else { return };
        let id = self.thread_of(next);
        let cpu = &mut self.cpus[at.place];
        cpu.current = id.unwrap_or(ThreadId::NONE);
        cpu.is_idle = next.tid() == Some(0);
        if let Some(id) = id {
            self.switch_in(id, priority, at, log);
        }
    }

    #[inline]
    fn switch_in(&mut self, id: ThreadId, priority: Option<u64>, at: &At, log: &mut Log) {
        let thread = self.threads.at(id);
        let (phase, begin) = (thread.phase, thread.since);
        let (waker, woken_for, ran_on) = (thread.waker, thread.woken_for, thread.ran_on);
        thread.enter(Phase::Runs, at.begin());
        thread.ran_on = at.place as u32;
        let (family, place) = match phase {
            Phase::Unknown | Phase::Runs | Phase::Blocked => return,
            Phase::Preempted => (Family::Preemption, ran_on),
            Phase::Woken => (Family::WakeUp, woken_for),
        };
        if self.lost_since(place, begin.time) || self.lost_since(at.place as u32, begin.time) {
            log.count(|of| &mut of.lost);
            return;
        }
        let subject = subject_of_priority(priority);
        let ending = Ending::new(family, id, subject, begin);
        if family == Family::WakeUp {
            log.ended(Ending { by: waker, ..ending }, at);
            log.woken(WakerKey { family, subject: 0, waker, thread: id }, begin.time, at);
        } else {
            log.ended(ending, at);
        }
    }

    /// Applies a wake-up. The field is that of the thread that wakes the other one.
    #[inline]
    pub(super) fn wake(
        &mut self,
        state: &TraceState,
        field: Option<&Input>,
        event: &RecordedEvent<'_>,
        at: &At,
        log: &mut Log,
    ) {
        let process = state.effect().subject().and_then(|ix| state.process(ix));
        let Some(process) = process else { return };
        let Some(id) = self.thread_of(process) else { return };
        let target = process.cpu().and_then(|cpu| state.cpu_index(cpu));
        let waker = match self.caller(state, field, event, at) {
            _ if !self.cpus[at.place].stack.is_empty() => ThreadId::INTERRUPT,
            Some(thread) => thread,
            // The idle task wakes no others: an interrupt was not recorded.
            None if self.is_idle(field, event, at) => ThreadId::INTERRUPT,
            None => ThreadId::NONE,
        };
        let lost = self.cpus[at.place].lost;
        let thread = self.threads.at(id);
        let (phase, since, ran_on) = (thread.phase, thread.since, thread.ran_on);
        if matches!(phase, Phase::Runs | Phase::Preempted) {
            return;
        }
        thread.last_woken = at.time;
        if phase != Phase::Woken {
            thread.enter(Phase::Woken, at.begin());
            thread.waker = waker;
            thread.woken_for = target.unwrap_or(at.place) as u32;
        }
        if phase == Phase::Blocked && lost <= since.time && !self.lost_since(ran_on, since.time) {
            log.ended(
                Ending { by: waker, ..Ending::new(Family::Blocked, id, NO_PRIORITY, since) },
                at,
            );
        }
    }

    /// Returns `true` if a CPU runs its idle task, as the last switch or the field of the thread of an event tells.
    fn is_idle(&self, field: Option<&Input>, event: &RecordedEvent<'_>, at: &At) -> bool {
        let recorded = || field.and_then(|field| event.integer(field));
        self.cpus[at.place].is_idle || recorded() == Some(0)
    }

    /// Applies a fork: the child waits for its wake-up.
    pub(super) fn fork(&mut self, state: &TraceState) {
        let child = state.effect().subject().and_then(|ix| state.process(ix));
        if let Some(id) = child.and_then(|child| self.thread_of(child)) {
            let thread = self.threads.at(id);
            if thread.phase != Phase::Runs {
                thread.enter(Phase::Unknown, Begin::NEVER);
            }
        }
    }
}
