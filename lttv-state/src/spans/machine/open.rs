//! The durations that have begun and not ended.

use super::Machine;
use crate::kernel::{ProcessStatus, TraceState};
use crate::spans::family::Family;
use crate::spans::outcome::Ending;
use crate::spans::place::Begin;
use crate::spans::threads::{Phase, ThreadId};

impl Machine {
    /// Returns the time of the earliest begin of what is open, in ns; `None` if nothing is.
    pub(crate) fn earliest_open(&self) -> Option<i64> {
        let of_cpus = self.cpus.iter().flat_map(|cpu| {
            cpu.stack.iter().map(|handler| handler.begin).chain(cpu.raised.iter().copied())
        });
        let of_threads = self.threads.states.iter().flat_map(|of| [of.since, of.call.begin]);
        let of_disks = self.disks.begun().map(|ending| ending.begin);
        let begins = of_cpus.chain(of_threads).chain(of_disks);
        let times = begins.filter(Begin::is_known).map(|begin| begin.time);
        times.chain(self.periods.begins()).min()
    }

    /// Returns the ends of all that is open, each with a CPU.
    pub(crate) fn open(&mut self, state: &TraceState) -> Vec<(Ending, u32)> {
        let number = |place: usize| state.cpu_at(place).map_or(u32::MAX, |cpu| cpu.number());
        let mut all = Vec::new();
        for (place, cpu) in self.cpus.iter().enumerate() {
            all.extend(cpu.stack.iter().map(|handler| (handler.ending(), number(place))));
        }
        for (id, thread) in (0..).map(ThreadId).zip(&self.threads.states) {
            if thread.call.is_open() {
                all.push((thread.call.ending(id), number(thread.call.place as usize)));
            }
            let facts = &self.threads.facts[id.0 as usize];
            let process = state.find(facts.tid).map(|(_, process)| process);
            let process = process.filter(|of| facts.serial.is_none_or(|it| of.serial() == it));
            let is_gone = |status| matches!(status, ProcessStatus::Zombie | ProcessStatus::Dead);
            if process.is_none_or(|process| is_gone(process.status())) {
                continue;
            }
            let family = match thread.phase {
                Phase::Unknown => continue,
                Phase::Runs => Family::Run,
                Phase::Preempted => Family::Preemption,
                Phase::Blocked => Family::Blocked,
                Phase::Woken => Family::WakeUp,
            };
            let ending = Ending::new(family, id, super::scheduling::NO_PRIORITY, thread.since);
            all.push((ending, number(thread.ran_on as usize)));
        }
        all.extend(self.disks.begun().map(|ending| (ending, u32::MAX)));
        all.extend(self.periods.take_open().into_iter().map(|ending| (ending, u32::MAX)));
        all.sort_by_key(|(of, _)| (of.begin.time, of.family, of.thread, of.subject));
        all
    }

    /// Notes the name of the thread that runs on a CPU.
    pub(crate) fn describe_running(&mut self, state: &TraceState, place: usize) {
        let Some(running) = state.running_at(place) else { return };
        if let Some(id) = self.thread_of(running) {
            self.describe(id, running);
        }
    }
}
