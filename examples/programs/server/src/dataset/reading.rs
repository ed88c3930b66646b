//! Reading events until a result is no longer wanted.

use std::num::NonZeroUsize;
use std::ops::Bound;
use std::sync::atomic::AtomicBool;

use ltt_read::Timestamp;
use lttv_common::cancel;
use lttv_context::{Bounds, EndReason, Traceset, TracesetContext};
use lttv_state::analysis::{self, KernelAnalysis};

/// A window: its first time and the time after it, in ns; `None` for everything.
pub type Window = Option<(i64, i64)>;

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
    let mut steps = 0_u32;
    let each = |context: &mut TracesetContext<'_>| {
        steps = steps.wrapping_add(1);
        if steps.is_multiple_of(RELEASE) {
            release(context.contexts().traceset());
        }
        cancel::unless(stop)
    };
    // The bounds contain no position that could be stale.
    let end = context.read_steps(bounds, STEP, each).ok()?;
    release(context.contexts().traceset());
    (end.reason != EndReason::Stopped).then_some(())
}

/// Reads a window, or everything, for an analysis. Returns `None` if `stop` is set.
pub(super) fn analyze<A: KernelAnalysis>(
    traceset: &Traceset,
    window: Window,
    stop: &AtomicBool,
    analysis: A,
) -> Option<A::Output> {
    let time = |time| Timestamp::from_ns(time);
    let window = window.map_or((Bound::Unbounded, Bound::Unbounded), |(start, end)| {
        (Bound::Included(time(start)), Bound::Excluded(time(end)))
    });
    let mut steps = 0_u32;
    let read = analysis::read(traceset).window(window).threads(threads()).cancel(stop);
    let found = read
        .progress(|context| {
            steps = steps.wrapping_add(1);
            if steps.is_multiple_of(RELEASE) {
                release(context.contexts().traceset());
            }
        })
        .run(analysis);
    release(traceset);
    (!found.is_stopped).then_some(found.output)
}

/// Returns the number of threads that read for an analysis.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}
