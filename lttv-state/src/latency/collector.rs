//! The figures that are being collected for a trace.

use hashbrown::HashMap;
use ltt_read::{Event, TracefileIndex};

use super::counts::Unmatched;
use super::family::Family;
use super::ledger::{Figures, Key, Ledger};
use super::sample::{Sample, TopList};
use super::spread::Spread;
use super::threads::{NEVER, ThreadId, at_ns};
use crate::fast_hash::FastHash;

/// The maximum number of pairs of threads, of which one wakes the other, for all families.
const MAX_WAKERS: usize = 1 << 17;

/// The CPU and the time of an event, and its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    pub(super) cpu: u32,
    /// The place of the CPU in the kernel state.
    pub(super) place: usize,
    /// The time of delivery, in ns.
    pub(super) time: i64,
    pub(super) tracefile: TracefileIndex,
}

impl At {
    pub(super) fn new(cpu: u32, place: usize, time: i64, event: &Event<'_>) -> Self {
        At { cpu, place, time, tracefile: event.tracefile_index() }
    }
}

/// The key of wake-ups: a family, the thread that woke another one, that one, and the subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct WakerKey {
    pub(super) family: Family,
    pub(super) subject: u32,
    pub(super) waker: ThreadId,
    pub(super) thread: ThreadId,
}

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

/// The figures of a part of a trace.
#[derive(Debug, Clone)]
pub(super) struct Collector {
    /// `true` while events count: not while the state is computed again.
    pub(super) is_on: bool,
    /// The time from which on time counts, in ns.
    pub(super) begin: i64,
    /// The time of the last event, in ns.
    pub(super) last: i64,
    pub(super) ledger: Ledger,
    pub(super) wakers: HashMap<WakerKey, Spread, FastHash>,
    pub(super) top: Vec<TopList>,
    pub(super) unmatched: Unmatched,
    /// The begins of durations that began before `begin`, in ns. There are no more than what is
    /// open at one time.
    pub(super) before: Vec<i64>,
    /// The use of disks, by number.
    pub(super) disks: Vec<Usage>,
    /// The counters of futexes, by number.
    pub(super) futexes: Vec<FutexCounts>,
}

impl Collector {
    pub(super) fn new(top: usize, begin: i64) -> Self {
        Collector {
            is_on: true,
            begin,
            last: begin,
            ledger: Ledger::default(),
            wakers: HashMap::default(),
            top: Family::ALL.iter().map(|_| TopList::new(top)).collect(),
            unmatched: Unmatched::default(),
            before: Vec::new(),
            disks: Vec::new(),
            futexes: Vec::new(),
        }
    }

    /// Adds a duration from `begin`, in ns, to an event. Returns the figures that it belongs to,
    /// unless the event does not count.
    #[inline]
    pub(super) fn sample(
        &mut self,
        family: Family,
        thread: ThreadId,
        subject: u32,
        begin: i64,
        at: &At,
    ) -> Option<&mut Figures> {
        self.sample_by(family, thread, subject, begin, at, ThreadId::NONE)
    }

    /// Adds a duration like [`sample`](Self::sample), which the thread `by` ended.
    #[inline]
    pub(super) fn sample_by(
        &mut self,
        family: Family,
        thread: ThreadId,
        subject: u32,
        begin: i64,
        at: &At,
        by: ThreadId,
    ) -> Option<&mut Figures> {
        if !self.is_on {
            return None;
        }
        let duration = if at.time > begin { at.time.wrapping_sub(begin) as u64 } else { 0 };
        if begin < self.begin {
            self.before.push(begin);
        }
        let top = &mut self.top[family as usize];
        if top.wants(duration) {
            let (cpu, tracefile) = (at.cpu, at.tracefile);
            let (begin, end) = (at_ns(begin), at_ns(at.time));
            top.add(Sample { family, thread, by, subject, begin, end, cpu, tracefile });
        }
        let (figures, is_own) = self.ledger.at(Key { family, subject, thread });
        if !is_own {
            self.unmatched.dropped += 1;
        }
        figures.durations.add(duration, at.time);
        Some(figures)
    }

    /// Returns the figures of a thread and subject, unless the event does not count.
    pub(super) fn figures(
        &mut self,
        family: Family,
        thread: ThreadId,
        subject: u32,
    ) -> Option<&mut Figures> {
        self.is_on.then(|| self.ledger.at(Key { family, subject, thread }).0)
    }

    /// Adds a duration to those that one thread ended for another.
    #[inline]
    pub(super) fn woken(&mut self, key: WakerKey, begin: i64, at: &At) {
        if !self.is_on || (self.wakers.len() >= MAX_WAKERS && !self.wakers.contains_key(&key)) {
            return;
        }
        let duration = if at.time > begin { at.time.wrapping_sub(begin) as u64 } else { 0 };
        self.wakers.entry(key).or_default().add(duration, at.time);
    }

    /// Counts what led to no duration.
    #[inline]
    pub(super) fn count(&mut self, counter: impl FnOnce(&mut Unmatched) -> &mut u64) {
        if self.is_on {
            *counter(&mut self.unmatched) += 1;
        }
    }

    /// Adds the time since the last change of the number of requests in a disk.
    pub(super) fn disk_passed(&mut self, disk: usize, number: u32, since: i64, time: i64) {
        if self.is_on && since != NEVER {
            let begin = self.begin;
            entry(&mut self.disks, disk).pass(number, since.max(begin), time);
        }
    }

    /// Notes the number of requests in a disk.
    pub(super) fn disk_has(&mut self, disk: usize, number: u32) {
        if self.is_on {
            let usage = entry(&mut self.disks, disk);
            usage.most = usage.most.max(number);
        }
    }

    /// Returns the counters of a futex, unless the event does not count.
    pub(super) fn futex(&mut self, number: u32) -> Option<&mut FutexCounts> {
        self.is_on.then(|| entry(&mut self.futexes, number as usize))
    }

    /// Adds the time since the last change of the number of waiters of a futex.
    pub(super) fn waiters_passed(&mut self, futex: u32, number: u32, since: i64, time: i64) {
        let begin = self.begin;
        if since != NEVER
            && let Some(counts) = self.futex(futex)
        {
            counts.waiters.pass(number, since.max(begin), time);
        }
    }

    /// Adds the figures of the following part.
    pub(super) fn add(&mut self, later: &Collector) {
        self.last = self.last.max(later.last);
        self.ledger.add_all(&later.ledger);
        for (key, spread) in &later.wakers {
            if self.wakers.len() < MAX_WAKERS || self.wakers.contains_key(key) {
                self.wakers.entry(*key).or_default().add_all(spread);
            }
        }
        for (mine, later) in self.top.iter_mut().zip(&later.top) {
            later.samples().iter().for_each(|sample| mine.add(*sample));
        }
        self.unmatched.add(&later.unmatched);
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
}

/// Returns the element at an index, which is added if it is new.
pub(super) fn entry<T: Default + Clone>(all: &mut Vec<T>, at: usize) -> &mut T {
    if all.len() <= at {
        all.resize(at + 1, T::default());
    }
    &mut all[at]
}
