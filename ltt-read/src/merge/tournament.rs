//! Whose turn it is: a tournament tree.

use std::hint::select_unpredictable;

use super::key::{END, OPEN, number_of};

/// A tournament tree: the least of k keys, replacing it in log₂ k steps.
///
/// Streams are bursty, so the least other key is kept as well: as long as the
/// winner's next key stays below it, nothing is played at all.
#[derive(Debug)]
pub(crate) struct Tournament {
    /// Keys of those who play: `2 m` and `2 m + 1` play each other, and the lesser
    /// key is that of `m`. Leaves are the second half, nobody is 0.
    keys: Box<[u128]>,
    winner: u128,
    pub(super) runner_up: u128,
}

impl Tournament {
    pub(super) fn new(k: usize) -> Self {
        let leaves = k.next_power_of_two().max(2);
        Tournament { keys: vec![END; 2 * leaves].into(), winner: END, runner_up: END }
    }

    /// Where a leaf is.
    #[inline(always)]
    fn place(&self, leaf: usize) -> usize {
        self.keys.len() / 2 + leaf
    }

    pub(super) fn set(&mut self, leaf: usize, key: u128) {
        let place = self.place(leaf);
        self.keys[place] = key;
    }

    pub(super) fn play_all(&mut self) {
        for m in (1..self.keys.len() / 2).rev() {
            self.keys[m] = self.keys[2 * m].min(self.keys[2 * m + 1]);
        }
        self.winner = self.keys[1];
        self.runner_up = END;
        if self.winner != END {
            let mut at = self.place(number_of(self.winner) as usize);
            while at > 1 {
                self.runner_up = self.runner_up.min(self.keys[at ^ 1]);
                at /= 2;
            }
        }
    }

    /// Forgets whether the winner's event was taken: what is kept of its key may
    /// be of an event before it.
    #[inline]
    pub(crate) fn open_winner(&mut self) {
        self.winner |= OPEN;
    }

    #[inline(always)]
    pub(super) fn winner(&self) -> u128 {
        self.winner
    }

    /// Gives a leaf, the last winner's, a new key, which is not below the runner-up:
    /// that is the winner then, and a runner-up has to be found. (A key below keeps
    /// the leaf the winner; then this is not necessary.)
    #[inline(always)]
    pub(super) fn replay(&mut self, leaf: usize, key: u128) {
        self.winner = self.runner_up;
        let loser = self.place(leaf);
        let winner = match self.winner {
            END => loser,
            key => self.place(number_of(key) as usize),
        };
        // Of a known size there are neither loops nor checks.
        let keys = &mut *self.keys;
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

/// As many of the keys of a tree, which are all.
#[inline(always)]
fn sized<const LEN: usize>(keys: &mut [u128]) -> &mut [u128] {
    &mut keys[..LEN]
}

/// Brings the way up from a leaf that gets a key up to date. Gives the least key but
/// for that of another leaf, the winner's.
#[inline(always)]
fn climb(keys: &mut [u128], mut loser: usize, mut winner: usize, mut key: u128) -> u128 {
    // Both ways up at once: where they meet, the one has just been brought up to
    // date for the other.
    let (last, mut runner_up) = (keys.len() - 1, END);
    for _ in 1..keys.len().ilog2() {
        keys[loser & last] = key;
        key = least(key, keys[(loser ^ 1) & last]);
        runner_up = least(runner_up, keys[(winner ^ 1) & last]);
        (loser, winner) = (loser / 2, winner / 2);
    }
    runner_up
}

/// The lesser one, without a branch, for which it would be too hard to predict.
///
/// Whole keys compared as such are selected by one nevertheless; halves are not.
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
        u128::from(ns) << 64 | u128::from(number) << 1 | OPEN
    }

    /// Against sorting everything, for many shapes of input.
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
                    tree.winner = key; // what the merge keeps in its cursor
                }
            }
            assert_eq!(merged, expected, "{k} streams");
        }
    }
}
