//! Event headers: the id and time of each event, in their various packings.

use byteorder::{BigEndian, ByteOrder, LittleEndian};

use super::block::Compact;
use super::block_2003::EVENT_HEADER;
use crate::layout::clock::update_clock;
use crate::layout::program::Window;
use crate::report::DecodeError;
use crate::schema;

/// The width of the clock in an event header of 2.0 to 2.6, in bits.
pub(crate) const TSC_BITS: u32 = 27;
/// Codes in place of an event id, which define the data after the header's first word.
pub(crate) const ID_SIZE_TSC: u32 = 29;
pub(crate) const ID_SIZE: u32 = 30;
pub(crate) const ID: u32 = 31;

/// The form of event headers in a tracefile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// 2.0 to 2.6: an id of 5 bits, 27 bits of the clock, and optional further data.
    /// `word` and `tsc` are the alignments in bytes, minus 1, of the first word and of
    /// the full clock.
    Markers { word: u8, tsc: u8 },
    /// 0.7 to 1.0: clock (32 or 64 bits), id (16 bits), size. `align` is the alignment in
    /// bytes, minus 1.
    Heartbeat { wide_tsc: bool, align: u8, ids: Ids },
    /// 1.0: one word of clock, id and data. `align` is the alignment in bytes, minus 1.
    Compact { bits: Compact, align: u8 },
    /// 2003: id and clock.
    Of2003,
}

/// The encoding of the 16 bits of an id before 2.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ids {
    /// A number in the byte order of the trace.
    Marker,
    /// A byte of facility and a byte of event. The id is `facility · 256 + event`.
    Facility,
}

/// A decoded event header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventHeader {
    /// The start of the header, in bytes.
    pub(crate) begin: u64,
    /// The end of the header in bytes, before any padding.
    pub(crate) end: u64,
    pub(crate) id: u64,
    /// The clock value after the update.
    pub(crate) cycles: u64,
    /// The size of the payload in bytes, if the header contains it.
    pub(crate) size: Option<u64>,
}

impl EventHeader {
    /// Reads the header after a record that ended at byte `pos`. `clock` is the clock
    /// value at that position.
    pub(crate) fn read(
        form: Form,
        order: schema::ByteOrder,
        window: Window<'_>,
        pos: u64,
        clock: u64,
    ) -> Result<Self, DecodeError> {
        match order {
            schema::ByteOrder::Little => read::<LittleEndian>(form, window, pos, clock),
            schema::ByteOrder::Big => read::<BigEndian>(form, window, pos, clock),
        }
    }
}

impl Form {
    /// Returns the start of a header after byte `pos`.
    pub(crate) fn begin(self, pos: u64) -> u64 {
        match self {
            Form::Markers { word: align, .. }
            | Form::Heartbeat { align, .. }
            | Form::Compact { align, .. } => align_up(pos, align),
            Form::Of2003 => pos,
        }
    }
}

/// Rounds a position up to an alignment, given as the alignment minus 1.
pub(crate) fn align_up(pos: u64, mask: u8) -> u64 {
    let mask = u64::from(mask);
    (pos + mask) & !mask
}

/// A reader of consecutive integers that does not read beyond the window.
struct Reader<'a> {
    window: Window<'a>,
    pos: u64,
}

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> Result<&'a [u8; N], DecodeError> {
        let (begin, end) = (self.pos, self.pos + N as u64);
        let bytes = self.window.data.get(begin as usize..).and_then(|b| b.first_chunk());
        let beyond = (8 * end).saturating_sub(self.window.end);
        self.pos = end;
        match bytes {
            Some(bytes) if beyond == 0 => Ok(bytes),
            _ => Err(DecodeError::BeyondContent { needed: beyond.max(8) }),
        }
    }
}

fn read<O: ByteOrder>(
    form: Form,
    window: Window<'_>,
    pos: u64,
    clock: u64,
) -> Result<EventHeader, DecodeError> {
    let begin = form.begin(pos);
    let mut r = Reader { window, pos: begin };
    let (id, cycles, size);
    match form {
        Form::Markers { tsc: tsc_align, .. } => {
            let word = O::read_u32(r.take::<4>()?);
            let code = word >> TSC_BITS;
            let short = update_clock(clock, word.into(), TSC_BITS);
            (id, size) = match code {
                ID_SIZE_TSC | ID_SIZE => {
                    let id = O::read_u16(r.take::<2>()?);
                    let size = match O::read_u16(r.take::<2>()?) {
                        u16::MAX => O::read_u32(r.take::<4>()?),
                        size => size.into(),
                    };
                    (id.into(), Some(size.into()))
                }
                ID => (O::read_u16(r.take::<2>()?).into(), None),
                id => (id.into(), None),
            };
            cycles = if code == ID_SIZE_TSC {
                r.pos = align_up(r.pos, tsc_align);
                O::read_u64(r.take::<8>()?)
            } else {
                short
            };
        }
        Form::Heartbeat { wide_tsc, ids, .. } => {
            cycles = match wide_tsc {
                true => O::read_u64(r.take::<8>()?),
                false => update_clock(clock, O::read_u32(r.take::<4>()?).into(), 32),
            };
            let two = r.take::<2>()?;
            id = match ids {
                Ids::Marker => O::read_u16(two),
                Ids::Facility => BigEndian::read_u16(two),
            }
            .into();
            size = match O::read_u16(r.take::<2>()?) {
                u16::MAX => None,
                size => Some(size.into()),
            };
        }
        Form::Compact { bits, .. } => {
            let word = O::read_u32(r.take::<4>()?);
            let mask = |bits: u8| 1u64.checked_shl(bits.into()).map_or(u64::MAX, |b| b - 1);
            let word = u64::from(word);
            // The truncated bits take no part in the comparison that detects a wrap.
            let truncate = u32::from(bits.tsc_lsb_truncate.min(31));
            let before = clock >> truncate << truncate;
            let low = (word & mask(bits.tscbits)) << truncate;
            cycles = update_clock(before, low, u32::from(bits.tscbits.min(32)) + truncate);
            let id_bits = 32u8.saturating_sub(bits.data_shift);
            id = word.checked_shr(bits.tscbits.into()).unwrap_or(0) & mask(id_bits);
            size = None;
        }
        Form::Of2003 => {
            let bytes = r.take::<EVENT_HEADER>()?;
            id = O::read_u16(bytes).into();
            cycles = update_clock(clock, O::read_u32(&bytes[2..]).into(), 32);
            size = None;
        }
    }
    Ok(EventHeader { begin, end: r.pos, id, cycles, size })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKERS: Form = Form::Markers { word: 3, tsc: 7 };

    fn read_le(form: Form, data: &[u8], pos: u64, clock: u64) -> Result<EventHeader, DecodeError> {
        let window = Window { data, end: 8 * data.len() as u64 };
        EventHeader::read(form, schema::ByteOrder::Little, window, pos, clock)
    }

    /// Concatenates the little-endian bytes of its parts.
    macro_rules! bytes {
        ($($part:expr),*) => {{
            let mut bytes = Vec::new();
            $(bytes.extend($part.to_le_bytes());)*
            bytes
        }};
    }

    #[test]
    fn every_form_of_a_marker_header() {
        let clock = 5 << TSC_BITS | 100;
        let word = |code: u32, low: u32| code << TSC_BITS | low;
        let read = |data: &[u8]| read_le(MARKERS, data, 0, clock).unwrap();

        let compact = read(&bytes![word(7, 101)]);
        assert_eq!((compact.id, compact.cycles, compact.end), (7, clock + 1, 4));
        // A smaller value has wrapped; an equal one leaves the clock unchanged.
        assert_eq!(read(&bytes![word(7, 99)]).cycles, 6 << TSC_BITS | 99);
        assert_eq!(read(&bytes![word(7, 100)]).cycles, clock);

        let wide = read(&bytes![word(31, 101), 30u16]);
        assert_eq!((wide.id, wide.size, wide.end), (30, None, 6));
        let sized = read(&bytes![word(30, 101), 300u16, 65534u16]);
        assert_eq!((sized.id, sized.size, sized.end), (300, Some(65534), 8));
        let large = read(&bytes![word(30, 101), 300u16, 65535u16, 70_001u32]);
        assert_eq!((large.size, large.end), (Some(70_001), 12));
        let full = read(&bytes![word(29, 101), 29u16, 8u16, 1u64 << 60]);
        assert_eq!((full.id, full.size, full.cycles, full.end), (29, Some(8), 1 << 60, 16));
        let both = read(&bytes![word(29, 1), 4u16, 65535u16, 65_535u32, 0u32, 9u64]);
        assert_eq!((both.size, both.cycles, both.end), (Some(65_535), 9, 24));
    }

    #[test]
    fn headers_before_2_0() {
        let clock = 3 << 32 | 50;
        let form = |wide_tsc, ids| Form::Heartbeat { wide_tsc, align: 3, ids };
        let read = |form, data: &[u8]| read_le(form, data, 1, clock).unwrap();
        let narrow = bytes![0u32, 49u32, 0x0102u16, 0xffffu16];
        let header = read(form(false, Ids::Marker), &narrow);
        assert_eq!((header.begin, header.end, header.cycles), (4, 12, 4 << 32 | 49));
        assert_eq!((header.id, header.size), (0x0102, None));
        let wide = bytes![0u32, 7u64, 0x0102u16, 12u16];
        let header = read(form(true, Ids::Facility), &wide);
        assert_eq!((header.id, header.cycles, header.size), (0x0201, 7, Some(12)));

        let bits = Compact { tsc_lsb_truncate: 4, tscbits: 22, data_shift: 28 };
        let compact = Form::Compact { bits, align: 3 };
        let clock = 9 << 26 | 0x3f;
        let at = |low: u32| read_le(compact, &bytes![0xc << 22 | low], 0, clock).unwrap();
        assert_eq!((at(3).id, at(3).cycles), (0xc, 9 << 26 | 0x30));
        assert_eq!(at(2).cycles, 10 << 26 | 0x20);

        let of_2003 = read_le(Form::Of2003, &bytes![7u16, 51u32], 0, 3 << 32 | 50).unwrap();
        assert_eq!((of_2003.id, of_2003.cycles, of_2003.end), (7, 3 << 32 | 51, 6));
    }

    #[test]
    fn truncated_headers_are_errors() {
        let forms = [
            MARKERS,
            Form::Heartbeat { wide_tsc: true, align: 0, ids: Ids::Marker },
            Form::Compact {
                bits: Compact { tsc_lsb_truncate: 200, tscbits: 200, data_shift: 200 },
                align: 0,
            },
            Form::Of2003,
        ];
        let data = bytes![29u32 << 27, 1u16, 65535u16, 3u32, 4u32, 5u64];
        for form in forms {
            let whole = read_le(form, &data, 0, 0).unwrap().end as usize;
            for cut in 0..whole {
                let error = read_le(form, &data[..cut], 0, 0).unwrap_err();
                assert!(matches!(error, DecodeError::BeyondContent { .. }), "{form:?} {cut}");
            }
        }
    }
}
