//! The presence index: for each attribute and block, a bit that is set if the block has a
//! column chunk of the attribute.
//!
//! Blocks are taken in groups of 64. For each group there is an array with a *row* for each
//! attribute: a little-endian integer with a bit for each block, the first block lowest, in
//! as many whole bytes as the blocks of the group need.

use std::sync::Arc;

use crate::history::block::bits::{mask, word};

/// The number of blocks in a group.
pub(crate) const GROUP_BLOCKS: usize = 64;

/// Returns the size of a row in a group of `blocks` blocks, in bytes.
pub(crate) fn stride(blocks: usize) -> usize {
    blocks.min(GROUP_BLOCKS).div_ceil(8)
}

/// The place of a group's rows.
#[derive(Debug, Clone)]
enum Storage {
    /// A file, from this byte on.
    File(usize),
    Memory(Arc<[u8]>),
}

/// The presence bits of one group of blocks.
#[derive(Debug, Clone)]
pub(crate) struct PresenceGroup {
    stride: usize,
    quarks: usize,
    storage: Storage,
}

impl PresenceGroup {
    pub(crate) fn in_file(at: usize, blocks: usize, quarks: usize) -> PresenceGroup {
        PresenceGroup { stride: stride(blocks), quarks, storage: Storage::File(at) }
    }

    pub(crate) fn in_memory(rows: &[u64], blocks: usize) -> PresenceGroup {
        let mut bytes = Vec::new();
        write(&mut bytes, rows, blocks, rows.len());
        PresenceGroup {
            stride: stride(blocks),
            quarks: rows.len(),
            storage: Storage::Memory(bytes.into()),
        }
    }

    /// Returns the row of an attribute: bit `i` stands for block `i` of the group.
    /// Attributes that are newer than the group have an empty row.
    #[inline(always)]
    pub(crate) fn row(&self, file: &[u8], quark: usize) -> u64 {
        if quark >= self.quarks {
            return 0;
        }
        let at = quark * self.stride;
        let row = match &self.storage {
            Storage::File(start) => word(file, start + at),
            Storage::Memory(bytes) => word(bytes, at),
        };
        row & mask(self.stride as u32 * 8)
    }
}

/// Appends the rows of a group for `quarks` attributes.
pub(crate) fn write(out: &mut Vec<u8>, rows: &[u64], blocks: usize, quarks: usize) {
    let stride = stride(blocks);
    for quark in 0..quarks {
        let row = rows.get(quark).copied().unwrap_or(0);
        out.extend_from_slice(&row.to_le_bytes()[..stride]);
    }
}

/// The presence index of a growing history.
#[derive(Debug, Default)]
pub(crate) struct PresenceBuilder {
    blocks: usize,
    /// For each group, a row for each attribute.
    groups: Vec<Vec<u64>>,
}

impl PresenceBuilder {
    /// Adds a block, given the presence bits of its attributes, 64 in each word.
    pub(crate) fn push(&mut self, present: &[u64]) {
        let bit = self.blocks % GROUP_BLOCKS;
        if bit == 0 {
            self.groups.push(Vec::new());
        }
        self.blocks += 1;
        let Some(group) = self.groups.last_mut() else { return };
        if group.len() < present.len() * 64 {
            group.resize(present.len() * 64, 0);
        }
        for (rows, word) in group.chunks_mut(64).zip(present) {
            let mut remaining = *word;
            while remaining != 0 {
                rows[remaining.trailing_zeros() as usize] |= 1 << bit;
                remaining &= remaining - 1;
            }
        }
    }

    /// Iterates over the groups: the rows and the number of blocks of each.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&[u64], usize)> {
        let blocks = self.blocks;
        self.groups
            .iter()
            .enumerate()
            .map(move |(i, rows)| (&rows[..], (blocks - i * GROUP_BLOCKS).min(GROUP_BLOCKS)))
    }
}
