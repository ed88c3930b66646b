//! The losses of a tracefile from a time on.

use std::sync::Arc;

use crate::base::time::Timestamp;
use crate::report::Notice;
use crate::trace::{IndexEntry, TimedPacket, Trace, TracefileIndex};

impl Trace {
    /// Returns the losses of a tracefile that reach a time: those of [`losses`](Self::losses) from some
    /// notice on, so that all before it ended earlier. Only the packets from that time on are read,
    /// beside the [packet index](Self::packet_index).
    ///
    /// # Panics
    ///
    /// If `tracefile` is out of range.
    pub fn losses_from(
        self: &Arc<Self>,
        tracefile: TracefileIndex,
        time: Timestamp,
    ) -> Vec<Notice> {
        let before = || {
            let index = self.packet_index(tracefile);
            let entries = index.entries();
            let at = entries.iter().position(|entry| reaches(entry, time));
            let before = at.unwrap_or(entries.len()).checked_sub(1)?;
            // Entries of index files are compared with their packets when they are used.
            let used = entries.get(before..entries.len().min(before + 2))?;
            let is_sound = index.check(self, self.tracefile(tracefile), used).is_none();
            entries.get(before).filter(|_| is_sound)
        };
        let mut cursor = self.cursor(tracefile);
        if let Some(&IndexEntry { file, number, offset, clock_before, .. }) = before() {
            let (earliest, latest, in_order) = (Timestamp::MIN, Timestamp::MAX, true);
            let packet =
                TimedPacket { file, number, offset, clock_before, earliest, latest, in_order };
            if cursor.enter_found(Some((packet, true)), Timestamp::MIN).is_err() {
                return self.losses(tracefile);
            }
            cursor.take_notices();
        }
        cursor.losses_ahead()
    }
}

/// Returns `true` if a packet may note a loss that ends at a time or later: such a loss ends at the start or
/// the end that the packet declares.
fn reaches(entry: &IndexEntry, time: Timestamp) -> bool {
    let (begin, end) = (entry.declared.begin, entry.declared.known_end());
    begin.is_none_or(|begin| begin >= time) || end.is_none_or(|end| end >= time)
}
