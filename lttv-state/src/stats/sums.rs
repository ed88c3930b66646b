//! Sums over leaves, computed on request.

use std::collections::BTreeMap;

use super::TraceStatistics;
use super::facts::ProcessFacts;
use super::leaf::{Counts, LeafKey};
use crate::durations::Durations;
use crate::kernel::NameId;
use crate::kernel::{ExecutionMode, Serial};

/// The sums of a CPU. Times are in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CpuSum {
    /// The CPU number.
    pub number: u32,
    /// The time spent on processes, including interrupts of them, in ns.
    pub busy_time: u64,
    /// The time spent on its idle process, including interrupts of it, in ns.
    pub idle_time: u64,
    /// The time during which the running process is unknown, in ns.
    pub unknown_time: u64,
    /// The time spent on interrupts and softirqs, whichever process they interrupted, in
    /// ns.
    pub interrupt_time: u64,
    /// The time by what the CPU executed, whichever process it interrupted.
    pub times: CpuTimes,
    /// The number of events of the CPU.
    pub events: u64,
}

/// The time of a CPU by what it executed, in ns. The sum of `user`, `system`, `idle`,
/// `interrupt` and `unknown` is the time of the statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CpuTimes {
    /// The time spent in code of programs, in ns.
    pub user: u64,
    /// The time spent in system calls, exceptions and kernel threads, in ns.
    pub system: u64,
    /// The time spent in the idle process, without interrupts and exceptions, in ns.
    pub idle: u64,
    /// The time spent on interrupts, including softirqs, in ns.
    pub interrupt: u64,
    /// The part of `interrupt` spent on softirqs, without interrupts of them, in ns.
    pub softirq: u64,
    /// The time during which the running process or its mode is unknown, in ns.
    pub unknown: u64,
}

impl CpuSum {
    /// Returns the share of time for which the CPU was busy, in per cent: a process other than its
    /// idle process ran. An interrupt counts for the process that it interrupts, so interrupts of
    /// the idle process are not busy; [`times`](Self::times) separates them. Returns `None` if
    /// there is no time.
    ///
    /// All programs that print how busy a CPU is use this definition.
    pub fn busy_percent(&self) -> Option<f64> {
        let time = self.busy_time.wrapping_add(self.idle_time).wrapping_add(self.unknown_time);
        (time > 0).then(|| self.busy_time as f64 * 100.0 / time as f64)
    }

    /// Adds time during which a process ran.
    pub(crate) fn add_time(&mut self, process: Option<&ProcessFacts>, ns: u64) {
        let time = match process.and_then(|facts| facts.tid) {
            None => &mut self.unknown_time,
            Some(0) => &mut self.idle_time,
            Some(_) => &mut self.busy_time,
        };
        *time = time.wrapping_add(ns);
    }
}

impl CpuTimes {
    /// Returns the time during which it is known what the CPU executed, in ns: the sum of
    /// `user`, `system`, `idle` and `interrupt`.
    pub fn covered(&self) -> u64 {
        [self.system, self.idle, self.interrupt].into_iter().fold(self.user, u64::wrapping_add)
    }

    /// Adds the time of a leaf.
    fn add(&mut self, mode: ExecutionMode, is_idle: bool, time: u64) {
        let part = match mode {
            ExecutionMode::Syscall if is_idle => &mut self.idle,
            ExecutionMode::Syscall | ExecutionMode::Trap => &mut self.system,
            ExecutionMode::User => &mut self.user,
            ExecutionMode::Irq | ExecutionMode::Softirq => &mut self.interrupt,
            ExecutionMode::Unknown => &mut self.unknown,
        };
        *part = part.wrapping_add(time);
        if mode == ExecutionMode::Softirq {
            self.softirq = self.softirq.wrapping_add(time);
        }
    }
}

/// The sums of a process. Times are in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessSum {
    /// The serial number of the process.
    pub process: Serial,
    /// The CPU time of the process, including interrupts of it, in ns.
    pub cpu_time: u64,
    /// The part of the CPU time spent in its own code, in ns.
    pub user_time: u64,
    /// The part of the CPU time spent in system calls and exceptions, in ns.
    pub system_time: u64,
    /// The part of the CPU time spent in interrupts and softirqs, in ns.
    pub interrupt_time: u64,
    /// The part of the CPU time spent in an unknown mode, in ns.
    pub unknown_time: u64,
    /// The number of events while the process ran.
    pub events: u64,
}

impl TraceStatistics {
    /// Returns the sum over all leaves.
    pub fn total(&self) -> Counts {
        self.sum(|_| true)
    }

    /// Returns the sum over the leaves for which a function returns `true`.
    ///
    /// ```
    /// # use lttv_context::Traceset;
    /// # use lttv_state::analysis::read;
    /// # use lttv_state::kernel::ExecutionMode;
    /// # use lttv_state::stats::StatisticsAnalysis;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// # let statistics = read(&Traceset::open(path)?).run(StatisticsAnalysis::new()).output;
    /// # let trace = &statistics.traces()[0];
    /// let softirqs = trace.sum(|leaf| leaf.cpu == 4 && leaf.mode == ExecutionMode::Softirq);
    /// println!("CPU 4: {} requests completed in softirqs", softirqs.requests().completed);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sum(&self, mut of: impl FnMut(&LeafKey) -> bool) -> Counts {
        self.leaves().filter(|(key, _)| of(key)).map(|(_, counts)| counts).sum()
    }

    /// Returns the number of events by event name, ordered by name.
    pub fn events(&self) -> BTreeMap<&str, u64> {
        let mut events = BTreeMap::new();
        for (event_type, count) in self.total().events.iter() {
            *events.entry(self.event_name(event_type)).or_default() += count;
        }
        events
    }

    /// Returns the sums of each CPU, ordered by number.
    pub fn cpus(&self) -> Vec<CpuSum> {
        let mut cpus: BTreeMap<u32, CpuSum> = BTreeMap::new();
        for (key, counts) in self.leaves() {
            let cpu = cpus.entry(key.cpu).or_default();
            cpu.number = key.cpu;
            if key.process == Serial::NONE {
                cpu.events += counts.events.total();
                continue;
            }
            let facts = self.process_facts().get(key.process.index());
            cpu.add_time(facts, counts.cpu_time);
            let is_idle = facts.is_some_and(ProcessFacts::is_idle);
            cpu.times.add(key.mode, is_idle, counts.cpu_time);
            if key.mode.is_interrupt() {
                cpu.interrupt_time = cpu.interrupt_time.wrapping_add(counts.cpu_time);
            }
            cpu.events += counts.events.total();
        }
        // Of some CPUs only events are known.
        for cpu in cpus.values_mut() {
            let known = cpu.busy_time.wrapping_add(cpu.idle_time).wrapping_add(cpu.unknown_time);
            if known == 0 {
                (cpu.unknown_time, cpu.times.unknown) = (self.time(), self.time());
            }
        }
        cpus.into_values().collect()
    }

    /// Returns the durations of the system calls that ended, by process and name, except for those
    /// whose entry was not seen: without a name, as the one by which a process was forked.
    pub fn syscalls(&self) -> BTreeMap<Serial, BTreeMap<&str, Durations>> {
        let mut all: BTreeMap<Serial, BTreeMap<&str, Durations>> = BTreeMap::new();
        for (key, counts) in self.leaves() {
            let is_named = key.submode != NameId::NONE;
            if key.mode == ExecutionMode::Syscall && is_named && !counts.durations.is_empty() {
                let calls = all.entry(key.process).or_default();
                calls.entry(self.name(key.submode)).or_default().add(&counts.durations);
            }
        }
        all
    }

    /// Returns the sums of each process that was ever on a CPU, ordered by serial number.
    pub fn processes(&self) -> Vec<ProcessSum> {
        self.processes_where(|_| true)
    }

    /// Returns the sums of each process over the leaves that are selected, such as those of some CPUs, ordered
    /// by serial number. Processes without such a leaf are left out.
    pub fn processes_where(&self, of: impl Fn(&LeafKey) -> bool) -> Vec<ProcessSum> {
        let mut sums: BTreeMap<Serial, ProcessSum> = BTreeMap::new();
        let leaves = self.leaves().filter(|(key, _)| key.process != Serial::NONE && of(key));
        for (key, counts) in leaves {
            let sum = sums.entry(key.process).or_insert(ProcessSum {
                process: key.process,
                cpu_time: 0,
                user_time: 0,
                system_time: 0,
                interrupt_time: 0,
                unknown_time: 0,
                events: 0,
            });
            let part = match key.mode {
                ExecutionMode::User => &mut sum.user_time,
                ExecutionMode::Syscall | ExecutionMode::Trap => &mut sum.system_time,
                ExecutionMode::Irq | ExecutionMode::Softirq => &mut sum.interrupt_time,
                ExecutionMode::Unknown => &mut sum.unknown_time,
            };
            *part = part.wrapping_add(counts.cpu_time);
            sum.cpu_time = sum.cpu_time.wrapping_add(counts.cpu_time);
            sum.events += counts.events.total();
        }
        sums.into_values().collect()
    }
}
