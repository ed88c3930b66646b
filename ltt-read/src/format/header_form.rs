//! Forms of event headers that are decoded without running a program.
//!
//! Nearly all events of nearly all traces have one of these forms, and a cursor tries them
//! first. Each form reads whatever the [`Decoder`](super::Decoder) reads, or nothing.

use super::packet::Packet;
use crate::layout::header::{Ahead, QuickValues};
use crate::layout::tables::StreamTable;

/// A form of event headers. This is a trait rather than a closure because closures are
/// not always inlined.
pub(crate) trait HeaderForm {
    /// Restricts the form to events with bodies of fixed size.
    const FIXED: bool;

    /// Decodes the header after the record that ends at bit `next`, if it has the form.
    /// `clock` is the value of the default clock before it, and `ahead` what the record before it has
    /// looked up.
    fn header(
        table: &StreamTable,
        packet: &Packet,
        data: &[u8],
        next: u64,
        clock: u64,
        ahead: Ahead,
    ) -> Option<QuickValues>;

    /// Looks up the id of the header after the record that ends at bit `next`, where the form has a use
    /// for it.
    fn look_ahead(table: &StreamTable, data: &[u8], next: u64) -> Ahead;
}

/// The form whose parameters depend on the stream alone: the quick form of CTF's headers.
pub(crate) struct OfStream;

impl HeaderForm for OfStream {
    const FIXED: bool = false;

    #[inline(always)]
    fn header(
        table: &StreamTable,
        _: &Packet,
        data: &[u8],
        next: u64,
        clock: u64,
        ahead: Ahead,
    ) -> Option<QuickValues> {
        table.quick.as_ref()?.read(&table.event_ids, data, next, clock, ahead)
    }

    #[inline(always)]
    fn look_ahead(table: &StreamTable, data: &[u8], next: u64) -> Ahead {
        let quick = table.quick.as_ref();
        quick.and_then(|q| q.look_ahead(&table.event_ids, data, next)).unwrap_or(Ahead::NONE)
    }
}

/// The form whose parameters depend on the packet: the common form of legacy headers.
/// With `PLAIN`, only the events that are decoded without a call: those with a body of
/// fixed size and a time that is far from being rounded.
pub(crate) struct OfPacket<const PLAIN: bool>;

impl<const PLAIN: bool> HeaderForm for OfPacket<PLAIN> {
    const FIXED: bool = PLAIN;

    #[inline(always)]
    fn header(
        table: &StreamTable,
        packet: &Packet,
        data: &[u8],
        next: u64,
        clock: u64,
        _: Ahead,
    ) -> Option<QuickValues> {
        packet.packing.as_ref()?.quick.as_ref()?.read::<PLAIN>(&table.event_ids, data, next, clock)
    }

    #[inline(always)]
    fn look_ahead(_: &StreamTable, _: &[u8], _: u64) -> Ahead {
        Ahead::NONE
    }
}
