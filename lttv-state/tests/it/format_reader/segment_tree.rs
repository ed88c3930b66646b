//! The segment tree over the blocks of a history file, as `docs/history-format.md`
//! describes it. It is not needed to list the intervals.

use super::bytes::Input;
use super::{File, Interval, Raw};

#[derive(Debug)]
pub(crate) struct SegmentTree {
    size: usize,
    /// For each node, the number of entries of nodes up to and including it.
    ends: Vec<usize>,
    /// Attribute and interval of each entry.
    entries: Vec<(usize, Interval)>,
}

impl SegmentTree {
    pub(crate) fn read(index: &mut Input<'_>, history_start: i64) -> SegmentTree {
        let (size, values) = (index.u32(), index.u32());
        assert!(size.is_power_of_two());
        let widths = [(); 4].map(|()| index.int(1) as usize);
        let values: Vec<Raw> = (0..values).map(|_| (index.int(1), index.u64())).collect();
        let ends: Vec<usize> = (0..2 * size).map(|_| index.u32()).collect();
        assert_eq!(ends[0], 0);
        let entries: Vec<(usize, Interval)> = (0..ends[2 * size - 1])
            .map(|_| {
                let [quark, start, end, value] = widths.map(|width| index.int(width));
                let time = |offset| history_start.wrapping_add(offset as i64);
                let value = values[value as usize];
                (quark as usize, Interval { start: time(start), end: time(end), value })
            })
            .collect();
        SegmentTree { size, ends, entries }
    }

    fn at_node(&self, node: usize) -> &[(usize, Interval)] {
        &self.entries[self.ends[node - 1]..self.ends[node]]
    }

    /// Panics unless the tree has exactly the intervals that it should have, and those that
    /// span a block are on the path from its leaf to the root.
    pub(crate) fn check(&self, file: &File) {
        assert!(self.size >= file.blocks);
        for node in 1..2 * self.size {
            assert!(self.at_node(node).is_sorted_by_key(|(quark, _)| *quark));
        }
        for quark in 0..file.attributes.len() {
            let mut first = 0;
            for (interval, end_block) in file.all_of(quark) {
                for block in first + 1..end_block {
                    let leaf = self.size + block;
                    let path = std::iter::successors(Some(leaf), |node| Some(node / 2));
                    let found: Vec<_> = path
                        .take_while(|node| *node > 0)
                        .flat_map(|node| self.at_node(node))
                        .filter(|(q, i)| *q == quark && i.start == interval.start)
                        .collect();
                    assert_eq!(found, [&(quark, interval.clone())], "block {block}");
                }
                first = end_block;
            }
        }
        for (quark, interval) in &self.entries {
            assert!(file.all_of(*quark).iter().any(|(i, _)| i == interval));
        }
    }
}
