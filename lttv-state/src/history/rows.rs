//! Which blocks have runs of an attribute: a bit per attribute and block.
//!
//! Blocks are taken in groups of 64. A group is an array with a *row* per
//! attribute: a little-endian number with a bit per block, in as many bytes as
//! the group's blocks need.

use std::sync::Arc;

use super::bits::word;

/// Blocks in a group.
pub(super) const GROUP: usize = 64;

/// Bytes of a row in a group of so many blocks.
pub(super) fn stride(blocks: usize) -> usize {
    blocks.min(GROUP).div_ceil(8)
}

/// Where a group's bytes are.
#[derive(Debug, Clone)]
enum Place {
    /// In the file, from this byte on.
    File(usize),
    Memory(Arc<[u8]>),
}

/// A group as it is read.
#[derive(Debug, Clone)]
pub(super) struct Group {
    stride: usize,
    quarks: usize,
    place: Place,
}

impl Group {
    pub(super) fn in_file(at: usize, blocks: usize, quarks: usize) -> Group {
        Group { stride: stride(blocks), quarks, place: Place::File(at) }
    }

    pub(super) fn in_memory(rows: &[u64], blocks: usize) -> Group {
        let mut bytes = Vec::new();
        write(&mut bytes, rows, blocks, rows.len());
        Group { stride: stride(blocks), quarks: rows.len(), place: Place::Memory(bytes.into()) }
    }

    /// The row of an attribute: bit `i` for block `i` of the group.
    #[inline(always)]
    pub(super) fn row(&self, file: &[u8], quark: usize) -> u64 {
        if quark >= self.quarks {
            return 0;
        }
        let at = quark * self.stride;
        let row = match &self.place {
            Place::File(start) => word(file, start + at),
            Place::Memory(bytes) => word(bytes, at),
        };
        row & super::bits::mask(self.stride as u32 * 8)
    }
}

/// Appends a group with a row for each of `quarks` attributes.
pub(super) fn write(out: &mut Vec<u8>, rows: &[u64], blocks: usize, quarks: usize) {
    let stride = stride(blocks);
    for quark in 0..quarks {
        let row = rows.get(quark).copied().unwrap_or(0);
        out.extend_from_slice(&row.to_le_bytes()[..stride]);
    }
}

/// The rows of a growing history.
#[derive(Debug, Default)]
pub(super) struct GrowingRows {
    blocks: usize,
    /// By group, by attribute.
    groups: Vec<Vec<u64>>,
}

impl GrowingRows {
    /// Notes a block with runs of the attributes whose bits are set.
    pub(super) fn push(&mut self, present: &[u64]) {
        let bit = self.blocks % GROUP;
        if bit == 0 {
            self.groups.push(Vec::new());
        }
        self.blocks += 1;
        let Some(group) = self.groups.last_mut() else { return };
        if group.len() < present.len() * 64 {
            group.resize(present.len() * 64, 0);
        }
        for (rows, word) in group.chunks_mut(64).zip(present) {
            let mut left = *word;
            while left != 0 {
                rows[left.trailing_zeros() as usize] |= 1 << bit;
                left &= left - 1;
            }
        }
    }

    /// The groups, and how many blocks each has.
    pub(super) fn groups(&self) -> impl Iterator<Item = (&[u64], usize)> {
        let blocks = self.blocks;
        self.groups
            .iter()
            .enumerate()
            .map(move |(i, rows)| (&rows[..], (blocks - i * GROUP).min(GROUP)))
    }
}
