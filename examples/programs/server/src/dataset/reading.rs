//! Reading events until a result is no longer wanted.

use std::num::NonZeroUsize;
use std::ops::Bound;
use std::sync::atomic::AtomicBool;

use ltt_read::Timestamp;
use lttv_common::cancel;
use lttv_context::{Bounds, EndReason, Traceset, TracesetContext};
use lttv_state::analysis::{self, KernelAnalysis};

use super::faults::{Found, ReadFaults};

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

/// Reads the events within bounds. The output is `None` if `stop` is set.
pub(super) fn read(
    context: &mut TracesetContext<'_>,
    bounds: &Bounds,
    stop: &AtomicBool,
) -> Found<Option<()>> {
    let mut steps = 0_u32;
    let each = |context: &mut TracesetContext<'_>| {
        steps = steps.wrapping_add(1);
        if steps.is_multiple_of(RELEASE) {
            release(context.contexts().traceset());
        }
        cancel::unless(stop)
    };
    // The bounds contain no position that could be stale.
    let end = context.read_steps(bounds, STEP, each);
    release(context.contexts().traceset());
    let is_whole = end.is_ok_and(|end| end.reason != EndReason::Stopped);
    Found { output: is_whole.then_some(()), faults: ReadFaults::of(context) }
}

/// Reads a window, or everything, for an analysis. The output is `None` if `stop` is set.
pub(super) fn analyze<A: KernelAnalysis>(
    traceset: &Traceset,
    window: Window,
    stop: &AtomicBool,
    analysis: A,
) -> Found<Option<A::Output>> {
    let time = |time| Timestamp::from_ns(time);
    let window = window.map_or((Bound::Unbounded, Bound::Unbounded), |(start, end)| {
        (Bound::Included(time(start)), Bound::Excluded(time(end)))
    });
    let mut steps = 0_u32;
    let read = analysis::read(traceset).window(window).threads(threads()).cancel(stop);
    let mut notices = Vec::new();
    let mut found = read
        .progress(|context| {
            steps = steps.wrapping_add(1);
            notices.append(&mut context.take_notices());
            if steps.is_multiple_of(RELEASE) {
                release(context.contexts().traceset());
            }
        })
        .run(analysis);
    release(traceset);
    let faults = ReadFaults::of_analysis(&mut found, notices);
    Found { output: (!found.is_stopped).then_some(found.output), faults }
}

/// Returns the number of threads that read for an analysis.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}
