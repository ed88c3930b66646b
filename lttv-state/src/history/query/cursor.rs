//! A cursor over the intervals of one attribute.

use std::ops::ControlFlow;

use super::history::History;
use crate::history::Interval;
use crate::history::block::column_chunk::{ColumnChunk, EndedInterval, Position};
use crate::history::block::end_times::Bucket;
use crate::history::block::raw_value::RawValue;
use crate::history::block::summary::Summary;
use crate::history::error::HistoryError;
use crate::tree::Quark;
use crate::value::StateValue;

/// The number of following intervals that a forward move compares one by one before it
/// searches.
const MAX_LINEAR_STEPS: u32 = 4;

/// A cursor at an interval of an attribute.
///
/// It is moved in place, since it is too large to be copied at each step. After an error it
/// must not be used.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'h> {
    history: &'h History,
    pub(crate) quark: Quark,
    /// The first and the last time of the interval, in ns.
    pub(crate) start: i64,
    pub(crate) end: i64,
    block: usize,
    /// The column chunk that contains the interval; `None` if the attribute never changed.
    chunk: Option<ColumnChunk<'h>>,
    /// The bucket of the chunk in which the last search ended.
    hint: Option<Bucket>,
    /// The last [forward](Self::forward) move went farther than the linear steps, so the
    /// next one searches at once.
    skip_linear: bool,
    /// The position in the chunk: `Open` only if the attribute has no later chunk.
    position: Position,
}

impl<'h> Cursor<'h> {
    /// Creates a cursor at the interval of an attribute that contains time `t`. The caller
    /// has checked both.
    #[inline(always)]
    pub(crate) fn new(history: &'h History, quark: Quark, t: i64) -> Result<Self, HistoryError> {
        Cursor::in_block(history, quark, t, history.block_index_at(t))
    }

    /// Creates a cursor at the interval of an attribute that contains time `t`, where
    /// `block` is [`History::block_index_at`] of `t`.
    #[inline(always)]
    pub(crate) fn in_block(
        history: &'h History,
        quark: Quark,
        t: i64,
        block: usize,
    ) -> Result<Self, HistoryError> {
        let (start, end) = (history.first(), history.last());
        let mut cursor = Cursor {
            history,
            quark,
            start,
            end,
            block: 0,
            chunk: None,
            hint: None,
            skip_linear: false,
            position: Position::Open,
        };
        cursor.locate(t, block)?;
        Ok(cursor)
    }

    /// Moves to the interval that contains time `t`, which is not in a chunk before
    /// `block`, unless it is the attribute's last one.
    #[inline(always)]
    fn locate(&mut self, t: i64, block: usize) -> Result<(), HistoryError> {
        let (history, quark) = (self.history, self.quark);
        let mut found = history.next_block_with(quark, block);
        let mut open = found.is_none();
        if open {
            found = history.last_block_with(quark, block);
        }
        let Some(mut block) = found else {
            // The attribute never changed: it is null over the whole history.
            return Ok(());
        };
        loop {
            let chunk = history.chunk(block, quark)?;
            self.block = block;
            self.hint = None;
            if !open && let Some(found) = chunk.find_with_hint(&mut self.hint, t) {
                self.chunk = Some(chunk);
                self.take(&found);
                return self.check(t);
            }
            // The interval ends in a later chunk, or it is the last one.
            let next = if open { None } else { history.next_block_with(quark, block + 1) };
            match next {
                Some(next) => block = next,
                None => {
                    self.chunk = Some(chunk);
                    self.enter(&chunk, Position::Open);
                    return self.check(t);
                }
            }
            open = false;
        }
    }

    #[inline(always)]
    fn take(&mut self, found: &EndedInterval) {
        (self.start, self.end) = (found.start, found.end);
        self.position = Position::Ended(found.index);
    }

    /// Moves to a position in a chunk and reads its times.
    #[inline(always)]
    fn enter(&mut self, chunk: &ColumnChunk<'h>, position: Position) {
        let (start, end) = chunk.span(position);
        self.start = start;
        self.end = end.unwrap_or(self.history.last());
        self.position = position;
    }

    /// Checks that the interval contains time `t`. In damaged data it may not, and without
    /// this check a loop might never end.
    #[inline(always)]
    fn check(&self, t: i64) -> Result<(), HistoryError> {
        match self.start <= t && t <= self.end {
            true => Ok(()),
            false => Err(self.history.damaged(self.block, "end times of a column chunk")),
        }
    }

    /// Returns the raw value of the interval.
    #[inline(always)]
    pub(crate) fn raw(&self) -> Result<RawValue, HistoryError> {
        match &self.chunk {
            None => Ok(RawValue::NULL),
            Some(chunk) => match chunk.raw(self.position) {
                Some(raw) => Ok(raw),
                None => Err(self.bad_value()),
            },
        }
    }

    /// Returns the value that a raw value of this chunk represents.
    #[inline(always)]
    pub(crate) fn value_of(&self, raw: RawValue) -> Result<StateValue<'h>, HistoryError> {
        self.history.value(raw, self.block)
    }

    #[inline(always)]
    pub(crate) fn interval(&self) -> Result<Interval<'h>, HistoryError> {
        let value = self.value_of(self.raw()?)?;
        Ok(Interval::new(self.quark, self.start, self.end, value))
    }

    /// Moves to the interval that contains time `t`, which must not be before the current
    /// one.
    #[inline(always)]
    pub(crate) fn forward(&mut self, t: i64) -> Result<(), HistoryError> {
        if t <= self.end {
            return Ok(());
        }
        if let (Some(chunk), Position::Ended(mut index)) = (&self.chunk, self.position) {
            let from = index;
            if !self.skip_linear {
                let (mut start, mut end) = (self.start, self.end);
                while end < t
                    && index - from < MAX_LINEAR_STEPS
                    && let Some(next) = chunk.end_with_hint(&mut self.hint, index + 1)
                {
                    (index, start, end) = (index + 1, end.wrapping_add(1), next);
                }
                if end >= t {
                    self.take(&EndedInterval { index, start, end });
                    return self.check(t);
                }
            }
            if let Some(found) = chunk.find_with_hint(&mut self.hint, t) {
                self.skip_linear = found.index.saturating_sub(from) > MAX_LINEAR_STEPS;
                self.take(&found);
                return self.check(t);
            }
        }
        self.locate(t, self.history.block_from(self.block, t))
    }

    /// Moves to the next interval. Returns `false`, and stays, at the last one.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<bool, HistoryError> {
        let (Some(chunk), Position::Ended(index)) = (&self.chunk, self.position) else {
            return Ok(false);
        };
        let next = index + 1;
        if let Some(end) = chunk.end_with_hint(&mut self.hint, next) {
            (self.start, self.end) = (self.end.wrapping_add(1), end);
            self.position = Position::Ended(next);
            return self.check(self.start).map(|()| true);
        }
        self.move_to_next_chunk()
    }

    /// Calls `found` with this interval and the following ones, up to the one that contains
    /// time `last`.
    #[inline(always)]
    pub(crate) fn each_up_to(
        &mut self,
        last: i64,
        found: &mut impl FnMut(Interval<'h>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, HistoryError> {
        loop {
            if found(self.interval()?).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            // Most of the following intervals are in the same bucket, which is read
            // sequentially.
            if let (Some(chunk), Some(hint), Position::Ended(index)) =
                (&self.chunk, &self.hint, self.position)
                && self.end < last
            {
                for (index, end, raw) in chunk.intervals_in_bucket(hint, index + 1) {
                    (self.start, self.end) = (self.end.wrapping_add(1), end);
                    self.position = Position::Ended(index);
                    self.check(self.start)?;
                    let value = self.value_of(raw.ok_or_else(|| self.bad_value())?)?;
                    let interval = Interval::new(self.quark, self.start, end, value);
                    if found(interval).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                    if end >= last {
                        break;
                    }
                }
            }
            if self.end >= last || !self.next()? {
                return Ok(ControlFlow::Continue(()));
            }
        }
    }

    fn move_to_next_chunk(&mut self) -> Result<bool, HistoryError> {
        let start = self.end.wrapping_add(1);
        self.position = Position::Open;
        while let Some(block) = self.history.next_block_with(self.quark, self.block + 1) {
            let chunk = self.history.chunk(block, self.quark)?;
            let first = chunk.first();
            (self.block, self.chunk, self.hint, self.position) = (block, Some(chunk), None, first);
            if first != Position::Open {
                break;
            }
        }
        if let Some(chunk) = self.chunk {
            self.enter(&chunk, self.position);
        }
        match self.start == start && self.end >= start {
            true => Ok(true),
            false => Err(self.history.damaged(self.block, "gap between column chunks")),
        }
    }

    /// Returns the summary of the chunk if it covers the following intervals: if this is
    /// the first interval of the chunk, and its last one ends no later than `last`.
    pub(crate) fn summary(&self, last: i64) -> Option<Summary<'h>> {
        let (Some(chunk), Position::Ended(index)) = (&self.chunk, self.position) else {
            return None;
        };
        let fits = index == 0 && chunk.last_end().is_some_and(|end| end <= last);
        if fits { chunk.summary() } else { None }
    }

    /// Moves to the last ended interval of the same chunk.
    pub(crate) fn move_to_last_ended(&mut self) -> Result<(), HistoryError> {
        if let Some(chunk) = self.chunk
            && let Some(last) = chunk.ends.last()
        {
            let start = self.start;
            self.enter(&chunk, Position::Ended(last));
            // In damaged data this may be a step back, which could repeat without end.
            if self.start < start {
                return Err(self.history.damaged(self.block, "end times of a column chunk"));
            }
        }
        Ok(())
    }

    pub(crate) fn bad_value(&self) -> HistoryError {
        self.history.damaged(self.block, "value")
    }

    /// Moves to the previous interval. Returns `false`, and stays, at the first one.
    pub(crate) fn previous(&mut self) -> Result<bool, HistoryError> {
        let Some(chunk) = self.chunk else { return Ok(false) };
        let before = match self.position {
            Position::Ended(index) => index.checked_sub(1),
            Position::Open => chunk.ends.last(),
        };
        if let Some(before) = before {
            self.enter(&chunk, Position::Ended(before));
            return Ok(true);
        }
        let end = self.start.wrapping_sub(1);
        let mut from = self.block;
        while let Some(block) = self.history.last_block_with(self.quark, from) {
            let chunk = self.history.chunk(block, self.quark)?;
            if let Some(last) = chunk.ends.last() {
                (self.block, self.chunk, self.hint) = (block, Some(chunk), None);
                self.enter(&chunk, Position::Ended(last));
                return match self.end == end {
                    true => Ok(true),
                    false => Err(self.history.damaged(block, "gap between column chunks")),
                };
            }
            from = block;
        }
        Ok(false)
    }
}

impl History {
    /// Returns the start and the value of the last interval of an attribute.
    pub(crate) fn last_raw(&self, quark: Quark) -> Result<(i64, RawValue), HistoryError> {
        let cursor = Cursor::new(self, quark, self.last())?;
        Ok((cursor.start, cursor.raw()?))
    }
}
