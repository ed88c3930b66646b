//! The figures that are being collected for a trace.

use std::sync::Arc;

use hashbrown::HashMap;
use ltt_read::TracefileIndex;

use super::division::{Division, NO_PART};
use super::group_by::GroupBy;
use super::ledger::{Key, Ledger};
use super::over_time::OverTime;
use super::sample::{Sample, TopList};
use crate::durations::Spread;
use crate::fast_hash::FastHash;
use crate::kernel::NameId;
use crate::spans::counts::Unmatched;
use crate::spans::family::Family;
use crate::spans::outcome::{Addition, Ended, Outcome, WakerKey};
use crate::spans::threads::{NEVER, at_ns};

/// The maximum number of pairs of threads, of which one wakes the other, for all families.
const MAX_WAKERS: usize = 1 << 17;

/// The time for which a number of things was in use, and the largest number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Usage {
    /// The sum of the products of the number and the time in ns.
    pub(super) area: u128,
    /// The time for which the number was greater than 0, in ns.
    pub(super) busy: u64,
    pub(super) most: u32,
}

impl Usage {
    /// Adds the time from `from` to `to`, in ns, for which there was a number of things.
    pub(super) fn pass(&mut self, number: u32, from: i64, to: i64) {
        self.most = self.most.max(number);
        let time = if to > from { to.wrapping_sub(from) as u64 } else { 0 };
        if number > 0 {
            self.busy = self.busy.saturating_add(time);
            self.area = self.area.saturating_add(u128::from(time) * u128::from(number));
        }
    }

    pub(super) fn add(&mut self, later: &Usage) {
        self.area = self.area.saturating_add(later.area);
        self.busy = self.busy.saturating_add(later.busy);
        self.most = self.most.max(later.most);
    }
}

/// The counters of a futex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct FutexCounts {
    pub(super) waiters: Usage,
    pub(super) wakes: u64,
    pub(super) woken: u64,
}

/// The figures that are wanted.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    /// The number of longest durations of each family.
    pub(super) top: usize,
    /// `true` if as many are wanted of each row.
    pub(super) has_top_of_rows: bool,
    /// The property of single spans by which figures are divided.
    pub(super) division: Option<GroupBy>,
    /// The label or value of periods that the property is.
    pub(super) value: Arc<str>,
    /// The intervals of time.
    pub(super) intervals: Option<OverTime>,
}

/// The figures of a part of a trace.
#[derive(Debug, Clone)]
pub(super) struct Collector {
    /// The time from which on time counts, in ns.
    pub(super) begin: i64,
    /// The time of the last event, in ns.
    pub(super) last: i64,
    pub(super) ledger: Ledger,
    pub(super) wakers: HashMap<WakerKey, Spread, FastHash>,
    pub(super) top: Vec<TopList>,
    /// The number of longest durations of each leaf.
    top_of_leaves: usize,
    /// The division of the figures, if there is one.
    pub(super) division: Option<Division>,
    pub(super) unmatched: Unmatched,
    /// The begins of durations that began before `begin`, in ns. There are no more than what is
    /// open at one time.
    pub(super) before: Vec<i64>,
    /// The use of disks, by number.
    pub(super) disks: Vec<Usage>,
    /// The counters of futexes, by number.
    pub(super) futexes: Vec<FutexCounts>,
    /// The durations by interval, if they are wanted.
    pub(super) over_time: Option<OverTime>,
}

impl Collector {
    /// Creates the collector of the wanted figures from a time on, in ns.
    pub(super) fn new(wanted: &Wanted, begin: i64) -> Self {
        Collector {
            begin,
            last: begin,
            ledger: Ledger::default(),
            wakers: HashMap::default(),
            top: Family::ALL.iter().map(|_| TopList::new(wanted.top)).collect(),
            top_of_leaves: if wanted.has_top_of_rows { wanted.top } else { 0 },
            division: wanted.division.map(|by| Division::new(by, &wanted.value)),
            unmatched: Unmatched::default(),
            before: Vec::new(),
            disks: Vec::new(),
            futexes: Vec::new(),
            over_time: wanted.intervals.as_ref().map(OverTime::empty),
        }
    }

    /// Adds a duration to its figures.
    #[inline]
    fn ended(&mut self, ended: &Ended, part: u32) {
        let Ended { family, thread, subject, begin, time, cpu, tracefile, by, more } = *ended;
        let duration = duration(begin, time);
        if begin < self.begin {
            self.before.push(begin);
        }
        let sample = || {
            let (begin, end) = (at_ns(begin), at_ns(time));
            let tracefile = TracefileIndex(tracefile as usize);
            Sample { family, thread, by, subject, begin, end, cpu, tracefile }
        };
        let top = &mut self.top[family as usize];
        if top.wants(duration) {
            top.add(sample());
        }
        let (figures, is_own) = self.ledger.at(Key { family, subject, thread, part });
        if self.top_of_leaves > 0 {
            let limit = self.top_of_leaves;
            let top = figures.top.get_or_insert_with(|| Box::new(TopList::new(limit)));
            if top.wants(duration) {
                top.add(sample());
            }
        }
        if !is_own {
            self.unmatched.dropped += 1;
        }
        figures.durations.add(duration, time);
        if let Some(over_time) = &mut self.over_time {
            over_time.add(family, duration, time);
        }
        match more {
            Addition::Nothing
            | Addition::Request { sectors: 0 }
            | Addition::Call { error: None, bytes: 0 } => {}
            Addition::Request { sectors } => {
                let extra = figures.extra();
                extra.sectors = extra.sectors.saturating_add(sectors);
            }
            Addition::Call { error, bytes } => {
                let extra = figures.extra();
                extra.bytes = extra.bytes.saturating_add(bytes);
                error.iter().for_each(|error| extra.count_error(*error, 1));
            }
            Addition::Handler { net, was_interrupted } => {
                let extra = figures.extra();
                extra.net.add(net, time);
                extra.nested += u64::from(was_interrupted);
            }
        }
    }

    /// Adds a duration to those that one thread ended for another.
    #[inline]
    fn woken_by(&mut self, key: WakerKey, begin: i64, time: i64) {
        if self.wakers.len() < MAX_WAKERS || self.wakers.contains_key(&key) {
            self.wakers.entry(key).or_default().add(duration(begin, time), time);
        }
    }

    /// Adds an outcome that few events have.
    fn rare(&mut self, outcome: Outcome, part: u32) {
        match outcome {
            Outcome::Ended(ended) => self.ended(&ended, part),
            Outcome::Woken { key, begin, time } => self.woken_by(key, begin, time),
            Outcome::Count(counter) => *counter(&mut self.unmatched) += 1,
            Outcome::Moved { family, thread, bytes } => {
                let subject = NameId::EMPTY.index() as u32;
                let key = Key { family, subject, thread, part };
                let extra = self.ledger.at(key).0.extra();
                extra.bytes = extra.bytes.saturating_add(bytes);
            }
            Outcome::DiskPassed { since: NEVER, .. }
            | Outcome::WaitersPassed { since: NEVER, .. } => {}
            Outcome::DiskPassed { disk, number, since, time } => {
                let begin = self.begin;
                entry(&mut self.disks, disk as usize).pass(number, since.max(begin), time);
            }
            Outcome::DiskHas { disk, number } => {
                let usage = entry(&mut self.disks, disk as usize);
                usage.most = usage.most.max(number);
            }
            Outcome::WaitersPassed { futex, number, since, time } => {
                let begin = self.begin;
                let counts = entry(&mut self.futexes, futex as usize);
                counts.waiters.pass(number, since.max(begin), time);
            }
            Outcome::HasWaiters { futex, number } => {
                let counts = entry(&mut self.futexes, futex as usize);
                counts.waiters.most = counts.waiters.most.max(number);
            }
            Outcome::Wakes { futex, woken } => {
                let counts = entry(&mut self.futexes, futex as usize);
                counts.wakes += 1;
                counts.woken = counts.woken.saturating_add(woken);
            }
        }
    }

    /// Adds the figures of the following part.
    pub(super) fn add(&mut self, later: &Collector) {
        self.last = self.last.max(later.last);
        match (&mut self.division, &later.division) {
            (Some(mine), Some(of_later)) => {
                let parts = mine.add_all(of_later);
                self.ledger.add_all(&later.ledger, parts);
            }
            _ => self.ledger.add_all(&later.ledger, |part| part),
        }
        for (key, spread) in &later.wakers {
            if self.wakers.len() < MAX_WAKERS || self.wakers.contains_key(key) {
                self.wakers.entry(*key).or_default().add_all(spread);
            }
        }
        for (mine, later) in self.top.iter_mut().zip(&later.top) {
            later.samples().iter().for_each(|sample| mine.add(*sample));
            mine.finish();
        }
        self.unmatched.add(&later.unmatched);
        if let Some((mine, later)) = self.over_time.as_mut().zip(later.over_time.as_ref()) {
            mine.add_all(later);
        }
        let begin = self.begin;
        self.before.extend(later.before.iter().filter(|before| **before < begin));
        for (at, usage) in later.disks.iter().enumerate() {
            entry(&mut self.disks, at).add(usage);
        }
        for (at, counts) in later.futexes.iter().enumerate() {
            let mine = entry(&mut self.futexes, at);
            mine.waiters.add(&counts.waiters);
            mine.wakes += counts.wakes;
            mine.woken = mine.woken.saturating_add(counts.woken);
        }
    }

    /// Puts the longest durations in order.
    pub(super) fn finish(&mut self) {
        self.top.iter_mut().for_each(TopList::finish);
    }

    /// Notes the time of an event, in ns.
    #[inline]
    pub(super) fn passed(&mut self, time: i64) {
        self.last = time;
    }

    /// Adds an outcome.
    #[inline]
    pub(super) fn put(&mut self, outcome: Outcome) {
        self.put_in(outcome, NO_PART);
    }

    /// Adds an outcome to a part of the [division](super::division).
    #[inline]
    pub(super) fn put_in(&mut self, outcome: Outcome, part: u32) {
        match outcome {
            Outcome::Ended(ended) => self.ended(&ended, part),
            Outcome::Woken { key, begin, time } => self.woken_by(key, begin, time),
            outcome => self.rare(outcome, part),
        }
    }
}

/// Returns the length of a duration, which is 0 if a clock went back.
fn duration(begin: i64, end: i64) -> u64 {
    if end > begin { end.wrapping_sub(begin) as u64 } else { 0 }
}

/// Returns the element at an index, which is added if it is new.
pub(super) fn entry<T: Default + Clone>(all: &mut Vec<T>, at: usize) -> &mut T {
    if all.len() <= at {
        all.resize(at + 1, T::default());
    }
    &mut all[at]
}
