//! The sums that are collected of a trace.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::counts::{Activity, FrequencyTime, Pages, Traffic};
use super::events::Measure;
use super::intervals::Intervals;
use crate::fast_hash::FastHash;
use crate::kernel::Serial;

/// The use of a CPU by a process in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Cell {
    pub(super) interval: u64,
    pub(super) cpu: u32,
    pub(super) process: Serial,
}

/// The packets of a network interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Interface {
    pub(super) name: Box<str>,
    pub(super) sent: Traffic,
    pub(super) received: Traffic,
}

/// The usage of a trace up to a time. All parts are sums, so that those of consecutive parts of a
/// trace add up.
#[derive(Debug, Clone)]
pub(super) struct Collected {
    pub(super) intervals: Option<Intervals>,
    /// The CPU time by interval, CPU and process. It wraps: what is known later to have been
    /// another process is subtracted.
    pub(super) cells: HashMap<Cell, u64, FastHash>,
    /// The time that is in no cell, since there are too many. It wraps, as that of cells does.
    pub(super) omitted: u64,
    /// The activity by interval, if there are intervals.
    pub(super) activities: BTreeMap<u64, Activity>,
    pub(super) total: Activity,
    /// The number of switches of each CPU.
    pub(super) switches: BTreeMap<u32, u64>,
    /// The time at each frequency in Hz, by CPU.
    pub(super) residency: BTreeMap<(u32, u64), u64>,
    /// The time at known frequencies by interval and CPU.
    pub(super) frequencies: BTreeMap<(u64, u32), FrequencyTime>,
    /// The pages by process; by [`Serial::NONE`] in interrupts.
    pub(super) pages: BTreeMap<Serial, Pages>,
    /// The packets that processes sent; by [`Serial::NONE`] in interrupts.
    pub(super) sent: BTreeMap<Serial, Traffic>,
    pub(super) interfaces: Vec<Interface>,
}

/// The greatest number of cells, and of entries of every other table.
pub(super) const MOST: usize = if cfg!(test) { 1 << 4 } else { 1 << 22 };

/// The greatest number of interfaces with entries of their own.
const MOST_INTERFACES: usize = 1 << 10;

impl Collected {
    pub(super) fn new(intervals: Option<Intervals>) -> Self {
        Collected {
            intervals,
            cells: HashMap::default(),
            omitted: 0,
            activities: BTreeMap::new(),
            total: Activity::default(),
            switches: BTreeMap::new(),
            residency: BTreeMap::new(),
            frequencies: BTreeMap::new(),
            pages: BTreeMap::new(),
            sent: BTreeMap::new(),
            interfaces: Vec::new(),
        }
    }

    /// Adds the CPU time of a process from one time to another, in ns. If `to` is the earlier one,
    /// the time is subtracted.
    pub(super) fn charge(&mut self, cpu: u32, process: Serial, from: i64, to: i64) {
        let Some(intervals) = self.intervals else { return };
        for (interval, time) in intervals.parts(from.min(to), from.max(to)) {
            let time = if from <= to { time } else { time.wrapping_neg() };
            let cell = Cell { interval, cpu, process };
            if self.cells.len() < MOST {
                let sum = self.cells.entry(cell).or_default();
                *sum = sum.wrapping_add(time);
            } else if let Some(sum) = self.cells.get_mut(&cell) {
                *sum = sum.wrapping_add(time);
            } else {
                // The rest of the span is in no cell, either.
                let (first, last) = (from.min(to), from.max(to));
                let rest = last.abs_diff(intervals.start(interval).max(first));
                let rest = if from <= to { rest } else { rest.wrapping_neg() };
                self.omitted = self.omitted.wrapping_add(rest);
                return;
            }
        }
    }

    /// Adds the time of a CPU at a frequency, from one time to another in ns.
    pub(super) fn charge_frequency(&mut self, cpu: u32, hz: u64, from: i64, to: i64) {
        if from >= to {
            return;
        }
        if self.residency.len() < MOST || self.residency.contains_key(&(cpu, hz)) {
            let time = self.residency.entry((cpu, hz)).or_default();
            *time = time.saturating_add(to.abs_diff(from));
        }
        let Some(intervals) = self.intervals else { return };
        for (interval, time) in intervals.parts(from, to) {
            if self.frequencies.len() >= MOST && !self.frequencies.contains_key(&(interval, cpu)) {
                return;
            }
            self.frequencies.entry((interval, cpu)).or_default().add(hz, time);
        }
    }

    /// Counts a context switch of a CPU at a time, in ns.
    pub(super) fn switched(&mut self, cpu: u32, time: i64) {
        *self.switches.entry(cpu).or_default() += 1;
        self.add_activity(time, Activity { switches: 1, ..Activity::default() });
    }

    /// Counts the migration of a thread at a time, in ns.
    pub(super) fn migrated(&mut self, time: i64) {
        self.add_activity(time, Activity { migrations: 1, ..Activity::default() });
    }

    /// Adds what an event at a time, in ns, measures of its owner.
    pub(super) fn measured(&mut self, time: i64, owner: Serial, measure: Measure<&str>) {
        let mut activity = Activity::default();
        match measure {
            Measure::Pages(pages) => {
                activity.pages = pages;
                *self.pages.entry(owner).or_default() += pages;
            }
            Measure::Sent { interface, bytes } => {
                activity.sent = Traffic::packet(bytes);
                *self.sent.entry(owner).or_default() += activity.sent;
                self.interface(interface).sent += activity.sent;
            }
            Measure::Received { interface, bytes } => {
                activity.received = Traffic::packet(bytes);
                self.interface(interface).received += activity.received;
            }
            Measure::Retransmission => activity.retransmissions = 1,
        }
        self.add_activity(time, activity);
    }

    /// Adds an activity at a time, in ns.
    pub(super) fn add_activity(&mut self, time: i64, activity: Activity) {
        self.total += activity;
        if let Some(intervals) = self.intervals {
            let number = intervals.number(time);
            if self.activities.len() < MOST || self.activities.contains_key(&number) {
                *self.activities.entry(number).or_default() += activity;
            }
        }
    }

    /// Returns the interface of a name. Those beyond the limit share one without a name.
    pub(super) fn interface(&mut self, name: &str) -> &mut Interface {
        let known = self.interfaces.iter().position(|of| *of.name == *name);
        let at = known.unwrap_or_else(|| {
            let name = if self.interfaces.len() < MOST_INTERFACES { name } else { "" };
            let unnamed = self.interfaces.iter().position(|of| *of.name == *name);
            unnamed.unwrap_or_else(|| {
                let (sent, received) = Default::default();
                self.interfaces.push(Interface { name: name.into(), sent, received });
                self.interfaces.len() - 1
            })
        });
        &mut self.interfaces[at]
    }

    /// Adds the figures of the following part of the trace.
    pub(super) fn add(&mut self, later: &Collected) {
        for (cell, time) in &later.cells {
            if self.cells.len() < MOST || self.cells.contains_key(cell) {
                let sum = self.cells.entry(*cell).or_default();
                *sum = sum.wrapping_add(*time);
            } else {
                self.omitted = self.omitted.wrapping_add(*time);
            }
        }
        self.omitted = self.omitted.wrapping_add(later.omitted);
        add_all(&mut self.activities, &later.activities);
        self.total += later.total;
        add_all(&mut self.switches, &later.switches);
        add_all(&mut self.residency, &later.residency);
        for (key, time) in &later.frequencies {
            self.frequencies.entry(*key).or_default().add_all(time);
        }
        add_all(&mut self.pages, &later.pages);
        add_all(&mut self.sent, &later.sent);
        for of in &later.interfaces {
            let interface = self.interface(&of.name);
            interface.sent += of.sent;
            interface.received += of.received;
        }
    }
}

/// Adds the values of another table.
fn add_all<K: Ord + Copy, V: std::ops::AddAssign + Default + Copy>(
    to: &mut BTreeMap<K, V>,
    from: &BTreeMap<K, V>,
) {
    for (key, value) in from {
        *to.entry(*key).or_default() += *value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: u64 = 10;

    /// Returns a full table: each cell has the time of a whole interval.
    fn full() -> Collected {
        let mut full = Collected::new(Some(Intervals { origin: 0, length: LENGTH }));
        full.charge(0, Serial(0), 0, (MOST as u64 * LENGTH) as i64);
        assert_eq!((full.cells.len(), full.omitted), (MOST, 0));
        full
    }

    /// Time that is charged to one process, and then known to be that of another, is omitted once,
    /// whichever of the two has cells.
    #[test]
    fn times_that_are_corrected_are_omitted_once() {
        let mut collected = full();
        collected.charge(1, Serial(1), 3, 27);
        assert_eq!(collected.omitted, 24);
        collected.charge(1, Serial(1), 27, 3);
        assert_eq!(collected.omitted, 0);
        collected.charge(1, Serial(2), 3, 27);
        assert_eq!(collected.omitted, 24);
    }

    #[test]
    fn parts_that_subtract_add_up() {
        let mut collected = full();
        collected.charge(1, Serial(1), 3, 27);
        let mut later = Collected::new(collected.intervals);
        later.charge(1, Serial(1), 27, 3);
        collected.add(&later);
        assert_eq!(collected.omitted, 0);
    }
}
