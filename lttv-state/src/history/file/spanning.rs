//! A segment tree of the intervals that span whole blocks.
//!
//! An attribute that does not change in a block has no interval in it; its value has to be
//! found in earlier and later blocks. A query for the state of all attributes would do that
//! for most of them. The index therefore stores those intervals once more, in a segment
//! tree over the blocks (J. L. Bentley, *Solutions to Klee's rectangle problems*, 1977):
//! node 1 covers all blocks, and nodes `2n` and `2n + 1` cover the first and the second
//! half of node `n`. An interval is stored at its canonical nodes, the fewest that together
//! cover exactly its blocks. All intervals that span a block are thus found at the nodes on
//! the path from its leaf to the root.
//!
//! An interval spans the blocks from the one in which it starts to the one before it ends,
//! and is stored only if it contains at least one whole block. In one point the tree
//! differs from a plain segment tree: intervals that last until the end of the history are
//! many, and each is stored at one node only, the lowest that covers all of its blocks. A
//! reader therefore compares the times of each interval that it finds.
//!
//! ```text
//! u32      number of leaves: a power of two, at least the number of blocks
//! u32      number of values
//! u8 × 4   width of each field of an entry in bytes, 1 to 8
//! values   u8 kind, u64 bits of each
//! ends     u32 for each node, from 0 on: number of entries of all nodes up to it
//! entries  for each node, sorted by attribute: quark, start − start of the history,
//!          end − start of the history, index of the value
//! ```

use std::sync::Arc;

use hashbrown::HashMap;

use crate::history::block::bits::{ByteReader, bytes_of, word};
use crate::history::block::column_chunk::RecordLayout;
use crate::history::block::raw_value::{Kind, RawInterval, RawValue};

const HEAD_LEN: usize = 12;
const VALUE_ENTRY: usize = 9;

/// The intervals that a growing history has to store in the tree.
#[derive(Debug, Default)]
pub(crate) struct SpanningTreeBuilder {
    /// For each attribute, one more than the last block in which an interval ended, or 0.
    next_block: Vec<u32>,
    /// The first and the last block that an interval spans, and the interval.
    entries: Vec<(u32, u32, RawInterval)>,
}

impl SpanningTreeBuilder {
    /// Adds an interval that is the first of its attribute to end in `block`, if it spans a
    /// whole block.
    pub(crate) fn add(&mut self, block: u32, entry: RawInterval) {
        let at = entry.quark.index();
        if at >= self.next_block.len() {
            self.next_block.resize(at + 1, 0);
        }
        let next_block = std::mem::replace(&mut self.next_block[at], block + 1);
        if block > next_block {
            self.entries.push((next_block.saturating_sub(1), block - 1, entry));
        }
    }

    /// Appends the tree of a history with `blocks` blocks. `open` are the intervals of all
    /// attributes that last until its end.
    pub(crate) fn write(
        &self,
        out: &mut Vec<u8>,
        history_start: i64,
        blocks: usize,
        open: impl Iterator<Item = RawInterval>,
    ) {
        let size = (blocks as u32).next_power_of_two();
        let (mut values, mut indexes) = (Vec::new(), HashMap::new());
        let mut parts = |entry: &RawInterval| {
            let RawInterval { quark, start, end, raw } = *entry;
            let index = *indexes.entry((raw.kind as u8, raw.bits)).or_insert_with(|| {
                values.push(raw);
                values.len() as u64 - 1
            });
            let since_start = |t: i64| t.wrapping_sub(history_start) as u64;
            [quark.index() as u64, since_start(start), since_start(end), index]
        };
        let mut entries: Vec<(u32, [u64; 4])> = Vec::new();
        for (first, last, entry) in &self.entries {
            let parts = parts(entry);
            for_canonical_nodes(size, *first, *last, |node| entries.push((node, parts)));
        }
        for entry in open {
            let next_block = self.next_block.get(entry.quark.index()).copied().unwrap_or(0);
            if blocks as u32 > next_block {
                // The interval spans all later blocks. Leaves past the last block do not
                // count, so the range may as well extend to the last leaf.
                let node = lowest_node(size, next_block.saturating_sub(1), size - 1);
                entries.push((node, parts(&entry)));
            }
        }
        entries.sort_unstable();

        let all = entries.iter().fold([0; 4], |mut all: [u64; 4], (_, parts)| {
            all.iter_mut().zip(parts).for_each(|(all, part)| *all |= part);
            all
        });
        // Each width is at least 1, so that a damaged tree cannot have more entries than
        // bytes.
        let widths = all.map(|part| bytes_of(part).max(1) as u8);
        out.extend_from_slice(&size.to_le_bytes());
        out.extend_from_slice(&(values.len() as u32).to_le_bytes());
        out.extend_from_slice(&widths);
        for raw in &values {
            out.push(raw.kind as u8);
            out.extend_from_slice(&raw.bits.to_le_bytes());
        }
        for node in 0..2 * size {
            let node_end = entries.partition_point(|(of, _)| *of <= node) as u32;
            out.extend_from_slice(&node_end.to_le_bytes());
        }
        for (_, parts) in &entries {
            for (part, width) in parts.iter().zip(widths) {
                out.extend_from_slice(&part.to_le_bytes()[..width.into()]);
            }
        }
    }
}

/// Calls `f` with the canonical nodes of the blocks from `first` to `last`, in a tree of
/// `size` leaves.
fn for_canonical_nodes(size: u32, first: u32, last: u32, mut f: impl FnMut(u32)) {
    let (mut first, mut end) = (size + first, size + last + 1);
    while first < end {
        if first % 2 == 1 {
            f(first);
            first += 1;
        }
        if end % 2 == 1 {
            end -= 1;
            f(end);
        }
        (first, end) = (first / 2, end / 2);
    }
}

/// Returns the lowest node that covers all blocks from `first` to `last`, in a tree of
/// `size` leaves.
fn lowest_node(size: u32, first: u32, last: u32) -> u32 {
    let levels = 32 - (first ^ last).leading_zeros();
    (size + first) >> levels
}

/// The place of a tree's bytes.
#[derive(Debug, Clone)]
enum Storage {
    /// The history has no tree.
    Absent,
    File,
    Memory(Arc<[u8]>),
}

/// A decoded tree.
#[derive(Debug, Clone)]
pub(crate) struct SpanningTree {
    storage: Storage,
    history_start: i64,
    size: u32,
    value_count: usize,
    count: u32,
    values_at: usize,
    node_ends_at: usize,
    entries_at: usize,
    record: RecordLayout,
}

impl SpanningTree {
    /// Creates an empty tree, for histories that have none. Readers then search other
    /// blocks.
    pub(crate) fn none() -> SpanningTree {
        SpanningTree {
            storage: Storage::Absent,
            history_start: 0,
            size: 0,
            value_count: 0,
            count: 0,
            values_at: 0,
            node_ends_at: 0,
            entries_at: 0,
            record: RecordLayout::default(),
        }
    }

    pub(crate) fn in_memory(bytes: Vec<u8>, history_start: i64) -> SpanningTree {
        let found = SpanningTree::parse(&mut ByteReader::new(&bytes, 0), history_start);
        found.map_or(SpanningTree::none(), |found| SpanningTree {
            storage: Storage::Memory(bytes.into()),
            ..found
        })
    }

    /// Decodes a tree from a file. `None` if it is damaged.
    pub(crate) fn parse(bytes: &mut ByteReader<'_>, history_start: i64) -> Option<SpanningTree> {
        let at = bytes.at;
        bytes.take(HEAD_LEN)?;
        let mut head = ByteReader::new(bytes.data, at);
        let (size, value_count) = (head.u32(), head.u32() as usize);
        let record = RecordLayout::of([head.u8(), head.u8(), head.u8(), head.u8()])?;
        if !(size.is_power_of_two() && size < 1 << 30 && record.len > 0) {
            return None;
        }
        let values_at = bytes.at;
        bytes.take(value_count.checked_mul(VALUE_ENTRY)?)?;
        let node_ends_at = bytes.at;
        let node_ends = bytes.take(2 * size as usize * 4)?;
        let count = word(node_ends, node_ends.len() - 4) as u32;
        let entries_at = bytes.at;
        bytes.take((count as usize).checked_mul(record.len)?)?;
        Some(SpanningTree {
            storage: Storage::File,
            history_start,
            size,
            value_count,
            count,
            values_at,
            node_ends_at,
            entries_at,
            record,
        })
    }

    /// Returns a cursor over the intervals on the path from a block's leaf to the root.
    pub(crate) fn path<'d>(&'d self, file: &'d [u8], block: usize) -> SpanningPath<'d> {
        let data = match &self.storage {
            Storage::Absent => &[],
            Storage::File => file,
            Storage::Memory(bytes) => bytes,
        };
        let mut nodes = Vec::new();
        if block < self.size as usize {
            let mut node = self.size as usize + block;
            while node > 0 {
                // In damaged data it may be anything.
                let node_end =
                    |node: usize| (word(data, self.node_ends_at + node * 4) as u32).min(self.count);
                let (next, end) = (node_end(node - 1), node_end(node));
                if next < end {
                    nodes.push(Node { next, end });
                }
                node /= 2;
            }
        }
        SpanningPath { tree: self, data, nodes }
    }
}

/// The range of a node's entries that have not been read yet.
#[derive(Debug)]
struct Node {
    next: u32,
    end: u32,
}

/// A cursor over the intervals at the nodes above a block.
#[derive(Debug)]
pub(crate) struct SpanningPath<'d> {
    tree: &'d SpanningTree,
    data: &'d [u8],
    nodes: Vec<Node>,
}

impl SpanningPath<'_> {
    /// Calls `found` with the intervals that contain time `t` of the attributes below
    /// `quark`, in no particular order: quark, start, end and value, which is `None` if it
    /// is damaged. Each call continues after the attributes of the previous one.
    #[inline(always)]
    pub(crate) fn for_each_below(
        &mut self,
        quark: usize,
        t: i64,
        mut found: impl FnMut(usize, i64, i64, Option<RawValue>),
    ) {
        let offset = t.wrapping_sub(self.tree.history_start) as u64;
        let SpanningPath { tree, data, nodes } = self;
        for node in nodes {
            while node.next < node.end {
                let at = tree.entries_at + node.next as usize * tree.record.len;
                let [of, start, end, raw] = tree.record.parts(data, at);
                if of >= quark as u64 {
                    break;
                }
                node.next += 1;
                if (start <= offset) & (offset <= end) {
                    let time = |offset: u64| tree.history_start.wrapping_add(offset as i64);
                    found(of as usize, time(start), time(end), tree.raw(data, raw as usize));
                }
            }
        }
    }
}

impl SpanningTree {
    #[inline(always)]
    fn raw(&self, data: &[u8], index: usize) -> Option<RawValue> {
        if index >= self.value_count {
            return None;
        }
        let at = self.values_at + index * VALUE_ENTRY;
        let kind = Kind::from_number(*data.get(at)?)?;
        Some(RawValue { kind, bits: word(data, at + 1) })
    }
}
