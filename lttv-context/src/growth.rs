//! Traces that are read while their tracer goes on: what of them is settled.
//!
//! A tracefile grows by whole packets, each later than the one before. So what its last
//! packet leaves open is known; but another tracefile may lie behind, and get events that
//! come before those.

use ltt_read::{IndexEntry, Timestamp};

use crate::fingerprint::Fingerprint;
use crate::traceset::Traceset;

/// A time before which traces are not likely to get anything more as they grow: a little
/// before the earliest end of the last packet of a tracefile, without those that are empty
/// so far. `None` if no time can be told.
///
/// Tracers may end a packet a little after they began the next one: so it is the 16th part
/// of that packet before its end. [`settled_since`] tells, later, whether that sufficed.
pub fn settled_until(traceset: &Traceset) -> Option<Timestamp> {
    let mut settled = None;
    for trace in traceset.traces() {
        for number in 0..trace.tracefiles().len() {
            let sizes: Vec<u64> = trace.tracefiles()[number].file_sizes().collect();
            let mut packets = trace.packet_index(number).entries().iter().rev();
            if let Some(last) = packets.find(|packet| is_within(packet, &sizes)) {
                let slack = end_of(last).since(last.begin) / 16;
                let end = end_of(last).saturating_sub(slack);
                settled = Some(settled.map_or(end, |settled: Timestamp| settled.min(end)));
            }
        }
    }
    settled.filter(|settled| *settled > Timestamp::MIN)
}

/// The time before which traces have nothing new since a
/// [`fingerprint`](crate::fingerprint) of them was taken; [`Timestamp::MAX`] if they have
/// nothing new at all. `None` if it is of other traces, or of these with more or
/// fewer tracefiles, or if what there was of a file is not what it was. That is found as
/// by [`Fingerprint::is_of`]: what there was of a file that has grown is read.
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
    Fingerprint::known(fingerprint).settled_since(traceset)
}

/// The time before which traces have nothing new since the files of their tracefiles had
/// other sizes.
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
        new.map(|packet| packet.begin).min().unwrap_or_else(|| {
            // It is not all there yet, and not indexed: but it may have events.
            packets.last().map_or(Timestamp::MIN, end_of)
        })
    });
    Some(settled.min().unwrap_or(Timestamp::MAX))
}

/// Whether a packet is all within what there is of the files, or was.
fn is_within(packet: &IndexEntry, sizes: &[u64]) -> bool {
    let end = packet.offset.saturating_add(packet.size);
    sizes.get(packet.file as usize).is_some_and(|size| end <= *size)
}

/// The end of a packet. One that is not known is the latest that there is.
fn end_of(packet: &IndexEntry) -> Timestamp {
    if packet.end == Timestamp::MAX { packet.begin } else { packet.end }
}
