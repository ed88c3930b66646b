//! Collection of usage while events are read.

use std::fmt::Debug;

use ltt_read::schema::EventTypeId;

use super::collected::Collected;
use super::events::Measure;
use crate::kernel::{Observer, Serial, TraceState, Transition};

/// The sums that a collector adds to. Times are in ns.
pub(super) trait Sums: Debug + Send + 'static {
    /// Adds the CPU time of a process: see [`Collected::charge`].
    fn charge(&mut self, cpu: u32, process: Serial, from: i64, to: i64);

    /// Adds the time of a CPU at a frequency.
    fn charge_frequency(&mut self, cpu: u32, hz: u64, from: i64, to: i64);

    /// Counts a context switch of a CPU.
    fn switched(&mut self, cpu: u32, time: i64);

    /// Counts the migration of a thread.
    fn migrated(&mut self, time: i64);
}

impl Sums for Collected {
    fn charge(&mut self, cpu: u32, process: Serial, from: i64, to: i64) {
        self.charge(cpu, process, from, to);
    }

    fn charge_frequency(&mut self, cpu: u32, hz: u64, from: i64, to: i64) {
        self.charge_frequency(cpu, hz, from, to);
    }

    fn switched(&mut self, cpu: u32, time: i64) {
        self.switched(cpu, time);
    }

    fn migrated(&mut self, time: i64) {
        self.migrated(time);
    }
}

/// The collector of a trace. Times are in ns.
#[derive(Debug)]
pub(super) struct Collector<S> {
    pub(super) sums: S,
    /// The CPUs, by index in the state.
    cpus: Vec<OnCpu>,
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
    pub(super) earliest: i64,
    pub(super) until: Option<i64>,
}

impl Collector<Collected> {
    /// Returns the figures up to a time, which is not before the last event.
    pub(super) fn collected(&self, last: i64) -> Collected {
        let mut collected = self.sums.clone();
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
        measure: Measure<&str>,
        running: Option<(Serial, bool)>,
        time: i64,
    ) {
        if let Some(owner) = self.owner(running, time) {
            self.sums.measured(time, owner, measure);
        }
    }
}

impl<S: Sums> Collector<S> {
    /// Creates a collector that starts in a state.
    pub(super) fn new(state: &TraceState, span: Span, sums: S) -> Self {
        let Span { begin, earliest, until } = span;
        let mut collector = Collector { sums, cpus: Vec::new(), begin, earliest, until };
        collector.update_cpus(state, begin);
        collector
    }

    /// Returns the same collector with other sums.
    pub(super) fn with_sums<T>(self, sums: T) -> Collector<T> {
        let Collector { cpus, begin, earliest, until, .. } = self;
        Collector { sums, cpus, begin, earliest, until }
    }

    /// Returns the process that an event at a time counts for: that on its CPU, which is or is not in
    /// an interrupt. Returns `None` if the event is outside of the window.
    pub(super) fn owner(&self, running: Option<(Serial, bool)>, time: i64) -> Option<Serial> {
        let process = running.filter(|(_, in_interrupt)| !in_interrupt).map(|(process, _)| process);
        (!self.is_outside(time)).then(|| process.unwrap_or(Serial::NONE))
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
                Some(of) => of.run(&mut self.sums, running.serial(), time),
                None => self.cpus.push(OnCpu {
                    number: cpu.number(),
                    process: running.serial(),
                    since: self.begin,
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
                self.sums.charge_frequency(of.number, hz, of.hz_since, time);
            }
            (of.hz, of.hz_since) = (cpu.frequency(), time);
        }
    }

    /// Charges the time since `lost` to the unknown process of a CPU.
    #[cold]
    fn charge_unknown(&mut self, state: &TraceState, place: usize, lost: i64, time: i64) {
        let (Some(of), Some(cpu)) = (self.cpus.get_mut(place), state.cpu_at(place)) else { return };
        let Some(unknown) = state.process(cpu.unknown_process()) else { return };
        self.sums.charge(of.number, of.process, of.since, lost);
        self.sums.charge(of.number, unknown.serial(), lost, time);
        of.since = time;
    }
}

impl OnCpu {
    /// Charges the time until now if another process runs.
    #[inline]
    fn run(&mut self, sums: &mut impl Sums, process: Serial, time: i64) {
        if self.process != process {
            sums.charge(self.number, self.process, self.since, time);
            (self.process, self.since) = (process, time);
        }
    }
}

impl<S: Sums> Observer for Collector<S> {
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
        of.run(&mut self.sums, running.serial(), time);
        match transition {
            Transition::Switch => self.sums.switched(of.number, time),
            Transition::Migrate => self.sums.migrated(time),
            Transition::Frequency => self.update_frequencies(state, time),
            Transition::ProcessState | Transition::DumpEnd | Transition::KernelThread => {
                self.update_cpus(state, time);
            }
            _ => {}
        }
    }

    fn event_ignored(&mut self, _: u32, _: Option<usize>, _: EventTypeId, _: i64) {}
}
