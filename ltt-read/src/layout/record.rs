//! Records of ring buffers: their headers, and the places of fields that descriptions give as
//! offsets.

use super::clock::ClockConverter;
use crate::base::bits;
use crate::base::time::Timestamp;
use crate::schema::{ByteOrder, EventTypeId};

/// The layouts of the records of a trace, as far as the schema does not contain them.
#[derive(Debug)]
pub(crate) struct RecordLayouts {
    pub(crate) order: ByteOrder,
    pub(crate) scale: Option<Scale>,
    /// `true` if records have the headers of a ring buffer.
    pub(crate) have_headers: bool,
    /// For each event type, the places of its fields.
    pub(crate) places: Box<[FieldPlaces]>,
    /// For each event type, its sections, if it has any.
    pub(crate) sections: Box<[Sections]>,
}

/// The sections of an event type, parts of a record whose place or size is in the record.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sections {
    pub(crate) sections: Box<[Section]>,
    /// For each field, the place from which its own is counted; that of a record if there is none.
    pub(crate) origins: Box<[Origin]>,
}

/// A place from which those of fields are counted. Sections are named by their index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The start of the record.
    #[default]
    Record,
    /// The start of the contents of a section.
    StartOf(u8),
    /// The first byte after a section.
    After(u8),
}

/// A part of a record whose size or place is in the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) from: Origin,
    /// The offset from there, in bytes.
    pub(crate) at: u32,
    pub(crate) form: SectionForm,
}

/// The form of a section. Sizes are in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SectionForm {
    /// A number of `count` bytes, 4 or 8, then `gap` other bytes, then as many elements of `unit`
    /// bytes; then `rest` bytes unless the number is 0.
    Counted { count: u8, gap: u8, unit: u32, rest: u8 },
    /// A number of 8 bytes, then `size` bytes unless it is 0.
    IfNonzero { size: u32 },
    /// All bytes up to `tail` bytes before the end of the record.
    UpTo { tail: u32 },
}

/// The place of a section in a record, in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoundSection {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) after: u64,
}

impl SectionForm {
    /// Finds a section that begins at a bit of a record, which ends at `end`; `None` if it is not
    /// within the record.
    #[inline]
    pub(crate) fn find(
        self,
        data: &[u8],
        begin: u64,
        end: u64,
        order: ByteOrder,
    ) -> Option<FoundSection> {
        let number = |bytes: u64| {
            let bits = 8 * bytes;
            if begin.checked_add(bits)? > end {
                return None;
            }
            Some(match order {
                ByteOrder::Little => bits::read_le(data, begin, bits as u32),
                ByteOrder::Big => bits::read_be(data, begin, bits as u32),
            })
        };
        let found = match self {
            SectionForm::Counted { count, gap, unit, rest } => {
                let elements = number(count.into())?;
                let start = begin + 8 * (u64::from(count) + u64::from(gap));
                let size = elements.checked_mul(8 * u64::from(unit))?;
                let stop = start.checked_add(size)?;
                let rest = if elements > 0 { 8 * u64::from(rest) } else { 0 };
                FoundSection { start, end: stop, after: stop.checked_add(rest)? }
            }
            SectionForm::IfNonzero { size } => {
                let size = if number(8)? == 0 { 0 } else { 8 * u64::from(size) };
                let start = begin + 64;
                FoundSection { start, end: start + size, after: start + size }
            }
            SectionForm::UpTo { tail } => {
                let stop = end.checked_sub(8 * u64::from(tail))?;
                FoundSection { start: begin, end: stop, after: stop }
            }
        };
        (found.start <= found.end && found.after <= end).then_some(found)
    }
}

/// The places of the fields of an event type: of the members of the common context, the specific
/// context and the payload, in this order.
pub(crate) type FieldPlaces = Box<[FieldPlace]>;

/// The place of a field in its record, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldPlace {
    /// An offset.
    At(u32),
    /// A place that a word of 32 bits gives: the offset in its lower half, the length in its upper
    /// half.
    Located { word: u32, counted_from: CountedFrom },
    /// From an offset to the end of the record.
    ToEnd(u32),
    /// From an offset on, with the number of elements in a word of 32 bits.
    Counted { at: u32, count: u32 },
}

/// The place from which the offset of a field is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountedFrom {
    /// The start of the record.
    Record,
    /// The end of the word with the offset.
    Word,
}

/// The conversion of cycles to nanoseconds by a multiplication and a shift, before any offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scale {
    pub(crate) factor: u32,
    pub(crate) shift: u32,
}

impl Scale {
    fn ns(self, cycles: u64) -> u64 {
        ((u128::from(cycles) * u128::from(self.factor)) >> self.shift.min(127)) as u64
    }
}

/// The form of the records of a stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Records {
    order: ByteOrder,
    scale: Option<Scale>,
    converter: ClockConverter,
}

/// The size of the header of a record in bits.
pub(crate) const HEADER_BITS: u64 = 32;

/// The kinds of records that are no events of up to [`MOST_WORDS`] words.
pub(crate) mod kind {
    /// An event whose size follows.
    pub(crate) const LONG: u32 = 0;
    /// Padding, or an event that was discarded.
    pub(crate) const PADDING: u32 = 29;
    /// A time difference.
    pub(crate) const EXTENDED: u32 = 30;
    /// A time.
    pub(crate) const ABSOLUTE: u32 = 31;
}

/// The greatest size of an event in words of 32 bits that its header contains.
const MOST_WORDS: u32 = 28;

/// The number of bits of the time difference in a header.
pub(crate) const DELTA_BITS: u32 = 27;

/// The header of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordHeader {
    /// The size of an event in words, or the [kind] of another record.
    pub(crate) kind: u32,
    /// The time since the record before it, in cycles.
    pub(crate) delta: u32,
}

/// The header of an event of up to [`MOST_WORDS`] words, with its id.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShortRecord {
    pub(crate) id: u64,
    pub(crate) delta: u64,
    /// The size of the event without its header, in bits.
    pub(crate) bits: u64,
}

impl RecordLayouts {
    /// Returns the form of the records of a stream, given its clock.
    pub(crate) fn records(&self, converter: ClockConverter) -> Records {
        Records { order: self.order, scale: self.scale, converter }
    }

    /// Returns the places of the fields of an event type.
    pub(crate) fn of(&self, event_type: EventTypeId) -> &[FieldPlace] {
        self.places.get(event_type.index()).map_or(&[], |places| places)
    }

    /// Returns the sections of an event type.
    pub(crate) fn sections_of(&self, event_type: EventTypeId) -> Sections {
        self.sections.get(event_type.index()).cloned().unwrap_or_default()
    }
}

impl Records {
    /// Reads the header of the record at a byte; `None` if the data ends before.
    #[inline(always)]
    pub(crate) fn header(&self, data: &[u8], at: usize) -> Option<RecordHeader> {
        Some(self.split(*data.get(at..)?.first_chunk()?))
    }

    #[inline(always)]
    fn split(&self, bytes: [u8; 4]) -> RecordHeader {
        match self.order {
            ByteOrder::Little => {
                let word = u32::from_le_bytes(bytes);
                RecordHeader { kind: word & 31, delta: word >> 5 }
            }
            ByteOrder::Big => {
                let word = u32::from_be_bytes(bytes);
                RecordHeader { kind: word >> DELTA_BITS, delta: word & ((1 << DELTA_BITS) - 1) }
            }
        }
    }

    /// Reads the header and the id of the event at a byte; `None` if the record is of another kind, or
    /// if fewer than 8 bytes follow.
    #[inline(always)]
    pub(crate) fn short(&self, data: &[u8], at: usize) -> Option<ShortRecord> {
        let bytes: [u8; 8] = *data.get(at..)?.first_chunk()?;
        let (word, id) = match self.order {
            ByteOrder::Little => {
                let word = u64::from_le_bytes(bytes);
                (word as u32, word >> 32 & 0xffff)
            }
            ByteOrder::Big => {
                let word = u64::from_be_bytes(bytes);
                let head = (word >> 32) as u32;
                // The same bits as in the other order.
                (head >> DELTA_BITS | head << 5, word >> 16 & 0xffff)
            }
        };
        let words = word & 31;
        let is_short = words.wrapping_sub(1) < MOST_WORDS;
        let (delta, bits) = (u64::from(word >> 5), 32 * u64::from(words));
        is_short.then_some(ShortRecord { id, delta, bits })
    }

    /// Reads a word of 32 bits at a byte; `None` if the data ends before.
    pub(crate) fn word(&self, data: &[u8], at: usize) -> Option<u32> {
        let bytes = *data.get(at..)?.first_chunk()?;
        Some(match self.order {
            ByteOrder::Little => u32::from_le_bytes(bytes),
            ByteOrder::Big => u32::from_be_bytes(bytes),
        })
    }

    /// Converts cycles to a time; `None` if it is beyond the range of times.
    #[inline(always)]
    pub(crate) fn time(&self, cycles: u64) -> Option<Timestamp> {
        match self.scale {
            None => self.converter.timestamp(cycles),
            Some(scale) => self.converter.timestamp(scale.ns(cycles)),
        }
    }

    /// Converts cycles to a time before the transform of the clock.
    pub(crate) fn recorded(&self, cycles: u64) -> Option<Timestamp> {
        self.converter.recorded(self.scale.map_or(cycles, |scale| scale.ns(cycles)))
    }
}

/// The way to find a field of a record whose place or length is in the record itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Locator {
    pub(crate) place: FieldPlace,
    /// The size of an element in bytes.
    pub(crate) unit: u32,
    pub(crate) order: ByteOrder,
}

impl Locator {
    /// Returns the start of the field of a record that starts and ends at some bits, and the number of
    /// its elements. A field that is not within the record has none.
    #[inline]
    pub(crate) fn find(&self, data: &[u8], begin: u64, end: u64) -> (u64, u64) {
        let size = end.saturating_sub(begin) / 8;
        let word = |at: u32| {
            let pos = begin + 8 * u64::from(at);
            match self.order {
                ByteOrder::Little => bits::read_le(data, pos, 32),
                ByteOrder::Big => bits::read_be(data, pos, 32),
            }
        };
        let unit = u64::from(self.unit.max(1));
        let (at, len) = match self.place {
            FieldPlace::At(at) => (at.into(), unit),
            FieldPlace::Located { word: at, counted_from } => {
                let base = match counted_from {
                    CountedFrom::Record => 0,
                    CountedFrom::Word => u64::from(at) + 4,
                };
                let word = word(at);
                (base + (word & 0xffff), word >> 16)
            }
            FieldPlace::ToEnd(at) => (at.into(), size.saturating_sub(at.into())),
            FieldPlace::Counted { at, count } => {
                let wanted = word(count).saturating_mul(unit);
                (at.into(), wanted.min(size.saturating_sub(at.into())))
            }
        };
        match at + len <= size {
            true => (begin + 8 * at, len / unit),
            false => (begin, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock_transform::ClockTransform;
    use crate::schema::ClockClass;

    fn records(order: ByteOrder) -> Records {
        let converter = ClockConverter::new(&ClockClass::new("c"), &ClockTransform::IDENTITY);
        RecordLayouts {
            order,
            scale: None,
            have_headers: true,
            places: Box::new([]),
            sections: Box::new([]),
        }
        .records(converter)
    }

    #[test]
    fn headers_of_both_byte_orders() {
        let (kind, delta) = (3_u32, 0x7ff_fffe_u32);
        let little = (delta << 5 | kind).to_le_bytes();
        let big = (kind << DELTA_BITS | delta).to_be_bytes();
        let bytes = |head: [u8; 4], id: [u8; 2]| [&head[..], &id, &[0xff; 2]].concat();
        for (order, data) in [
            (ByteOrder::Little, bytes(little, 310u16.to_le_bytes())),
            (ByteOrder::Big, bytes(big, 310u16.to_be_bytes())),
        ] {
            let records = records(order);
            assert_eq!(records.header(&data, 0), Some(RecordHeader { kind, delta }));
            let short = records.short(&data, 0).unwrap();
            assert_eq!((short.id, short.delta, short.bits), (310, delta.into(), 96));
            assert!(records.short(&data[..7], 0).is_none() && records.header(&data, 5).is_none());
        }
    }

    #[test]
    fn only_events_with_a_size_are_short() {
        for kind in 0..32u32 {
            let data = [&kind.to_le_bytes()[..], &[0; 4]].concat();
            let is_short = records(ByteOrder::Little).short(&data, 0).is_some();
            assert_eq!(is_short, (1..=28).contains(&kind), "{kind}");
        }
    }

    #[test]
    fn fields_outside_of_the_record_are_empty() {
        // A word with offset 4 and length 8, in a record of 12 bytes.
        let data = [4, 0, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9];
        let find = |place, unit, end| {
            let locator = Locator { place, unit, order: ByteOrder::Little };
            locator.find(&data, 0, end)
        };
        let located = |counted_from| FieldPlace::Located { word: 0, counted_from };
        assert_eq!(find(located(CountedFrom::Record), 4, 96), (32, 2));
        assert_eq!(find(located(CountedFrom::Record), 1, 95), (0, 0));
        assert_eq!(find(located(CountedFrom::Word), 1, 128), (64, 8));
        assert_eq!(find(located(CountedFrom::Word), 1, 96), (0, 0));
        assert_eq!(find(FieldPlace::ToEnd(10), 1, 96), (80, 2));
        assert_eq!(find(FieldPlace::ToEnd(13), 1, 96), (0, 0));
        assert_eq!(find(FieldPlace::Counted { at: 4, count: 0 }, 4, 96), (32, 2));
    }
}
