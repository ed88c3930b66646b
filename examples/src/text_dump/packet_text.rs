//! The text of a packet context, which is the same for all events of a packet.

use ltt_read::Event;

use super::text::{PIECE, Text};

/// Longer texts are not kept, but made again for each event.
const LONGEST: usize = PIECE / 2;

/// Keeps the text for one packet of a tracefile.
#[derive(Debug, Default)]
pub(super) struct PacketText {
    /// Number of its file in the tracefile, and its offset there.
    packet: Option<(usize, u64)>,
    text: Text,
}

impl PacketText {
    /// Appends the text of an event's packet; `write` appends it the first
    /// time.
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
