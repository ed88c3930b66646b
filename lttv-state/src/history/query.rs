//! What a history answers.

use std::iter::FusedIterator;
use std::ops::{ControlFlow, RangeInclusive};

use super::Interval;
use super::cursor::Cursor;
use super::error::Error;
use super::reader::History;
use crate::tree::Quark;
use crate::value::Value;

impl History {
    /// The attributes that fit a pattern, at a time in ns: an interval each, in
    /// the order of quarks. See [`tree`](crate::tree) for patterns.
    ///
    /// # Errors
    ///
    /// If the pattern is malformed or the time is not in the history.
    pub fn matching_at(&self, pattern: &str, t: i64) -> Result<Vec<Interval<'_>>, Error> {
        let quarks = self.tree().matching(Quark::ROOT, pattern)?;
        quarks.into_iter().map(|quark| self.at(quark, t)).collect()
    }

    /// Some attributes at some times, in ns: `found` is called with each interval
    /// that has one of the times, once, by attributes in the order given and for
    /// each by time. It may end the search with [`ControlFlow::Break`].
    ///
    /// ```
    /// # use std::ops::ControlFlow;
    /// # use lttv_state::history::{Builder, Error};
    /// # let mut builder = Builder::in_memory(0);
    /// # let quark = builder.add("a")?;
    /// # for t in 1..100 { builder.set(quark, t * 10, t as i32)?; }
    /// # let history = builder.close(1_000)?;
    /// let mut starts = Vec::new();
    /// history.at_times(&[quark], &[100, 105, 300], |interval| {
    ///     starts.push(interval.start);
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(starts, [100, 300]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If one of the attributes or times is not in the history.
    pub fn at_times<'h>(
        &'h self,
        quarks: &[Quark],
        times: &[i64],
        mut found: impl FnMut(Interval<'h>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        times.iter().try_for_each(|t| self.check_time(*t))?;
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
        let (block, times) = (self.block_at(*first), Times::new(times));
        for quark in quarks {
            let cursor = Cursor::in_block(self, *quark, *first, block)?;
            if self.at_sorted(cursor, &times, &mut found)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Some attributes over a time, in ns: as [`at_times`](Self::at_times), for
    /// the times from the first to the last of `range`, each `resolution` ns
    /// after the one before.
    ///
    /// With resolution 1 these are all intervals that have a time in the range.
    /// A view that is 1000 pixels wide asks for a 1000th of its range: then each
    /// attribute has about 1000 intervals at most, however many are stored, and
    /// the others are not even read. Resolution 0 is taken for 1.
    ///
    /// # Errors
    ///
    /// If one of the attributes, or an end of the range, is not in the history.
    /// An empty range has nothing.
    pub fn over<'h>(
        &'h self,
        quarks: &[Quark],
        range: RangeInclusive<i64>,
        resolution: u64,
        mut found: impl FnMut(Interval<'h>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        if range.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        let (first, last) = (*range.start(), *range.end());
        self.check_time(first)?;
        self.check_time(last)?;
        quarks.iter().try_for_each(|quark| self.check_quark(*quark))?;
        let block = self.block_at(first);
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
                // The next time that matters is the first one behind the interval
                // at hand: there may be very many times, but not intervals.
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
        times: &Times<'_>,
        found: &mut impl FnMut(Interval<'h>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        let mut at = 0;
        loop {
            if found(cursor.interval()?).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            at = times.behind(at, cursor.end);
            let Some(next) = times.all.get(at) else {
                return Ok(ControlFlow::Continue(()));
            };
            cursor.forward(*next)?;
        }
    }

    /// The intervals of an attribute that have a time in `range`, in ns, by time;
    /// from the end with [`rev`](Iterator::rev). After an error there are no
    /// more.
    ///
    /// # Errors
    ///
    /// If the attribute, or an end of the range, is not in the history. An empty
    /// range has nothing.
    pub fn intervals(
        &self,
        quark: Quark,
        range: RangeInclusive<i64>,
    ) -> Result<Intervals<'_>, Error> {
        self.check_quark(quark)?;
        if range.is_empty() {
            return Ok(Intervals { ends: None, first: 0, last: 0 });
        }
        let (first, last) = (*range.start(), *range.end());
        self.check_time(first)?;
        self.check_time(last)?;
        let ends = Some((Cursor::new(self, quark, first)?, Cursor::new(self, quark, last)?));
        Ok(Intervals { ends, first, last })
    }

    /// The first interval of an attribute that begins after `t`, in ns: its next
    /// change. None if there is no more.
    ///
    /// # Errors
    ///
    /// If the attribute or the time is not in the history.
    pub fn next_change(&self, quark: Quark, t: i64) -> Result<Option<Interval<'_>>, Error> {
        self.check_quark(quark)?;
        self.check_time(t)?;
        let mut cursor = Cursor::new(self, quark, t)?;
        if cursor.next()? { cursor.interval().map(Some) } else { Ok(None) }
    }

    /// The last interval of an attribute that ends before `t`, in ns: what it
    /// was before it got the value that it has at `t`. None at the beginning.
    ///
    /// # Errors
    ///
    /// If the attribute or the time is not in the history.
    pub fn previous_change(&self, quark: Quark, t: i64) -> Result<Option<Interval<'_>>, Error> {
        self.check_quark(quark)?;
        self.check_time(t)?;
        let mut cursor = Cursor::new(self, quark, t)?;
        if cursor.previous()? { cursor.interval().map(Some) } else { Ok(None) }
    }

    /// The first interval of an attribute with a time in `range`, in ns, whose
    /// value `wanted` accepts.
    ///
    /// ```
    /// # use lttv_state::history::{Builder, Error};
    /// # let mut builder = Builder::in_memory(0);
    /// # let quark = builder.add("a")?;
    /// builder.set(quark, 10, 1)?;
    /// builder.set(quark, 20, 2)?;
    /// builder.set(quark, 30, 1)?;
    /// let history = builder.close(100)?;
    /// let one = |value| value == 1.into();
    /// assert_eq!(history.first_with(quark, 0..=100, one)?.unwrap().start, 10);
    /// assert_eq!(history.last_with(quark, 0..=100, one)?.unwrap().start, 30);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`intervals`](Self::intervals).
    pub fn first_with<'h>(
        &'h self,
        quark: Quark,
        range: RangeInclusive<i64>,
        mut wanted: impl FnMut(Value<'h>) -> bool,
    ) -> Result<Option<Interval<'h>>, Error> {
        let mut intervals = self.intervals(quark, range)?;
        intervals.find(|i| i.as_ref().map_or(true, |i| wanted(i.value))).transpose()
    }

    /// The last interval of an attribute with a time in `range`, in ns, whose
    /// value `wanted` accepts.
    ///
    /// # Errors
    ///
    /// As [`intervals`](Self::intervals).
    pub fn last_with<'h>(
        &'h self,
        quark: Quark,
        range: RangeInclusive<i64>,
        mut wanted: impl FnMut(Value<'h>) -> bool,
    ) -> Result<Option<Interval<'h>>, Error> {
        let mut intervals = self.intervals(quark, range)?.rev();
        intervals.find(|i| i.as_ref().map_or(true, |i| wanted(i.value))).transpose()
    }
}

/// Times to ask for, sorted.
#[derive(Debug)]
struct Times<'t> {
    all: &'t [i64],
    /// How many there are in a ns, on the average.
    density: f64,
}

impl<'t> Times<'t> {
    fn new(all: &'t [i64]) -> Times<'t> {
        let span = all.last().zip(all.first()).map_or(0, |(last, first)| last.abs_diff(*first));
        Times { all, density: all.len() as f64 / span.max(1) as f64 }
    }

    /// The first time after `end`, from `at` on: that one is not after it.
    #[inline(always)]
    fn behind(&self, at: usize, end: i64) -> usize {
        if self.all.get(at + 1).is_none_or(|next| *next > end) {
            return at + 1;
        }
        // Times are mostly even, and there may be many in an interval: so it is
        // guessed, and looked for around there.
        let passed = end.wrapping_sub(self.all[at]) as u64;
        let guess = at.saturating_add((passed as f64 * self.density) as usize);
        let guess = guess.min(self.all.len() - 1);
        let after = |t: &&i64| **t > end;
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

/// The intervals of an attribute over a time: see [`History::intervals`].
#[derive(Debug, Clone)]
pub struct Intervals<'h> {
    /// The first and last interval that are still to come, if there are any.
    ends: Option<(Cursor<'h>, Cursor<'h>)>,
    /// The times that are still to come.
    first: i64,
    last: i64,
}

impl<'h> Iterator for Intervals<'h> {
    type Item = Result<Interval<'h>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (front, _) = self.ends.as_mut()?;
        let interval = front.interval();
        let step = match &interval {
            Ok(interval) if interval.end < self.last => {
                self.first = interval.end + 1;
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
            Ok(interval) if interval.start > self.first => {
                self.last = interval.start - 1;
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
        fn times_are_found_however_they_lie(
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
            prop_assert_eq!(Times::new(&all).behind(from, end), expected);
        }
    }
}
