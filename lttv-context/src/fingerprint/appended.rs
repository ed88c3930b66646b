//! Traces that grow because their tracer is still running, and the part of them that is final.
//!
//! A tracefile grows by whole packets, each later than the previous one. Events before the end
//! of its last packet are therefore complete in this tracefile. Another tracefile may be
//! behind, and receive events before that time.

use ltt_read::{IndexEntry, Timestamp};

use super::Fingerprint;
use crate::traceset::Traceset;

/// Computes a time before which traces are unlikely to receive more events as they grow: a
/// little before the earliest end of the last packet of a tracefile, over all tracefiles with
/// packets. Returns `None` if no such time is known.
///
/// Tracers may end a packet a little after they began the next one. The time is therefore
/// before the end of that packet by 1/16 of its duration. [`settled_since`] reports later
/// whether that was enough.
pub fn settled_until(traceset: &Traceset) -> Option<Timestamp> {
    let mut settled = None;
    for trace in traceset.traces() {
        for number in 0..trace.tracefiles().len() {
            let sizes: Vec<u64> = trace.tracefiles()[number].file_sizes().collect();
            let mut packets = trace.packet_index(number).entries().iter().rev();
            if let Some(last) = packets.find(|packet| is_within(packet, &sizes)) {
                let slack = end_of(last).since(last.start) / 16;
                let end = end_of(last).saturating_sub(slack);
                settled = Some(settled.map_or(end, |settled: Timestamp| settled.min(end)));
            }
        }
    }
    settled.filter(|settled| *settled > Timestamp::MIN)
}

/// Computes the time before which traces have received nothing since a
/// [`fingerprint`](crate::fingerprint) of them was taken. Returns [`Timestamp::MAX`] if they
/// have received nothing at all.
///
/// Returns `None` if the fingerprint belongs to other traces, or to these with another number
/// of tracefiles, or if the earlier content of a file has changed. This is determined as by
/// [`Fingerprint::matches`]. The earlier content of a file that has grown is read.
///
/// ```
/// use ltt_read::Timestamp;
/// use lttv_context::{Traceset, fingerprint, settled_since, settled_until};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// assert_eq!(settled_since(&fingerprint(&traceset), &traceset), Some(Timestamp::MAX));
/// assert_eq!(settled_since(b"", &traceset), None);
/// let last = Timestamp::from_ns(i64::MAX);
/// assert!(settled_until(&traceset).expect("packets with times") < last);
/// # Ok::<(), ltt_read::Error>(())
/// ```
pub fn settled_since(fingerprint: &[u8], traceset: &Traceset) -> Option<Timestamp> {
    Fingerprint::from_bytes(fingerprint).settled_since(traceset)
}

/// Computes the time before which traces have received nothing since the files of their
/// tracefiles had the sizes in `before`.
pub(crate) fn settled(before: Vec<Vec<u64>>, traceset: &Traceset) -> Option<Timestamp> {
    let tracefiles = traceset
        .traces()
        .iter()
        .flat_map(|trace| (0..trace.tracefiles().len()).map(move |number| (trace, number)));
    let settled = tracefiles.zip(before).map(|((trace, number), before)| {
        if trace.tracefiles()[number].file_sizes().eq(before.iter().copied()) {
            return Timestamp::MAX;
        }
        let packets = trace.packet_index(number).entries();
        let new = packets.iter().filter(|packet| !is_within(packet, &before));
        new.map(|packet| packet.start).min().unwrap_or_else(|| {
            // The new packet is incomplete and not in the index, but it may contain events.
            packets.last().map_or(Timestamp::MIN, end_of)
        })
    });
    Some(settled.min().unwrap_or(Timestamp::MAX))
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
