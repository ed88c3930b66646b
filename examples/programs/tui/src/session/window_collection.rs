//! Results of the time window, collected on a thread by a context of its own.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use ltt_read::{Timestamp, Trace};
use lttv_common::cancel;
use lttv_context::{Bounds, EndReason, ReadEnd, ReadError, Traceset, TracesetContext};
use lttv_requests::Owner;
use lttv_requests::views::TimeWindow;

/// The number of events between two checks whether the collection is still wanted.
const STEP: u64 = 5_000;

/// The time between two copies of the results while they are collected.
const PAUSE: Duration = Duration::from_secs(1);

/// The time for which those of the previous window stay visible, so that scrolling does not
/// flicker.
const GRACE: Duration = Duration::from_millis(150);

/// A result that is collected from a time window.
pub(super) trait OfTimeWindow: fmt::Debug + Send + Sync + Sized + 'static {
    /// The knowledge that one window leaves for the next, such as checkpoints.
    type Known: Clone + Send;

    /// Collects the result, on a thread of its own. Calls [`Collection::replay`] and
    /// [`Collection::read`] to read the events, and ends if they return `false`.
    fn collect(of: &Collection<Self>);
}

/// The collections of a result from the time window, for the viewers that show it.
#[derive(Debug)]
pub(super) struct WindowCollection<F> {
    job: Option<Job<F>>,
    latest: Option<Arc<OfWindow<F>>>,
    /// The number of results so far.
    number: u64,
    /// The window whose collection the user has stopped, and the part that had been read.
    stopped: Option<(TimeWindow, f64)>,
}

impl<F> Default for WindowCollection<F> {
    fn default() -> Self {
        WindowCollection { job: None, latest: None, number: 0, stopped: None }
    }
}

/// A result of a window.
#[derive(Debug)]
pub struct OfWindow<F> {
    /// The number of results of any windows before it, and 1.
    pub number: u64,
    /// The result.
    pub found: F,
    window: TimeWindow,
    /// The traces of which the window was read, if it ends after what is final.
    pending: Option<Vec<Arc<Trace>>>,
    is_complete: bool,
}

impl<F> OfWindow<F> {
    /// Returns `true` if another collection would find the same.
    fn is_of(&self, window: TimeWindow, traceset: &Traceset) -> bool {
        let is_same = |traces: &Vec<Arc<Trace>>| {
            let now = traceset.traces();
            traces.len() == now.len()
                && traces.iter().zip(now).all(|(then, now)| Arc::ptr_eq(then, now))
        };
        self.window == window && self.is_complete && self.pending.as_ref().is_none_or(is_same)
    }
}

/// A collection on a thread, which ends when this is dropped.
#[derive(Debug)]
struct Job<F> {
    window: TimeWindow,
    owners: HashSet<Owner>,
    started: Instant,
    results: Receiver<OfWindow<F>>,
    shared: Arc<Shared>,
}

/// The data that the thread shares.
#[derive(Debug)]
struct Shared {
    is_cancelled: AtomicBool,
    /// The time up to which it has read, in ns.
    reached: AtomicI64,
}

impl<F> Job<F> {
    /// Returns the part of the window that has been read, from 0 to 1.
    fn progress(&self) -> f64 {
        let reached = self.shared.reached.load(Ordering::Relaxed);
        let read = reached.abs_diff(self.window.start().as_ns());
        (read as f64 / self.window.width() as f64).min(0.999)
    }
}

impl<F> Drop for Job<F> {
    fn drop(&mut self) {
        self.shared.is_cancelled.store(true, Ordering::Relaxed);
    }
}

impl<F: OfTimeWindow> WindowCollection<F> {
    /// Starts a collection, unless this window is being collected or is known.
    pub(super) fn want(
        &mut self,
        owner: Owner,
        window: TimeWindow,
        traceset: &Traceset,
        known: &F::Known,
    ) {
        if let Some(job) = self.job.as_mut().filter(|job| job.window == window) {
            job.owners.insert(owner);
            return;
        }
        // Ends the collection from another window.
        self.job = None;
        let is_known = self.latest.as_ref().is_some_and(|of| of.is_of(window, traceset));
        if is_known || self.stopped.is_some_and(|(stopped, _)| stopped == window) {
            return;
        }
        self.stopped = None;
        let (sender, results) = channel();
        let reached = window.start().as_ns().into();
        let shared = Arc::new(Shared { is_cancelled: false.into(), reached });
        let collection = Collection {
            traceset: traceset.clone(),
            known: known.clone(),
            window,
            shared: shared.clone(),
            is_pending: Cell::new(false),
            sender,
        };
        std::thread::spawn(move || F::collect(&collection));
        let owners = HashSet::from([owner]);
        self.job = Some(Job { window, owners, started: Instant::now(), results, shared });
    }

    /// Returns the result to show for a window.
    pub(super) fn of(&self, window: TimeWindow) -> Option<&Arc<OfWindow<F>>> {
        let is_new = self.job.as_ref().is_some_and(|job| job.started.elapsed() < GRACE);
        self.latest.as_ref().filter(|of| of.window == window || is_new)
    }

    /// Returns the last result of any window.
    pub(super) fn latest(&self) -> Option<&F> {
        self.latest.as_ref().map(|of| &of.found)
    }

    /// Returns the part of a window that has been read, from 0 to 1.
    pub(super) fn progress(&self, window: TimeWindow) -> f64 {
        if let Some(job) = self.job.as_ref().filter(|job| job.window == window) {
            return job.progress();
        }
        let stopped = self.stopped.filter(|(stopped, _)| *stopped == window);
        match &self.latest {
            Some(of) if of.window == window && of.is_complete => 1.0,
            _ => stopped.map_or(0.0, |(_, progress)| progress),
        }
    }

    /// Waits for results for at most this time. Returns `true` if there are new ones or a
    /// collection continues.
    pub(super) fn serve(&mut self, time: Duration) -> bool {
        let Some(job) = &self.job else { return false };
        match job.results.recv_timeout(time) {
            Ok(of) => {
                if of.is_complete {
                    self.job = None;
                }
                self.number += 1;
                self.latest = Some(Arc::new(OfWindow { number: self.number, ..of }));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.stop(),
        }
        true
    }

    /// Returns the owners of a collection that has not ended.
    pub(super) fn owners(&self) -> impl Iterator<Item = Owner> {
        self.job.iter().flat_map(|job| job.owners.iter().copied())
    }

    /// Stops collecting until another window is wanted or [`resume`](Self::resume) is called.
    pub(super) fn stop(&mut self) {
        if let Some(job) = self.job.take() {
            self.stopped = Some((job.window, job.progress()));
        }
    }

    /// Allows to collect from the window that was stopped.
    pub(super) fn resume(&mut self) {
        self.stopped = None;
    }

    /// Takes note that an owner no longer needs the result. Without any owner, the collection
    /// ends.
    pub(super) fn cancel(&mut self, owner: Owner) {
        if let Some(job) = &mut self.job
            && job.owners.remove(&owner)
            && job.owners.is_empty()
        {
            self.job = None;
        }
    }
}

/// The collection of a result from a window, on a thread.
pub(super) struct Collection<F: OfTimeWindow> {
    pub(super) traceset: Traceset,
    pub(super) known: F::Known,
    pub(super) window: TimeWindow,
    shared: Arc<Shared>,
    /// `true` if the last read ended where nothing more is final.
    is_pending: Cell<bool>,
    sender: Sender<OfWindow<F>>,
}

impl<F: OfTimeWindow> Collection<F> {
    /// Computes the state at the start of the window. Returns `false` if the result is no longer
    /// wanted.
    pub(super) fn replay(&self, context: &mut TracesetContext<'_>) -> bool {
        let start = self.window.start();
        // Computing the state at the start may take long, so it is done in pieces.
        context.state().seek_checkpoint(start);
        let before = Bounds::all().until_start_of(start);
        self.is_whole(context.state().replay_steps(&before, STEP, |_| self.goes_on()))
    }

    /// Reads the window, and sends what `so_far` returns for a time from time to time. Returns
    /// `false` if the result is no longer wanted.
    pub(super) fn read(
        &self,
        context: &mut TracesetContext<'_>,
        so_far: impl Fn(&mut TracesetContext<'_>, Timestamp) -> F,
    ) -> bool {
        let (start, end) = (self.window.start(), self.window.end());
        let mut last = Instant::now();
        let within = Bounds::all().until(end);
        self.is_whole(context.read_steps(&within, STEP, |context| {
            let reached = context.position().time().unwrap_or(start).clamp(start, end);
            self.shared.reached.store(reached.as_ns(), Ordering::Relaxed);
            if last.elapsed() > PAUSE {
                self.send(so_far(context, reached), false);
                last = Instant::now();
            }
            self.goes_on()
        }))
    }

    /// Sends a result, of the whole window or of its part so far.
    pub(super) fn send(&self, found: F, is_complete: bool) {
        // There is no receiver if the result is no longer wanted.
        let traces = || self.traceset.traces().to_vec();
        let pending = self.is_pending.get().then(traces);
        let of = OfWindow { number: 0, found, window: self.window, pending, is_complete };
        _ = self.sender.send(of);
    }

    /// Returns `true` if a read was not cancelled.
    fn is_whole(&self, read: Result<ReadEnd, ReadError>) -> bool {
        let reason = read.ok().map(|read| read.reason);
        self.is_pending.set(reason == Some(EndReason::Pending));
        reason != Some(EndReason::Stopped)
    }

    fn goes_on(&self) -> ControlFlow<()> {
        cancel::unless(&self.shared.is_cancelled)
    }
}
