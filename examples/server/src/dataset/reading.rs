//! Reading events until a result is no longer wanted.

use std::sync::atomic::{AtomicBool, Ordering};

use lttv_context::{Bounds, EndReason, TracesetContext};

/// The number of events between two checks whether the result is still wanted.
const STEP: u64 = 1 << 14;

/// Reads the events within bounds. Returns `None` if `stop` is set.
pub(super) fn read(
    context: &mut TracesetContext<'_>,
    bounds: &Bounds,
    stop: &AtomicBool,
) -> Option<()> {
    let bounds = bounds.clone().events(STEP);
    loop {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        // The bounds contain no position that could be stale.
        let end = context.read(&bounds).ok()?;
        if !matches!(end.reason, EndReason::EventCount | EndReason::Stopped) {
            return Some(());
        }
    }
}
