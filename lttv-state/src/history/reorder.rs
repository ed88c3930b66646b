//! Changes that come a little out of order wait here until they are in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::code::Code;
use crate::tree::Quark;

/// What happens to an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Action {
    Set(Code),
    Remove,
    Push(Code),
    Pop,
}

/// Something that happens at a time. The order is that of times, then of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Change {
    pub(super) t: i64,
    sequence: u64,
    pub(super) quark: Quark,
    pub(super) action: Action,
}

/// Changes up to a window of time behind the latest one.
#[derive(Debug)]
pub(super) struct Reorder {
    /// In ns.
    window: u64,
    /// No more changes than this wait.
    limit: usize,
    latest: i64,
    sequence: u64,
    waiting: BinaryHeap<Reverse<Change>>,
}

impl Reorder {
    pub(super) fn new(window: u64, limit: usize) -> Reorder {
        Reorder { window, limit, latest: i64::MIN, sequence: 0, waiting: BinaryHeap::new() }
    }

    pub(super) fn push(&mut self, t: i64, quark: Quark, action: Action) {
        self.latest = self.latest.max(t);
        let sequence = self.sequence;
        self.sequence += 1;
        self.waiting.push(Reverse(Change { t, sequence, quark, action }));
    }

    /// The next change, if nothing that comes before it can still come; or if
    /// too many wait.
    pub(super) fn pop_ready(&mut self) -> Option<Change> {
        let Reverse(next) = self.waiting.peek()?;
        let age = self.latest.abs_diff(next.t);
        let ready = age > self.window || self.waiting.len() > self.limit;
        if ready { self.pop() } else { None }
    }

    /// The next change.
    pub(super) fn pop(&mut self) -> Option<Change> {
        self.waiting.pop().map(|Reverse(change)| change)
    }

    /// The time of the latest change that waits or waited.
    pub(super) fn latest(&self) -> i64 {
        self.latest
    }
}
