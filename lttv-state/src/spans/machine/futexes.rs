//! Futexes, and the threads that wait for them.

use hashbrown::HashMap;

use crate::kernel::Tid;
use crate::spans::outcome::{Log, Outcome};
use crate::spans::threads::NEVER;

/// The maximum number of futexes that are told apart.
const MAX_FUTEXES: usize = 1 << 17;

/// The futexes of a trace.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Futexes {
    pub(crate) facts: Vec<FutexFacts>,
    places: HashMap<(Option<Tid>, Option<u64>, bool), u32>,
}

/// A futex.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct FutexFacts {
    /// The process whose thread used it; of a shared futex one of them.
    pub(crate) pid: Option<Tid>,
    /// The address; `None` for all waits of a process for one of several futexes.
    pub(crate) address: Option<u64>,
    /// `true` if several processes may use it.
    pub(crate) is_shared: bool,
    /// The number of threads that wait for it.
    pub(crate) waiters: u32,
    /// The time of the last change of `waiters`, in ns.
    pub(crate) changed: i64,
}

impl Futexes {
    /// Returns the number of a futex, which is added if it is new; `None` if there are too many.
    pub(super) fn futex(
        &mut self,
        pid: Option<Tid>,
        address: Option<u64>,
        is_shared: bool,
    ) -> Option<u32> {
        let key = (pid, address, is_shared);
        if let Some(at) = self.places.get(&key) {
            return Some(*at);
        }
        if self.facts.len() >= MAX_FUTEXES {
            return None;
        }
        let at = self.facts.len() as u32;
        self.facts.push(FutexFacts { pid, address, is_shared, waiters: 0, changed: NEVER });
        self.places.insert(key, at);
        Some(at)
    }

    /// Returns `true` if all numbers are those of futexes.
    #[cfg(feature = "checkpoint-files")]
    pub(super) fn is_valid(&self) -> bool {
        self.facts.len() <= MAX_FUTEXES
            && self.places.values().all(|at| (*at as usize) < self.facts.len())
    }

    /// Changes the number of waiters of a futex by one.
    pub(super) fn change(&mut self, futex: u32, by: i32, time: i64, log: &mut Log) {
        let facts = &mut self.facts[futex as usize];
        log.waiters_passed(futex, facts.waiters, facts.changed, time);
        facts.waiters = facts.waiters.saturating_add_signed(by);
        facts.changed = time;
        log.put(Outcome::HasWaiters { futex, number: facts.waiters });
    }

    pub(super) fn bytes(&self) -> usize {
        2 * size_of_val(&*self.facts)
    }
}
