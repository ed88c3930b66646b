//! Identifiers of traces by their contents.

use std::fmt;
use std::str::FromStr;

use ltt_read::{Trace, TracefileIndex};
use lttv_context::Traceset;

use crate::fnv::Fnv;

/// An identifier of a trace, computed from its UUID and its earliest packet.
///
/// A trace that is moved, copied or renamed keeps its identifier, and so does one that grows
/// while its tracer is running. Snapshots and rotated chunks of one recording differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceId(u128);

/// The greatest number of bytes of a packet that are used for an identifier.
const SAMPLE: u64 = 4096;

impl TraceId {
    /// Computes the identifier of a trace. This needs its packet index, which is built if
    /// necessary, as for a seek.
    pub fn of(trace: &Trace) -> Self {
        let mut hash = Fnv::default();
        hash.add(&trace.uuid().map_or([0; 16], |uuid| uuid.0));
        let first = (0..trace.tracefiles().len()).filter_map(|number| {
            let packet = *trace.packet_index(TracefileIndex(number)).entries().first()?;
            Some((packet.start, trace.tracefiles()[number].name(), number, packet))
        });
        let first = first.min_by_key(|(start, name, number, _)| (*start, *name, *number));
        if let Some((start, name, number, packet)) = first {
            hash.add(&start.as_ns().to_le_bytes());
            hash.add(name.as_bytes());
            // Some formats have no UUID.
            let part = trace.tracefiles()[number].parts().nth(packet.file as usize);
            let (from, to) = (packet.offset, packet.offset.saturating_add(packet.size.min(SAMPLE)));
            let sample = part.and_then(|(_, bytes)| {
                bytes.get(usize::try_from(from).ok()?..usize::try_from(to).ok()?)
            });
            hash.add(sample.unwrap_or_default());
        }
        TraceId(hash.hash())
    }

    /// Computes an identifier of all traces of a traceset, in any order.
    pub(super) fn of_all(traceset: &Traceset) -> Self {
        let mut ids: Vec<_> = traceset.traces().iter().map(|trace| TraceId::of(trace)).collect();
        ids.sort_unstable();
        let mut hash = Fnv::default();
        ids.iter().for_each(|id| hash.add(&id.0.to_le_bytes()));
        TraceId(hash.hash())
    }
}

impl fmt::Display for TraceId {
    /// Writes 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for TraceId {
    type Err = std::num::ParseIntError;

    /// Parses hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u128::from_str_radix(text, 16).map(TraceId)
    }
}
