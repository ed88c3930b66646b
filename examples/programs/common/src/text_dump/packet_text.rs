//! A cache of the text of packet contexts, which all events of a packet share.

use ltt_read::Event;

use crate::text::{PIECE, Text};

/// The length in bytes of the longest text that is cached.
const LONGEST: usize = PIECE / 2;

/// The cached text of one packet of a tracefile.
#[derive(Debug, Default)]
pub(super) struct PacketText {
    /// The index of the packet's file in the tracefile, and its offset in that file.
    packet: Option<(usize, u64)>,
    text: Text,
}

impl PacketText {
    /// Appends the text of an event's packet. Calls `write` to append it if it is not cached.
    #[inline]
    pub(super) fn append(
        &mut self,
        event: &Event<'_>,
        out: &mut Text,
        write: impl FnOnce(&mut Text),
    ) {
        let packet = Some((event.file_index(), event.packet().offset));
        match packet == self.packet {
            true => out.append(self.text.as_bytes()),
            false => self.renew(packet, out, write),
        }
    }

    #[inline(never)]
    fn renew(
        &mut self,
        packet: Option<(usize, u64)>,
        out: &mut Text,
        write: impl FnOnce(&mut Text),
    ) {
        let (begin, drained) = (out.len(), out.drained());
        write(out);
        let text = out.as_bytes().get(begin..).filter(|text| text.len() <= LONGEST);
        let text = text.filter(|_| out.drained() == drained);
        self.packet = packet.filter(|_| text.is_some());
        self.text.clear();
        self.text.append(text.unwrap_or_default());
    }
}
