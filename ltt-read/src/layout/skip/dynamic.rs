//! Skip tables that note anchors and slots: the programs of most regions in a faster form.
//!
//! If all dynamic parts of a region are strings, padding, or sequences of fixed-size
//! elements whose length field directly precedes them, its program is equivalent to a
//! sequence of steps from one dynamic part to the next. Errors are left to the program.

use crate::base::bits;
use crate::layout::FixedRead;
use crate::layout::program::{Op, Slot, Window};

/// A sequence of steps, and the size in bits of the fixed-size fields after the last one.
#[derive(Debug)]
pub(crate) struct DynamicSkip {
    pub(super) steps: Box<[Step]>,
    pub(super) tail: u64,
}

/// A step from the end of one dynamic part to the end of the next, in bits.
#[derive(Debug)]
pub(super) struct Step {
    /// A value to be saved: its offset from the start of the step, its encoding and its slot.
    pub(super) save: Option<(u64, FixedRead, Slot)>,
    /// The offset of the dynamic part from the start of the step.
    pub(super) before: u64,
    pub(super) part: DynamicPart,
    /// The slot for the end of the dynamic part.
    pub(super) anchor: Slot,
}

/// A part of dynamic size.
#[derive(Debug)]
pub(super) enum DynamicPart {
    /// A null-terminated string of bytes.
    Text,
    /// A sequence of elements of `bits` bits, whose number is in the slot `len`.
    Elements { len: Slot, bits: u64 },
    /// Padding up to an alignment, which is one more than `mask`.
    Padding { mask: u64 },
}

// Limits below which no sum of positions overflows.
const MAX_STEPS: usize = 64;
const MAX_BITS: u64 = 1 << 24;
const MAX_LEN: u64 = 1 << 32;

impl DynamicSkip {
    /// Creates the table of a program; `None` if the program has another form.
    pub(crate) fn new(ops: &[Op]) -> Option<Self> {
        let (mut steps, mut save, mut before) = (Vec::new(), None, 0u64);
        for op in ops {
            let (part, anchor) = match op {
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
                Op::Terminated { unit: 1, anchor } => (DynamicPart::Text, *anchor),
                Op::Bytes { len, anchor } => {
                    (DynamicPart::Elements { len: *len, bits: 8 }, *anchor)
                }
                // The elements have no padding between them, and no more fields than
                // bits.
                Op::Array { len, size, stride, visits, anchor }
                    if size == stride && visits <= size && *size < MAX_BITS =>
                {
                    (DynamicPart::Elements { len: *len, bits: *size }, *anchor)
                }
                Op::Align { mask, anchor } => (DynamicPart::Padding { mask: *mask }, *anchor),
                _ => return None,
            };
            if before >= MAX_BITS || save.is_some_and(|(at, ..)| at >= MAX_BITS) {
                return None;
            }
            steps.push(Step { save: save.take(), before, part, anchor });
            before = 0;
        }
        let fits = !steps.is_empty() && steps.len() <= MAX_STEPS && before < MAX_BITS;
        (fits && save.is_none()).then(|| DynamicSkip { steps: steps.into(), tail: before })
    }

    /// Returns the anchors at the ends of the dynamic parts, in order.
    pub(crate) fn anchors(&self) -> impl ExactSizeIterator<Item = Slot> {
        self.steps.iter().map(|step| step.anchor)
    }

    /// Computes the end of a region that starts at `pos`, and notes its anchors and
    /// slots. `None` if the end is beyond the window or needs the program.
    #[inline]
    pub(crate) fn end(&self, window: Window<'_>, mut pos: u64, slots: &mut [u64]) -> Option<u64> {
        let data = window.data;
        for step in &self.steps {
            if let Some((at, read, slot)) = step.save {
                *slots.get_mut(slot as usize)? = read.value(data, pos + at);
            }
            pos += step.before;
            pos += match step.part {
                DynamicPart::Text => {
                    8 + 8 * bits::find_zero(data.get((pos / 8) as usize..)?)? as u64
                }
                DynamicPart::Elements { len, bits } => {
                    let len = *slots.get(len as usize)?;
                    if len >= MAX_LEN {
                        return None;
                    }
                    len * bits
                }
                DynamicPart::Padding { mask } => pos.wrapping_neg() & mask,
            };
            *slots.get_mut(step.anchor as usize)? = pos;
        }
        pos += self.tail;
        // Positions only grow, so it is sufficient to check the last one.
        (pos <= window.end).then_some(pos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::phase::Phase;
    use crate::layout::program::{Scratch, run};
    use crate::layout::skip::{BranchlessSkip, ByteAlignedSkip};
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
            // A length that another part has saved.
            Just(vec![Op::Bytes { len: 0, anchor: 5 }]),
        ]
    }

    proptest! {
        /// If a skip table finds an end, it is that of the program, with the same slots.
        #[test]
        fn skip_tables_agree_with_the_program(
            parts in prop::collection::vec(part(), 1..6),
            data in prop::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 0..200),
            content in 0..1700u64,
            pos in 0..4u64,
        ) {
            let ops = parts.concat();
            let window = Window { data: &data, end: content.min(8 * data.len() as u64) };
            let pos = 8 * pos.min(window.end / 8);
            let mut scratch = Scratch { slots: vec![0; 6].into(), ..Scratch::default() };
            let program = run(&ops, window, pos, &mut scratch);
            if let Some(skip) = DynamicSkip::new(&ops) {
                let mut slots = vec![0; 6];
                let end = skip.end(window, pos, &mut slots);
                prop_assert_eq!(end, program.ok());
                if end.is_some() {
                    prop_assert_eq!(&slots[..], &scratch.slots[..]);
                }
                // The other tables find the same end, or one beyond the window.
                let bytes = ByteAlignedSkip::new(&skip, Phase::aligned(8));
                let Some(bytes) = bytes else { return Ok(()) };
                let at = pos / 8;
                let by_bytes = bytes.end(&data, at);
                prop_assert!(end.is_none() || by_bytes.is_some());
                let step = bytes.single_step();
                let branchless = step.and_then(|(step, tail)| BranchlessSkip::from_step(&step, tail, 6));
                let start = data.get(at as usize..).unwrap_or(&[]);
                let body = std::array::from_fn(|i| start.get(i).copied().unwrap_or(1));
                let size = branchless.and_then(|skip| skip.size_of_body(&body));
                let by_size = size.map(|size| at + size);
                for found in [by_bytes, by_size].into_iter().flatten() {
                    let found = Some(8 * found).filter(|end| *end <= window.end);
                    prop_assert_eq!(found, end);
                }
                let mut slots = vec![0; 6];
                let by_end = branchless.and_then(|skip| skip.end(&body, pos, &mut slots));
                prop_assert_eq!(by_end, by_size.map(|at| 8 * at));
                if end.is_some() && by_end.is_some() {
                    prop_assert_eq!(&slots[..], &scratch.slots[..]);
                }
                // Branchless skipping fails only for long strings.
                let is_short = end.is_some_and(|end| end <= pos + 8 * 32);
                prop_assert!(by_size.is_some() || branchless.is_none() || !is_short);
            } else {
                // Programs without dynamic parts have no table.
                prop_assert!(ops.iter().all(|op| matches!(op, Op::Skip(_))));
            }
        }
    }
}
