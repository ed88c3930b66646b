//! Sums of activities and waits of threads.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lttv_common::activity::Doing;
use lttv_state::kernel::{NameId, Serial};

use super::cause::{Cause, Waker};
use super::chain::{Step, chain};
use super::episodes::{Episode, ThreadLife};
use super::lives::Lives;

/// The number, the total and the greatest of some durations, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    /// The number of durations.
    pub count: u64,
    /// Their sum.
    pub total: u64,
    /// The greatest of them.
    pub longest: u64,
    /// The start of the greatest one.
    pub longest_begin: i64,
}

/// The time of a thread in each kind of activity, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sums {
    /// The time on a CPU, in user mode, system calls and exceptions.
    pub running: u64,
    /// The time on a CPU that interrupts took.
    pub interrupted: u64,
    /// The time of waiting for a CPU.
    pub ready: u64,
    /// The time of waiting for something else.
    pub blocked: u64,
    /// The waits, by [`Cause`].
    pub causes: [Times; Cause::ALL.len()],
    /// The longest wait.
    pub longest: Option<Episode>,
}

/// The properties by which waits are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WaitKey {
    /// The system call in which the thread waited.
    pub call: NameId,
    /// The cause of the wait.
    pub cause: Cause,
    /// The thread or the kind of interrupt that ended it, if any is known.
    pub waker: Option<Waker>,
}

/// The details of one thread.
#[derive(Debug)]
pub struct Details {
    /// The thread.
    pub thread: Serial,
    /// The times of its activities.
    pub doings: BTreeMap<Doing, Times>,
    /// The times of its waits.
    pub waits: BTreeMap<WaitKey, Times>,
    /// The chain of wake-ups.
    pub chain: Vec<Step>,
}

impl Times {
    /// Adds an episode. Of equally long ones, the first is the longest.
    pub fn add(&mut self, episode: &Episode) {
        let time = episode.time();
        if self.count == 0 || time > self.longest {
            (self.longest, self.longest_begin) = (time, episode.begin);
        }
        self.count += 1;
        self.total = self.total.saturating_add(time);
    }
}

impl Sums {
    /// Sums up the episodes of a thread.
    pub fn of(life: &ThreadLife) -> Self {
        let mut sums = Sums::default();
        for episode in life.episodes() {
            let sum = match episode.doing {
                Doing::Runs(mode, _) if mode.is_interrupt() => &mut sums.interrupted,
                Doing::Runs(..) => &mut sums.running,
                Doing::Ready => &mut sums.ready,
                Doing::Blocked(_) => &mut sums.blocked,
                Doing::Unknown => continue,
            };
            *sum = sum.saturating_add(episode.time());
            let Some(cause) = episode.cause() else { continue };
            sums.causes[cause as usize].add(episode);
            if sums.longest.is_none_or(|longest| episode.time() > longest.time()) {
                sums.longest = Some(*episode);
            }
        }
        sums
    }

    /// Returns `true` if the thread did nothing that is known.
    pub fn is_empty(&self) -> bool {
        *self == Sums::default()
    }

    /// Returns the number of waits.
    pub fn waits(&self) -> u64 {
        self.causes.iter().map(|times| times.count).sum()
    }
}

impl WaitKey {
    /// Returns the key of an episode; `None` if the thread was not blocked. Wake-ups are summed
    /// by thread, or by kind of interrupt.
    pub fn of(episode: &Episode) -> Option<Self> {
        let (Doing::Blocked(call), Some(cause)) = (episode.doing, episode.cause()) else {
            return None;
        };
        let waker = episode.waker.map(|waker| match waker.is_interrupt() {
            true => Waker { thread: Serial(0), ..waker },
            false => Waker { mode: Default::default(), submode: NameId::NONE, ..waker },
        });
        Some(WaitKey { call, cause, waker })
    }
}

impl Details {
    /// Sums up the episodes of a thread, and finds its chain of wake-ups.
    pub fn new(lives: &Lives, thread: Serial) -> Self {
        let (mut doings, mut waits) = (BTreeMap::new(), BTreeMap::new());
        let episodes = lives.thread(thread).map_or(&[][..], ThreadLife::episodes);
        for episode in episodes {
            doings.entry(episode.doing).or_insert(Times::default()).add(episode);
            if let Some(key) = WaitKey::of(episode) {
                waits.entry(key).or_insert(Times::default()).add(episode);
            }
        }
        Details { thread, doings, waits, chain: chain(lives, thread) }
    }

    /// Returns the time on the chain of each thread and activity, by decreasing time.
    pub fn shares(&self) -> Vec<((Serial, Doing), Times)> {
        let mut shares: BTreeMap<_, Times> = BTreeMap::new();
        for step in &self.chain {
            shares.entry((step.thread, step.episode.doing)).or_default().add(&step.episode);
        }
        longest_first(shares)
    }
}

/// Sorts sums by decreasing time.
pub fn longest_first<K: Ord>(sums: impl IntoIterator<Item = (K, Times)>) -> Vec<(K, Times)> {
    let mut sums: Vec<_> = sums.into_iter().collect();
    // A stable sort: equal times stay in key order.
    sums.sort_by_key(|(_, times)| Reverse(times.total));
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_episodes_do_not_overflow() {
        let (doing, waker, is_open) = (Doing::Ready, None, false);
        let episode = Episode { begin: i64::MIN, end: i64::MAX, doing, waker, is_open };
        assert_eq!(episode.time(), u64::MAX);
        let mut times = Times::default();
        (0..2).for_each(|_| times.add(&episode));
        assert_eq!((times.count, times.total, times.longest), (2, u64::MAX, u64::MAX));
        let mut life = ThreadLife::default();
        life.episodes = vec![episode, episode];
        assert_eq!(Sums::of(&life).ready, u64::MAX);
    }
}
