//! The order of events by time.

use std::sync::Arc;

use ltt_read::{Timestamp, Trace, TracefileIndex};

/// Returns `true` if the events of each tracefile are in the order of their times, so that rows are.
///
/// The headers of large traces of known tracers are trusted, as all windows of time trust them. The
/// events of other tracefiles are read.
pub fn is_in_order(traces: &[Arc<Trace>]) -> bool {
    let tracefiles = |trace: &Arc<Trace>| {
        let of = Arc::clone(trace);
        (0..trace.tracefiles().len()).map(move |index| (Arc::clone(&of), TracefileIndex(index)))
    };
    traces.iter().flat_map(tracefiles).all(|(trace, index)| {
        !trace.packet_times(index).are_read() || has_ordered_events(&trace, index)
    })
}

fn has_ordered_events(trace: &Arc<Trace>, index: TracefileIndex) -> bool {
    let mut cursor = trace.cursor(index);
    let mut last = Timestamp::MIN;
    loop {
        match cursor.next() {
            Ok(Some(event)) => match event.timestamp() {
                Some(time) if time >= last => last = time,
                _ => return false,
            },
            Ok(None) => return true,
            // The events after damage may be in any order.
            Err(_) => return false,
        }
    }
}
