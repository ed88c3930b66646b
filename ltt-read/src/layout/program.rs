//! Programs, which compute the end of a region and the starts of its dynamic parts.

use std::sync::Arc;

use smallvec::SmallVec;

use super::FixedRead;
use crate::layout::clock::update_clock;
use crate::layout::record::{Locator, SectionForm};
use crate::report::DecodeError;
use crate::schema::{ByteOrder, RangeSet, Role, Roles};

/// An index into [`Scratch::slots`]: a value slot or an anchor.
pub(crate) type Slot = u32;

/// The number of fields in arrays that a region may have in excess of one per bit. This
/// bounds the time for fields that take no bits.
pub(crate) const MAX_EMPTY_FIELDS: u64 = 1 << 16;

/// A step of a program. `delta` is the distance in bits from the position that the
/// program has reached so far; `anchor` is the slot for the position after the step.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    /// Skips fields of a fixed size in bits.
    Skip(u64),
    /// Skips padding that depends on the data before it.
    Align { mask: u64, anchor: Slot },
    /// Saves the value of a length or selector in a slot.
    Save { delta: u64, read: FixedRead, slot: Slot },
    /// Saves a value that the reader itself needs.
    Role { delta: u64, read: FixedRead, roles: Roles },
    /// Skips a variable-length integer, and saves its value if it has a slot or roles.
    VarInt { signed: bool, slot: Option<Slot>, roles: Roles, anchor: Slot },
    /// Skips a null-terminated string with code units of `unit` bytes.
    Terminated { unit: u8, anchor: Slot },
    /// Skips a string or blob whose length in bytes is in the slot `len`.
    Bytes { len: Slot, anchor: Slot },
    /// Skips fixed-size elements whose number is in the slot `len`. `size` and `stride`
    /// are in bits; `visits` is the number of visitor calls for each element.
    Array { len: Slot, size: u64, stride: u64, visits: u64, anchor: Slot },
    /// Skips elements of dynamic size.
    Elements { len: Len, element: Arc<Element>, anchor: Slot },
    /// Runs one of several programs, selected by the value in the slot `selector`. Saves
    /// the index of that program in the slot `chosen`.
    Variant {
        selector: Slot,
        signed: bool,
        options: Arc<[VariantOption]>,
        chosen: Slot,
        anchor: Slot,
    },
    /// Runs a program if the value in the slot `selector` is one of `present`. Saves
    /// whether it is in the slot `chosen`.
    Option {
        selector: Slot,
        signed: bool,
        present: Present,
        chosen: Slot,
        visits: u64,
        ops: Arc<[Op]>,
        anchor: Slot,
    },
    /// Finds a field of the record that starts at the slot `record` and ends with the window, or at
    /// the slot `end`, whose place or length is in the record itself, and saves its length in the
    /// slot `len`.
    Locate { record: Slot, end: Option<Slot>, locator: Locator, len: Slot, anchor: Slot },
    /// Finds a section of a record and saves its start, its end and the start of what follows it in
    /// three slots. The section has to have `least` bits, and `least_after` have to follow it.
    Section(Arc<SectionOp>),
    /// Checks that the position is at a byte boundary, because the byte order changes.
    ByteBoundary,
    /// Fails with an error.
    Fail(DecodeError),
}

/// The parameters of a step that finds a section of a record.
#[derive(Debug)]
pub(crate) struct SectionOp {
    /// The slot from whose place the section is `at` bits away.
    pub(crate) from: Slot,
    pub(crate) at: u64,
    pub(crate) form: SectionForm,
    pub(crate) order: ByteOrder,
    pub(crate) least: u64,
    pub(crate) least_after: u64,
    pub(crate) slots: [Slot; 3],
}

/// Calls `each` with the value slots that a program writes.
pub(crate) fn slots_saved(ops: &[Op], each: &mut impl FnMut(Slot)) {
    for op in ops {
        match op {
            Op::Save { slot, .. } | Op::VarInt { slot: Some(slot), .. } => each(*slot),
            _ => for_nested(op, &mut |ops| slots_saved(ops, each)),
        }
    }
}

/// Calls `each` with the value slots that a program reads.
pub(crate) fn slots_read(ops: &[Op], each: &mut impl FnMut(Slot)) {
    for op in ops {
        match op {
            Op::Bytes { len, .. } | Op::Array { len, .. } => each(*len),
            Op::Elements { len: Len::Slot(len), .. } => each(*len),
            Op::Variant { selector, .. } | Op::Option { selector, .. } => each(*selector),
            _ => {}
        }
        for_nested(op, &mut |ops| slots_read(ops, each));
    }
}

fn for_nested(op: &Op, each: &mut dyn FnMut(&[Op])) {
    match op {
        Op::Elements { element, .. } => each(&element.ops),
        Op::Variant { options, .. } => options.iter().for_each(|o| each(&o.ops)),
        Op::Option { ops, .. } => each(ops),
        _ => {}
    }
}

/// A number of elements or bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Len {
    Const(u64),
    Slot(Slot),
}

impl Len {
    #[inline(always)]
    pub(crate) fn get(self, slots: &[u64]) -> u64 {
        match self {
            Len::Const(n) => n,
            Len::Slot(s) => slots[s as usize],
        }
    }

    pub(crate) fn constant(self) -> Option<u64> {
        if let Len::Const(n) = self { Some(n) } else { None }
    }
}

/// The program of each element of an [`Op::Elements`] array.
#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) align_mask: u64,
    /// The slot for the start of the element.
    pub(crate) anchor: Slot,
    /// The number of visitor calls for an element, without those of dynamic parts.
    pub(crate) visits: u64,
    pub(crate) ops: Box<[Op]>,
}

/// An option of an [`Op::Variant`].
#[derive(Debug)]
pub(crate) struct VariantOption {
    pub(crate) ranges: RangeSet,
    /// The number of visitor calls for the option, without those of dynamic parts.
    pub(crate) visits: u64,
    pub(crate) ops: Box<[Op]>,
}

/// The selector values for which the content of an [`Op::Option`] is present.
#[derive(Debug, Clone)]
pub(crate) enum Present {
    NonZero,
    Ranges(Arc<[(i128, i128)]>),
}

/// Slots, without memory of their own if they are few.
pub(crate) type SlotVec = SmallVec<[u64; 15]>;

/// The working memory of programs.
#[derive(Debug, Clone, Default)]
#[repr(C, align(64))] // each event needs a slot: they are in two lines of the cache
pub(crate) struct Scratch {
    /// Value slots, followed by anchors, which are bit positions in the packet.
    pub(crate) slots: SlotVec,
    /// The values of the fields with roles, from the last packet header and context or
    /// from the last event header.
    pub(crate) roles: RoleValues,
    /// The number of visitor calls for fields in dynamic parts.
    pub(crate) cost: Cost,
}

/// The number of visitor calls for the dynamic parts of a region, with its limit: one per
/// bit of data, and [`MAX_EMPTY_FIELDS`] more.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    /// The count and its limit; `None` if the program has run before without error.
    limit: Option<CostLimit>,
}

#[derive(Debug, Clone, Copy)]
struct CostLimit {
    visits: u64,
    /// The start of the region, in bits.
    begin: u64,
    /// The number of visits that need no bits of data.
    free: u64,
}

impl Cost {
    /// Creates the count for a region that starts at `begin`. `free` is the number of
    /// visits that the metadata accounts for: those of its fields, once each.
    pub(crate) fn of_region(begin: u64, free: u64) -> Self {
        let free = free.saturating_add(MAX_EMPTY_FIELDS);
        Cost { limit: Some(CostLimit { visits: 0, begin, free }) }
    }

    /// Adds the visits of a part that ends at `end`.
    fn add(&mut self, visits: u64, end: u64) -> Result<(), DecodeError> {
        let Some(limit) = &mut self.limit else { return Ok(()) };
        limit.visits = limit.visits.saturating_add(visits);
        let bits = end - limit.begin;
        match limit.visits > bits.saturating_add(limit.free) {
            true => Err(DecodeError::TooManyFields { bits }),
            false => Ok(()),
        }
    }
}

/// The values of fields that have roles.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RoleValues {
    seen: u16,
    values: [u64; 11],
    /// The default clock in cycles, updated by each timestamp field.
    pub(crate) clock: u64,
    /// The width of the discarded events counter, in bits.
    pub(crate) discarded_bits: u8,
    /// The width of the packet sequence number, in bits.
    pub(crate) sequence_bits: u8,
    /// The width of the packet's end time, in bits.
    pub(crate) end_bits: u8,
}

impl RoleValues {
    const EACH: [Role; 10] = [
        Role::PacketMagic,
        Role::StreamClassId,
        Role::StreamId,
        Role::PacketTotalLength,
        Role::PacketContentLength,
        Role::ClockTimestamp,
        Role::PacketEndTimestamp,
        Role::DiscardedEvents,
        Role::PacketSequence,
        Role::EventTypeId,
    ];

    /// Creates values with nothing but a clock value.
    pub(crate) fn at(clock: u64) -> Self {
        RoleValues { clock, ..Self::default() }
    }

    pub(crate) fn get(&self, role: Role) -> Option<u64> {
        (self.seen >> role as u8 & 1 == 1).then(|| self.values[role as usize])
    }

    /// Clears all values except the clock.
    pub(crate) fn clear(&mut self) {
        self.seen = 0;
    }

    fn note(&mut self, roles: Roles, value: u64, bits: u32) {
        for role in Self::EACH.into_iter().filter(|r| roles.has(*r)) {
            self.seen |= 1 << role as u8;
            self.values[role as usize] = value;
            match role {
                Role::ClockTimestamp => self.clock = update_clock(self.clock, value, bits),
                Role::DiscardedEvents => self.discarded_bits = bits as u8,
                Role::PacketEndTimestamp => self.end_bits = bits as u8,
                Role::PacketSequence => self.sequence_bits = bits as u8,
                _ => {}
            }
        }
    }
}

/// The bytes of a packet, with the end of its content.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window<'a> {
    pub(crate) data: &'a [u8],
    /// The end of the content in bits from the start of `data`, never beyond its end.
    pub(crate) end: u64,
}

impl Window<'_> {
    /// Returns `pos` if it is within the content.
    #[inline(always)]
    fn check(self, pos: u64) -> Result<u64, DecodeError> {
        if pos <= self.end {
            Ok(pos)
        } else {
            Err(DecodeError::BeyondContent { needed: pos - self.end })
        }
    }

    /// Returns the bytes that are wholly within the content.
    fn whole_bytes(&self) -> &[u8] {
        &self.data[..((self.end / 8) as usize).min(self.data.len())]
    }
}

/// Runs a program from `pos`. Returns its end position, which is within the window.
pub(crate) fn run(
    ops: &[Op],
    window: Window<'_>,
    mut pos: u64,
    scratch: &mut Scratch,
) -> Result<u64, DecodeError> {
    for op in ops {
        match op {
            Op::Skip(bits) => pos = window.check(pos.saturating_add(*bits))?,
            Op::Align { mask, anchor } => {
                pos = window.check((pos + mask) & !mask)?;
                scratch.slots[*anchor as usize] = pos;
            }
            Op::Save { delta, read, slot } => {
                let at = checked_field(window, pos, *delta, *read)?;
                scratch.slots[*slot as usize] = read.value(window.data, at);
            }
            Op::Role { delta, read, roles } => {
                let at = checked_field(window, pos, *delta, *read)?;
                scratch.roles.note(*roles, read.value(window.data, at), read.bits());
            }
            Op::VarInt { signed, slot, roles, anchor } => {
                let (value, end) = var_int(window, pos, *signed)?;
                let bits = ((end - pos) / 8 * 7).min(64) as u32;
                scratch.roles.note(*roles, value, bits);
                if let Some(slot) = slot {
                    scratch.slots[*slot as usize] = value;
                }
                pos = end;
                scratch.slots[*anchor as usize] = pos;
            }
            Op::Terminated { unit, anchor } => {
                pos = after_terminator(window, pos, usize::from(*unit))?;
                scratch.slots[*anchor as usize] = pos;
            }
            Op::Bytes { len, anchor } => {
                let bits = scratch.slots[*len as usize].saturating_mul(8);
                pos = window.check(pos.saturating_add(bits))?;
                scratch.slots[*anchor as usize] = pos;
            }
            Op::Array { len, size, stride, visits, anchor } => {
                let len = scratch.slots[*len as usize];
                pos = after_array(window, pos, len, *size, *stride)?;
                scratch.cost.add(len.saturating_mul(*visits), pos)?;
                scratch.slots[*anchor as usize] = pos;
            }
            Op::Elements { len, element, anchor } => {
                let len = len.get(&scratch.slots);
                for _ in 0..len {
                    pos = run_element(element, window, pos, scratch)?;
                    scratch.cost.add(element.visits, pos)?;
                }
                scratch.slots[*anchor as usize] = pos;
            }
            Op::Variant { selector, signed, options, chosen, anchor } => {
                let value = widen(scratch.slots[*selector as usize], *signed);
                let index = options.iter().position(|o| in_ranges(&o.ranges, value));
                let index = index.ok_or(DecodeError::NoVariantOption { value })?;
                scratch.slots[*chosen as usize] = index as u64;
                pos = run(&options[index].ops, window, pos, scratch)?;
                scratch.cost.add(options[index].visits, pos)?;
                scratch.slots[*anchor as usize] = pos;
            }
            Op::Option { selector, signed, present, chosen, visits, ops, anchor } => {
                let raw = scratch.slots[*selector as usize];
                let is_present = match present {
                    Present::NonZero => raw != 0,
                    Present::Ranges(ranges) => in_ranges(ranges, widen(raw, *signed)),
                };
                scratch.slots[*chosen as usize] = u64::from(is_present);
                if is_present {
                    pos = run(ops, window, pos, scratch)?;
                    scratch.cost.add(*visits, pos)?;
                }
                scratch.slots[*anchor as usize] = pos;
            }
            Op::Section(section) => {
                let begin = scratch.slots[section.from as usize].saturating_add(section.at);
                let found = section.form.find(window.data, begin, window.end, section.order);
                let beyond = DecodeError::BeyondContent { needed: section.least.max(8) };
                let found = found.ok_or(beyond)?;
                if found.end - found.start < section.least
                    || window.end - found.after < section.least_after
                {
                    return Err(beyond);
                }
                let values = [found.start, found.end, found.after];
                for (slot, value) in section.slots.iter().zip(values) {
                    scratch.slots[*slot as usize] = value;
                }
            }
            Op::Locate { record, end, locator, len, anchor } => {
                let begin = scratch.slots[*record as usize];
                let end = end.map_or(window.end, |end| scratch.slots[end as usize]);
                let (at, elements) = locator.find(window.data, begin, end);
                scratch.slots[*anchor as usize] = at;
                scratch.slots[*len as usize] = elements;
            }
            Op::ByteBoundary => {
                if !pos.is_multiple_of(8) {
                    return Err(DecodeError::ByteOrderChange);
                }
            }
            Op::Fail(error) => return Err(*error),
        }
    }
    Ok(pos)
}

/// Runs the program of one element after its padding. Returns its end position.
pub(crate) fn run_element(
    element: &Element,
    window: Window<'_>,
    pos: u64,
    scratch: &mut Scratch,
) -> Result<u64, DecodeError> {
    let pos = window.check((pos + element.align_mask) & !element.align_mask)?;
    scratch.slots[element.anchor as usize] = pos;
    run(&element.ops, window, pos, scratch)
}

/// Returns the position of a fixed-length field, if all of it is within the window.
fn checked_field(
    window: Window<'_>,
    pos: u64,
    delta: u64,
    read: FixedRead,
) -> Result<u64, DecodeError> {
    let at = pos.saturating_add(delta);
    window.check(at.saturating_add(u64::from(read.bits())))?;
    Ok(at)
}

/// Returns the end of `len` fixed-size elements that start at `pos`.
#[inline(always)]
fn after_array(
    window: Window<'_>,
    pos: u64,
    len: u64,
    size: u64,
    stride: u64,
) -> Result<u64, DecodeError> {
    if len == 0 {
        return Ok(pos);
    }
    let bits = (len - 1).saturating_mul(stride).saturating_add(size);
    window.check(pos.saturating_add(bits))
}

/// Decodes a variable-length integer (CTF 2 "variable-length integer field decoding
/// procedure": LEB128). Returns its value and its end.
pub(crate) fn var_int(
    window: Window<'_>,
    pos: u64,
    signed: bool,
) -> Result<(u64, u64), DecodeError> {
    let bytes = window.whole_bytes().get((pos / 8) as usize..).unwrap_or(&[]);
    let (mut value, mut shift) = (0u64, 0u32);
    for (i, &byte) in bytes.iter().enumerate() {
        let part = u64::from(byte & 0x7f);
        let last = byte & 0x80 == 0;
        // The tenth byte has room for one bit and its sign extension.
        let fits = match shift {
            0..=56 => true,
            63 => last && (part <= 1 && !signed || signed && (part == 0 || part == 0x7f)),
            _ => false,
        };
        if !fits {
            return Err(DecodeError::OversizedInteger);
        }
        value |= part << shift;
        shift += 7;
        if last {
            if signed && shift < 64 {
                value = crate::base::bits::sign_extend(value, shift) as u64;
            }
            return Ok((value, pos + 8 * (i as u64 + 1)));
        }
    }
    Err(DecodeError::BeyondContent { needed: 8 })
}

/// Returns the position after the null code unit of a string that starts at `pos`.
#[inline(always)]
fn after_terminator(window: Window<'_>, pos: u64, unit: usize) -> Result<u64, DecodeError> {
    let bytes = window.whole_bytes().get((pos / 8) as usize..).unwrap_or(&[]);
    let len = match unit {
        1 => crate::base::bits::find_zero(bytes),
        _ => bytes.chunks_exact(unit).position(|u| u.iter().all(|b| *b == 0)).map(|i| i * unit),
    };
    match len {
        Some(len) => Ok(pos + 8 * (len + unit) as u64),
        None => Err(DecodeError::UnterminatedString),
    }
}

fn widen(raw: u64, signed: bool) -> i128 {
    if signed { i128::from(raw as i64) } else { i128::from(raw) }
}

fn in_ranges(ranges: &[(i128, i128)], value: i128) -> bool {
    ranges.iter().any(|(low, high)| *low <= value && value <= *high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(data: &[u8]) -> Window<'_> {
        Window { data, end: data.len() as u64 * 8 }
    }

    #[test]
    fn variable_length_integers() {
        let v = |data: &[u8], signed| var_int(window(data), 0, signed);
        assert_eq!(v(&[0x00], false), Ok((0, 8)));
        assert_eq!(v(&[0xff, 0x7f], false), Ok((16383, 16)));
        assert_eq!(v(&[0x7f], true).map(|(v, _)| v as i64), Ok(-1));
        assert_eq!(v(&[0xff, 0x00], true).map(|(v, _)| v as i64), Ok(127));
        let mut max = [0xff; 10];
        max[9] = 1;
        assert_eq!(v(&max, false), Ok((u64::MAX, 80)));
        max[9] = 2;
        assert_eq!(v(&max, false), Err(DecodeError::OversizedInteger));
        max[9] = 0x7f;
        assert_eq!(v(&max, true), Ok((u64::MAX, 80)));
        assert_eq!(v(&[0x80; 11], false), Err(DecodeError::OversizedInteger));
        assert_eq!(v(&[0x80; 3], false), Err(DecodeError::BeyondContent { needed: 8 }));
    }

    #[test]
    fn terminators_of_each_width() {
        let data = [b'a', 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(after_terminator(window(&data), 0, 1), Ok(16));
        assert_eq!(after_terminator(window(&data), 0, 2), Ok(32));
        assert_eq!(after_terminator(window(&data), 0, 4), Ok(64));
        assert_eq!(after_terminator(window(b"abc"), 0, 1), Err(DecodeError::UnterminatedString));
    }

    #[test]
    fn array_lengths_near_the_limits_are_errors_not_overflows() {
        let w = window(&[0; 8]);
        for len in [9, 1 << 32, 1 << 61, u64::MAX] {
            assert!(after_array(w, 0, len, 8, 8).is_err(), "{len}");
        }
        assert_eq!(after_array(w, 0, 8, 8, 8), Ok(64));
        assert_eq!(after_array(w, 0, u64::MAX, 0, 0), Ok(0));
    }

    #[test]
    fn visits_are_limited_to_one_per_bit_and_the_free_ones() {
        let mut cost = Cost::of_region(100, 6);
        assert_eq!(cost.add(MAX_EMPTY_FIELDS + 6, 100), Ok(()));
        assert_eq!(cost.add(1, 100), Err(DecodeError::TooManyFields { bits: 0 }));
        assert_eq!(cost.add(3, 104), Ok(()));
        assert_eq!(cost.add(u64::MAX, 104), Err(DecodeError::TooManyFields { bits: 4 }));
        assert_eq!(Cost::default().add(u64::MAX, 0), Ok(()));
    }
}
