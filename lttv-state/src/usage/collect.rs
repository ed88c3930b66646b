//! Collection of usage while events are read.

use ltt_read::schema::EventTypeId;

use super::collected::Collected;
use super::counts::{Activity, Pages, Traffic};
use super::events::Measure;
use super::intervals::Intervals;
use crate::kernel::{Observer, Serial, TraceState, Transition};

/// The collector of a trace. Times are in ns.
#[derive(Debug)]
pub(super) struct Collector {
    collected: Collected,
    /// The CPUs, by index in the state.
    cpus: Vec<OnCpu>,
    /// The time from which on CPUs count that appear later.
    known_since: i64,
    /// The start of the window.
    begin: i64,
    /// The earliest time that is charged: the start of a window.
    earliest: i64,
    /// The time of the first event after the window.
    until: Option<i64>,
}

/// The process of a CPU and its frequency, and the times since which they have not been counted.
#[derive(Debug, Clone, Copy)]
struct OnCpu {
    number: u32,
    process: Serial,
    since: i64,
    hz: Option<u64>,
    hz_since: i64,
}

/// The part of a trace that is collected. Times are in ns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) begin: i64,
    pub(super) known_since: i64,
    pub(super) earliest: i64,
    pub(super) until: Option<i64>,
}

impl Collector {
    /// Creates a collector that starts in a state.
    pub(super) fn new(state: &TraceState, span: Span, intervals: Option<Intervals>) -> Self {
        let Span { begin, known_since, earliest, until } = span;
        let mut collector = Collector {
            collected: Collected::new(intervals),
            cpus: Vec::new(),
            known_since: begin,
            begin,
            earliest,
            until,
        };
        collector.update_cpus(state, begin);
        collector.known_since = known_since;
        collector
    }

    /// Returns what was collected up to a time, which is not before the last event.
    pub(super) fn collected(&self, last: i64) -> Collected {
        let mut collected = self.collected.clone();
        for cpu in &self.cpus {
            collected.charge(cpu.number, cpu.process, cpu.since, last);
            if let Some(hz) = cpu.hz {
                collected.charge_frequency(cpu.number, hz, cpu.hz_since, last);
            }
        }
        collected
    }

    /// Adds what an event measures, of a process, in an interrupt or not.
    pub(super) fn measure(
        &mut self,
        measure: Measure<'_>,
        process: Option<Serial>,
        in_interrupt: bool,
        time: i64,
    ) {
        if self.is_outside(time) {
            return;
        }
        let owner = process.filter(|_| !in_interrupt).unwrap_or(Serial::NONE);
        let mut activity = Activity::default();
        match measure {
            Measure::Pages(pages) => {
                activity.pages = pages;
                self.add_pages(owner, pages);
            }
            Measure::Sent { interface, bytes } => {
                let packet = Traffic::packet(bytes);
                activity.sent = packet;
                *self.collected.sent.entry(owner).or_default() += packet;
                self.collected.interface(interface).sent += packet;
            }
            Measure::Received { interface, bytes } => {
                activity.received = Traffic::packet(bytes);
                self.collected.interface(interface).received += activity.received;
            }
            Measure::Retransmission => activity.retransmissions = 1,
        }
        self.collected.add_activity(time, activity);
    }

    fn add_pages(&mut self, owner: Serial, pages: Pages) {
        *self.collected.pages.entry(owner).or_default() += pages;
    }

    /// Returns `true` if an event at a time is outside of the window.
    fn is_outside(&self, time: i64) -> bool {
        time < self.begin || self.until.is_some_and(|until| time >= until)
    }

    /// Updates the processes and frequencies of all CPUs, including new ones: when statistics do.
    #[cold]
    fn update_cpus(&mut self, state: &TraceState, time: i64) {
        for place in 0..state.cpu_count() {
            let (Some(cpu), Some(running)) = (state.cpu_at(place), state.running_at(place)) else {
                continue;
            };
            match self.cpus.get_mut(place) {
                Some(of) => of.run(&mut self.collected, running.serial(), time),
                None => self.cpus.push(OnCpu {
                    number: cpu.number(),
                    process: running.serial(),
                    since: self.known_since,
                    hz: None,
                    hz_since: time,
                }),
            }
        }
        self.update_frequencies(state, time);
    }

    /// Updates the frequencies of all known CPUs.
    #[cold]
    fn update_frequencies(&mut self, state: &TraceState, time: i64) {
        for (place, of) in self.cpus.iter_mut().enumerate() {
            let Some(cpu) = state.cpu_at(place).filter(|cpu| cpu.frequency() != of.hz) else {
                continue;
            };
            if let Some(hz) = of.hz {
                self.collected.charge_frequency(of.number, hz, of.hz_since, time);
            }
            (of.hz, of.hz_since) = (cpu.frequency(), time);
        }
    }

    /// Charges the time since `lost` to the unknown process of a CPU.
    #[cold]
    fn charge_unknown(&mut self, state: &TraceState, place: usize, lost: i64, time: i64) {
        let (Some(of), Some(cpu)) = (self.cpus.get_mut(place), state.cpu_at(place)) else { return };
        let Some(unknown) = state.process(cpu.unknown_process()) else { return };
        self.collected.charge(of.number, of.process, of.since, lost);
        self.collected.charge(of.number, unknown.serial(), lost, time);
        of.since = time;
    }
}

impl OnCpu {
    /// Charges the time until now if another process runs.
    #[inline]
    fn run(&mut self, collected: &mut Collected, process: Serial, time: i64) {
        if self.process != process {
            collected.charge(self.number, self.process, self.since, time);
            (self.process, self.since) = (process, time);
        }
    }
}

impl Observer for Collector {
    fn event_applied(&mut self, state: &TraceState, transition: Transition, _: EventTypeId) {
        let effect = state.effect();
        let (time, place) = (effect.time().as_ns(), effect.place());
        if self.is_outside(time) {
            return;
        }
        if self.cpus.len() <= place {
            self.update_cpus(state, time);
        }
        if let Some(lost) = effect.lost_since() {
            let lost = lost.as_ns();
            self.charge_unknown(state, place, lost.max(self.earliest), time);
        }
        let (Some(of), Some(running)) = (self.cpus.get_mut(place), state.running_at(place)) else {
            return;
        };
        of.run(&mut self.collected, running.serial(), time);
        match transition {
            Transition::Switch => {
                *self.collected.switches.entry(of.number).or_default() += 1;
                self.collected.add_activity(time, Activity { switches: 1, ..Activity::default() });
            }
            Transition::Migrate => {
                let migration = Activity { migrations: 1, ..Activity::default() };
                self.collected.add_activity(time, migration);
            }
            Transition::Frequency => self.update_frequencies(state, time),
            Transition::ProcessState | Transition::DumpEnd | Transition::KernelThread => {
                self.update_cpus(state, time);
            }
            _ => {}
        }
    }

    fn event_ignored(&mut self, _: u32, _: Option<usize>, _: EventTypeId, _: i64) {}
}
