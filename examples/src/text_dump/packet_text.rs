//! The text of a packet context, which is the same for all events of a packet.

use ltt_read::Event;

use super::text::Text;

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
        if packet != self.packet {
            self.packet = packet;
            self.text.clear();
            write(&mut self.text);
        }
        out.append(self.text.as_bytes());
    }
}
