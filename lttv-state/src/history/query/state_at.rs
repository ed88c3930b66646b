//! The query for the state of all attributes at one time.

use std::ops::ControlFlow;

use ltt_read::Timestamp;

use super::block_at::BlockAt;
use super::block_probe::FoundInterval;
use super::history::History;
use crate::history::Interval;
use crate::history::block::column_chunk::Position;
use crate::history::block::raw_value::{Kind, RawInterval, RawValue};
use crate::history::error::HistoryError;
use crate::tree::Quark;
use crate::value::StateValue;

/// The number of attributes that are processed together: a multiple of 64, and few enough
/// to stay in the first-level cache.
const BATCH: usize = 256;

impl History {
    /// Returns the state of all attributes at a time: an interval for each, in the order of
    /// quarks.
    ///
    /// Each interval takes about 50 bytes. [`for_each_at`](Self::for_each_at) needs no memory for
    /// them, and is faster for many attributes.
    ///
    /// # Errors
    ///
    /// Returns an error if the time is not in the history.
    pub fn state_at(&self, time: Timestamp) -> Result<Vec<Interval<'_>>, HistoryError> {
        let t = self.check_time(time)?;
        let mut state = Vec::with_capacity(self.tree().len());
        let _all = self.states_at(t, |states| {
            state.extend_from_slice(states);
            ControlFlow::Continue(())
        })?;
        Ok(state)
    }

    /// Calls `found` with the interval of each attribute at a time, in the order of quarks.
    /// `found` can end the query with [`ControlFlow::Break`].
    ///
    /// ```
    /// # use std::ops::ControlFlow;
    /// # use lttv_state::history::{Builder, HistoryError, Timestamp};
    /// # use lttv_state::value::StateValue;
    /// # let ns = Timestamp::from_ns;
    /// # let mut builder = Builder::in_memory(ns(0));
    /// for thread in 0..1000 {
    ///     let quark = builder.add(&format!("threads/{thread}"))?;
    ///     builder.set(quark, ns(10), if thread % 8 == 0 { "running" } else { "waiting" })?;
    /// }
    /// let history = builder.close(ns(100))?;
    /// let mut running = 0;
    /// history.for_each_at(ns(50), |interval| {
    ///     running += u32::from(interval.value == StateValue::Str("running"));
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(running, 125);
    /// # Ok::<(), HistoryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the time is not in the history.
    pub fn for_each_at<'h>(
        &'h self,
        time: Timestamp,
        mut found: impl FnMut(Interval<'h>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, HistoryError> {
        let t = self.check_time(time)?;
        self.states_at(t, |states| states.iter().try_for_each(|interval| found(*interval)))
    }

    /// Calls `take` with the intervals of all attributes at a time in ns that is in the
    /// history, a batch at a time.
    fn states_at<'h>(
        &'h self,
        t: i64,
        mut take: impl FnMut(&[Interval<'h>]) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, HistoryError> {
        let block = self.block_index_at(t);
        // Most attributes have a chunk in the block, or an interval that spans it. Both are
        // read sequentially. The few others are found in other blocks.
        let mut spanning = self.spanning_path(block);
        let mut chunks = match block < self.blocks() {
            true => Some(BlockAt::new(self.block(block)?, t)),
            false => None,
        };
        let mut next = None;
        let mut missing = Vec::with_capacity(BATCH);
        let mut state = StateBatch::new(t);
        for first in (0..self.tree().len()).step_by(BATCH) {
            let count = (self.tree().len() - first).min(BATCH);
            state.expect(first);
            let intact = chunks.as_mut().is_none_or(|chunks| {
                let mut words = (first..first + BATCH).step_by(64);
                words.all(|first| chunks.for_64_from(first, |found| state.put(found)))
            });
            if !intact {
                return Err(self.damaged(block, "column chunk"));
            }
            spanning.for_each_below(first + BATCH, t, |quark, start, end, raw| {
                state.put(FoundInterval { quark: quark as u32, start, end, raw });
            });
            state.list_missing(count, &mut missing);
            if !missing.is_empty() && block + 1 < self.blocks() {
                // Most of these intervals end in the next block.
                let next = match &mut next {
                    Some(next) => next,
                    None => next.insert(BlockAt::first(self.block(block + 1)?)),
                };
                if !next.for_each_of(&missing, |found| state.put(found)) {
                    return Err(self.damaged(block + 1, "column chunk"));
                }
                missing.retain(|quark| !state.has(quark.index()));
            }
            for quark in &missing {
                let RawInterval { quark, start, end, raw } =
                    self.interval_at_end_of(*quark, block)?;
                state.put(FoundInterval { quark: quark.0, start, end, raw: Some(raw) });
                if !state.has(quark.index()) {
                    return Err(self.damaged(block, "column chunk"));
                }
            }
            if let Some(raw) = state.fill(self, count) {
                return Err(self.bad_value(raw, block));
            }
            if take(&state.intervals[..count]).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Returns the interval of an attribute that contains the end of a block.
    fn interval_at_end_of(&self, quark: Quark, block: usize) -> Result<RawInterval, HistoryError> {
        let mut from = block + 1;
        let entry = |start, end, raw: Option<RawValue>, block| {
            let raw = raw.ok_or_else(|| self.damaged(block, "value"))?;
            Ok(RawInterval { quark, start, end, raw })
        };
        while let Some(next) = self.next_block_with(quark, from) {
            let chunk = self.chunk(next, quark)?;
            if let Position::Ended(first) = chunk.first() {
                return entry(chunk.start, chunk.end(first), chunk.symbols.get(0), next);
            }
            from = next + 1;
        }
        match self.last_block_with(quark, from) {
            Some(last) => {
                let chunk = self.chunk(last, quark)?;
                let (start, _) = chunk.span(Position::Open);
                entry(start, self.last(), chunk.raw(Position::Open), last)
            }
            // The attribute never changed.
            None => entry(self.first(), self.last(), Some(RawValue::NULL), block),
        }
    }

    /// Calls `f` with the first interval of each attribute for which some ended in a block.
    pub(crate) fn first_intervals(
        &self,
        block: usize,
        mut f: impl FnMut(RawInterval),
    ) -> Result<(), HistoryError> {
        let mut chunks = self.block(block)?.all_chunks();
        for first in (0..self.tree().len()).step_by(64) {
            let mut bad_value = false;
            let intact = chunks.for_64_from(first, |quark, chunk| {
                if let Position::Ended(first) = chunk.first() {
                    let (quark, start, end) = (Quark(quark as u32), chunk.start, chunk.end(first));
                    match chunk.symbols.get(0) {
                        Some(raw) => f(RawInterval { quark, start, end, raw }),
                        None => bad_value = true,
                    }
                }
            });
            if !intact || bad_value {
                return Err(self.damaged(block, "column chunk"));
            }
        }
        Ok(())
    }
}

/// The times that stand for no interval: it ends before it starts.
const NO_INTERVAL: (i64, i64) = (i64::MAX, i64::MIN);

/// The raw value that stands for no value: no history has a text with this number.
const NO_VALUE: RawValue = RawValue { kind: Kind::Str, bits: u64::MAX };

/// The states of a batch of attributes, while they are collected.
struct StateBatch<'h> {
    t: i64,
    /// The quark of the first attribute in the batch.
    first: usize,
    /// The first and the last time of each interval, and its value.
    times: [(i64, i64); BATCH],
    values: [RawValue; BATCH],
    intervals: [Interval<'h>; BATCH],
}

impl<'h> StateBatch<'h> {
    fn new(t: i64) -> StateBatch<'h> {
        let interval = Interval::new(Quark(0), 0, 0, StateValue::Null);
        StateBatch {
            t,
            first: 0,
            times: [NO_INTERVAL; BATCH],
            values: [NO_VALUE; BATCH],
            intervals: [interval; BATCH],
        }
    }

    /// Starts the next batch, in which no interval has been found.
    fn expect(&mut self, first: usize) {
        self.first = first;
        self.times.fill(NO_INTERVAL);
    }

    /// Returns whether an interval contains the time.
    #[inline(always)]
    fn fits(&self, (start, end): (i64, i64)) -> bool {
        (start <= self.t) & (self.t <= end)
    }

    /// Returns whether the interval of an attribute has been found.
    fn has(&self, quark: usize) -> bool {
        let times = self.times.get(quark.wrapping_sub(self.first));
        times.is_some_and(|times| self.fits(*times))
    }

    /// Lists those of the first `count` attributes whose interval has not been found. There
    /// is no branch on that, since it would be unpredictable.
    fn list_missing(&self, count: usize, missing: &mut Vec<Quark>) {
        missing.resize(BATCH, Quark(0));
        let mut listed = 0;
        for (i, times) in self.times[..count].iter().enumerate() {
            missing[listed % BATCH] = Quark((self.first + i) as u32);
            listed += usize::from(!self.fits(*times));
        }
        missing.truncate(listed);
    }

    /// Stores an interval that was found. One that does not contain the time counts as
    /// missing.
    #[inline(always)]
    fn put(&mut self, found: FoundInterval) {
        let at = (found.quark as usize).wrapping_sub(self.first);
        if let (Some(times), Some(raw)) = (self.times.get_mut(at), self.values.get_mut(at)) {
            *times = (found.start, found.end);
            *raw = found.raw.unwrap_or(NO_VALUE);
        }
    }

    /// Resolves the values of the first `count` attributes. Returns the first raw value
    /// that represents no value.
    fn fill(&mut self, history: &'h History, count: usize) -> Option<RawValue> {
        let mut others = [0u8; BATCH];
        let mut listed = 0;
        let found = self.times.iter().zip(&self.values).zip(&mut self.intervals[..count]);
        for (i, (((start, end), raw), interval)) in found.enumerate() {
            // The frequent kinds are distinguished without a branch.
            let is_number = raw.kind == Kind::I32;
            others[listed % BATCH] = i as u8;
            listed += usize::from(!(is_number | (raw.kind == Kind::Null)));
            let value = if is_number { StateValue::I32(raw.bits as i32) } else { StateValue::Null };
            let quark = Quark((self.first + i) as u32);
            *interval = Interval::new(quark, *start, *end, value);
        }
        for i in &others[..listed.min(BATCH)] {
            let raw = self.values[usize::from(*i)];
            match history.try_value(raw) {
                Some(value) => self.intervals[usize::from(*i)].value = value,
                None => return Some(raw),
            }
        }
        None
    }
}
