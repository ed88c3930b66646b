//! Traces that grow because their tracer is still running, and the part of them that is final.
//!
//! A tracefile grows by whole packets, each later than the previous one. Events before the end
//! of its last packet are therefore complete in this tracefile. Another tracefile may be
//! behind, and receive events before that time.

use ltt_read::index::IndexEntry;
use ltt_read::{Timestamp, TracefileIndex};

use super::part_sizes;
use crate::traceset::Traceset;

impl Traceset {
    /// Computes a time before which traces are unlikely to receive more events as they grow: a
    /// little before the earliest end of the last packet of a tracefile, over all tracefiles with
    /// packets. Returns `None` if no such time is known.
    ///
    /// Tracers may end a packet a little after they began the next one. The time is therefore
    /// before the end of that packet by 1/16 of its duration. [`Fingerprint::unchanged_before`]
    /// reports later whether that was enough.
    ///
    /// ```
    /// use ltt_read::Timestamp;
    /// use lttv_context::Traceset;
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let traceset = Traceset::open(path)?;
    /// assert!(traceset.complete_before().expect("packets with times") < Timestamp::MAX);
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    ///
    /// [`Fingerprint::unchanged_before`]: crate::Fingerprint::unchanged_before
    pub fn complete_before(&self) -> Option<Timestamp> {
        let mut complete = None;
        for trace in self.traces() {
            for number in 0..trace.tracefiles().len() {
                let sizes: Vec<u64> = part_sizes(&trace.tracefiles()[number]).collect();
                let mut packets = trace.packet_index(TracefileIndex(number)).entries().iter().rev();
                if let Some(last) = packets.find(|packet| is_within(packet, &sizes)) {
                    let slack = end_of(last).since(last.start) / 16;
                    let end = end_of(last).saturating_sub(slack);
                    complete = Some(complete.map_or(end, |complete: Timestamp| complete.min(end)));
                }
            }
        }
        complete.filter(|complete| *complete > Timestamp::MIN)
    }
}

/// Computes the time before which traces have received nothing since the files of their
/// tracefiles had the sizes `sizes`.
pub(super) fn unchanged_before(sizes: Vec<Vec<u64>>, traceset: &Traceset) -> Option<Timestamp> {
    let tracefiles = traceset
        .traces()
        .iter()
        .flat_map(|trace| (0..trace.tracefiles().len()).map(move |number| (trace, number)));
    let unchanged = tracefiles.zip(sizes).map(|((trace, number), before)| {
        if part_sizes(&trace.tracefiles()[number]).eq(before.iter().copied()) {
            return Timestamp::MAX;
        }
        let packets = trace.packet_index(TracefileIndex(number)).entries();
        let new = packets.iter().filter(|packet| !is_within(packet, &before));
        new.map(|packet| packet.start).min().unwrap_or_else(|| {
            // The new packet is incomplete and not in the index, but it may contain events.
            packets.last().map_or(Timestamp::MIN, end_of)
        })
    });
    Some(unchanged.min().unwrap_or(Timestamp::MAX))
}

/// Returns `true` if a packet lies completely within files of these sizes.
fn is_within(packet: &IndexEntry, sizes: &[u64]) -> bool {
    let end = packet.offset.saturating_add(packet.size);
    sizes.get(packet.file as usize).is_some_and(|size| end <= *size)
}

/// Returns the end time of a packet, or its start if the end is unknown.
fn end_of(packet: &IndexEntry) -> Timestamp {
    if packet.end == Timestamp::MAX { packet.start } else { packet.end }
}
