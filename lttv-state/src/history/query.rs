//! What a history answers.

use std::iter::FusedIterator;
use std::ops::{ControlFlow, RangeInclusive};

use super::Interval;
use super::cursor::Spot;
use super::error::Error;
use super::reader::History;
use crate::tree::Quark;
use crate::value::Value;

impl History {
    /// All attributes at a time, in ns: an interval each, in the order of quarks.
    ///
    /// # Errors
    ///
    /// If the time is not in the history.
    pub fn state_at(&self, t: i64) -> Result<Vec<Interval<'_>>, Error> {
        self.check_time(t)?;
        let block = self.block_at(t);
        let mut state = Vec::with_capacity(self.tree().len());
        for quark in self.tree().quarks() {
            state.push(self.spot(quark, t, block)?.interval(self)?);
        }
        Ok(state)
    }

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
        for quark in quarks {
            if self.at_sorted(*quark, times.iter().copied(), &mut found)?.is_break() {
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
        for quark in quarks {
            let mut flow = ControlFlow::Continue(());
            if resolution <= 1 {
                let mut at = Some(self.spot(*quark, first, self.block_at(first))?);
                while let Some(spot) = at {
                    let interval = spot.interval(self)?;
                    if interval.start > last {
                        break;
                    }
                    flow = found(interval);
                    if flow.is_break() || interval.end >= last {
                        break;
                    }
                    at = spot.next(self)?;
                }
            } else {
                // The next time that matters is the first one behind the interval
                // at hand: there may be very many times, but not intervals.
                let mut spot = self.spot(*quark, first, self.block_at(first))?;
                loop {
                    let interval = spot.interval(self)?;
                    flow = found(interval);
                    if flow.is_break() || interval.end >= last {
                        break;
                    }
                    let passed = interval.end.wrapping_sub(first) as u64;
                    let offset = (passed / resolution + 1).checked_mul(resolution);
                    let width = last.wrapping_sub(first) as u64;
                    let Some(offset) = offset.filter(|offset| *offset <= width) else { break };
                    spot = spot.forward(self, first.wrapping_add(offset as i64))?;
                }
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
        quark: Quark,
        times: impl IntoIterator<Item = i64>,
        found: &mut impl FnMut(Interval<'h>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        let mut times = times.into_iter();
        let Some(first) = times.next() else { return Ok(ControlFlow::Continue(())) };
        let mut spot = self.spot(quark, first, self.block_at(first))?;
        loop {
            let interval = spot.interval(self)?;
            if found(interval).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let Some(next) = times.find(|t| *t > interval.end) else {
                return Ok(ControlFlow::Continue(()));
            };
            spot = spot.forward(self, next)?;
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
            return Ok(Intervals { history: self, next: None });
        }
        let spot = |t: i64| {
            self.check_time(t)?;
            self.spot(quark, t, self.block_at(t))
        };
        let (front, back) = (spot(*range.start())?, spot(*range.end())?);
        Ok(Intervals { history: self, next: Some((front, back)) })
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
        let next = self.spot(quark, t, self.block_at(t))?.next(self)?;
        next.map(|spot| spot.interval(self)).transpose()
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
        let previous = self.spot(quark, t, self.block_at(t))?.previous(self)?;
        previous.map(|spot| spot.interval(self)).transpose()
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

/// The intervals of an attribute over a time: see [`History::intervals`].
#[derive(Debug, Clone)]
pub struct Intervals<'h> {
    history: &'h History,
    /// The first and last that are still to come.
    next: Option<(Spot<'h>, Spot<'h>)>,
}

impl<'h> Intervals<'h> {
    fn step(
        &mut self,
        take: impl Fn(&(Spot<'h>, Spot<'h>)) -> Spot<'h>,
        rest: impl Fn((Spot<'h>, Spot<'h>), &'h History) -> Result<Option<(Spot<'h>, Spot<'h>)>, Error>,
    ) -> Option<Result<Interval<'h>, Error>> {
        let ends = self.next.take()?;
        let interval = match take(&ends).interval(self.history) {
            Ok(interval) => interval,
            Err(error) => return Some(Err(error)),
        };
        // The two have met when they begin at the same time.
        if ends.0.span(self.history) != ends.1.span(self.history) {
            match rest(ends, self.history) {
                Ok(next) => self.next = next,
                Err(error) => return Some(Err(error)),
            }
        }
        Some(Ok(interval))
    }
}

impl<'h> Iterator for Intervals<'h> {
    type Item = Result<Interval<'h>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step(
            |ends| ends.0,
            |(front, back), history| Ok(front.next(history)?.map(|front| (front, back))),
        )
    }
}

impl DoubleEndedIterator for Intervals<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.step(
            |ends| ends.1,
            |(front, back), history| Ok(back.previous(history)?.map(|back| (front, back))),
        )
    }
}

impl FusedIterator for Intervals<'_> {}
