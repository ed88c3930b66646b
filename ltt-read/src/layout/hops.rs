//! Hops: the programs of most regions, in a form that is quicker to run.
//!
//! Where dynamic parts are strings, and sequences of fixed-size elements whose length
//! stands right before them, a region is a chain of hops from one dynamic part to the
//! next. What is out of the ordinary in such a region is left to its program.

use super::FixedRead;
use super::program::{Op, Slot, Window};
use crate::bits;

/// A chain of hops, and the fixed-size fields after the last.
#[derive(Debug)]
pub(crate) struct Hops {
    pub(super) each: Box<[Hop]>,
    pub(super) tail: u64,
}

#[derive(Debug)]
pub(super) struct Hop {
    /// A value to be kept, so many bits from where the hop begins.
    pub(super) save: Option<(u64, FixedRead, Slot)>,
    /// Bits from where the hop begins to its dynamic part.
    pub(super) before: u64,
    pub(super) over: Part,
    /// Where the end of the dynamic part is noted.
    anchor: Slot,
}

/// What is hopped over.
#[derive(Debug)]
pub(super) enum Part {
    /// A null-terminated string of bytes.
    Text,
    /// So many elements of so many bits.
    Elements { len: Slot, bits: u64 },
    /// Padding.
    Padding { mask: u64 },
}

/// Limits below which no sum of positions overflows.
const MAX_HOPS: usize = 64;
const MAX_BITS: u64 = 1 << 24;
const MAX_LEN: u64 = 1 << 32;

impl Hops {
    /// The hops of a program, if it is of that kind.
    pub(crate) fn new(ops: &[Op]) -> Option<Self> {
        let (mut each, mut save, mut before) = (Vec::new(), None, 0u64);
        for op in ops {
            let (over, anchor) = match op {
                Op::Skip(bits) => {
                    before = before.saturating_add(*bits);
                    continue;
                }
                Op::Save { delta, read, slot } => {
                    if save.replace((before.saturating_add(*delta), *read, *slot)).is_some() {
                        return None;
                    }
                    continue;
                }
                Op::Terminated { unit: 1, anchor } => (Part::Text, *anchor),
                Op::Bytes { len, anchor } => (Part::Elements { len: *len, bits: 8 }, *anchor),
                // Without fields in their padding, and more bits than fields.
                Op::Array { len, size, stride, visits, anchor }
                    if size == stride && visits <= size && *size < MAX_BITS =>
                {
                    (Part::Elements { len: *len, bits: *size }, *anchor)
                }
                Op::Align { mask, anchor } => (Part::Padding { mask: *mask }, *anchor),
                _ => return None,
            };
            if before >= MAX_BITS || save.is_some_and(|(at, ..)| at >= MAX_BITS) {
                return None;
            }
            each.push(Hop { save: save.take(), before, over, anchor });
            before = 0;
        }
        let fits = !each.is_empty() && each.len() <= MAX_HOPS && before < MAX_BITS;
        (fits && save.is_none()).then(|| Hops { each: each.into(), tail: before })
    }

    /// Finds the end of a region that begins at `pos`, within the window, and notes its
    /// anchors; `None` if that is for the program to do.
    #[inline]
    pub(crate) fn end(&self, window: Window<'_>, mut pos: u64, slots: &mut [u64]) -> Option<u64> {
        let data = window.data;
        for hop in &self.each {
            if let Some((at, read, slot)) = hop.save {
                *slots.get_mut(slot as usize)? = read.value(data, pos + at);
            }
            pos += hop.before;
            pos += match hop.over {
                Part::Text => 8 + 8 * bits::find_zero(data.get((pos / 8) as usize..)?)? as u64,
                Part::Elements { len, bits } => {
                    let len = *slots.get(len as usize)?;
                    if len >= MAX_LEN {
                        return None;
                    }
                    len * bits
                }
                Part::Padding { mask } => pos.wrapping_neg() & mask,
            };
            *slots.get_mut(hop.anchor as usize)? = pos;
        }
        pos += self.tail;
        // Positions only grow: it is enough to look at the last.
        (pos <= window.end).then_some(pos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::leap::Leap;
    use crate::layout::program::{Scratch, run};
    use crate::layout::region::Phase;
    use crate::layout::strides::Strides;
    use crate::schema::{BitOrder, ByteOrder, FixedLen};
    use proptest::prelude::*;

    fn read(bits: u32) -> FixedRead {
        let (byte_order, bit_order) = (ByteOrder::Little, BitOrder::Natural);
        FixedRead::new(&FixedLen { bits, byte_order, bit_order }, false)
    }

    fn part() -> impl Strategy<Value = Vec<Op>> {
        let counted = |delta, op| vec![Op::Save { delta, read: read(4), slot: 0 }, Op::Skip(8), op];
        prop_oneof![
            Just(vec![Op::Terminated { unit: 1, anchor: 1 }]),
            (0..9u64).prop_map(|bytes| vec![Op::Skip(8 * bytes)]),
            (0..7u32).prop_map(|n| vec![Op::Align { mask: (8 << n) - 1, anchor: 2 }]),
            (0..5u64).prop_map(move |delta| counted(delta, Op::Bytes { len: 0, anchor: 3 })),
            (1..5u64).prop_map(move |bytes| {
                let size = 8 * bytes;
                counted(0, Op::Array { len: 0, size, stride: size, visits: 1, anchor: 4 })
            }),
            // Another part's length.
            Just(vec![Op::Bytes { len: 0, anchor: 5 }]),
        ]
    }

    proptest! {
        /// Where they find an end it is the program's, with all that it notes.
        #[test]
        fn hops_lead_where_the_program_does(
            parts in prop::collection::vec(part(), 1..6),
            data in prop::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 0..200),
            content in 0..1700u64,
            pos in 0..4u64,
        ) {
            let ops = parts.concat();
            let window = Window { data: &data, end: content.min(8 * data.len() as u64) };
            let pos = (8 * pos).min(window.end);
            let mut scratch = Scratch { slots: vec![0; 6], ..Scratch::default() };
            let program = run(&ops, window, pos, &mut scratch);
            if let Some(hops) = Hops::new(&ops) {
                let mut slots = vec![0; 6];
                let end = hops.end(window, pos, &mut slots);
                prop_assert_eq!(end, program.ok());
                if end.is_some() {
                    prop_assert_eq!(slots, scratch.slots);
                }
                // Those who note nothing come to the same end, or beyond the window.
                let Some(strides) = Strides::new(&hops, Phase::aligned(8)) else { return Ok(()) };
                let at = pos / 8;
                let by_strides = strides.end(&data, at);
                prop_assert!(end.is_none() || by_strides.is_some());
                let leap = strides.only().and_then(|(stride, tail)| Leap::over(&stride, tail));
                let near = std::array::from_fn(|i| data.get(i).copied().unwrap_or(1));
                let by_leap = leap.and_then(|leap| Some(at + leap.size(&near, at as u8)?));
                for found in [by_strides, by_leap].into_iter().flatten() {
                    let found = Some(8 * found).filter(|end| *end <= window.end);
                    prop_assert_eq!(found, end);
                }
                // All but long strings.
                let is_short = end.is_some_and(|end| end <= pos + 8 * 32);
                prop_assert!(by_leap.is_some() || leap.is_none() || !is_short);
            } else {
                // Nothing dynamic.
                prop_assert!(ops.iter().all(|op| matches!(op, Op::Skip(_))));
            }
        }
    }
}
