//! A place in the history of one attribute, and the steps to others.

use std::ops::ControlFlow;

use super::Interval;
use super::code::Code;
use super::ends::Bucket;
use super::error::Error;
use super::reader::History;
use super::run::{Ended, Place, Run};
use super::summary::Summary;
use crate::tree::Quark;
use crate::value::Value;

/// So many intervals are looked at one by one, if that was enough last time.
const NEAR: u32 = 4;

/// An interval of an attribute: where it is stored.
///
/// It moves in place, since it is too big to be copied at each step. After an
/// error it is of no more use.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'h> {
    history: &'h History,
    pub(super) quark: Quark,
    /// First and last time of the interval.
    pub(super) start: i64,
    pub(super) end: i64,
    block: usize,
    /// None for an attribute that never changed.
    run: Option<Run<'h>>,
    /// Where in the run a time was found last.
    near: Option<Bucket>,
    /// The last step [forward](Self::forward) went beyond what is near.
    far: bool,
    /// `Open` only if the attribute has no later run.
    place: Place,
}

impl<'h> Cursor<'h> {
    /// The interval of an attribute with time `t`, both of which there are.
    #[inline(always)]
    pub(super) fn new(history: &'h History, quark: Quark, t: i64) -> Result<Self, Error> {
        Cursor::in_block(history, quark, t, history.block_at(t))
    }

    /// The same; `block` is what [`History::block_at`] tells for `t`.
    #[inline(always)]
    pub(super) fn in_block(
        history: &'h History,
        quark: Quark,
        t: i64,
        block: usize,
    ) -> Result<Self, Error> {
        let (start, end) = (history.start(), history.end());
        let mut cursor = Cursor {
            history,
            quark,
            start,
            end,
            block: 0,
            run: None,
            near: None,
            far: false,
            place: Place::Open,
        };
        cursor.locate(t, block)?;
        Ok(cursor)
    }

    /// Finds the interval with time `t`, from `block` on.
    #[inline(always)]
    fn locate(&mut self, t: i64, block: usize) -> Result<(), Error> {
        let (history, quark) = (self.history, self.quark);
        let mut found = history.next_with_run(quark, block);
        let mut open = found.is_none();
        if open {
            found = history.last_with_run(quark, block);
        }
        let Some(mut block) = found else {
            // It was null all the time.
            return Ok(());
        };
        loop {
            let run = history.run(block, quark)?;
            self.block = block;
            self.near = None;
            if !open && let Some(found) = run.find_near(&mut self.near, t) {
                self.run = Some(run);
                self.take(&found);
                return self.check(t);
            }
            // It may have changed later, or this is what it has been ever since.
            let next = if open { None } else { history.next_with_run(quark, block + 1) };
            match next {
                Some(next) => block = next,
                None => {
                    self.run = Some(run);
                    self.enter(&run, Place::Open);
                    return self.check(t);
                }
            }
            open = false;
        }
    }

    #[inline(always)]
    fn take(&mut self, found: &Ended) {
        (self.start, self.end) = (found.start, found.end);
        self.place = Place::Ended(found.index);
    }

    /// Takes a place in the run, and its times.
    #[inline(always)]
    fn enter(&mut self, run: &Run<'h>, place: Place) {
        let (start, end) = run.span(place);
        self.start = start;
        self.end = end.unwrap_or(self.history.end());
        self.place = place;
    }

    /// Whether this has time `t`, as it must: so that even data that is damaged
    /// on purpose cannot make a loop go on without end.
    #[inline(always)]
    fn check(&self, t: i64) -> Result<(), Error> {
        match self.start <= t && t <= self.end {
            true => Ok(()),
            false => Err(self.history.damaged(self.block, "ends of a run")),
        }
    }

    /// The value, as a code.
    #[inline(always)]
    pub(super) fn code(&self) -> Result<Code, Error> {
        match &self.run {
            None => Ok(Code::NULL),
            Some(run) => match run.code(self.place) {
                Some(code) => Ok(code),
                None => Err(self.bad_value()),
            },
        }
    }

    /// What a code stands for.
    #[inline(always)]
    pub(super) fn value_of(&self, code: Code) -> Result<Value<'h>, Error> {
        self.history.value(code, self.block)
    }

    #[inline(always)]
    pub(super) fn interval(&self) -> Result<Interval<'h>, Error> {
        let value = self.value_of(self.code()?)?;
        Ok(Interval { quark: self.quark, start: self.start, end: self.end, value })
    }

    /// To the interval with time `t`, which is not before this one.
    #[inline(always)]
    pub(super) fn forward(&mut self, t: i64) -> Result<(), Error> {
        if t <= self.end {
            return Ok(());
        }
        if let (Some(run), Place::Ended(mut index)) = (&self.run, self.place) {
            let from = index;
            if !self.far {
                let (mut start, mut end) = (self.start, self.end);
                while end < t
                    && index - from < NEAR
                    && let Some(next) = run.end_near(&mut self.near, index + 1)
                {
                    (index, start, end) = (index + 1, end.wrapping_add(1), next);
                }
                if end >= t {
                    self.take(&Ended { index, start, end });
                    return self.check(t);
                }
            }
            if let Some(found) = run.find_near(&mut self.near, t) {
                self.far = found.index.saturating_sub(from) > NEAR;
                self.take(&found);
                return self.check(t);
            }
        }
        self.locate(t, self.history.block_at_or_behind(self.block, t))
    }

    /// To the interval behind this one; false if this is the last.
    #[inline]
    pub(super) fn next(&mut self) -> Result<bool, Error> {
        let (Some(run), Place::Ended(index)) = (&self.run, self.place) else {
            return Ok(false);
        };
        let next = index + 1;
        if let Some(end) = run.end_near(&mut self.near, next) {
            (self.start, self.end) = (self.end.wrapping_add(1), end);
            self.place = Place::Ended(next);
            return self.check(self.start).map(|()| true);
        }
        self.next_run()
    }

    /// Gives this interval and those behind it, up to the one with time `last`.
    #[inline(always)]
    pub(super) fn each_up_to(
        &mut self,
        last: i64,
        found: &mut impl FnMut(Interval<'h>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        loop {
            if found(self.interval()?).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            // Most of those that follow are near: these are read in a row.
            if let (Some(run), Some(near), Place::Ended(index)) =
                (&self.run, &self.near, self.place)
                && self.end < last
            {
                for (index, end, code) in run.row(near, index + 1) {
                    (self.start, self.end) = (self.end.wrapping_add(1), end);
                    self.place = Place::Ended(index);
                    self.check(self.start)?;
                    let value = self.value_of(code.ok_or_else(|| self.bad_value())?)?;
                    let interval = Interval { quark: self.quark, start: self.start, end, value };
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

    fn next_run(&mut self) -> Result<bool, Error> {
        let start = self.end.wrapping_add(1);
        self.place = Place::Open;
        while let Some(block) = self.history.next_with_run(self.quark, self.block + 1) {
            let run = self.history.run(block, self.quark)?;
            let first = run.first();
            (self.block, self.run, self.near, self.place) = (block, Some(run), None, first);
            if first != Place::Open {
                break;
            }
        }
        if let Some(run) = self.run {
            self.enter(&run, self.place);
        }
        match self.start == start && self.end >= start {
            true => Ok(true),
            false => Err(self.history.damaged(self.block, "gap between runs")),
        }
    }

    /// What is known of a whole run, of which this is the first interval and which
    /// ends at `last` or before.
    pub(super) fn summary(&self, last: i64) -> Option<Summary<'h>> {
        let (Some(run), Place::Ended(index)) = (&self.run, self.place) else { return None };
        let fits = index == 0 && run.last_end().is_some_and(|end| end <= last);
        if fits { run.summary() } else { None }
    }

    /// To the last interval that has ended in the same run.
    pub(super) fn last_of_run(&mut self) -> Result<(), Error> {
        if let Some(run) = self.run
            && let Some(last) = run.ends.last()
        {
            let start = self.start;
            self.enter(&run, Place::Ended(last));
            // It goes forward, or not at all, even in data made to harm.
            if self.start < start {
                return Err(self.history.damaged(self.block, "ends of a run"));
            }
        }
        Ok(())
    }

    pub(super) fn bad_value(&self) -> Error {
        self.history.damaged(self.block, "value")
    }

    /// To the interval before this one; false if this is the first.
    pub(super) fn previous(&mut self) -> Result<bool, Error> {
        let Some(run) = self.run else { return Ok(false) };
        let before = match self.place {
            Place::Ended(index) => index.checked_sub(1),
            Place::Open => run.ends.last(),
        };
        if let Some(before) = before {
            self.enter(&run, Place::Ended(before));
            return Ok(true);
        }
        let end = self.start.wrapping_sub(1);
        let mut from = self.block;
        while let Some(block) = self.history.last_with_run(self.quark, from) {
            let run = self.history.run(block, self.quark)?;
            if let Some(last) = run.ends.last() {
                (self.block, self.run, self.near) = (block, Some(run), None);
                self.enter(&run, Place::Ended(last));
                return match self.end == end {
                    true => Ok(true),
                    false => Err(self.history.damaged(block, "gap between runs")),
                };
            }
            from = block;
        }
        Ok(false)
    }
}

impl History {
    /// The last value of an attribute, and since when it has it.
    pub(super) fn last_code(&self, quark: Quark) -> Result<(i64, Code), Error> {
        let cursor = Cursor::new(self, quark, self.end())?;
        Ok((cursor.start, cursor.code()?))
    }
}
