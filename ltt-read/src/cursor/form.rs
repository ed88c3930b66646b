//! The forms that headers of events have.

use crate::layout::header::QuickValues;
use crate::layout::tables::StreamTable;
use crate::packet::Packet;

/// A form that headers of events have, nearly always. (Not a closure, as those are
/// not always inlined.)
pub(super) trait Form {
    /// Whether only bodies of fixed size are meant.
    const FIXED: bool;

    /// The header at a place of a packet, if it has the form.
    fn header(
        table: &StreamTable,
        packet: &Packet,
        data: &[u8],
        next: u64,
        clock: u64,
    ) -> Option<QuickValues>;
}

/// The quick form of CTF's headers.
pub(super) struct Quick;

impl Form for Quick {
    const FIXED: bool = false;

    #[inline(always)]
    fn header(
        table: &StreamTable,
        _: &Packet,
        data: &[u8],
        next: u64,
        clock: u64,
    ) -> Option<QuickValues> {
        table.quick.as_ref()?.read(&table.event_ids, data, next, clock)
    }
}
