//! Context switches and wake-ups.

use super::Machine;
use crate::kernel::{ProcessStatus, TraceState};
use crate::latency::family::Family;
use crate::latency::outcome::{At, Log, WakerKey};
use crate::latency::threads::{NEVER, ThreadId};

/// The number that subjects of priorities are above, so that negative ones have a number.
const PRIORITY_ZERO: i64 = 1 << 15;
/// The subject of switches without a priority.
const NO_PRIORITY: u32 = 1 << 16;

/// Returns the priority that a subject stands for; `None` if it is unknown.
pub(in crate::latency) fn priority_of_subject(subject: u32) -> Option<i64> {
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
            let is_preempted = previous.status() == ProcessStatus::WaitCpu;
            let thread = self.threads.at(id);
            thread.runs = false;
            thread.ran_on = at.place as u32;
            thread.preempted = if is_preempted { at.time } else { NEVER };
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
        let woken = std::mem::replace(&mut thread.woken, NEVER);
        let preempted = std::mem::replace(&mut thread.preempted, NEVER);
        let (waker, woken_for, ran_on) = (thread.waker, thread.woken_for, thread.ran_on);
        thread.runs = true;
        thread.ran_on = at.place as u32;
        let (family, begin, place) = match (woken, preempted) {
            (NEVER, NEVER) => return,
            (NEVER, preempted) => (Family::Preemption, preempted, ran_on),
            (woken, _) => (Family::WakeUp, woken, woken_for),
        };
        if self.lost_since(place, begin) || self.lost_since(at.place as u32, begin) {
            log.count(|of| &mut of.lost);
            return;
        }
        let subject = subject_of_priority(priority);
        if family == Family::WakeUp {
            log.sample_by(family, id, subject, begin, at, waker);
            log.woken(WakerKey { family, subject: 0, waker, thread: id }, begin, at);
        } else {
            log.sample(family, id, subject, begin, at);
        }
    }

    /// Applies a wake-up.
    #[inline]
    pub(super) fn wake(&mut self, state: &TraceState, at: &At) {
        let process = state.effect().subject().and_then(|ix| state.process(ix));
        let Some(process) = process else { return };
        let Some(id) = self.thread_of(process) else { return };
        let target = process.cpu().and_then(|cpu| state.cpu_index(cpu));
        let cpu = &self.cpus[at.place];
        let waker = if cpu.stack.is_empty() { cpu.current } else { ThreadId::INTERRUPT };
        let thread = self.threads.at(id);
        if thread.runs || thread.preempted != NEVER {
            return;
        }
        thread.last_woken = at.time;
        if thread.woken == NEVER {
            thread.woken = at.time;
            thread.waker = waker;
            thread.woken_for = target.unwrap_or(at.place) as u32;
        }
    }

    /// Applies a fork: the child waits for its wake-up.
    pub(super) fn fork(&mut self, state: &TraceState) {
        let child = state.effect().subject().and_then(|ix| state.process(ix));
        if let Some(id) = child.and_then(|child| self.thread_of(child)) {
            let thread = self.threads.at(id);
            if !thread.runs {
                (thread.woken, thread.preempted) = (NEVER, NEVER);
            }
        }
    }
}
