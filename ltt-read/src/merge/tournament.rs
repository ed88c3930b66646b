//! The tournament tree of the k-way merge.

use std::hint::select_unpredictable;

use super::key::{END, UNTESTED, number_of};
use crate::base::source::prefetch_value;

/// The size of a line of the cache in bytes.
const LINE: usize = 64;

/// The number of keys in a line.
const KEYS_IN_LINE: usize = LINE / size_of::<u128>();

/// The number of matches on the way from a leaf that are not near the processor in a tree of thousands of leaves.
const FAR_MATCHES: usize = 6;

/// A tournament tree (winner tree) that finds the least of k keys and replaces it in log₂
/// k steps. See Knuth, The Art of Computer Programming, vol. 3, section 5.4.1.
///
/// Streams come in bursts, so the least of the other keys is kept, too: no match is
/// played as long as the winner's next key is below it.
#[derive(Debug)]
pub(crate) struct Tournament {
    /// The keys of the nodes: nodes `2 m` and `2 m + 1` play each other, and the lesser
    /// key is that of node `m`. The second half are the leaves. Node 0 is unused. The two nodes of a match are in
    /// one line of the cache: there may be unused keys before and after the nodes.
    keys: Box<[u128]>,
    /// The number of keys before the nodes.
    before: usize,
    /// The number of nodes.
    len: usize,
    winner: u128,
    pub(super) runner_up: u128,
}

impl Tournament {
    pub(super) fn new(k: usize) -> Self {
        let len = 2 * k.next_power_of_two().max(2);
        let keys: Box<[u128]> = vec![END; len + KEYS_IN_LINE].into();
        let before = keys.as_ptr().align_offset(LINE).min(KEYS_IN_LINE);
        Tournament { keys, before, len, winner: END, runner_up: END }
    }

    #[inline(always)]
    fn nodes(&self) -> &[u128] {
        &self.keys[self.before..][..self.len]
    }

    #[inline(always)]
    fn nodes_mut(&mut self) -> &mut [u128] {
        &mut self.keys[self.before..][..self.len]
    }

    /// Returns the node of a leaf.
    #[inline(always)]
    fn place(&self, leaf: usize) -> usize {
        self.len / 2 + leaf
    }

    pub(super) fn set(&mut self, leaf: usize, key: u128) {
        let place = self.place(leaf);
        self.nodes_mut()[place] = key;
    }

    pub(super) fn play_all(&mut self) {
        let keys = self.nodes_mut();
        for m in (1..keys.len() / 2).rev() {
            keys[m] = keys[2 * m].min(keys[2 * m + 1]);
        }
        self.winner = keys[1];
        self.runner_up = END;
        if self.winner != END {
            let mut at = self.place(number_of(self.winner) as usize);
            while at > 1 {
                self.runner_up = self.runner_up.min(self.nodes()[at ^ 1]);
                at /= 2;
            }
        }
    }

    /// Marks the winner's event as untested: the mark in its key may be that of a previous
    /// event.
    #[inline]
    pub(crate) fn mark_winner_untested(&mut self) {
        self.winner |= UNTESTED;
    }

    #[inline(always)]
    pub(super) fn winner(&self) -> u128 {
        self.winner
    }

    /// Returns the least key in that part of the leaves around a leaf which is one of `2^parts`. It
    /// wins the tournament about `2^parts` matches after it came to be the least.
    #[inline(always)]
    pub(super) fn least_around(&self, leaf: usize, parts: u32) -> u128 {
        let levels = self.len.ilog2() - 1;
        self.nodes()[self.place(leaf) >> (levels.saturating_sub(parts))]
    }

    /// Prefetches the matches of a leaf that is coming to win, apart from those near the root.
    #[inline]
    pub(super) fn prefetch_matches(&self, leaf: usize) {
        let (keys, mut node) = (self.nodes(), self.place(leaf));
        for _ in 0..FAR_MATCHES {
            if let Some(key) = keys.get(node) {
                prefetch_value(key);
            }
            node /= 2;
        }
    }

    /// Replaces the key of a leaf, the last winner's, by one that is not below the
    /// runner-up. The runner-up becomes the winner, and a new runner-up is found. If the
    /// new key is below the runner-up, the leaf remains the winner and this call is not
    /// necessary.
    #[inline(always)]
    pub(super) fn replay(&mut self, leaf: usize, key: u128) {
        self.winner = self.runner_up;
        let loser = self.place(leaf);
        let winner = match self.winner {
            END => loser,
            key => self.place(number_of(key) as usize),
        };
        // With a constant size, the compiler unrolls the loops and removes the bounds
        // checks.
        let keys = self.nodes_mut();
        self.runner_up = match keys.len() {
            4 => climb(sized::<4>(keys), loser, winner, key),
            8 => climb(sized::<8>(keys), loser, winner, key),
            16 => climb(sized::<16>(keys), loser, winner, key),
            32 => climb(sized::<32>(keys), loser, winner, key),
            64 => climb(sized::<64>(keys), loser, winner, key),
            _ => climb(keys, loser, winner, key),
        };
    }
}

/// Converts the keys of a tree to a slice whose length is known to the compiler.
#[inline(always)]
fn sized<const LEN: usize>(keys: &mut [u128]) -> &mut [u128] {
    &mut keys[..LEN]
}

/// Replaces the key of the leaf `loser` by `key` and updates the nodes above it. Returns
/// the least key other than that of the leaf `winner`.
#[inline(always)]
fn climb(keys: &mut [u128], mut loser: usize, mut winner: usize, mut key: u128) -> u128 {
    // Both paths to the root are followed at the same time. Where they meet, the first
    // has just updated the node that the second reads.
    let (last, mut runner_up) = (keys.len() - 1, END);
    for _ in 1..keys.len().ilog2() {
        keys[loser & last] = key;
        key = least(key, keys[(loser ^ 1) & last]);
        runner_up = least(runner_up, keys[(winner ^ 1) & last]);
        (loser, winner) = (loser / 2, winner / 2);
    }
    runner_up
}

/// Returns the lesser key without a branch, because a branch would be hard to predict.
///
/// The compiler turns a comparison of whole 128-bit keys into a branch, but not
/// comparisons of their halves.
#[inline(always)]
fn least(a: u128, b: u128) -> u128 {
    let time = |key: u128| (key >> 64) as u64;
    let least = time(a).min(time(b));
    let rest = |key| select_unpredictable(time(key) == least, key as u64, u64::MAX);
    u128::from(least) << 64 | u128::from(rest(a).min(rest(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_of(ns: u64, number: u32) -> u128 {
        u128::from(ns) << 64 | u128::from(number) << 1 | UNTESTED
    }

    /// Compares the tournament with sorting, for many shapes of input.
    #[test]
    fn tournament_agrees_with_sorting() {
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            seed >> 33
        };
        for k in [1usize, 2, 3, 4, 5, 8, 13, 20, 64] {
            let streams: Vec<Vec<u64>> = (0..k)
                .map(|_| {
                    let mut s: Vec<u64> = (0..random() % 50).map(|_| random() % 100).collect();
                    s.sort();
                    s
                })
                .collect();
            let mut expected: Vec<u128> = (streams.iter().enumerate())
                .flat_map(|(n, s)| s.iter().map(move |t| key_of(*t, n as u32)))
                .collect();
            expected.sort();

            let mut tree = Tournament::new(k);
            let mut next = vec![1; k];
            for (n, s) in streams.iter().enumerate() {
                tree.set(n, s.first().map_or(END, |t| key_of(*t, n as u32)));
            }
            tree.play_all();
            let mut merged = Vec::new();
            while tree.winner() != END {
                merged.push(tree.winner());
                let n = number_of(tree.winner()) as usize;
                let key = streams[n].get(next[n]).map_or(END, |t| key_of(*t, n as u32));
                next[n] += 1;
                if key >= tree.runner_up {
                    tree.replay(n, key);
                } else {
                    tree.winner = key; // the merge keeps this key in its cursor
                }
            }
            assert_eq!(merged, expected, "{k} streams");
        }
    }
}
