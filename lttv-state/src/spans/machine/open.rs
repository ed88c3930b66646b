//! The durations that have begun and not ended.

use super::Machine;
use super::scheduling::NO_PRIORITY;
use crate::kernel::TraceState;
use crate::spans::action::Handler;
use crate::spans::families::Families;
use crate::spans::family::Family;
use crate::spans::outcome::Ending;
use crate::spans::place::Begin;
use crate::spans::threads::ThreadId;

impl Machine {
    /// Returns the time of the earliest begin of what is open of families, in ns; `None` if nothing is.
    pub(crate) fn earliest_open(&self, families: Families) -> Option<i64> {
        let calls = families.contains_any(&Family::CALLS);
        let handlers = self.cpus.iter().flat_map(|cpu| &cpu.stack);
        let handlers = handlers.filter(|of| families.contains(of.ending().family));
        let raised = self.cpus.iter().flat_map(|cpu| &cpu.raised);
        let raised = raised.filter(|_| families.contains(Family::SoftirqRaise));
        let threads = self.threads.states.iter();
        let open_calls = threads.clone().map(|of| of.call.begin).filter(|_| calls);
        let phases = threads.filter(|of| of.phase.family().is_some_and(|of| families.contains(of)));
        let disks = self.disks.begun().filter(|ending| families.contains(ending.family));
        let sections = self.markers.begins().filter(|_| families.contains(Family::Marker));
        let begins = handlers
            .map(|of| of.begin)
            .chain(raised.copied())
            .chain(open_calls)
            .chain(phases.map(|of| of.since))
            .chain(sections)
            .chain(disks.map(|ending| ending.begin));
        let times = begins.filter(Begin::is_known).map(|begin| begin.time);
        times.chain(self.periods.begins()).min()
    }

    /// Returns the ends of all that is open in the order of the begins, each with a CPU.
    pub(crate) fn open(&mut self, state: &TraceState) -> Vec<(Ending, u32)> {
        let number = |place: usize| state.cpu_at(place).map_or(u32::MAX, |cpu| cpu.number());
        let mut all = Vec::new();
        for (place, cpu) in self.cpus.iter().enumerate() {
            all.extend(cpu.stack.iter().map(|handler| (handler.ending(), number(place))));
            let raised = (0..).zip(&cpu.raised).filter(|(_, begin)| begin.is_known());
            for (softirq, begin) in raised {
                let subject = self.handlers.subject(Handler::Softirq, softirq, &[]);
                let raised = Ending::new(Family::SoftirqRaise, ThreadId::NONE, subject, *begin);
                all.push((raised, number(place)));
            }
        }
        for at in 0..self.threads.states.len() {
            let (id, thread) = (ThreadId(at as u32), &self.threads.states[at]);
            if let Some(family) = thread.phase.family() {
                let phase = Ending::new(family, id, NO_PRIORITY, thread.since);
                all.push((phase, number(thread.ran_on as usize)));
            }
            let call = thread.call;
            if call.is_open() {
                let endings = self.endings(state, id, &call).into_iter();
                all.extend(endings.map(|ending| (ending, number(call.place as usize))));
            }
        }
        all.extend(self.markers.open().map(|(ending, place)| (ending, number(place))));
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
