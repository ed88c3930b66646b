//! The times of the first and the last event.

use std::sync::Arc;

use ltt_read::{Merge, TimeSpan, Timestamp, Trace};

/// The length of the last part of the traces that is read first, in ns. It is multiplied by
/// this number squared until it contains an event.
const LAST_PART: i64 = 1_000_000;
const GROWTH: i64 = 16;

/// Returns the times of the first and the last event of the traces. Returns `None` if no event
/// has a time.
///
/// This is exact, unlike [`Trace::time_span`], which may contain the time of packets before
/// their first and after their last event. It reads the first events and some of the last ones.
///
/// ```
/// use lttv_common::time::event_span;
///
/// let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel/kernel"))?;
/// let events = event_span(std::slice::from_ref(&trace)).expect("events with times");
/// let packets = trace.time_span().expect("packets with times");
/// assert!(packets.start <= events.start && events.end <= packets.end);
/// # Ok::<(), ltt_read::Error>(())
/// ```
pub fn event_span(traces: &[Arc<Trace>]) -> Option<TimeSpan> {
    let mut merge = Merge::new(traces);
    let start = times(&mut merge).next()?;
    let declared = traces.iter().filter_map(Trace::time_span).reduce(TimeSpan::join)?;
    let mut part = LAST_PART;
    loop {
        let from = Timestamp::from_ns(declared.end.as_ns().saturating_sub(part)).max(start);
        let mut merge = Merge::new(traces);
        merge.seek(from);
        if let Some(end) = times(&mut merge).max() {
            return Some(TimeSpan { start, end });
        }
        if from == start {
            // Damage may hide the events that were found first.
            return Some(TimeSpan { start, end: start });
        }
        part = part.saturating_mul(GROWTH);
    }
}

/// Iterates over the times of the remaining events.
fn times(merge: &mut Merge) -> impl Iterator<Item = Timestamp> {
    // Events without a time have no place on the time line.
    std::iter::from_fn(|| merge.next().map(|event| event.timestamp())).flatten()
}
