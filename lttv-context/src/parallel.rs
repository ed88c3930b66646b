//! Reading a traceset on several threads, slice by slice.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use ltt_read::{Error, Notice, Timestamp};

use crate::bounds::Bounds;
use crate::cuts;
use crate::slice::{Report, Slice};
use crate::traceset::Traceset;

/// Reads a traceset on several threads.
///
/// The time is cut into slices. Each is read in a context of its own, with hooks
/// and extensions of its own; the results come in the order of time. Every event
/// is in exactly one slice, and in each they are in the order in which one thread
/// reads them: so what is put together from the results is the same for any
/// number of threads and slices, if the analysis itself can be cut (counts, sums,
/// filters, dumps).
///
/// ```
/// use lttv_context::{MissingState, Parallel, Traceset};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let read = Parallel::new(&traceset).threads(2).run(|slice| {
///     let mut switches = 0;
///     let mut context = slice.context();
///     context.on_event("sched_switch", |_| switches += 1);
///     slice.read(&mut context)?;
///     drop(context);
///     Ok(switches)
/// });
/// let switches = read.results.into_iter().sum::<Result<u32, MissingState>>()?;
/// assert_eq!((switches, read.events), (497, 6087));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// An [`Extension`](crate::Extension) whose state depends on earlier events has to be
/// brought to the state of a slice's begin, or the slice [is not read](Slice::read).
#[derive(Debug, Clone)]
pub struct Parallel {
    traceset: Traceset,
    begin: Timestamp,
    end: Option<Timestamp>,
    threads: usize,
    slices: Option<usize>,
}

/// What came of reading in parallel.
#[derive(Debug)]
#[non_exhaustive]
pub struct ParallelRead<R> {
    /// The results of all slices, in the order of time.
    pub results: Vec<R>,
    /// How many events were delivered.
    pub events: u64,
    /// Whether a hook asked to stop. Slices behind its own are left out then.
    pub stopped: bool,
    /// What could not be read: see [`TracesetContext::errors`](crate::TracesetContext::errors).
    pub errors: Vec<Error>,
    /// How many errors more were met, but not kept. What two slices met counts twice.
    pub errors_omitted: u64,
    /// What was noticed.
    pub notices: Vec<Notice>,
    /// How many notices more came up, but were not kept. What two slices met counts
    /// twice.
    pub notices_omitted: u64,
}

impl Parallel {
    /// All of a traceset, on as many threads as there are processors.
    pub fn new(traceset: impl Into<Traceset>) -> Self {
        let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Parallel {
            traceset: traceset.into(),
            begin: Timestamp::MIN,
            end: None,
            threads,
            slices: None,
        }
    }

    /// On so many threads.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Parallel { threads: threads.max(1), ..self }
    }

    /// In so many slices at most: by default a few for each thread. More of them
    /// share the work out better, but where a slice begins, part of a packet of
    /// each tracefile is read twice.
    #[must_use]
    pub fn slices(self, slices: usize) -> Self {
        Parallel { slices: Some(slices.max(1)), ..self }
    }

    /// Only events from one time on and before another.
    #[must_use]
    pub fn between(self, begin: Timestamp, end: Timestamp) -> Self {
        Parallel { begin, end: Some(end), ..self }
    }

    /// Does some work for each slice, and gives the results in order. The work
    /// makes the context of its slice, adds hooks, and has the slice read.
    ///
    /// # Panics
    ///
    /// If the work does.
    pub fn run<R: Send>(&self, work: impl Fn(&mut Slice<'_>) -> R + Sync) -> ParallelRead<R> {
        let mut results = Vec::new();
        let read = self.run_in_order(work, |result| results.push(result));
        let ParallelRead {
            events, stopped, errors, errors_omitted, notices, notices_omitted, ..
        } = read;
        ParallelRead { results, events, stopped, errors, errors_omitted, notices, notices_omitted }
    }

    /// As [`run`](Self::run), but hands each result on, in order, as soon as it
    /// and all before it are there. Few results are kept at a time.
    ///
    /// # Panics
    ///
    /// If the work does.
    pub fn run_in_order<R: Send>(
        &self,
        work: impl Fn(&mut Slice<'_>) -> R + Sync,
        mut take: impl FnMut(R),
    ) -> ParallelRead<()> {
        let cuts = self.cuts();
        let slices = cuts.len() + 1;
        let do_slice = |number: usize| {
            let begin = number.checked_sub(1).map_or(self.begin, |before| cuts[before]);
            let end = cuts.get(number).copied().or(self.end);
            // Slices are cut where seeking leads to, so that each event is in one; the times
            // of events decide only at the ends of all.
            let mut bounds = Bounds::all();
            if self.begin > Timestamp::MIN {
                bounds = bounds.since(self.begin);
            }
            bounds = match (cuts.get(number), self.end) {
                (Some(cut), _) => bounds.until_start_of(*cut),
                (None, Some(end)) => bounds.until(end),
                (None, None) => bounds,
            };
            let mut slice = Slice::new(&self.traceset, number, begin, end, bounds);
            let result = work(&mut slice);
            (result, slice.report)
        };
        let mut all = Report::default();
        let mut put = |(result, report): (R, Report)| {
            all.add(report);
            take(result);
            !all.stopped
        };
        if self.threads == 1 {
            for number in 0..slices {
                if !put(do_slice(number)) {
                    break;
                }
            }
        } else {
            in_order(self.threads, slices, do_slice, put);
        }
        let Report { events, stopped, errors, errors_omitted, notices, notices_omitted } = all;
        let results = Vec::new();
        ParallelRead { results, events, stopped, errors, errors_omitted, notices, notices_omitted }
    }

    /// The times between slices.
    fn cuts(&self) -> Vec<Timestamp> {
        let tracefiles: Vec<_> = (self.traceset.traces().iter())
            .flat_map(|trace| (0..trace.tracefiles().len()).map(move |index| (trace, index)))
            .collect();
        // Without index files this reads a little of each packet.
        for_each(self.threads, tracefiles.len(), |number| {
            let (trace, index) = tracefiles[number];
            trace.packet_index(index);
        });
        let entries = || tracefiles.iter().flat_map(|(trace, i)| trace.packet_index(*i).entries());
        let slices = self.slices.unwrap_or_else(|| {
            // A slice should be long compared with the packets that it cuts, and no thread
            // should wait for a slice that another one has begun when there was no more.
            let most = entries().count() / (4 * tracefiles.len()).max(1);
            let each = (most / self.threads).clamp(1, SLICES_PER_THREAD);
            if self.threads == 1 { 1 } else { each * self.threads }
        });
        cuts::cuts(entries(), self.begin, self.end, slices)
    }
}

const SLICES_PER_THREAD: usize = 4;

impl Report {
    /// Adds that of the next slice. What is at the cut was seen by both.
    fn add(&mut self, next: Report) {
        self.events += next.events;
        self.stopped |= next.stopped;
        self.errors_omitted += next.errors_omitted;
        self.notices_omitted += next.notices_omitted;
        for error in next.errors {
            if !self.errors.iter().any(|e| e.place().is_some() && e.place() == error.place()) {
                self.errors.push(error);
            }
        }
        for notice in next.notices {
            if !self.notices.contains(&notice) {
                self.notices.push(notice);
            }
        }
    }
}

/// Does something for each number below a count, on several threads.
fn for_each(threads: usize, count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let worker = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            work(number);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            scope.spawn(worker);
        }
        worker();
    });
}

/// What workers and the one who takes their results agree on.
struct Progress<R> {
    /// The next number to work on.
    next: usize,
    /// The next result to take.
    taken: usize,
    done: BTreeMap<usize, R>,
    /// Nothing more is to be begun.
    over: bool,
}

/// Works on all numbers below a count on several threads, and hands on the
/// results in their order until that says to stop.
fn in_order<R: Send>(
    threads: usize,
    count: usize,
    work: impl Fn(usize) -> R + Sync,
    mut take: impl FnMut(R) -> bool,
) {
    let ahead = 2 * threads;
    let progress = Mutex::new(Progress { next: 0, taken: 0, done: BTreeMap::new(), over: false });
    let changed = Condvar::new();
    let alarm = || Alarm { progress: &progress, changed: &changed };
    let worker = || {
        let _alarm = alarm();
        loop {
            let mut now = lock(&progress);
            while !now.over && now.next < count && now.next >= now.taken + ahead {
                now = changed.wait(now).unwrap_or_else(PoisonError::into_inner);
            }
            if now.over || now.next >= count {
                break;
            }
            let number = now.next;
            now.next += 1;
            drop(now);
            let result = work(number);
            lock(&progress).done.insert(number, result);
            changed.notify_all();
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.min(count) {
            scope.spawn(worker);
        }
        let _alarm = alarm();
        for number in 0..count {
            let mut now = lock(&progress);
            let result = loop {
                match now.done.remove(&number) {
                    Some(result) => break result,
                    None if now.over => return,
                    None => now = changed.wait(now).unwrap_or_else(PoisonError::into_inner),
                }
            };
            now.taken += 1;
            drop(now);
            changed.notify_all();
            if !take(result) {
                break;
            }
        }
        lock(&progress).over = true;
        changed.notify_all();
    });
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends all work if there is a panic: nobody must wait for a thread that is gone.
struct Alarm<'a, R> {
    progress: &'a Mutex<Progress<R>>,
    changed: &'a Condvar,
}

impl<R> Drop for Alarm<'_, R> {
    fn drop(&mut self) {
        if thread::panicking() {
            lock(self.progress).over = true;
            self.changed.notify_all();
        }
    }
}
