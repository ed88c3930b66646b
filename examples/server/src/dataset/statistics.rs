//! Statistics of the whole traceset, or of a window.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ltt_read::Timestamp;
use lttv_context::{Bounds, EndReason, Traceset, TracesetContext};
use lttv_state::kernel::KernelState;
use lttv_state::stats::{Statistics, StatisticsHandle};

use super::job::Job;

/// The number of windows whose statistics are kept.
const MOST: usize = 8;
/// The number of events between two checks whether the result is still wanted.
const STEP: u64 = 1 << 14;

/// A window: its first and its last time, in ns; `None` for everything.
pub type StatisticsWindow = Option<(i64, i64)>;

/// The statistics of some windows.
#[derive(Debug, Default)]
pub(super) struct WindowStatistics {
    recent: Mutex<VecDeque<OfWindow>>,
}

#[derive(Debug)]
struct OfWindow {
    window: StatisticsWindow,
    job: Arc<Job<Arc<Statistics>>>,
    /// Ends the computation when the window is forgotten.
    _stop: StopOnDrop,
    stop: Arc<AtomicBool>,
}

#[derive(Debug)]
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl WindowStatistics {
    /// Returns the statistics of a window, if they are computed. The first call for a window
    /// starts that.
    pub(super) fn of(
        &self,
        traceset: &Traceset,
        window: StatisticsWindow,
    ) -> Option<Arc<Statistics>> {
        let (job, stop) = {
            let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
            let known = recent.iter().position(|of| of.window == window);
            let of = known.and_then(|at| recent.remove(at)).unwrap_or_else(|| {
                let stop = Arc::new(AtomicBool::new(false));
                let _stop = StopOnDrop(Arc::clone(&stop));
                OfWindow { window, job: Arc::default(), _stop, stop }
            });
            let found = (Arc::clone(&of.job), Arc::clone(&of.stop));
            recent.push_back(of);
            if recent.len() > MOST {
                recent.pop_front();
            }
            found
        };
        let traceset = traceset.clone();
        job.get(move || compute(&traceset, window, &stop)).cloned()
    }
}

/// Computes the statistics of a window. Returns `None` if `stop` is set.
fn compute(
    traceset: &Traceset,
    window: StatisticsWindow,
    stop: &AtomicBool,
) -> Option<Arc<Statistics>> {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let mut bounds = Bounds::all();
    let handle: StatisticsHandle = match window {
        None => Statistics::attach(&mut context, kernel),
        Some((start, end)) => {
            let (start, end) = (Timestamp::from_ns(start), Timestamp::from_ns(end));
            bounds = bounds.until(end);
            Statistics::attach_window(&mut context, kernel, start..=end)
        }
    };
    loop {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        // The bounds contain no position that could be stale.
        let read = context.read(&bounds.clone().events(STEP)).ok()?;
        if matches!(read.reason, EndReason::EndOfTraceset | EndReason::EndTime) {
            return Some(Arc::new(handle.take(context.extensions())));
        }
    }
}
