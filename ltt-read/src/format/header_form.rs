//! Forms of event headers that are decoded without running a program.
//!
//! Nearly all events of nearly all traces have one of these forms, and a cursor tries them
//! first. Each form returns what the [`Decoder`](super::Decoder) would return, or `None`.

use crate::layout::header::{Ahead, Quick, QuickValues};
use crate::layout::ids::IdTable;
use crate::layout::tables::StreamTable;
use crate::legacy::blocks as legacy;
use crate::packet::Packet;

/// A form of event headers. This is a trait rather than a closure because closures are
/// not always inlined.
pub(crate) trait HeaderForm {
    /// Restricts the form to events with bodies of fixed size.
    const FIXED: bool;

    /// The data that decoding a header of the form requires.
    type Plan<'t>: Copy;

    /// Returns the data for the headers of a packet; `None` if they do not have the form.
    fn plan<'t>(table: &'t StreamTable, packet: &'t Packet) -> Option<Self::Plan<'t>>;

    /// Decodes the header after the record that ends at bit `next`, if it has the form.
    /// `clock` is the value of the default clock before it, and `ahead` what the record before it has
    /// looked up.
    fn header(
        plan: Self::Plan<'_>,
        ids: &IdTable,
        data: &[u8],
        next: u64,
        clock: u64,
        ahead: &Ahead,
    ) -> Option<QuickValues>;

    /// Looks up the header after the record that ends at bit `next`, where the form has a use for it.
    fn look_ahead(plan: Self::Plan<'_>, ids: &IdTable, data: &[u8], next: u64) -> Ahead;
}

/// The form whose parameters depend on the stream alone: the quick form of CTF's headers. `SIMPLE` is
/// what [`Quick::is_simple`] returns.
pub(crate) struct OfStream<const SIMPLE: bool>;

impl<const SIMPLE: bool> HeaderForm for OfStream<SIMPLE> {
    const FIXED: bool = false;

    type Plan<'t> = &'t Quick;

    #[inline(always)]
    fn plan<'t>(table: &'t StreamTable, _: &'t Packet) -> Option<&'t Quick> {
        table.quick.as_ref().filter(|quick| quick.is_simple() == SIMPLE)
    }

    #[inline(always)]
    fn header(
        quick: &Quick,
        ids: &IdTable,
        data: &[u8],
        next: u64,
        clock: u64,
        ahead: &Ahead,
    ) -> Option<QuickValues> {
        quick.read::<SIMPLE>(ids, data, next, clock, ahead)
    }

    #[inline(always)]
    fn look_ahead(quick: &Quick, ids: &IdTable, data: &[u8], next: u64) -> Ahead {
        quick.look_ahead::<SIMPLE>(ids, data, next)
    }
}

/// The form whose parameters depend on the packet: the common form of legacy headers.
/// With `PLAIN`, only the events that are decoded without a call: those with a body of
/// fixed size and a time that is far from being rounded.
pub(crate) struct OfPacket<const PLAIN: bool>;

impl<const PLAIN: bool> HeaderForm for OfPacket<PLAIN> {
    const FIXED: bool = PLAIN;

    type Plan<'t> = &'t legacy::Quick;

    #[inline(always)]
    fn plan<'t>(_: &'t StreamTable, packet: &'t Packet) -> Option<&'t legacy::Quick> {
        packet.packing.as_ref()?.quick.as_ref()
    }

    #[inline(always)]
    fn header(
        quick: &legacy::Quick,
        ids: &IdTable,
        data: &[u8],
        next: u64,
        clock: u64,
        _: &Ahead,
    ) -> Option<QuickValues> {
        quick.read::<PLAIN>(ids, data, next, clock)
    }

    #[inline(always)]
    fn look_ahead(_: &legacy::Quick, _: &IdTable, _: &[u8], _: u64) -> Ahead {
        Ahead::NONE
    }
}
