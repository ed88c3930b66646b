//! The order of the tracefiles in a merge, by the keys of their next events.

use super::key::{END, UNTESTED, number_of};
use super::radix_queue::RadixQueue;
use super::tournament::Tournament;

/// The number of tracefiles up to which a tournament tree is faster.
pub(super) const FEW: usize = 256;

/// The least of the keys of all tracefiles, and a queue of the others.
///
/// Streams come in bursts, so the least of the other keys is kept, too: nothing changes as long as
/// the winner's next key is below it.
#[derive(Debug)]
pub(crate) struct Order {
    winner: u128,
    pub(super) runner_up: u128,
    others: Others,
}

#[derive(Debug)]
enum Others {
    Few(Tournament),
    Many(RadixQueue),
}

impl Order {
    /// Creates the order of `k` tracefiles without events.
    pub(super) fn new(k: usize) -> Self {
        let others = match k <= FEW {
            true => Others::Few(Tournament::new(k)),
            false => Others::Many(RadixQueue::new()),
        };
        Order { winner: END, runner_up: END, others }
    }

    /// Removes all keys. Those of all tracefiles have to be [added](Self::add) again before the
    /// order [starts](Self::start).
    pub(super) fn clear(&mut self) {
        if let Others::Many(queue) = &mut self.others {
            *queue = RadixQueue::new();
        }
    }

    /// Adds the key of a tracefile, which may be [`END`].
    pub(super) fn add(&mut self, number: u32, key: u128) {
        match &mut self.others {
            Others::Few(tree) => tree.set(number as usize, key),
            Others::Many(queue) if key != END => queue.put(key),
            Others::Many(_) => {}
        }
    }

    /// Finds the winner among the keys that were added.
    pub(super) fn start(&mut self) {
        (self.winner, self.runner_up) = match &mut self.others {
            Others::Few(tree) => tree.play_all(),
            Others::Many(queue) => {
                queue.start();
                (queue.pop(), queue.least())
            }
        };
    }

    /// Removes the keys of some tracefiles, given their number.
    pub(super) fn remove(&mut self, is_removed: impl Fn(u32) -> bool) {
        match &mut self.others {
            Others::Few(tree) => tree.remove(is_removed),
            Others::Many(queue) => {
                let keys = queue.keys().chain([self.winner]).filter(|key| *key != END);
                let left: Vec<u128> = keys.filter(|key| !is_removed(number_of(*key))).collect();
                self.clear();
                left.into_iter().for_each(|key| self.add(number_of(key), key));
            }
        }
        self.start();
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

    /// Replaces the key of a tracefile, the last winner's, by one that is not below the
    /// runner-up. The runner-up becomes the winner, and a new runner-up is found. If the
    /// new key is below the runner-up, the tracefile remains the winner and this call is not
    /// necessary.
    #[inline(always)]
    pub(super) fn replay(&mut self, number: u32, key: u128) {
        match &mut self.others {
            Others::Few(tree) => {
                self.winner = self.runner_up;
                self.runner_up = tree.replay(number as usize, key, self.winner);
            }
            Others::Many(queue) => {
                if key != END {
                    queue.push(key);
                }
                self.winner = queue.pop();
                self.runner_up = queue.least();
            }
        }
    }

    /// Returns the keys of the events that come next, in descending order, if there are many
    /// tracefiles.
    #[inline(always)]
    pub(super) fn coming(&self) -> Option<&[u128]> {
        match &self.others {
            Others::Few(_) => None,
            Others::Many(queue) => Some(queue.front()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::key::{key_at, time_of};
    use super::*;
    use crate::base::time::Timestamp;

    /// A change of an order.
    #[derive(Debug, Clone)]
    enum Step {
        /// The winner gets a key this much after the runner-up's.
        Replay(u64),
        /// The winner ends.
        End,
        /// The winner waits for events, with a key this much before its last one.
        Wait(u64),
        /// Tracefiles with these numbers are left out, modulo this.
        Remove(u32, u32),
        /// All tracefiles get keys at these times, in turns.
        SetAll(Vec<u64>),
    }

    fn step() -> impl Strategy<Value = Step> {
        let distance = || prop_oneof![0..3_u64, 0..1_000_u64, 0..1_u64 << 40];
        prop_oneof![
            400 => distance().prop_map(Step::Replay),
            20 => Just(Step::End),
            20 => distance().prop_map(Step::Wait),
            1 => (3..9_u32, 0..3_u32).prop_map(|(parts, part)| Step::Remove(parts, part)),
            1 => prop::collection::vec(distance(), 1..50).prop_map(Step::SetAll),
        ]
    }

    /// Checks an order against the sorted keys of all tracefiles.
    fn check(mut order: Order, k: u32, steps: &[Step]) -> Result<(), TestCaseError> {
        let mut keys = vec![END; k as usize];
        for step in steps {
            let (number, last) = (number_of(order.winner), order.winner);
            let runner_up = keys.iter().filter(|key| **key != last).min().map_or(END, |key| *key);
            prop_assert_eq!(order.runner_up, runner_up);
            let mut replay = |key, order: &mut Order| {
                keys[number as usize] = key;
                order.replay(number, key);
            };
            let after = |ns: u64| {
                let start = key_at(time_of(runner_up), number);
                let key = start + (u128::from(ns) << 64);
                if key < runner_up { key + (1 << 64) } else { key }
            };
            match step {
                Step::SetAll(times) => {
                    let times = times.iter().cycle();
                    let set = times
                        .zip(0..k)
                        .map(|(ns, number)| key_at(Timestamp::from_ns(*ns as i64), number));
                    keys = set.collect();
                    order.clear();
                    (0..).zip(&keys).for_each(|(number, key)| order.add(number, *key));
                    order.start();
                }
                _ if last == END => {}
                Step::Remove(parts, part) => {
                    let is_removed = |number: u32| number % parts == *part;
                    (0..)
                        .zip(&mut keys)
                        .filter(|(n, _)| is_removed(*n))
                        .for_each(|(_, k)| *k = END);
                    order.remove(is_removed);
                }
                Step::Replay(ns) if runner_up < END => replay(after(*ns), &mut order),
                Step::Replay(_) | Step::End => replay(END, &mut order),
                Step::Wait(ns) => {
                    let key = last.saturating_sub(u128::from(*ns) << 64);
                    order.runner_up = order.runner_up.min(key);
                    replay(key, &mut order);
                }
            }
            prop_assert_eq!(order.winner, *keys.iter().min().expect("tracefiles"));
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn the_least_key_is_the_winner(
            k in prop_oneof![1..40_u32, 200..700_u32],
            times in prop::collection::vec(0..5_000_u64, 1..700),
            steps in prop::collection::vec(step(), 0..3_000),
        ) {
            let steps: Vec<Step> = [Step::SetAll(times)].into_iter().chain(steps).collect();
            let few = Others::Few(Tournament::new(k as usize));
            for others in [few, Others::Many(RadixQueue::new())] {
                check(Order { winner: END, runner_up: END, others }, k, &steps)?;
            }
        }
    }
}
