//! Sums over leaves, made when they are asked for.

use std::collections::BTreeMap;

use super::TraceStatistics;
use super::durations::Durations;
use super::leaf::Counts;
use crate::kernel::{ExecutionMode, Serial};

/// What a CPU did. Times are in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CpuSum {
    /// Its number.
    pub number: u32,
    /// How long it was on processes, interrupts of them included.
    pub busy_time: u64,
    /// How long it was on its idle process; interrupts of that included.
    pub idle_time: u64,
    /// How long it is not known who it was on.
    pub unknown_time: u64,
    /// How long it was on interrupts and soft interrupts, whomever they
    /// interrupted.
    pub interrupt_time: u64,
    /// Its events.
    pub events: u64,
}

/// What a process did. Times are in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessSum {
    /// Which.
    pub process: Serial,
    /// How long a CPU was on it; what interrupted it included.
    pub cpu_time: u64,
    /// Of that, how long in its own code.
    pub user_time: u64,
    /// Of that, how long in the kernel on its behalf: system calls and exceptions.
    pub system_time: u64,
    /// Of that, how long in interrupts and soft interrupts that came.
    pub interrupt_time: u64,
    /// Of that, how long in a mode that is not known.
    pub unknown_time: u64,
    /// Events while it ran.
    pub events: u64,
}

impl TraceStatistics {
    /// The sum of all.
    pub fn total(&self) -> Counts {
        let mut sum = Counts::default();
        self.leaves().for_each(|(_, counts)| sum.add(counts));
        sum
    }

    /// The events by name, in the order of names.
    pub fn events(&self) -> BTreeMap<&str, u64> {
        let mut events = BTreeMap::new();
        for (event_type, count) in self.total().events.iter() {
            *events.entry(self.event_name(event_type)).or_default() += count;
        }
        events
    }

    /// What each CPU did, by number.
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
            let time = match facts.and_then(|facts| facts.tid) {
                None => &mut cpu.unknown_time,
                Some(0) => &mut cpu.idle_time,
                Some(_) => &mut cpu.busy_time,
            };
            *time = time.wrapping_add(counts.cpu_time);
            if key.mode.is_interrupt() {
                cpu.interrupt_time = cpu.interrupt_time.wrapping_add(counts.cpu_time);
            }
            cpu.events += counts.events.total();
        }
        // Of some, nothing is known but events.
        for cpu in cpus.values_mut() {
            let known = cpu.busy_time.wrapping_add(cpu.idle_time).wrapping_add(cpu.unknown_time);
            if known == 0 {
                cpu.unknown_time = self.time();
            }
        }
        cpus.into_values().collect()
    }

    /// How long each system call took that each process made and that ended, by
    /// process and name.
    pub fn syscalls(&self) -> BTreeMap<Serial, BTreeMap<&str, Durations>> {
        let mut all: BTreeMap<Serial, BTreeMap<&str, Durations>> = BTreeMap::new();
        for (key, counts) in self.leaves() {
            if key.mode == ExecutionMode::Syscall && !counts.durations.is_empty() {
                let calls = all.entry(key.process).or_default();
                calls.entry(self.name(key.submode)).or_default().add(&counts.durations);
            }
        }
        all
    }

    /// What each process did that was ever on a CPU, by serial number.
    pub fn processes(&self) -> Vec<ProcessSum> {
        let mut sums: BTreeMap<Serial, ProcessSum> = BTreeMap::new();
        for (key, counts) in self.leaves().filter(|(key, _)| key.process != Serial::NONE) {
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
