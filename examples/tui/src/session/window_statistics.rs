//! Statistics of the time window, collected on a thread by a context of its own.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use ltt_read::Timestamp;
use lttv_context::attributes::Attributes;
use lttv_context::{
    Bounds, CheckpointPolicy, Checkpoints, EndReason, ReadEnd, StalePosition, Traceset,
    TracesetContext,
};
use lttv_requests::Owner;
use lttv_requests::views::TimeWindow;
use lttv_state::kernel::KernelState;
use lttv_state::stats::Statistics;

use super::statistics_tree::{names, tree};
use crate::session::Session;

/// The number of events between two checks whether the collection is still wanted.
const STEP: u64 = 5_000;

/// The time between two copies of the statistics while they are collected.
const PAUSE: Duration = Duration::from_secs(1);

/// The time for which those of the previous window stay visible, so that scrolling does not
/// flicker.
const GRACE: Duration = Duration::from_millis(150);

/// The statistics of the time window, for the viewers that show them.
#[derive(Debug, Default)]
pub(super) struct WindowStatistics {
    job: Option<Job>,
    latest: Option<Arc<OfWindow>>,
    /// The number of statistics so far.
    number: u64,
    /// The window whose collection the user has stopped, and the part that had been read.
    stopped: Option<(TimeWindow, f64)>,
}

/// Statistics of a window, also as a tree.
#[derive(Debug)]
pub struct OfWindow {
    /// The number of statistics of any windows before them, and 1.
    pub number: u64,
    /// The statistics.
    pub statistics: Statistics,
    /// The statistics as a tree.
    pub tree: Arc<Attributes>,
    window: TimeWindow,
    is_complete: bool,
}

/// A collection on a thread, which ends when this is dropped.
#[derive(Debug)]
struct Job {
    window: TimeWindow,
    owners: HashSet<Owner>,
    started: Instant,
    results: Receiver<OfWindow>,
    shared: Arc<Shared>,
}

/// The data that the thread shares.
#[derive(Debug)]
struct Shared {
    is_cancelled: AtomicBool,
    /// The time up to which it has read, in ns.
    reached: AtomicI64,
}

impl Job {
    /// Returns the part of the window that has been read, from 0 to 1.
    fn progress(&self) -> f64 {
        let reached = self.shared.reached.load(Ordering::Relaxed);
        let read = reached.abs_diff(self.window.start().as_ns());
        (read as f64 / self.window.width() as f64).min(0.999)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.shared.is_cancelled.store(true, Ordering::Relaxed);
    }
}

impl WindowStatistics {
    /// Starts a collection, unless this window is being collected or is known.
    fn want(
        &mut self,
        owner: Owner,
        window: TimeWindow,
        traceset: &Traceset,
        checkpoints: &Checkpoints,
    ) {
        if let Some(job) = self.job.as_mut().filter(|job| job.window == window) {
            job.owners.insert(owner);
            return;
        }
        // Ends the collection from another window.
        self.job = None;
        let is_known = self.latest.as_ref().is_some_and(|of| of.window == window && of.is_complete);
        if is_known || self.stopped.is_some_and(|(stopped, _)| stopped == window) {
            return;
        }
        self.stopped = None;
        let (sender, results) = channel();
        let reached = window.start().as_ns().into();
        let shared = Arc::new(Shared { is_cancelled: false.into(), reached });
        let collector = Collector {
            traceset: traceset.clone(),
            checkpoints: checkpoints.clone(),
            window,
            shared: shared.clone(),
            sender,
        };
        std::thread::spawn(move || collector.run());
        let owners = HashSet::from([owner]);
        self.job = Some(Job { window, owners, started: Instant::now(), results, shared });
    }

    /// Returns the statistics to show for a window.
    fn of(&self, window: TimeWindow) -> Option<&Arc<OfWindow>> {
        let is_new = self.job.as_ref().is_some_and(|job| job.started.elapsed() < GRACE);
        self.latest.as_ref().filter(|of| of.window == window || is_new)
    }

    /// Returns the part of a window that has been read, from 0 to 1.
    fn progress(&self, window: TimeWindow) -> f64 {
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
    fn resume(&mut self) {
        self.stopped = None;
    }

    /// Takes note that an owner no longer needs the statistics. Without any owner, the collection
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

/// The collection of the statistics of a window, on a thread.
#[derive(Debug)]
struct Collector {
    traceset: Traceset,
    checkpoints: Checkpoints,
    window: TimeWindow,
    shared: Arc<Shared>,
    sender: Sender<OfWindow>,
}

impl Collector {
    fn run(self) {
        let mut context = TracesetContext::new(&self.traceset);
        let kernel = context.attach(KernelState::new());
        // The checkpoints are those of a context with the same number of extensions.
        context.attach_data(());
        context.set_checkpoint_policy(CheckpointPolicy::never());
        // Otherwise, the state is computed from the start on.
        _ = context.set_checkpoints(self.checkpoints.clone());
        let (start, end) = (self.window.start(), self.window.end());
        // Computing the state at the start may take long, so it is done in pieces.
        context.seek_checkpoint(start);
        let before = Bounds::all().until_start_of(start).events(STEP);
        while goes_on(&context.replay_state(&before)) {
            if self.is_cancelled() {
                return;
            }
        }
        // As for ranges that the user types, times are measured up to the last time in the window.
        let last = Timestamp::from_ns(end.as_ns() - 1);
        let statistics = Statistics::attach_window(&mut context, kernel, start..=last);
        let names = names(&self.traceset);
        let of_window = |statistics: Statistics, is_complete| {
            // Names of statistics have one type each, so there is no error.
            let tree = Arc::new(tree(&statistics, &names).unwrap_or_default());
            OfWindow { number: 0, statistics, tree, window: self.window, is_complete }
        };
        let mut last = Instant::now();
        let within = Bounds::all().until(end).events(STEP);
        while goes_on(&context.read(&within)) {
            if self.is_cancelled() {
                return;
            }
            let reached = context.position().time().unwrap_or(start).clamp(start, end);
            self.shared.reached.store(reached.as_ns(), Ordering::Relaxed);
            if last.elapsed() > PAUSE {
                let so_far = statistics.take_until(context.extensions(), reached);
                _ = self.sender.send(of_window(so_far, false));
                last = Instant::now();
            }
        }
        // There is no receiver if the statistics are no longer wanted.
        _ = self.sender.send(of_window(statistics.take(context.extensions()), true));
    }

    fn is_cancelled(&self) -> bool {
        self.shared.is_cancelled.load(Ordering::Relaxed)
    }
}

/// Returns `true` if a read ended before its bound.
fn goes_on(read: &Result<ReadEnd, StalePosition>) -> bool {
    let reason = read.as_ref().map(|read| read.reason);
    matches!(reason, Ok(EndReason::EventCount | EndReason::Stopped))
}

impl Session {
    /// Requests the statistics of the time window for the viewer of an owner. Those of another
    /// window are no longer collected.
    pub fn wants_window_statistics(&mut self, owner: Owner) {
        let window = self.tab.window();
        let context = self.scheduler.context();
        let (traceset, checkpoints) = (context.traceset(), context.checkpoints());
        self.window_statistics.want(owner, window, traceset, checkpoints);
    }

    /// Returns the statistics of the time window, as far as they have been collected.
    pub fn window_statistics(&self) -> Option<Arc<OfWindow>> {
        self.window_statistics.of(self.tab.window()).cloned()
    }

    /// Returns the part of the time window from which statistics were collected, from 0 to 1.
    pub fn window_statistics_progress(&self) -> f64 {
        self.window_statistics.progress(self.tab.window())
    }

    /// Allows to collect statistics from the time window after they were stopped.
    pub fn resume_window_statistics(&mut self) {
        self.window_statistics.resume();
    }
}
