//! The time of the last event of a trace.

use std::slice;
use std::sync::Arc;

use ltt_read::{Merge, Timestamp, Trace, TracefileIndex};

/// Returns the time of the last event of a trace; [`Timestamp::MIN`] if it has no events.
pub(crate) fn last_event(trace: &Arc<Trace>) -> Timestamp {
    let packets = (0..trace.tracefiles().len())
        .flat_map(|at| trace.packet_index(TracefileIndex(at)).entries());
    let mut begins: Vec<Timestamp> = packets.map(|packet| packet.start).collect();
    begins.sort_unstable();
    begins.dedup();
    let mut merge = Merge::new(slice::from_ref(trace));
    let last_from = |begin: Timestamp| {
        merge.seek(begin);
        let times = std::iter::from_fn(|| merge.next().map(|event| event.timestamp()));
        times.flatten().max()
    };
    // The packet with the latest start contains the last event, unless it is empty or
    // damaged.
    begins.into_iter().rev().find_map(last_from).unwrap_or(Timestamp::MIN)
}
