//! Adding of intervals, whose ends are known in advance.
//!
//! An interval sets its value at its start. Its end waits until all changes up to that time
//! have been made, since another interval may follow at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use hashbrown::HashMap;
use ltt_read::Timestamp;

use super::builder::Builder;
use super::reorder::{Action, ReorderBuffer};
use super::settings::Settings;
use super::states::States;
use crate::history::block::raw_value::RawValue;
use crate::history::error::HistoryError;
use crate::history::time::{end_after, last_before};
use crate::tree::Quark;
use crate::value::StateValue;

/// An interval that has started. Times are in ns.
#[derive(Debug, Clone, Copy)]
struct OpenInterval {
    start: i64,
    /// The last time of the interval.
    last: i64,
    /// The time since which the attribute has had the value: before `start` if it had the
    /// value already.
    since: i64,
    raw: RawValue,
}

/// The intervals that have started, at most one for each attribute.
#[derive(Debug, Default)]
pub(super) struct OpenIntervals {
    open: HashMap<Quark, OpenInterval>,
    /// The times right after the intervals, each with its attribute.
    ends: BinaryHeap<Reverse<(i64, Quark)>>,
    latest: Option<i64>,
}

impl OpenIntervals {
    /// Returns the open interval of an attribute.
    fn get(&self, quark: Quark) -> Option<&OpenInterval> {
        self.open.get(&quark)
    }

    /// Notes the last time of an interval that may not have started yet.
    fn expect(&mut self, last: i64) {
        self.latest = self.latest.max(Some(last));
    }

    /// Returns the latest time of all intervals so far, in ns.
    pub(super) fn latest(&self) -> Option<i64> {
        self.latest
    }

    /// Starts the interval of an attribute, which replaces an earlier one.
    fn start(&mut self, quark: Quark, interval: OpenInterval) {
        self.open.insert(quark, interval);
        if let Some(end) = interval.last.checked_add(1) {
            self.ends.push(Reverse((end, quark)));
        }
    }

    /// Removes and returns the interval that ends first, if it ends by `time`, and the time
    /// right after it.
    fn pop_ended(&mut self, time: i64) -> Option<(i64, Quark, OpenInterval)> {
        while let Some(Reverse((end, quark))) = self.ends.peek().copied() {
            if end > time {
                return None;
            }
            self.ends.pop();
            // Another interval may have started right where this one ended.
            if let Some(interval) = self.open.get(&quark).copied()
                && interval.last.checked_add(1) == Some(end)
            {
                self.open.remove(&quark);
                return Some((end, quark, interval));
            }
        }
        None
    }
}

impl Builder {
    /// Adds an interval: the value of an attribute over a time range, which contains its
    /// start but not its end. ([`Timestamp::MAX`] as an end is included.) After it the
    /// attribute is null, unless its next interval follows at once.
    ///
    /// The *starts* of intervals come in the order of time, or with as much disorder as
    /// [`Settings::reorder_window`] permits. Two intervals of one attribute must not overlap.
    /// A change by another method during an interval shortens it: its end then has no effect.
    ///
    /// From the first interval on, changes wait as with a reorder window, until a later one
    /// is made. A history that is [resumed](Self::resume) or [extended](Self::extend) does not
    /// know the ends of intervals that had started: their values last until they are set.
    ///
    /// ```
    /// # use lttv_state::history::{Builder, HistoryError, Timestamp};
    /// # use lttv_state::value::StateValue;
    /// let minute = Timestamp::from_ns;
    /// let mut builder = Builder::in_memory(minute(0));
    /// let (oven, radio) = (builder.add("oven")?, builder.add("radio")?);
    /// builder.add_interval(oven, minute(5)..minute(50), "on")?;
    /// builder.add_interval(radio, minute(10)..minute(20), "news")?;
    /// builder.add_interval(radio, minute(20)..minute(30), "music")?;
    /// let history = builder.close(minute(60))?;
    ///
    /// assert_eq!(history.at(radio, minute(29))?.value, StateValue::Str("music"));
    /// assert_eq!(history.at(radio, minute(30))?.value, StateValue::Null);
    /// assert_eq!(history.at(oven, minute(30))?.end, minute(50));
    /// # Ok::<(), HistoryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`set`](Self::set); [`HistoryError::EmptyInterval`] if the range
    /// is empty; and [`HistoryError::Overlap`] if another interval of the attribute overlaps.
    /// The last one may be returned by a later call, the one by which the interval takes
    /// effect.
    pub fn add_interval<'v>(
        &mut self,
        quark: Quark,
        range: Range<Timestamp>,
        value: impl Into<StateValue<'v>>,
    ) -> Result<(), HistoryError> {
        let (start, last) = interval_limits(&range)?;
        if !self.tree().contains(quark) {
            return Err(HistoryError::UnknownQuark(quark));
        }
        let raw = self.states.encode(value.into())?;
        if self.reorder.is_none() {
            // Changes at the time of an end are made before the end, so they have to wait.
            let limit = Settings::default().reorder_limit;
            self.reorder = Some(ReorderBuffer::new(0, limit));
        }
        self.clock.check(start)?;
        self.open.get_or_insert_default().expect(last);
        self.delay(quark, start, Action::Interval(raw, last))
    }

    /// Takes over the attributes and texts of other states. This builder must be new.
    pub(super) fn take_names(&mut self, states: States) {
        self.states.take_names(states);
    }

    /// Adds an interval that does not start before any earlier one. Times are in ns.
    pub(super) fn add_sorted_interval(
        &mut self,
        quark: Quark,
        start: i64,
        last: i64,
        raw: RawValue,
    ) -> Result<(), HistoryError> {
        self.open.get_or_insert_default().expect(last);
        self.end_intervals_before(start)?;
        self.start_interval(quark, start, last, raw)
    }

    pub(super) fn start_interval(
        &mut self,
        quark: Quark,
        start: i64,
        last: i64,
        raw: RawValue,
    ) -> Result<(), HistoryError> {
        let open = self.open.get_or_insert_default();
        if let Some(other) = open.get(quark).filter(|other| other.last >= start) {
            let range = |start, last| Timestamp::from_ns(start)..end_after(last);
            let (first, second) = (range(other.start, other.last), range(start, last));
            return Err(HistoryError::Overlap {
                path: self.states.tree().path(quark),
                first,
                second,
            });
        }
        self.advance(start)?;
        self.states.set(quark, start, raw)?;
        let (since, _) = self.states.get(quark).ok_or(HistoryError::UnknownQuark(quark))?;
        if let Some(open) = &mut self.open {
            open.start(quark, OpenInterval { start, last, since, raw });
        }
        Ok(())
    }

    /// Sets attributes to null whose intervals end before `t`, in ns. An interval that ends at
    /// `t` may be followed by another one.
    pub(super) fn end_intervals_before(&mut self, t: i64) -> Result<(), HistoryError> {
        t.checked_sub(1).map_or(Ok(()), |t| self.end_intervals(t))
    }

    /// Sets attributes to null whose intervals end by `t`, in ns.
    pub(super) fn end_intervals(&mut self, t: i64) -> Result<(), HistoryError> {
        while let Some((end, quark, interval)) =
            self.open.as_mut().and_then(|open| open.pop_ended(t))
        {
            // Otherwise the attribute was changed during the interval.
            if self.states.get(quark) == Some((interval.since, interval.raw)) {
                self.advance(end)?;
                self.states.set(quark, end, RawValue::NULL)?;
            }
        }
        Ok(())
    }
}

/// Returns the first and the last time of a range that is not empty, in ns.
pub(super) fn interval_limits(range: &Range<Timestamp>) -> Result<(i64, i64), HistoryError> {
    let start = range.start.as_ns();
    match last_before(range.end).filter(|last| *last >= start) {
        Some(last) => Ok((start, last)),
        None => Err(HistoryError::EmptyInterval { range: range.clone() }),
    }
}
