//! Queries for the intervals of some attributes.

use std::iter::FusedIterator;
use std::ops::{ControlFlow, Range};

use ltt_read::Timestamp;

use super::cursor::Cursor;
use super::history::History;
use crate::history::Interval;
use crate::history::error::HistoryError;
use crate::tree::Quark;
use crate::value::StateValue;

impl History {
    /// Returns the interval of an attribute that contains a time.
    ///
    /// # Errors
    ///
    /// Returns an error if the attribute or the time is not in the history.
    pub fn at(&self, quark: Quark, time: Timestamp) -> Result<Interval<'_>, HistoryError> {
        self.check_quark(quark)?;
        let t = self.check_time(time)?;
        Cursor::new(self, quark, t)?.interval()
    }

    /// Returns the intervals of the attributes that match a pattern at a time: one for each
    /// attribute, in the order of quarks. See [`tree`](crate::tree) for patterns.
    ///
    /// # Errors
    ///
    /// Returns an error if the pattern is malformed or the time is not in the history.
    pub fn state_matching(
        &self,
        pattern: &str,
        time: Timestamp,
    ) -> Result<Vec<Interval<'_>>, HistoryError> {
        let quarks = self.tree().matching(Quark::ROOT, pattern)?;
        quarks.into_iter().map(|quark| self.at(quark, time)).collect()
    }

    /// Calls `found` with each interval of some attributes that contains at least one of
    /// some times. Each interval occurs once. They are ordered by attribute, as
    /// given, and then by time. `found` can end the query with [`ControlFlow::Break`].
    ///
    /// ```
    /// # use std::ops::ControlFlow;
    /// # use lttv_state::history::{Builder, HistoryError, Timestamp};
    /// # let ns = Timestamp::from_ns;
    /// # let mut builder = Builder::in_memory(ns(0));
    /// # let quark = builder.add("a")?;
    /// # for t in 1..100 { builder.set(quark, ns(t * 10), t as i32)?; }
    /// # let history = builder.close(ns(1_000))?;
    /// let mut starts = Vec::new();
    /// history.for_each_at_times(&[quark], &[100, 105, 300].map(ns), |interval| {
    ///     starts.push(interval.start);
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(starts, [100, 300].map(ns));
    /// # Ok::<(), HistoryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if one of the attributes or times is not in the history.
    pub fn for_each_at_times<'h>(
        &'h self,
        quarks: &[Quark],
        times: &[Timestamp],
        mut found: impl FnMut(Interval<'h>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, HistoryError> {
        times.iter().try_for_each(|time| self.check_time(*time).map(|_| ()))?;
        quarks.iter().try_for_each(|quark| self.check_quark(*quark))?;
        let sorted;
        let times = match times.is_sorted() {
            true => times,
            false => {
                let mut times = times.to_vec();
                times.sort_unstable();
                sorted = times;
                &sorted
            }
        };
        let Some(first) = times.first() else { return Ok(ControlFlow::Continue(())) };
        let first = first.as_ns();
        let (block, times) = (self.block_index_at(first), QueryTimes::new(times));
        for quark in quarks {
            let cursor = Cursor::in_block(self, *quark, first, block)?;
            if self.at_sorted(cursor, &times, &mut found)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Calls `found` with the intervals of some attributes over a time range at a
    /// limited resolution: with those that [`for_each_at_times`](Self::for_each_at_times) finds for the times
    /// from the start of `range` until before its end, each `resolution` ns after the previous
    /// one.
    ///
    /// With resolution 1 these are all intervals that overlap the range. A view of 1000
    /// pixels passes a 1000th of its range: each attribute then has at most about 1000
    /// intervals, however many are stored, and the others are not read. Resolution 0 means
    /// 1. An empty range has no intervals.
    ///
    /// # Errors
    ///
    /// Returns an error if one of the attributes, or an end of the range, is not in the
    /// history.
    pub fn for_each_in<'h>(
        &'h self,
        quarks: &[Quark],
        range: Range<Timestamp>,
        resolution: u64,
        mut found: impl FnMut(Interval<'h>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, HistoryError> {
        let Some((first, last)) = self.check_range(&range)? else {
            return Ok(ControlFlow::Continue(()));
        };
        quarks.iter().try_for_each(|quark| self.check_quark(*quark))?;
        let block = self.block_index_at(first);
        for quark in quarks {
            let mut cursor = Cursor::in_block(self, *quark, first, block)?;
            if resolution <= 1 {
                if cursor.each_up_to(last, &mut found)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                continue;
            }
            let mut flow;
            loop {
                flow = found(cursor.interval()?);
                if flow.is_break() || cursor.end >= last {
                    break;
                }
                // The next time of interest is the first one past this interval. It is
                // computed, since there may be many more times than intervals.
                let passed = cursor.end.wrapping_sub(first) as u64;
                let offset = (passed / resolution + 1).checked_mul(resolution);
                let width = last.wrapping_sub(first) as u64;
                let Some(offset) = offset.filter(|offset| *offset <= width) else { break };
                cursor.forward(first.wrapping_add(offset as i64))?;
            }
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    #[inline(always)]
    fn at_sorted<'h>(
        &'h self,
        mut cursor: Cursor<'h>,
        times: &QueryTimes<'_>,
        found: &mut impl FnMut(Interval<'h>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, HistoryError> {
        let mut at = 0;
        loop {
            if found(cursor.interval()?).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            at = times.next_after(at, cursor.end);
            let Some(next) = times.all.get(at) else {
                return Ok(ControlFlow::Continue(()));
            };
            cursor.forward(next.as_ns())?;
        }
    }

    /// Iterates over the intervals of an attribute that overlap `range` by time, or
    /// from the end with [`rev`](Iterator::rev). The iterator ends after an error. An empty
    /// range has no intervals.
    ///
    /// # Errors
    ///
    /// Returns an error if the attribute, or an end of the range, is not in the history.
    pub fn intervals(
        &self,
        quark: Quark,
        range: Range<Timestamp>,
    ) -> Result<Intervals<'_>, HistoryError> {
        self.check_quark(quark)?;
        let Some((first, last)) = self.check_range(&range)? else {
            return Ok(Intervals { ends: None, first: 0, last: 0 });
        };
        let ends = Some((Cursor::new(self, quark, first)?, Cursor::new(self, quark, last)?));
        Ok(Intervals { ends, first, last })
    }

    /// Finds the first interval of an attribute that overlaps `range` and whose
    /// value `wanted` accepts.
    ///
    /// ```
    /// # use lttv_state::history::{Builder, HistoryError, Timestamp};
    /// # let ns = Timestamp::from_ns;
    /// # let mut builder = Builder::in_memory(ns(0));
    /// # let quark = builder.add("a")?;
    /// builder.set(quark, ns(10), 1)?;
    /// builder.set(quark, ns(20), 2)?;
    /// builder.set(quark, ns(30), 1)?;
    /// let history = builder.close(ns(100))?;
    /// let one = |value| value == 1.into();
    /// assert_eq!(history.first_with(quark, ns(0)..ns(100), one)?.unwrap().start, ns(10));
    /// assert_eq!(history.last_with(quark, ns(0)..ns(100), one)?.unwrap().start, ns(30));
    /// # Ok::<(), HistoryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`intervals`](Self::intervals).
    pub fn first_with<'h>(
        &'h self,
        quark: Quark,
        range: Range<Timestamp>,
        mut wanted: impl FnMut(StateValue<'h>) -> bool,
    ) -> Result<Option<Interval<'h>>, HistoryError> {
        let mut intervals = self.intervals(quark, range)?;
        intervals.find(|i| i.as_ref().map_or(true, |i| wanted(i.value))).transpose()
    }

    /// Finds the last interval of an attribute that overlaps `range` and whose
    /// value `wanted` accepts.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`intervals`](Self::intervals).
    pub fn last_with<'h>(
        &'h self,
        quark: Quark,
        range: Range<Timestamp>,
        mut wanted: impl FnMut(StateValue<'h>) -> bool,
    ) -> Result<Option<Interval<'h>>, HistoryError> {
        let mut intervals = self.intervals(quark, range)?.rev();
        intervals.find(|i| i.as_ref().map_or(true, |i| wanted(i.value))).transpose()
    }
}

/// The sorted times of a query.
#[derive(Debug)]
struct QueryTimes<'t> {
    all: &'t [Timestamp],
    /// The mean number of times in one ns.
    density: f64,
}

impl<'t> QueryTimes<'t> {
    fn new(all: &'t [Timestamp]) -> QueryTimes<'t> {
        let span = all.last().zip(all.first()).map_or(0, |(last, first)| last.since(*first));
        QueryTimes { all, density: all.len() as f64 / span.max(1) as f64 }
    }

    /// Returns the index of the first time after `end`, from index `at` on, whose own time
    /// is not after it.
    #[inline(always)]
    fn next_after(&self, at: usize, end: i64) -> usize {
        if self.all.get(at + 1).is_none_or(|next| next.as_ns() > end) {
            return at + 1;
        }
        // An interval may contain many times, and they are mostly evenly spaced. An
        // interpolation search therefore guesses the index and looks near it.
        let passed = end.wrapping_sub(self.all[at].as_ns()) as u64;
        let guess = at.saturating_add((passed as f64 * self.density) as usize);
        let guess = guess.min(self.all.len() - 1);
        let end = Timestamp::from_ns(end);
        let after = |t: &&Timestamp| **t > end;
        if self.all[guess] > end {
            let before = &self.all[at..guess];
            let few = before.iter().rev().take(8).take_while(after).count();
            return if few < 8 { guess - few } else { at + before.partition_point(|t| *t <= end) };
        }
        let left = &self.all[guess..];
        let few = left.iter().take(8).take_while(|t| !after(t)).count();
        guess + if few < 8 { few } else { left.partition_point(|t| *t <= end) }
    }
}

/// An iterator over the intervals of an attribute in a time range: see
/// [`History::intervals`].
#[derive(Debug, Clone)]
pub struct Intervals<'h> {
    /// Cursors at the first and the last remaining interval; `None` if none remain.
    ends: Option<(Cursor<'h>, Cursor<'h>)>,
    /// The first and the last remaining time, in ns.
    first: i64,
    last: i64,
}

impl<'h> Iterator for Intervals<'h> {
    type Item = Result<Interval<'h>, HistoryError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (front, _) = self.ends.as_mut()?;
        let interval = front.interval();
        let step = match &interval {
            Ok(_) if front.end < self.last => {
                self.first = front.end + 1;
                front.next()
            }
            _ => Ok(false),
        };
        match step {
            Ok(true) => {}
            Ok(false) => self.ends = None,
            Err(error) => {
                self.ends = None;
                return Some(Err(error));
            }
        }
        Some(interval)
    }
}

impl DoubleEndedIterator for Intervals<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let (_, back) = self.ends.as_mut()?;
        let interval = back.interval();
        let step = match &interval {
            Ok(_) if back.start > self.first => {
                self.last = back.start - 1;
                back.previous()
            }
            _ => Ok(false),
        };
        match step {
            Ok(true) => {}
            Ok(false) => self.ends = None,
            Err(error) => {
                self.ends = None;
                return Some(Err(error));
            }
        }
        Some(interval)
    }
}

impl FusedIterator for Intervals<'_> {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn next_after_finds_times_of_any_spacing(
            mut all in prop::collection::vec(
                prop_oneof![-50i64..50, any::<i64>(), (0i64..900).prop_map(|i| i * 1000)],
                1..300,
            ),
            from in any::<prop::sample::Index>(),
            end in prop_oneof![-50i64..50, any::<i64>(), 0i64..900_000],
        ) {
            all.sort_unstable();
            let from = from.index(all.len());
            let end = end.max(all[from]);
            let expected = all.partition_point(|t| *t <= end);
            let times: Vec<Timestamp> = all.into_iter().map(Timestamp::from_ns).collect();
            prop_assert_eq!(QueryTimes::new(&times).next_after(from, end), expected);
        }
    }
}
