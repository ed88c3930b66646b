//! Reading events until a result is no longer wanted.

use std::sync::atomic::{AtomicBool, Ordering};

use ltt_read::Timestamp;
use lttv_context::{Bounds, EndReason, ReadEnd, StalePosition, Traceset, TracesetContext};

/// The number of events between two checks whether the result is still wanted.
const STEP: u64 = 1 << 14;
/// The number of such checks after which the memory of what was read is released.
const RELEASE: u32 = 16;

/// Gives the memory of the pages of traces that were read back to the operating system. They are
/// mapped again when they are next read.
pub(super) fn release(traceset: &Traceset) {
    traceset.traces().iter().for_each(|trace| trace.release_pages());
}

/// Reads the events within bounds. Returns `None` if `stop` is set.
pub(super) fn read(
    context: &mut TracesetContext<'_>,
    bounds: &Bounds,
    stop: &AtomicBool,
) -> Option<()> {
    let bounds = bounds.clone().events(STEP);
    in_steps(context, |context| context.read(&bounds), stop)
}

/// Computes the states of extensions at a time. Returns `None` if `stop` is set.
pub(super) fn replay(
    context: &mut TracesetContext<'_>,
    time: Timestamp,
    stop: &AtomicBool,
) -> Option<()> {
    context.seek_checkpoint(time);
    let bounds = Bounds::all().until_start_of(time).events(STEP);
    in_steps(context, |context| context.replay_state(&bounds), stop)
}

fn in_steps(
    context: &mut TracesetContext<'_>,
    step: impl Fn(&mut TracesetContext<'_>) -> Result<ReadEnd, StalePosition>,
    stop: &AtomicBool,
) -> Option<()> {
    let mut steps = 0_u32;
    loop {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        // The bounds contain no position that could be stale.
        let reason = step(context).ok()?.reason;
        let is_last = !matches!(reason, EndReason::EventCount | EndReason::Stopped);
        steps = steps.wrapping_add(1);
        if is_last || steps.is_multiple_of(RELEASE) {
            release(context.contexts().traceset());
        }
        if is_last {
            return Some(());
        }
    }
}
