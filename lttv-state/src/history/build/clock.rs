//! The time of a history that is being built.

use ltt_read::Timestamp;

use crate::history::error::HistoryError;

/// The times of a history that is being built, in ns.
#[derive(Debug)]
pub(super) struct Clock {
    start: i64,
    /// The time of the last change.
    now: i64,
    /// The time up to which all changes are in blocks.
    horizon: i64,
    /// Readers may have seen the state at `now`, so the next change must be later.
    now_is_published: bool,
}

impl Clock {
    pub(super) fn new(start: i64) -> Clock {
        Clock { start, now: start, horizon: start, now_is_published: false }
    }

    /// Creates the clock of a history that continues after its blocks, whose last time is
    /// `last`.
    pub(super) fn resumed(start: i64, last: i64, has_blocks: bool) -> Clock {
        Clock { start, now: last, horizon: last, now_is_published: has_blocks }
    }

    pub(super) fn start(&self) -> i64 {
        self.start
    }

    pub(super) fn now(&self) -> i64 {
        self.now
    }

    pub(super) fn horizon(&self) -> i64 {
        self.horizon
    }

    /// Returns the earliest time at which a change is still possible.
    pub(super) fn earliest(&self) -> Timestamp {
        Timestamp::from_ns(self.now.saturating_add(self.now_is_published.into()))
    }

    /// Returns `true` if a change at `t` is possible and does not advance the time.
    #[inline]
    pub(super) fn is_at(&self, t: i64) -> bool {
        t == self.now && !self.now_is_published
    }

    /// Checks that a change at `t` is possible.
    pub(super) fn check(&self, t: i64) -> Result<(), HistoryError> {
        let earliest = self.earliest();
        let time = Timestamp::from_ns(t);
        match time < earliest || (t == self.now && self.now_is_published) {
            true => Err(HistoryError::TimeRegress { time, earliest }),
            false => Ok(()),
        }
    }

    /// Advances the time to `t`, at which a change is possible.
    #[inline]
    pub(super) fn advance(&mut self, t: i64) {
        (self.now, self.now_is_published) = (t, false);
    }

    /// Notes that all changes so far are in blocks.
    pub(super) fn all_written(&mut self) {
        self.horizon = self.now;
    }

    /// Notes that readers may have seen the present state.
    pub(super) fn publish(&mut self) {
        self.now_is_published = true;
    }
}
