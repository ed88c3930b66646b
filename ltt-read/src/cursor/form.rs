//! The forms of event headers that are decoded without running a program.

use crate::layout::header::QuickValues;
use crate::layout::tables::StreamTable;
use crate::packet::Packet;

/// A form of event headers that nearly all events have. This is a trait rather than a
/// closure because closures are not always inlined.
pub(super) trait Form {
    /// Restricts the form to events with bodies of fixed size.
    const FIXED: bool;

    /// Decodes the header after the record that ends at bit `next`, if it has the form.
    /// `clock` is the value of the default clock before it.
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
