//! The tournament tree of the k-way merge.

use std::hint::select_unpredictable;

use super::key::{END, number_of};

/// A tournament tree (winner tree) that finds the least of k keys and replaces it in log₂
/// k steps. See Knuth, The Art of Computer Programming, vol. 3, section 5.4.1.
#[derive(Debug)]
pub(super) struct Tournament {
    /// The keys of the nodes: nodes `2 m` and `2 m + 1` play each other, and the lesser
    /// key is that of node `m`. The second half are the leaves. Node 0 is unused.
    keys: Box<[u128]>,
}

impl Tournament {
    pub(super) fn new(k: usize) -> Self {
        Tournament { keys: vec![END; 2 * k.next_power_of_two().max(2)].into() }
    }

    /// Returns the node of a leaf.
    #[inline(always)]
    fn place(&self, leaf: usize) -> usize {
        self.keys.len() / 2 + leaf
    }

    pub(super) fn set(&mut self, leaf: usize, key: u128) {
        let place = self.place(leaf);
        self.keys[place] = key;
    }

    /// Removes the keys of some leaves.
    pub(super) fn remove(&mut self, is_removed: impl Fn(u32) -> bool) {
        let first = self.place(0);
        let leaves = (0..).zip(&mut self.keys[first..]);
        leaves.filter(|(leaf, _)| is_removed(*leaf)).for_each(|(_, key)| *key = END);
    }

    /// Plays all matches. Returns the least key, and the least of the others.
    pub(super) fn play_all(&mut self) -> (u128, u128) {
        let keys = &mut self.keys;
        for m in (1..keys.len() / 2).rev() {
            keys[m] = keys[2 * m].min(keys[2 * m + 1]);
        }
        let (winner, mut runner_up) = (self.keys[1], END);
        if winner != END {
            let mut at = self.place(number_of(winner) as usize);
            while at > 1 {
                runner_up = runner_up.min(self.keys[at ^ 1]);
                at /= 2;
            }
        }
        (winner, runner_up)
    }

    /// Replaces the key of a leaf, the last winner's, where `winner` is the least key afterwards.
    /// Returns the least of the others.
    #[inline(always)]
    pub(super) fn replay(&mut self, leaf: usize, key: u128, winner: u128) -> u128 {
        let loser = self.place(leaf);
        let winner = match winner {
            END => loser,
            key => self.place(number_of(key) as usize),
        };
        // With a constant size, the compiler unrolls the loops and removes the bounds
        // checks.
        let keys = &mut *self.keys;
        match keys.len() {
            4 => climb(sized::<4>(keys), loser, winner, key),
            8 => climb(sized::<8>(keys), loser, winner, key),
            16 => climb(sized::<16>(keys), loser, winner, key),
            32 => climb(sized::<32>(keys), loser, winner, key),
            64 => climb(sized::<64>(keys), loser, winner, key),
            _ => climb(keys, loser, winner, key),
        }
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
