//! Statistics of the whole traceset, or of a window.

use std::sync::atomic::AtomicBool;

use ltt_read::Timestamp;
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::kernel::KernelState;
use lttv_state::stats::{Statistics, StatisticsHandle};

use super::reading::{read, replay};

/// A window: its first and its last time, in ns; `None` for everything.
pub type Window = Option<(i64, i64)>;

/// Computes the statistics of a window. Returns `None` if `stop` is set.
pub(super) fn compute(
    traceset: &Traceset,
    window: Window,
    stop: &AtomicBool,
) -> Option<Statistics> {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let mut bounds = Bounds::all();
    let handle: StatisticsHandle = match window {
        None => Statistics::attach(&mut context, kernel),
        Some((start, end)) => {
            let (start, end) = (Timestamp::from_ns(start), Timestamp::from_ns(end));
            bounds = bounds.until(end);
            replay(&mut context, start, stop)?;
            Statistics::attach_window(&mut context, kernel, start..=end)
        }
    };
    read(&mut context, &bounds, stop)?;
    Some(handle.take(context.extensions()))
}
