//! The text of a packet context, which is the same for all events of a packet.

use ltt_read::{Packet, Timestamp};

/// Keeps the text for one packet of a tracefile.
#[derive(Debug, Default)]
pub(super) struct PacketText {
    key: Option<Key>,
    text: Vec<u8>,
}

/// What tells a packet from all others of its tracefile, also when that has
/// several files.
#[derive(Debug, PartialEq)]
struct Key {
    offset: u64,
    begin: Timestamp,
    sequence: Option<u64>,
}

impl PacketText {
    /// Appends the text of a packet; `write` appends it the first time.
    #[inline]
    pub(super) fn append(
        &mut self,
        packet: &Packet,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        // Without a time, packets of two files may not differ in the key.
        let Some(begin) = packet.begin else { return write(out) };
        let key = Some(Key { offset: packet.offset, begin, sequence: packet.sequence });
        if key != self.key {
            self.text.clear();
            write(&mut self.text);
            self.key = key;
        }
        out.extend_from_slice(&self.text);
    }
}
