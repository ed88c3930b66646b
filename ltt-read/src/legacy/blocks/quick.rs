//! The fast path for event headers of 2.0 to 2.6: one word, optionally followed by a wide
//! id. Nearly all events have this form.

use super::clock::TickClock;
use super::event_header::{ID, ID_SIZE, ID_SIZE_TSC, TSC_BITS};
use crate::layout::clock::update_clock;
use crate::layout::header::QuickValues;
use crate::layout::ids::IdTable;

/// The parameters of the fast path for the events of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quick {
    /// The alignment of headers in bits, minus 1.
    pub(crate) align_mask: u64,
    pub(crate) big: bool,
    pub(crate) clock: TickClock,
}

impl Quick {
    /// Reads the header after a record that ended at bit `pos`. Returns `None` if the
    /// header is of another form, the event type is unknown, or fewer than 8 bytes of
    /// data remain; with `PLAIN`, also if the time cannot be computed by the inlined fast
    /// path. The caller has to check that the record is within the packet's content.
    #[inline(always)]
    pub(crate) fn read<const PLAIN: bool>(
        &self,
        ids: &IdTable,
        data: &[u8],
        pos: u64,
        clock: u64,
    ) -> Option<QuickValues> {
        let begin = (pos + self.align_mask) & !self.align_mask;
        let bytes = *data.get((begin / 8) as usize..)?.first_chunk::<8>()?;
        let (id, cycles, bits) = short(bytes, self.big, clock)?;
        let entry = ids.entry(id)?;
        let mask = entry.align_mask();
        let payload = (begin + bits + mask) & !mask;
        let time = match PLAIN {
            true => self.clock.fast_timestamp(cycles)?,
            false => self.clock.timestamp(cycles)?,
        };
        Some(QuickValues { begin, end: payload, id, entry, cycles, time })
    }
}

/// Decodes id, clock and header size in bits from the first 8 bytes of a header. Returns
/// `None` for headers of a longer form.
#[inline(always)]
fn short(bytes: [u8; 8], big: bool, clock: u64) -> Option<(u64, u64, u64)> {
    let (word, wide_id) = if big {
        let all = u64::from_be_bytes(bytes);
        ((all >> 32) as u32, all >> 16 & 0xffff)
    } else {
        let all = u64::from_le_bytes(bytes);
        (all as u32, all >> 32 & 0xffff)
    };
    let code = word >> TSC_BITS;
    if matches!(code, ID_SIZE_TSC | ID_SIZE) {
        return None;
    }
    // Both cases alternate unpredictably, so this code has no branches.
    let is_wide = code == ID;
    let id = if is_wide { wide_id } else { code.into() };
    let bits = 32 + 16 * u64::from(is_wide);
    Some((id, update_clock(clock, word.into(), TSC_BITS), bits))
}

#[cfg(test)]
mod tests {
    use super::super::event_header::{EventHeader, Form};
    use super::*;
    use crate::layout::program::Window;
    use crate::schema::ByteOrder;

    #[test]
    fn the_short_form_agrees() {
        let clock = 77 << TSC_BITS | 5000;
        for word in [0u32, 5 << 27 | 4999, 28 << 27 | 5001, 31 << 27 | 7, 30 << 27, 29 << 27] {
            let mut data = word.to_le_bytes().to_vec();
            data.extend(1234u16.to_le_bytes());
            data.extend(4u16.to_le_bytes());
            data.extend(9u64.to_le_bytes());
            let window = Window { data: &data, end: 8 * data.len() as u64 };
            let form = Form::Markers { word: 3, tsc: 7 };
            let slow = EventHeader::read(form, ByteOrder::Little, window, 0, clock).unwrap();
            match short(*data.first_chunk().unwrap(), false, clock) {
                Some(quick) => assert_eq!(quick, (slow.id, slow.cycles, 8 * slow.end)),
                None => assert!(slow.size.is_some()),
            }
            let mut big = word.to_be_bytes().to_vec();
            big.extend(1234u16.to_be_bytes());
            big.extend([0; 2]);
            let quick = short(*big.first_chunk().unwrap(), true, clock);
            assert_eq!(quick, short(*data.first_chunk().unwrap(), false, clock));
        }
    }
}
