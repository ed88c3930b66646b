//! A buffer that puts changes in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::history::block::raw_value::RawValue;
use crate::tree::Quark;

/// A change of an attribute or a subtree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Action {
    Set(RawValue),
    /// An interval with its value and its last time, in ns.
    Interval(RawValue, i64),
    Remove,
    Push(RawValue),
    Pop,
}

/// A change at a time. Changes are ordered by time, and then by the order of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Change {
    pub(crate) t: i64,
    sequence: u64,
    pub(crate) quark: Quark,
    pub(crate) action: Action,
}

/// A buffer of the changes within a window of time before the latest one: a binary heap.
#[derive(Debug)]
pub(crate) struct ReorderBuffer {
    /// The length of the window, in ns.
    window: u64,
    /// The greatest number of changes that wait.
    limit: usize,
    latest: i64,
    sequence: u64,
    waiting: BinaryHeap<Reverse<Change>>,
}

impl ReorderBuffer {
    pub(crate) fn new(window: u64, limit: usize) -> ReorderBuffer {
        ReorderBuffer { window, limit, latest: i64::MIN, sequence: 0, waiting: BinaryHeap::new() }
    }

    pub(crate) fn push(&mut self, t: i64, quark: Quark, action: Action) {
        self.latest = self.latest.max(t);
        let sequence = self.sequence;
        self.sequence += 1;
        self.waiting.push(Reverse(Change { t, sequence, quark, action }));
    }

    /// Removes and returns the earliest change, if it is older than the window or too many
    /// wait.
    pub(crate) fn pop_ready(&mut self) -> Option<Change> {
        let Reverse(next) = self.waiting.peek()?;
        let age = self.latest.abs_diff(next.t);
        let ready = age > self.window || self.waiting.len() > self.limit;
        if ready { self.pop() } else { None }
    }

    /// Removes and returns the earliest change.
    pub(crate) fn pop(&mut self) -> Option<Change> {
        self.waiting.pop().map(|Reverse(change)| change)
    }

    /// Returns the time of the latest change that was added, in ns.
    pub(crate) fn latest(&self) -> i64 {
        self.latest
    }
}
