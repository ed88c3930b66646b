//! Reading events until a result is no longer wanted.

use std::sync::atomic::{AtomicBool, Ordering};

use ltt_read::Timestamp;
use lttv_context::{Bounds, EndReason, ReadEnd, StalePosition, TracesetContext};

/// The number of events between two checks whether the result is still wanted.
const STEP: u64 = 1 << 14;

/// Reads the events within bounds. Returns `None` if `stop` is set.
pub(super) fn read(
    context: &mut TracesetContext<'_>,
    bounds: &Bounds,
    stop: &AtomicBool,
) -> Option<()> {
    let bounds = bounds.clone().events(STEP);
    in_steps(|| context.read(&bounds), stop)
}

/// Computes the states of extensions at a time. Returns `None` if `stop` is set.
pub(super) fn replay(
    context: &mut TracesetContext<'_>,
    time: Timestamp,
    stop: &AtomicBool,
) -> Option<()> {
    context.seek_checkpoint(time);
    let bounds = Bounds::all().until_start_of(time).events(STEP);
    in_steps(|| context.replay_state(&bounds), stop)
}

fn in_steps(
    mut step: impl FnMut() -> Result<ReadEnd, StalePosition>,
    stop: &AtomicBool,
) -> Option<()> {
    loop {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        // The bounds contain no position that could be stale.
        if !matches!(step().ok()?.reason, EndReason::EventCount | EndReason::Stopped) {
            return Some(());
        }
    }
}
