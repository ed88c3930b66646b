//! Intervals that last over whole blocks, by the blocks that they last over.
//!
//! An attribute that does not change in a block has no interval there: what it is must
//! be looked for in earlier and later blocks. Who wants the state of all attributes
//! would look for most of them. So these intervals are noted once more, in a binary
//! tree above the blocks: node 1 is about all, nodes `2n` and `2n + 1` about the first
//! and second half of what node `n` is about. An interval is at the fewest nodes that
//! are about all its blocks together, and no others; so all those of a block are at the
//! few nodes above it. The block in which an interval begins counts with those that it
//! lasts over. Those that go on up to the end of the history are many: for their sake
//! each of these is at one node, the lowest that is about all its blocks.
//!
//! ```text
//! u32      blocks that the tree is about: a power of two, or none if there is no tree
//! u32      how many codes
//! u8 × 4   bytes of the parts of an entry
//! codes    u8 kind, u64 bits
//! sums     u32 for each node from 0 on: entries of all up to it
//! entries  of each node, by attributes: attribute, start − start of the history,
//!          end − start of the history, which of the codes
//! ```

use std::sync::Arc;

use hashbrown::HashMap;

use super::bits::{Bytes, bytes_of, word};
use super::code::{Code, Kind};
use super::run::RecordLayout;
use crate::tree::Quark;

const HEAD: usize = 12;
const CODE: usize = 9;

/// An interval, with its value as a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) quark: Quark,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) code: Code,
}

/// What a growing history notes.
#[derive(Debug, Default)]
pub(super) struct GrowingLasting {
    /// By attribute: one more than the last block in which an interval ended, or 0.
    since: Vec<u32>,
    /// First and last block, and the interval.
    entries: Vec<(u32, u32, Entry)>,
}

impl GrowingLasting {
    /// An interval is the first of its attribute that ends in a block.
    pub(super) fn ends(&mut self, block: u32, entry: Entry) {
        let at = entry.quark.index();
        if at >= self.since.len() {
            self.since.resize(at + 1, 0);
        }
        let since = std::mem::replace(&mut self.since[at], block + 1);
        if block > since {
            self.entries.push((since.saturating_sub(1), block - 1, entry));
        }
    }

    /// Appends the tree for a history of so many blocks; `open` are the intervals that
    /// go on up to its end, of all attributes.
    pub(super) fn write(
        &self,
        out: &mut Vec<u8>,
        history_start: i64,
        blocks: usize,
        open: impl Iterator<Item = Entry>,
    ) {
        let size = (blocks as u32).next_power_of_two();
        let (mut codes, mut places) = (Vec::new(), HashMap::new());
        let mut parts = |entry: &Entry| {
            let Entry { quark, start, end, code } = *entry;
            let place = *places.entry((code.kind as u8, code.bits)).or_insert_with(|| {
                codes.push(code);
                codes.len() as u64 - 1
            });
            let since_start = |t: i64| t.wrapping_sub(history_start) as u64;
            [quark.index() as u64, since_start(start), since_start(end), place]
        };
        let mut entries: Vec<(u32, [u64; 4])> = Vec::new();
        for (first, last, entry) in &self.entries {
            let parts = parts(entry);
            for_nodes(size, *first, *last, |node| entries.push((node, parts)));
        }
        for entry in open {
            let since = self.since.get(entry.quark.index()).copied().unwrap_or(0);
            if blocks as u32 > since {
                // There is no later block: so it may last over any of them.
                let node = node_of(size, since.saturating_sub(1), size - 1);
                entries.push((node, parts(&entry)));
            }
        }
        entries.sort_unstable();

        let all = entries.iter().fold([0; 4], |mut all: [u64; 4], (_, parts)| {
            all.iter_mut().zip(parts).for_each(|(all, part)| *all |= part);
            all
        });
        // Never none, so that there cannot be more entries than bytes.
        let widths = all.map(|part| bytes_of(part).max(1) as u8);
        out.extend_from_slice(&size.to_le_bytes());
        out.extend_from_slice(&(codes.len() as u32).to_le_bytes());
        out.extend_from_slice(&widths);
        for code in &codes {
            out.push(code.kind as u8);
            out.extend_from_slice(&code.bits.to_le_bytes());
        }
        for node in 0..2 * size {
            let sum = entries.partition_point(|(of, _)| *of <= node) as u32;
            out.extend_from_slice(&sum.to_le_bytes());
        }
        for (_, parts) in &entries {
            for (part, width) in parts.iter().zip(widths) {
                out.extend_from_slice(&part.to_le_bytes()[..width.into()]);
            }
        }
    }
}

/// The nodes that are about the blocks from `first` to `last` together, of a tree about
/// `size`.
fn for_nodes(size: u32, first: u32, last: u32, mut f: impl FnMut(u32)) {
    let (mut first, mut behind) = (size + first, size + last + 1);
    while first < behind {
        if first % 2 == 1 {
            f(first);
            first += 1;
        }
        if behind % 2 == 1 {
            behind -= 1;
            f(behind);
        }
        (first, behind) = (first / 2, behind / 2);
    }
}

/// The lowest node that is about all blocks from `first` to `last`, of a tree about `size`.
fn node_of(size: u32, first: u32, last: u32) -> u32 {
    let levels = 32 - (first ^ last).leading_zeros();
    (size + first) >> levels
}

/// Where the bytes of a tree are.
#[derive(Debug, Clone)]
enum Place {
    /// There is none.
    Nowhere,
    File,
    Memory(Arc<[u8]>),
}

/// The tree as it is read.
#[derive(Debug, Clone)]
pub(super) struct Lasting {
    place: Place,
    history_start: i64,
    size: u32,
    codes: usize,
    count: u32,
    codes_at: usize,
    sums_at: usize,
    entries_at: usize,
    record: RecordLayout,
}

impl Lasting {
    /// Nothing: all is to be looked for.
    pub(super) fn none() -> Lasting {
        Lasting {
            place: Place::Nowhere,
            history_start: 0,
            size: 0,
            codes: 0,
            count: 0,
            codes_at: 0,
            sums_at: 0,
            entries_at: 0,
            record: RecordLayout::default(),
        }
    }

    pub(super) fn in_memory(bytes: Vec<u8>, history_start: i64) -> Lasting {
        let found = Lasting::parse(&mut Bytes::new(&bytes, 0), history_start);
        found.map_or(Lasting::none(), |found| Lasting {
            place: Place::Memory(bytes.into()),
            ..found
        })
    }

    /// What [`GrowingLasting::write`] wrote, in a file. None if it is not that.
    pub(super) fn parse(bytes: &mut Bytes<'_>, history_start: i64) -> Option<Lasting> {
        let at = bytes.at;
        bytes.take(HEAD)?;
        let mut head = Bytes::new(bytes.data, at);
        let (size, codes) = (head.u32(), head.u32() as usize);
        let record = RecordLayout::of([head.u8(), head.u8(), head.u8(), head.u8()])?;
        if !(size.is_power_of_two() && size < 1 << 30 && record.len > 0) {
            return None;
        }
        let codes_at = bytes.at;
        bytes.take(codes.checked_mul(CODE)?)?;
        let sums_at = bytes.at;
        let sums = bytes.take(2 * size as usize * 4)?;
        let count = word(sums, sums.len() - 4) as u32;
        let entries_at = bytes.at;
        bytes.take((count as usize).checked_mul(record.len)?)?;
        Some(Lasting {
            place: Place::File,
            history_start,
            size,
            codes,
            count,
            codes_at,
            sums_at,
            entries_at,
            record,
        })
    }

    /// What lasts over a block, and more.
    pub(super) fn over<'d>(&'d self, file: &'d [u8], block: usize) -> Over<'d> {
        let data = match &self.place {
            Place::Nowhere => &[],
            Place::File => file,
            Place::Memory(bytes) => bytes,
        };
        let mut nodes = Vec::new();
        if block < self.size as usize {
            let mut node = self.size as usize + block;
            while node > 0 {
                // Damage could make it anything.
                let sum =
                    |node: usize| (word(data, self.sums_at + node * 4) as u32).min(self.count);
                let (next, end) = (sum(node - 1), sum(node));
                if next < end {
                    nodes.push(Node { next, end });
                }
                node /= 2;
            }
        }
        Over { tree: self, data, nodes }
    }
}

/// What is left of a node.
#[derive(Debug)]
struct Node {
    next: u32,
    end: u32,
}

/// The intervals at the nodes above a block.
#[derive(Debug)]
pub(super) struct Over<'d> {
    tree: &'d Lasting,
    data: &'d [u8],
    nodes: Vec<Node>,
}

impl Over<'_> {
    /// The intervals with time `t` of attributes below a number that were not asked for
    /// yet, in any order. The code is None if there is no such code.
    #[inline(always)]
    pub(super) fn below(
        &mut self,
        quark: usize,
        t: i64,
        mut found: impl FnMut(usize, i64, i64, Option<Code>),
    ) {
        let offset = t.wrapping_sub(self.tree.history_start) as u64;
        let Over { tree, data, nodes } = self;
        for node in nodes {
            while node.next < node.end {
                let at = tree.entries_at + node.next as usize * tree.record.len;
                let [of, start, end, code] = tree.record.parts(data, at);
                if of >= quark as u64 {
                    break;
                }
                node.next += 1;
                if (start <= offset) & (offset <= end) {
                    let time = |offset: u64| tree.history_start.wrapping_add(offset as i64);
                    found(of as usize, time(start), time(end), tree.code(data, code as usize));
                }
            }
        }
    }
}

impl Lasting {
    #[inline(always)]
    fn code(&self, data: &[u8], place: usize) -> Option<Code> {
        if place >= self.codes {
            return None;
        }
        let at = self.codes_at + place * CODE;
        let kind = Kind::from_number(*data.get(at)?)?;
        Some(Code { kind, bits: word(data, at + 1) })
    }
}
