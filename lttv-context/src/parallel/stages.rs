//! The stages of slices on several threads.
//!
//! The thread that owns the context records slices one after the other. Whenever enough of them are
//! under way, it helps the other threads, which do whatever can be done: resolving and adding in
//! order has precedence, since other work depends on it.

use std::collections::{BTreeMap, VecDeque};
use std::mem::take;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use ltt_read::{Event, Timestamp, TracefileNumber};
use lttv_hooks::Flow;

use super::analysis::{Joining, SliceAnalysis};
use super::threads::{limited, start};
use crate::bounds::{Bounds, EndReason, ReadEnd};
use crate::context::ReadError;
use crate::context::{EventRecorder, TracesetContext};

/// The number of threads that read an [analysis in slices](SliceAnalysis), and the size of slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SliceThreads {
    threads: usize,
    events: Option<u64>,
}

impl SliceThreads {
    /// Uses a number of threads, with the calling thread. 0 counts as 1, and more than
    /// [`MAX_THREADS`](crate::MAX_THREADS) as that many. Fewer are used if the system starts no more.
    pub fn new(threads: usize) -> Self {
        SliceThreads { threads: limited(threads), events: None }
    }

    /// Uses as many threads as there are processors.
    pub fn available() -> Self {
        Self::new(thread::available_parallelism().map_or(1, NonZeroUsize::get))
    }

    /// Sets the number of events of each slice, which is otherwise that of the
    /// [analysis](SliceAnalysis::SLICE_EVENTS). 0 counts as 1.
    #[must_use]
    pub fn slice_events(self, events: u64) -> Self {
        SliceThreads { events: Some(events.max(1)), ..self }
    }

    /// Returns the number of threads.
    pub fn threads(self) -> usize {
        self.threads
    }
}

impl TracesetContext<'_> {
    /// Reads events from the current position on, as [`read`](Self::read) does, for an analysis on
    /// several threads.
    ///
    /// `result` contains the state at the current position and the result so far; both are brought
    /// forward to the end of the read. This context reads the events in slices, on the calling thread,
    /// and meets all errors and notices. `passed` is called after each slice, and ends the read by
    /// `Break`: with the reason [`EndReason::Stopped`].
    ///
    /// No event is read twice. Two slices per thread, and two more, are in memory at most.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`read`](Self::read). The analysis has no events of the slice in which a
    /// hook failed.
    ///
    /// # Panics
    ///
    /// Panics if the analysis or `passed` does.
    pub fn read_analysis<A: SliceAnalysis>(
        &mut self,
        analysis: &A,
        (state, part): (&mut A::State, &mut A::Part),
        bounds: &Bounds,
        threads: SliceThreads,
        passed: impl FnMut(&mut Self) -> Flow,
    ) -> Result<ReadEnd, ReadError> {
        let events = threads.events.unwrap_or(A::SLICE_EVENTS.max(1));
        let mut recording = Recording::new(self, analysis, bounds, events, passed);
        if threads.threads <= 1 {
            let mut slice = A::Slice::default();
            while recording.record(&mut slice) {
                analysis.resolve(state, &mut slice);
                analysis.compute(&mut slice);
                analysis.add(part, &mut slice);
                analysis.clear(&mut slice);
            }
        } else {
            let mut record = |slice: &mut A::Slice| (recording.record(slice), recording.is_over);
            Stages::new(analysis, state, part).run(threads.threads, &mut record);
        }
        recording.end
    }
}

/// The first stage: a context that records slice after slice.
pub(crate) struct Recording<'c, 'h, A: SliceAnalysis, P> {
    context: &'c mut TracesetContext<'h>,
    analysis: &'c A,
    bounds: Bounds,
    events: u64,
    /// The maximum number of events that may still be delivered.
    left: Option<u64>,
    passed: P,
    is_over: bool,
    end: Result<ReadEnd, ReadError>,
}

impl<'c, 'h, A: SliceAnalysis, P> Recording<'c, 'h, A, P>
where
    P: FnMut(&mut TracesetContext<'h>) -> Flow,
{
    pub(crate) fn new(
        context: &'c mut TracesetContext<'h>,
        analysis: &'c A,
        bounds: &Bounds,
        events: u64,
        passed: P,
    ) -> Self {
        let reason = EndReason::EndOfTraceset;
        let end = Ok(ReadEnd { events: 0, examined: 0, errors: 0, reason });
        let (left, bounds) = (bounds.max_events(), bounds.clone().unlimited());
        Recording { context, analysis, bounds, events, left, passed, is_over: false, end }
    }

    /// Sets the number of events of the next slices.
    #[cfg(feature = "testing")]
    pub(crate) fn set_size(&mut self, events: u64) {
        self.events = events;
    }

    /// Returns the number of events so far.
    #[cfg(feature = "testing")]
    pub(crate) fn events_read(&self) -> u64 {
        self.end.as_ref().map_or(0, |end| end.events)
    }

    /// Records the next slice in place of an empty one. Returns `false` after the last one.
    pub(crate) fn record(&mut self, slice: &mut A::Slice) -> bool {
        if self.is_over {
            return false;
        }
        let bounds = self.bounds.clone().max_examined(self.events);
        let bounds = self.left.map_or(bounds.clone(), |left| bounds.events(left));
        let mut recorder = SliceRecorder { analysis: self.analysis, slice };
        let read = match self.context.read_recording(&bounds, &mut recorder) {
            Ok(read) => read,
            Err(mut error) => {
                if let (ReadError::Hook(error), Ok(before)) = (&mut error, &self.end) {
                    error.read.events += before.events;
                    error.read.examined += before.examined;
                }
                (self.is_over, self.end) = (true, Err(error));
                return false;
            }
        };
        self.left = self.left.map(|left| left - read.events);
        let is_full = read.reason == EndReason::ExaminedCount;
        let stops = (self.passed)(self.context).is_break();
        if let Ok(end) = &mut self.end {
            end.events += read.events;
            end.examined += read.examined;
            end.errors = read.errors;
            end.reason = if is_full && stops { EndReason::Stopped } else { read.reason };
        }
        self.is_over = !is_full || stops;
        true
    }
}

/// A recorder of events in a slice.
struct SliceRecorder<'r, A: SliceAnalysis> {
    analysis: &'r A,
    slice: &'r mut A::Slice,
}

impl<A: SliceAnalysis> EventRecorder for SliceRecorder<'_, A> {
    #[inline(always)]
    fn record(
        &mut self,
        tracefile: TracefileNumber,
        time: Timestamp,
        event: &Event<'_>,
        is_heard: bool,
    ) {
        let at = (tracefile, time);
        match is_heard {
            true => self.analysis.record(self.slice, at, event),
            false => self.analysis.record_unheard(self.slice, at, event),
        }
    }
}

/// Fills an empty slice, and returns whether it did and whether it was the last one.
type Record<'r, S> = dyn FnMut(&mut S) -> (bool, bool) + 'r;

/// A slice with its number.
type Numbered<S> = (usize, S);

/// A task on a slice, with the shared data that it needs.
enum Job<'s, A: SliceAnalysis> {
    Resolve(&'s mut A::State, Numbered<A::Slice>),
    Compute(Numbered<A::Slice>),
    Add(&'s mut A::Part, A::Slice),
}

/// Slices under way, shared by all threads.
struct Shared<'s, A: SliceAnalysis> {
    /// The slices to be resolved, in order.
    recorded: VecDeque<Numbered<A::Slice>>,
    /// The slices to be computed, in any order.
    resolved: VecDeque<Numbered<A::Slice>>,
    /// The slices to be added in order, by number.
    computed: BTreeMap<usize, A::Slice>,
    /// The slices that have been cleared.
    free: Vec<A::Slice>,
    /// The state, and the result, while no thread uses them.
    state: Option<&'s mut A::State>,
    result: Option<&'s mut A::Part>,
    /// The number of threads, with the one that records.
    threads: usize,
    /// The number of slices that have been recorded, and of those that have been added.
    started: usize,
    added: usize,
    /// `true` if no further slice comes.
    are_all: bool,
    /// `true` if a thread has panicked.
    is_broken: bool,
}

/// The stages after recording, for several threads.
struct Stages<'s, A: SliceAnalysis> {
    analysis: &'s A,
    joining: Option<Joining<A::Part>>,
    shared: Mutex<Shared<'s, A>>,
    changed: Condvar,
}

impl<'s, A: SliceAnalysis> Stages<'s, A> {
    fn new(analysis: &'s A, state: &'s mut A::State, result: &'s mut A::Part) -> Self {
        let shared = Shared {
            recorded: VecDeque::new(),
            resolved: VecDeque::new(),
            computed: BTreeMap::new(),
            free: Vec::new(),
            state: Some(state),
            result: Some(result),
            threads: 1,
            started: 0,
            added: 0,
            are_all: false,
            is_broken: false,
        };
        let (shared, changed) = (Mutex::new(shared), Condvar::new());
        Stages { analysis, joining: analysis.joining(), shared, changed }
    }

    /// Runs all stages until all slices have been added.
    fn run(&self, threads: usize, record: &mut Record<'_, A::Slice>) {
        let parts = thread::scope(|scope| {
            let workers: Vec<_> =
                (1..threads).map_while(|_| start(scope, || self.work(None))).collect();
            // The number of slices in memory is that of the threads that there are.
            self.lock().threads = workers.len() + 1;
            let mut parts = vec![self.work(Some(record))];
            // A panic of a worker continues here.
            parts.extend(workers.into_iter().map(|worker| match worker.join() {
                Ok(part) => part,
                Err(panic) => resume_unwind(panic),
            }));
            parts
        });
        let mut shared = self.lock();
        if let (Some(joining), Some(result)) = (&self.joining, shared.result.take()) {
            parts.into_iter().flatten().for_each(|part| (joining.join)(result, part));
        }
    }

    /// Works until all slices have been added. Returns the part of this thread, if there are parts.
    fn work(&self, mut record: Option<&mut Record<'_, A::Slice>>) -> Option<A::Part> {
        let _guard = PanicGuard(self);
        let mut part = self.joining.as_ref().map(|joining| (joining.empty)());
        let mut now = self.lock();
        while !now.is_broken {
            let has_room = !now.are_all && now.started - now.added < 2 * now.threads + 2;
            if let Some(record) = record.as_mut().filter(|_| has_room) {
                let mut slice = now.free.pop().unwrap_or_default();
                drop(now);
                let (is_one, is_last) = record(&mut slice);
                now = self.lock();
                if is_one {
                    let number = now.started;
                    now.recorded.push_back((number, slice));
                    now.started += 1;
                }
                now.are_all = is_last;
                self.changed.notify_all();
            } else if let Some(job) = now.next_job() {
                now = self.do_job(job, now, &mut part);
                self.changed.notify_all();
            } else if now.are_all && now.added == now.started {
                break;
            } else {
                now = self.changed.wait(now).unwrap_or_else(PoisonError::into_inner);
            }
        }
        part
    }

    /// Does a piece of work, without the lock, and passes the slice on.
    fn do_job<'m>(
        &'m self,
        job: Job<'s, A>,
        mut now: MutexGuard<'m, Shared<'s, A>>,
        part: &mut Option<A::Part>,
    ) -> MutexGuard<'m, Shared<'s, A>> {
        match job {
            Job::Resolve(state, (number, mut slice)) => {
                drop(now);
                self.analysis.resolve(state, &mut slice);
                now = self.lock();
                now.state = Some(state);
                now.resolved.push_back((number, slice));
            }
            Job::Compute((number, mut slice)) => {
                drop(now);
                self.analysis.compute(&mut slice);
                if let Some(part) = part {
                    self.analysis.add(part, &mut slice);
                    self.analysis.clear(&mut slice);
                    now = self.lock();
                    now.free.push(slice);
                    now.added += 1;
                } else {
                    now = self.lock();
                    now.computed.insert(number, slice);
                }
            }
            Job::Add(result, mut slice) => {
                drop(now);
                self.analysis.add(result, &mut slice);
                self.analysis.clear(&mut slice);
                now = self.lock();
                now.result = Some(result);
                now.free.push(slice);
                now.added += 1;
            }
        }
        now
    }

    fn lock(&self) -> MutexGuard<'_, Shared<'s, A>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'s, A: SliceAnalysis> Shared<'s, A> {
    /// Returns the most urgent piece of work; `None` if there is none now.
    fn next_job(&mut self) -> Option<Job<'s, A>> {
        if !self.recorded.is_empty()
            && let Some(state) = self.state.take()
        {
            return self.recorded.pop_front().map(|slice| Job::Resolve(state, slice));
        }
        if self.computed.contains_key(&self.added)
            && let Some(result) = self.result.take()
        {
            return self.computed.remove(&self.added).map(|slice| Job::Add(result, slice));
        }
        self.resolved.pop_front().map(Job::Compute)
    }
}

/// A guard that ends all work on a panic, so that no thread waits for one that has ended.
struct PanicGuard<'g, 's, A: SliceAnalysis>(&'g Stages<'s, A>);

impl<A: SliceAnalysis> Drop for PanicGuard<'_, '_, A> {
    fn drop(&mut self) {
        if thread::panicking() {
            let mut now = self.0.lock();
            now.is_broken = true;
            drop((take(&mut now.recorded), take(&mut now.resolved), take(&mut now.computed)));
            self.0.changed.notify_all();
        }
    }
}
