//! Collection of usage while events are read.

use super::collected::Collected;
use crate::analysis::Window;
use crate::kernel::{Serial, TraceState, Transition};

/// Additions to sums, in order. Times are in ns.
#[derive(Debug, Clone, Default)]
pub(super) struct Log(pub(super) Vec<Addition>);

/// An addition to sums.
#[derive(Debug, Clone, Copy)]
pub(super) enum Addition {
    Time {
        cpu: u32,
        process: Serial,
        from: i64,
        to: i64,
    },
    Frequency {
        cpu: u32,
        hz: u64,
        from: i64,
        to: i64,
    },
    Switch {
        cpu: u32,
        time: i64,
    },
    Migration {
        time: i64,
    },
    /// The measure with this number.
    Measured {
        owner: Serial,
        measure: u32,
        time: i64,
    },
}

impl Log {
    /// Adds the CPU time of a process: see [`Collected::charge`].
    #[inline]
    fn charge(&mut self, cpu: u32, process: Serial, from: i64, to: i64) {
        self.0.push(Addition::Time { cpu, process, from, to });
    }

    /// Adds the time of a CPU at a frequency.
    fn charge_frequency(&mut self, cpu: u32, hz: u64, from: i64, to: i64) {
        self.0.push(Addition::Frequency { cpu, hz, from, to });
    }
}

/// The collector of a trace. Times are in ns.
#[derive(Debug, Clone)]
pub(super) struct Collector {
    pub(super) log: Log,
    /// The CPUs, by index in the state.
    cpus: Vec<OnCpu>,
    /// The start of the window.
    pub(super) begin: i64,
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

impl Collector {
    /// Adds the figures up to a time, which is not before the last event, to those of the log.
    pub(super) fn add_rest(&self, collected: &mut Collected, state: &TraceState, last: i64) {
        for (place, cpu) in self.cpus.iter().enumerate() {
            let lost = state.lost_before(place, last).map_or(last, |lost| lost.max(cpu.since));
            collected.charge(cpu.number, cpu.process, cpu.since, lost);
            let unknown = state.cpu_at(place).and_then(|cpu| state.process(cpu.unknown_process()));
            if let Some(unknown) = unknown {
                collected.charge(cpu.number, unknown.serial(), lost, last);
            }
            if let Some(hz) = cpu.hz {
                collected.charge_frequency(cpu.number, hz, cpu.hz_since, last);
            }
        }
    }

    /// Creates a collector that starts in a state.
    pub(super) fn new(state: &TraceState, window: Window) -> Self {
        let first = state.start_time().as_ns();
        let (begin, mut earliest, mut until) = (window.start.max(first), i64::MIN, None);
        if !window.is_everything() {
            (earliest, until) = (begin, window.until);
        }
        let log = Log::default();
        let mut collector = Collector { log, cpus: Vec::new(), begin, earliest, until };
        collector.update_cpus(state, begin);
        collector
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

    /// Accounts for an event that has been applied to the state.
    pub(super) fn applied(&mut self, state: &TraceState, transition: Transition) {
        let effect = state.effect();
        let (time, place) = (effect.time().as_ns(), effect.place());
        if self.is_outside(time) {
            return;
        }
        if self.cpus.len() <= place {
            self.update_cpus(state, time);
        }
        if !effect.is_common() {
            self.lost(state, place);
            if effect.left_other_cpu() {
                self.update_cpus(state, time);
            }
        }
        let (Some(of), Some(running)) = (self.cpus.get_mut(place), state.running_at(place)) else {
            return;
        };
        of.run(&mut self.log, running.serial(), time);
        match transition {
            Transition::Switch => self.log.0.push(Addition::Switch { cpu: of.number, time }),
            Transition::Migrate => self.log.0.push(Addition::Migration { time }),
            Transition::Frequency => self.update_frequencies(state, time),
            Transition::ProcessState | Transition::DumpEnd | Transition::KernelThread => {
                self.update_cpus(state, time);
            }
            _ => {}
        }
    }

    /// Updates the processes and frequencies of all CPUs, including new ones: when statistics do.
    #[cold]
    fn update_cpus(&mut self, state: &TraceState, time: i64) {
        for place in 0..state.cpu_count() {
            let (Some(cpu), Some(running)) = (state.cpu_at(place), state.running_at(place)) else {
                continue;
            };
            match self.cpus.get_mut(place) {
                Some(of) => of.run(&mut self.log, running.serial(), time),
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
                self.log.charge_frequency(of.number, hz, of.hz_since, time);
            }
            (of.hz, of.hz_since) = (cpu.frequency(), time);
        }
    }

    /// Counts the time of CPUs for their unknown processes, from the times on from which nothing tells which
    /// process ran.
    #[cold]
    fn lost(&mut self, state: &TraceState, place: usize) {
        let effect = state.effect();
        let losses = effect.losses().iter().map(|loss| (loss.place, loss.since()));
        let unseen = effect.unseen_since().map(|since| (place, since));
        for (place, since) in losses.chain(unseen) {
            let (Some(of), Some(cpu)) = (self.cpus.get_mut(place), state.cpu_at(place)) else {
                continue;
            };
            let Some(unknown) = state.process(cpu.unknown_process()) else { continue };
            let since = since.as_ns().max(self.earliest).max(of.since);
            of.run(&mut self.log, unknown.serial(), since);
        }
    }
}

impl OnCpu {
    /// Charges the time until now if another process runs.
    #[inline]
    fn run(&mut self, log: &mut Log, process: Serial, time: i64) {
        if self.process != process {
            log.charge(self.number, self.process, self.since, time);
            (self.process, self.since) = (process, time);
        }
    }
}
