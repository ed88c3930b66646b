//! Sums of usage, computed on request.

use std::collections::BTreeMap;
use std::sync::Arc;

use ltt_read::Timestamp;

use super::TraceUsage;
use super::counts::{Activity, FrequencyTime, Pages, Traffic};
use crate::kernel::{Serial, Tid};
use crate::stats::{CpuSum, ProcessFacts};

/// The use of a CPU.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CpuUsage {
    /// The time by what ran.
    pub sum: CpuSum,
    /// The number of times that the CPU switched to another thread.
    pub switches: u64,
    /// The clock frequency; `None` if it is not known at any time.
    pub frequency: Option<CpuFrequency>,
}

/// The clock frequency of a CPU, as far as it is known: from its first change in the trace on.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CpuFrequency {
    /// The mean in Hz, weighted by time.
    pub mean_hz: f64,
    /// The time at each frequency: in Hz, and in ns.
    pub residency: Vec<(u64, u64)>,
}

/// The use of a machine by a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadUsage {
    /// The number of the thread in [`TraceUsage::thread_facts`]; [`Serial::NONE`] for what was done
    /// in interrupts.
    pub thread: Serial,
    /// The CPU time in ns, including interrupts.
    pub cpu_time: u64,
    /// The number of times that a CPU switched to it.
    pub switches: u64,
    /// The number of its migrations to another CPU.
    pub migrations: u64,
    /// The memory pages, except for those in interrupts.
    pub pages: Pages,
    /// The packets that it sent, except for those in interrupts.
    pub sent: Traffic,
}

/// The use of a machine by all threads of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessUsage {
    /// The id of the process, which that of its threads is if it is not recorded.
    pub pid: Tid,
    /// The name of its first thread.
    pub name: Arc<str>,
    /// The number of its threads.
    pub threads: u64,
    /// The CPU time in ns, including interrupts.
    pub cpu_time: u64,
    /// The number of times that a CPU switched to its threads.
    pub switches: u64,
    /// The number of migrations of its threads.
    pub migrations: u64,
    /// The memory pages, except for those in interrupts.
    pub pages: Pages,
    /// The packets that it sent, except for those in interrupts.
    pub sent: Traffic,
}

/// The packets of a network interface.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InterfaceUsage {
    /// The name of the interface; empty for those without a name.
    pub name: String,
    /// The packets that were sent.
    pub sent: Traffic,
    /// The packets that were received.
    pub received: Traffic,
}

/// The use of a machine in an interval.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct IntervalUsage {
    /// The start of the interval.
    pub start: Timestamp,
    /// The end of the interval, which is the end of the usage for the last one.
    pub end: Timestamp,
    /// The CPUs, ordered by number, of which only the busy, idle and unknown times are known, and
    /// the mean frequencies in Hz.
    pub cpus: Vec<(CpuSum, Option<f64>)>,
    /// The CPU times of threads in ns.
    pub threads: Vec<(Serial, u64)>,
    /// The activity of the machine besides.
    pub activity: Activity,
}

impl TraceUsage {
    /// Returns the use of each CPU, ordered by number.
    pub fn cpus(&self) -> Vec<CpuUsage> {
        let usage = |sum: CpuSum| {
            let cpu = sum.number;
            let residency: Vec<_> = self
                .collected
                .residency
                .range((cpu, 0)..=(cpu, u64::MAX))
                .map(|((_, hz), time)| (*hz, *time))
                .collect();
            let mut total = FrequencyTime::default();
            residency.iter().for_each(|(hz, time)| total.add(*hz, *time));
            let frequency = total.mean().map(|mean_hz| CpuFrequency { mean_hz, residency });
            let switches = self.collected.switches.get(&cpu).copied().unwrap_or(0);
            CpuUsage { sum, switches, frequency }
        };
        self.statistics.cpus().into_iter().map(usage).collect()
    }

    /// Returns the use by each thread, ordered by serial number, without idle threads. What was done
    /// in interrupts is that of [`Serial::NONE`]. The time during which nothing tells who ran is that of no
    /// thread, but the unknown time of its [CPU](Self::cpus).
    pub fn threads(&self) -> Vec<ThreadUsage> {
        let threads = self.all_threads().into_iter();
        threads.filter(|of| !self.is_idle(of.thread)).collect()
    }

    /// Returns the use by each thread, like [`threads`](Self::threads), also of idle threads.
    pub fn all_threads(&self) -> Vec<ThreadUsage> {
        let mut threads: BTreeMap<Serial, ThreadUsage> = BTreeMap::new();
        let processes = self.statistics.processes().into_iter();
        for sum in processes.filter(|sum| self.is_known(sum.process)) {
            let entry = threads.entry(sum.process);
            entry.or_insert_with(|| ThreadUsage::none(sum.process)).cpu_time = sum.cpu_time;
        }
        for (number, facts) in self.thread_facts().iter().enumerate() {
            let thread = Serial(number as u32);
            if facts.times_scheduled > 0 || facts.migrations > 0 {
                let of = threads.entry(thread).or_insert_with(|| ThreadUsage::none(thread));
                (of.switches, of.migrations) = (facts.times_scheduled, facts.migrations);
            }
        }
        for (thread, pages) in &self.collected.pages {
            threads.entry(*thread).or_insert_with(|| ThreadUsage::none(*thread)).pages = *pages;
        }
        for (thread, sent) in &self.collected.sent {
            threads.entry(*thread).or_insert_with(|| ThreadUsage::none(*thread)).sent = *sent;
        }
        threads.into_values().collect()
    }

    /// Returns the use by each process, ordered by id, without idle threads, unknown ones and
    /// interrupts.
    pub fn processes(&self) -> Vec<ProcessUsage> {
        let mut processes: BTreeMap<Tid, ProcessUsage> = BTreeMap::new();
        for thread in self.threads() {
            let Some(facts) = self.facts(thread.thread) else { continue };
            let Some(pid) = facts.pid.or(facts.tid) else { continue };
            let of = processes.entry(pid).or_insert_with(|| ProcessUsage {
                pid,
                name: facts.name.clone(),
                threads: 0,
                cpu_time: 0,
                switches: 0,
                migrations: 0,
                pages: Pages::default(),
                sent: Traffic::default(),
            });
            if facts.tid == Some(pid) {
                of.name = facts.name.clone();
            }
            of.threads += 1;
            of.cpu_time = of.cpu_time.saturating_add(thread.cpu_time);
            of.switches = of.switches.saturating_add(thread.switches);
            of.migrations = of.migrations.saturating_add(thread.migrations);
            of.pages += thread.pages;
            of.sent += thread.sent;
        }
        processes.into_values().collect()
    }

    /// Returns the packets of each network interface, ordered by name.
    pub fn interfaces(&self) -> Vec<InterfaceUsage> {
        let all = self.collected.interfaces.iter().map(|of| InterfaceUsage {
            name: of.name.to_string(),
            sent: of.sent,
            received: of.received,
        });
        let mut all: Vec<_> = all.collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// Returns the use in each interval that has any, in order of time. Empty without intervals.
    pub fn intervals(&self) -> Vec<IntervalUsage> {
        let Some(intervals) = self.collected.intervals else { return Vec::new() };
        let mut cells: Vec<_> = self.collected.cells.iter().collect();
        cells.sort_unstable_by_key(|(cell, _)| **cell);
        let mut all: BTreeMap<u64, IntervalUsage> = BTreeMap::new();
        let (first, last) = (self.start().as_ns(), self.end().as_ns());
        // An event at the end of the usage belongs to the interval that ends there.
        let final_one = intervals.number(last.saturating_sub(1).max(first));
        let new = |number: u64| IntervalUsage {
            start: Timestamp::from_ns(intervals.start(number).max(first)),
            end: Timestamp::from_ns(intervals.end(number).min(last.max(first))),
            cpus: Vec::new(),
            threads: Vec::new(),
            activity: Activity::default(),
        };
        // What is known later to have been another process is subtracted, to nothing.
        for (cell, time) in cells.into_iter().filter(|(_, time)| 0 < **time as i64) {
            let of = all.entry(cell.interval).or_insert_with(|| new(cell.interval));
            let facts = self.facts(cell.process);
            if of.cpus.last().is_none_or(|(sum, _)| sum.number != cell.cpu) {
                let hz = self.collected.frequencies.get(&(cell.interval, cell.cpu));
                let sum = CpuSum { number: cell.cpu, ..CpuSum::default() };
                of.cpus.push((sum, hz.and_then(FrequencyTime::mean)));
            }
            if let Some((sum, _)) = of.cpus.last_mut() {
                sum.add_time(facts, *time);
            }
            if facts.is_some_and(|facts| facts.tid.is_some() && !facts.is_idle()) {
                match of.threads.iter_mut().find(|(thread, _)| *thread == cell.process) {
                    Some((_, sum)) => *sum = sum.wrapping_add(*time),
                    None => of.threads.push((cell.process, *time)),
                }
            }
        }
        for (number, activity) in &self.collected.activities {
            let number = (*number).min(final_one);
            all.entry(number).or_insert_with(|| new(number)).activity += *activity;
        }
        all.into_values().collect()
    }

    fn is_idle(&self, thread: Serial) -> bool {
        self.facts(thread).is_some_and(ProcessFacts::is_idle)
    }

    /// Returns `true` for a thread, and `false` for the unknown ones of a CPU.
    fn is_known(&self, thread: Serial) -> bool {
        self.facts(thread).is_some_and(|facts| facts.tid.is_some())
    }

    fn facts(&self, thread: Serial) -> Option<&ProcessFacts> {
        self.thread_facts().get(thread.index())
    }
}

impl ThreadUsage {
    fn none(thread: Serial) -> Self {
        let (pages, sent) = Default::default();
        ThreadUsage { thread, cpu_time: 0, switches: 0, migrations: 0, pages, sent }
    }
}
