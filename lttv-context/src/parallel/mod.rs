//! Reading a traceset on several threads, slice by slice.

mod analysis;
mod in_order;
mod slice;
mod slice_points;
mod stages;
mod threads;
mod unordered;

use std::num::NonZeroUsize;
use std::ops::{Range, RangeBounds};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ltt_read::{Error, Notice, Timestamp, TracefileIndex};

use crate::bounds::{Bounds, half_open};
use crate::traceset::Traceset;

use crate::hooks::HookError;
pub use analysis::{Joining, SliceAnalysis};
use in_order::{Ends, in_order};
use slice::Report;
pub use slice::{MissingState, TimeSlice};
use slice_points::slice_points;
#[cfg(feature = "testing")]
pub(crate) use stages::Recording;
pub use stages::SliceThreads;
pub use threads::MAX_THREADS;
use threads::{limited, start};
pub use unordered::{UnorderedReader, UnorderedResult};

/// A parallel read of a traceset on several threads.
///
/// The time range is divided into slices. Each slice is read in a context of its own, with its
/// own hooks and extensions, and the results are returned in time order. Every event is in
/// exactly one slice, and events within a slice are in the same order as in a read on one
/// thread. The combined results therefore do not depend on the number of threads and slices,
/// provided that the analysis itself can be divided (counts, sums, filters, dumps).
///
/// ```
/// use lttv_context::{MissingState, ParallelReader, Traceset};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let read = ParallelReader::new(&traceset).threads(2).run(|slice| {
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
/// The state of an [`Extension`](crate::Extension) that depends on earlier events has to be
/// computed for the start of each slice, otherwise the slice [is not read](TimeSlice::read).
#[derive(Debug, Clone)]
#[doc(alias("rayon", "threads"))]
pub struct ParallelReader {
    traceset: Traceset,
    begin: Timestamp,
    end: Option<Timestamp>,
    threads: usize,
    slices: Option<usize>,
}

/// The result of a parallel read.
#[derive(Debug)]
#[must_use = "`errors` tells whether the read met damage"]
#[non_exhaustive]
pub struct ParallelResult<R> {
    /// The results of all slices, in time order.
    pub results: Vec<R>,
    /// The number of events delivered.
    pub events: u64,
    /// `true` if a hook stopped the read. The slices after that of the hook are left out then.
    pub stopped: bool,
    /// The error of a hook, the first one in the order of the slices. It has stopped the read.
    pub hook_error: Option<Box<HookError>>,
    /// The errors met while reading: see [`Merge::errors`](ltt_read::Merge::errors).
    pub errors: Vec<Error>,
    /// The number of omitted errors. An error met by two slices counts twice.
    pub errors_omitted: u64,
    /// The notices of the read.
    pub notices: Vec<Notice>,
    /// The number of omitted notices. A notice of two slices counts twice.
    pub notices_omitted: u64,
}

impl<R> ParallelResult<R> {
    fn new(results: Vec<R>, report: Report) -> Self {
        let Report {
            events,
            stopped,
            hook_error,
            errors,
            errors_omitted,
            notices,
            notices_omitted,
        } = report;
        ParallelResult {
            results,
            events,
            stopped,
            hook_error,
            errors,
            errors_omitted,
            notices,
            notices_omitted,
        }
    }
}

impl ParallelReader {
    /// Creates a read of a whole traceset on as many threads as there are processors.
    pub fn new(traceset: impl Into<Traceset>) -> Self {
        let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        ParallelReader {
            traceset: traceset.into(),
            begin: Timestamp::MIN,
            end: None,
            threads,
            slices: None,
        }
    }

    /// Sets the number of worker threads. 0 counts as 1, and more than [`MAX_THREADS`] as that many.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        ParallelReader { threads: limited(threads), ..self }
    }

    /// Sets the maximum number of slices. The default is a few for each thread. More slices
    /// distribute the work better, but at the start of each slice, part of a packet of each
    /// tracefile is read twice. 0 counts as 1.
    #[must_use]
    pub fn slices(self, slices: usize) -> Self {
        ParallelReader { slices: Some(slices.max(1)), ..self }
    }

    /// Sets the times of the events that are delivered: see [`Bounds::within`].
    #[must_use]
    pub fn within(self, times: impl RangeBounds<Timestamp>) -> Self {
        let (begin, end) = half_open(&times);
        ParallelReader { begin: begin.unwrap_or(Timestamp::MIN), end, ..self }
    }

    /// Calls `work` for each slice and returns the results in time order. `work` creates the
    /// context of its slice, adds hooks and reads the slice.
    ///
    /// # Panics
    ///
    /// Panics if `work` does.
    pub fn run<R: Send>(&self, work: impl Fn(&mut TimeSlice<'_>) -> R + Sync) -> ParallelResult<R> {
        let mut results = Vec::new();
        let report = self.read_slices(work, |result| results.push(result));
        ParallelResult::new(results, report)
    }

    /// Calls `work` for each slice, and `take` with each result in time order, as soon as this
    /// result and all earlier ones are available. Few results are kept in memory at a time.
    ///
    /// # Panics
    ///
    /// Panics if `work` or `take` does.
    pub fn run_in_order<R: Send>(
        &self,
        work: impl Fn(&mut TimeSlice<'_>) -> R + Sync,
        take: impl FnMut(R),
    ) -> ParallelResult<()> {
        ParallelResult::new(Vec::new(), self.read_slices(work, take))
    }

    fn read_slices<R: Send>(
        &self,
        work: impl Fn(&mut TimeSlice<'_>) -> R + Sync,
        mut take: impl FnMut(R),
    ) -> Report {
        let points = self.slice_points();
        let slices = points.len() + 1;
        let do_slice = |number: usize| {
            let begin = number.checked_sub(1).map_or(self.begin, |before| points[before]);
            let end = points.get(number).copied().or(self.end);
            // Slices meet where seeking leads to, so that each event is in exactly one. The times
            // of events decide only at the ends of the whole range.
            let mut bounds = Bounds::all();
            if self.begin > Timestamp::MIN {
                bounds = bounds.since(self.begin);
            }
            bounds = match (points.get(number), self.end) {
                (Some(point), _) => bounds.until_start_of(*point),
                (None, Some(end)) => bounds.until(end),
                (None, None) => bounds,
            };
            let mut slice = TimeSlice::new(&self.traceset, number, begin, end, bounds);
            let result = work(&mut slice);
            (result, slice.report)
        };
        let mut all = Report::default();
        let put = |(result, report): (R, Report)| {
            all.add(report);
            take(result);
            !all.stopped
        };
        let mut numbers = Numbers { rest: 0..slices, put };
        if self.threads == 1 {
            while let Some(number) = numbers.next_job()
                && numbers.take(do_slice(number))
            {}
        } else {
            in_order(self.threads, &mut numbers, do_slice);
        }
        all
    }

    /// Computes the times between slices.
    fn slice_points(&self) -> Vec<Timestamp> {
        let tracefiles: Vec<_> = (self.traceset.traces().iter())
            .flat_map(|trace| (0..trace.tracefiles().len()).map(move |index| (trace, index)))
            .collect();
        // Without index files, this reads a little of each packet.
        for_each(self.threads, tracefiles.len(), |number| {
            let (trace, index) = tracefiles[number];
            trace.packet_index(TracefileIndex(index));
        });
        let entries = || {
            tracefiles
                .iter()
                .flat_map(|(trace, i)| trace.packet_index(TracefileIndex(*i)).entries())
        };
        let slices = self.slices.unwrap_or_else(|| {
            // A slice should be long compared with the packets at its ends. At the same time, no
            // thread should wait long for the last slice of another.
            let most = entries().count() / (4 * tracefiles.len()).max(1);
            let each = (most / self.threads).clamp(1, SLICES_PER_THREAD);
            if self.threads == 1 { 1 } else { each * self.threads }
        });
        slice_points(entries(), self.begin, self.end, slices)
    }
}

const SLICES_PER_THREAD: usize = 4;

/// The numbers of slices, and what takes their results.
struct Numbers<F> {
    rest: Range<usize>,
    put: F,
}

impl<R, F: FnMut((R, Report)) -> bool> Ends<usize, (R, Report)> for Numbers<F> {
    fn next_job(&mut self) -> Option<usize> {
        self.rest.next()
    }

    fn take(&mut self, result: (R, Report)) -> bool {
        (self.put)(result)
    }
}

impl Report {
    /// Adds the report of the next slice. Two neighbouring slices may report the same faults.
    fn add(&mut self, next: Report) {
        self.events += next.events;
        self.stopped |= next.stopped;
        self.hook_error = self.hook_error.take().or(next.hook_error);
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

/// Calls a function for each number below a count, on several threads.
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
        let start_one = |_| start(scope, worker);
        _ = (1..threads.min(count)).map_while(start_one).count();
        worker();
    });
}
