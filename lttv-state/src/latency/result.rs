//! The latencies of a trace, as results.

use std::collections::BTreeMap;

use ltt_read::{TimeSpan, Timestamp};

use super::collector::{Collector, Usage};
use super::division::{NO_PART, PartOf};
use super::group_by::GroupBy;
use super::ledger::LatencyFigures;
use super::sample::Sample;
use super::trace_latencies::TraceLatencies;
use crate::durations::{Distribution, Spread};
use crate::kernel::needs::Need;
use crate::kernel::{DeviceNumber, NameId, RequestOperation, Tid, TraceState};
use crate::spans::Span;
use crate::spans::counts::Unmatched;
use crate::spans::family::Family;
use crate::spans::machine::{Machine, kind_of_subject};
use crate::spans::outcome::Outcome;
use crate::spans::period::Periods;
use crate::spans::subjects::Subjects;
use crate::spans::threads::{ThreadFacts, ThreadId, at_ns};

/// The latencies of a trace.
#[derive(Debug, Clone)]
pub struct TraceLatency {
    pub(super) collector: Collector,
    pub(super) end: i64,
    pub(super) missing: Vec<(Family, Vec<Need>)>,
    pub(super) subjects: Subjects,
    threads: Vec<ThreadFacts>,
    /// All that is open at the end, by time.
    open: Vec<Open>,
    /// `true` if the use of disks and futexes is known: not of a selection.
    has_use: bool,
}

/// Something that began and has not ended: what a [span](crate::spans) of unknown end shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Open {
    /// The family.
    pub family: Family,
    /// The thread; [`ThreadId::NONE`] if that is unknown, and for interrupts.
    pub thread: ThreadId,
    /// The time of its begin.
    pub begin: Timestamp,
    subject: u32,
}

impl Open {
    /// Creates the open duration that a span is.
    pub(super) fn of(span: &Span) -> Open {
        let (family, begin, subject) = (span.family, span.begin, span.subject);
        Open { family, thread: span.ids.0, begin, subject }
    }
}

/// The figures of durations that have something in common.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// The thread, in rows by thread.
    pub thread: Option<ThreadId>,
    /// The id of the process, in rows by process; `None` if it is unknown.
    pub process: Option<Tid>,
    /// The number of the subject, for [`TraceLatency::subject`], in rows by subject.
    pub subject: Option<Subject>,
    /// The value of the property of single spans, in rows by one; `None` if it is unknown, or not applicable.
    pub part: Option<PartOf>,
    /// The figures.
    pub figures: LatencyFigures,
}

/// The number of a subject of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject {
    family: Family,
    number: u32,
}

/// The use of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiskUse {
    /// The number of the disk.
    pub number: DeviceNumber,
    /// The name; empty if it is unknown.
    pub name: NameId,
    /// The time for which it had requests, in ns.
    pub busy: u64,
    /// The largest number of requests that it had at one time.
    pub most: u32,
    /// The sum of the number of requests over time, in ns: divided by a time, it is their average
    /// number.
    pub depth_time: u128,
}

/// The use of a futex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FutexUse {
    /// The process; of a shared futex one of those that use it. `None` if it is unknown.
    pub pid: Option<Tid>,
    /// The address. `None` for all waits of the process for one of several futexes (`futex_waitv`),
    /// whose addresses are not recorded.
    pub address: Option<u64>,
    /// `true` if several processes may use it.
    pub is_shared: bool,
    /// The number of system calls that wake waiters.
    pub wakes: u64,
    /// The number of waiters that they woke.
    pub woken: u64,
    /// The largest number of threads that waited at one time.
    pub most: u32,
    /// The sum of the number of waiters over time, in ns: divided by a time, it is their average
    /// number.
    pub waiters_time: u128,
    number: u32,
}

/// The durations that one thread ended for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wakes {
    /// The thread that woke the other one; [`ThreadId::INTERRUPT`] if a handler did,
    /// [`ThreadId::NONE`] if it is unknown.
    pub waker: ThreadId,
    /// The thread that was woken.
    pub thread: ThreadId,
    /// The subject: the futex.
    pub subject: Option<Subject>,
    /// The durations.
    pub durations: Spread,
}

impl TraceLatency {
    /// Creates the result of a trace from its state at the end, in ns, and the durations that are open there:
    /// all, or those of a selection.
    pub(super) fn new(
        (state, mut machine): (&TraceState, Machine),
        of: &TraceLatencies,
        periods: &Periods,
        end: i64,
        (open, is_selection): (Vec<Open>, bool),
    ) -> Self {
        for (_, process) in state.processes() {
            if let Some(id) = machine.threads.find(process.serial()) {
                machine.describe(id, process);
            }
        }
        let mut collector = of.collector.clone();
        let end = end.max(collector.begin);
        if !is_selection {
            // What is in use counts up to the end.
            for (disk, of) in (0..).zip(&machine.disks.states) {
                let (number, since) = (of.depth, of.changed);
                collector.put(Outcome::DiskPassed { disk, number, since, time: end });
            }
            for (at, futex) in (0..).zip(&machine.futexes.facts) {
                let (number, since) = (futex.waiters, futex.changed);
                collector.put(Outcome::WaitersPassed { futex: at, number, since, time: end });
            }
        }
        let mut subjects = Subjects::new(periods);
        subjects.update(state, &machine);
        let threads = machine.threads.facts;
        let missing = of.missing.clone();
        TraceLatency { collector, end, missing, subjects, threads, open, has_use: !is_selection }
    }

    /// Adds the latencies of the following part of the trace.
    pub(super) fn add(&mut self, later: &TraceLatency) {
        self.collector.add(&later.collector);
        self.end = self.end.max(later.end);
        self.subjects = later.subjects.clone();
        self.threads.clone_from(&later.threads);
        self.open.clone_from(&later.open);
    }

    /// Returns the span of time that the latencies are of.
    pub fn span(&self) -> TimeSpan {
        TimeSpan { start: at_ns(self.collector.begin), end: at_ns(self.end) }
    }

    /// Returns the events that the trace lacks for a family: with any missing, there are no figures
    /// of it.
    pub fn missing(&self, family: Family) -> &[Need] {
        let found = self.missing.iter().find(|(of, _)| *of == family);
        found.map_or(&[], |(_, events)| events)
    }

    /// Returns the figures of all durations of a family.
    pub fn total(&self, family: Family) -> LatencyFigures {
        let mut total = LatencyFigures::default();
        self.leaves(family).for_each(|(_, figures)| total.add(figures));
        total
    }

    /// Iterates over the finest division of a family.
    fn leaves(
        &self,
        family: Family,
    ) -> impl Iterator<Item = &(super::ledger::Key, LatencyFigures)> {
        self.collector.ledger.iter().filter(move |(key, _)| key.family == family)
    }

    /// Returns the figures of a family in rows, those with most time first. Their sum is the
    /// [total](Self::total). Without the [division](super::Settings::divide) by a property of single spans there is one row
    /// without a value.
    pub fn rows(&self, family: Family, by: GroupBy) -> Vec<Row> {
        let mut rows: BTreeMap<_, LatencyFigures> = BTreeMap::new();
        let division = self.collector.division.as_ref().filter(|division| division.by() == by);
        for (key, figures) in self.leaves(family) {
            let thread =
                matches!(by, GroupBy::Thread | GroupBy::ThreadAndSubject).then_some(key.thread);
            let is_by_process = by == GroupBy::Process;
            let process = is_by_process.then(|| self.thread(key.thread).and_then(|of| of.pid));
            let subject = matches!(by, GroupBy::Subject | GroupBy::ThreadAndSubject)
                .then_some(self.subjects.merged(family, key.subject));
            let part = division.map_or(NO_PART, |_| key.part);
            rows.entry((thread, process, subject, part)).or_default().add(figures);
        }
        let rows = rows.into_iter().map(|((thread, process, number, part), figures)| {
            let subject = number.map(|number| Subject { family, number });
            let part = division.and_then(|division| division.value(part));
            Row { thread, process: process.flatten(), subject, part, figures }
        });
        let mut rows: Vec<Row> = rows.collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.figures.durations.spread().total()));
        rows
    }

    /// Returns the durations of a family that ended in an interval, by its number from 0; `None` if there
    /// are none, or if no intervals were [set](super::Settings::every).
    pub fn in_interval(&self, interval: u64, family: Family) -> Option<&Distribution> {
        self.collector.over_time.as_ref()?.get(interval, family)
    }

    /// Returns the longest durations of a family, the longest first, with the time of their begin
    /// and end.
    pub fn top(&self, family: Family) -> &[Sample] {
        self.collector.top.get(family as usize).map_or(&[], |top| top.samples())
    }

    /// Returns the durations that threads ended for others, by family: [`WakeUp`](Family::WakeUp)
    /// or [`Futex`](Family::Futex). Those with most time come first.
    pub fn wakes(&self, family: Family) -> Vec<Wakes> {
        let of_family = self.collector.wakers.iter().filter(|(key, _)| key.family == family);
        let mut all: Vec<_> = of_family.collect();
        all.sort_by_key(|(key, spread)| (std::cmp::Reverse(spread.total()), **key));
        let wakes = all.into_iter().map(|(key, durations)| Wakes {
            waker: key.waker,
            thread: key.thread,
            subject: (family == Family::Futex)
                .then_some(Subject { family, number: self.subjects.merged(family, key.subject) }),
            durations: *durations,
        });
        wakes.collect()
    }

    /// Returns what had begun and not ended at the end, the oldest first: of all families that are
    /// [measured](super::Settings::families), or of the [selection](super::Settings::select). The system call of a
    /// thread that has exited, such as `exit_group`, is not open.
    pub fn open(&self) -> &[Open] {
        &self.open
    }

    /// Returns the counters of begins and ends that led to no duration.
    pub fn unmatched(&self) -> &Unmatched {
        &self.collector.unmatched
    }

    /// Returns the number of durations that began before the window, and the sum of the parts of
    /// them before it in ns. Their whole durations are in the figures.
    pub fn began_before(&self) -> (u64, u64) {
        let begin = self.collector.begin;
        let before = self.collector.before.iter().map(|of| begin.wrapping_sub(*of) as u64);
        (self.collector.before.len() as u64, before.fold(0, u64::saturating_add))
    }

    /// Iterates over the disks to which requests were issued; over none if there is a
    /// [selection](super::Settings::select).
    pub fn disks(&self) -> impl Iterator<Item = DiskUse> {
        let usage = |at: usize| self.collector.disks.get(at).copied().unwrap_or_default();
        self.subjects.disks.iter().filter(|_| self.has_use).enumerate().map(
            move |(at, (number, name))| {
                let Usage { area, busy, most } = usage(at);
                DiskUse { number: *number, name: *name, busy, most, depth_time: area }
            },
        )
    }

    /// Iterates over the futexes that threads waited for or woke; over none if there is a
    /// [selection](super::Settings::select).
    pub fn futexes(&self) -> impl Iterator<Item = FutexUse> {
        self.subjects.futexes.iter().filter(|_| self.has_use).enumerate().map(move |(at, facts)| {
            let counts = self.collector.futexes.get(at).copied().unwrap_or_default();
            FutexUse {
                pid: facts.pid,
                address: facts.address,
                is_shared: facts.is_shared,
                wakes: counts.wakes,
                woken: counts.woken,
                most: counts.waiters.most,
                waiters_time: counts.waiters.area,
                number: at as u32,
            }
        })
    }

    /// Returns all threads, by [number](ThreadId::index).
    pub fn threads(&self) -> &[ThreadFacts] {
        &self.threads
    }

    /// Returns a thread; `None` for the constants of [`ThreadId`].
    pub fn thread(&self, id: ThreadId) -> Option<&ThreadFacts> {
        self.threads.get(id.index()?)
    }

    /// Returns the text of a name.
    pub fn name(&self, id: NameId) -> &str {
        self.subjects.name(id)
    }

    /// Returns a description of a subject: the name of a system call or file, `PRIORITY` as a
    /// number, `NUMBER NAME` of an interrupt, `DISK KIND` of a request, `PID ADDRESS` of a futex.
    /// Empty if it is unknown, such as the name of a file.
    pub fn subject(&self, subject: Subject) -> String {
        self.subjects.label(subject.family, subject.number)
    }

    /// Returns the description of the subject of a sample.
    pub fn subject_of(&self, sample: &Sample) -> String {
        self.subjects.label(sample.family, sample.subject)
    }

    /// Returns the description of the subject of an open duration.
    pub fn subject_of_open(&self, open: &Open) -> String {
        self.subjects.label(open.family, open.subject)
    }

    /// Returns the subject of a futex.
    pub fn subject_of_futex(&self, futex: &FutexUse) -> String {
        self.subjects.label(Family::Futex, futex.number)
    }

    /// Returns the disk and the operation of a subject of the families of disks; `None` for others.
    pub fn disk_of(&self, subject: Subject) -> Option<(DeviceNumber, RequestOperation)> {
        if !matches!(subject.family, Family::DiskQueue | Family::DiskDevice) {
            return None;
        }
        let (disk, operation) = kind_of_subject(subject.number);
        Some((self.subjects.disks.get(disk as usize)?.0, operation))
    }
}
