//! A place in the history of one attribute, and the steps to others.

use super::Interval;
use super::code::Code;
use super::error::Error;
use super::reader::History;
use super::run::{Place, Run};
use crate::tree::Quark;
use crate::value::Value;

/// An interval of an attribute: where it is stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot<'h> {
    pub(super) quark: Quark,
    /// None for an attribute that never changed.
    pub(super) stored: Option<Stored<'h>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Stored<'h> {
    block: usize,
    run: Run<'h>,
    /// `Open` only if the attribute has no later run.
    place: Place,
}

impl<'h> Spot<'h> {
    /// First and last time of the interval.
    #[inline(always)]
    pub(super) fn span(&self, history: &History) -> (i64, i64) {
        match &self.stored {
            None => (history.start(), history.end()),
            Some(Stored { run, place, .. }) => {
                let (start, end) = run.span(*place);
                (start, end.unwrap_or(history.end()))
            }
        }
    }

    /// Last time of the interval.
    #[inline(always)]
    fn end(&self, history: &History) -> i64 {
        match &self.stored {
            Some(Stored { run, place: Place::Ended(position), .. }) => run.end(*position),
            _ => history.end(),
        }
    }

    /// The value, as a code.
    pub(super) fn code(&self, history: &History) -> Result<Code, Error> {
        let Some(Stored { block, run, place }) = &self.stored else { return Ok(Code::NULL) };
        run.code(*place).ok_or_else(|| history.damaged(*block, "value"))
    }

    pub(super) fn value(&self, history: &'h History) -> Result<Value<'h>, Error> {
        let Some(Stored { block, .. }) = &self.stored else { return Ok(Value::Null) };
        history.value(self.code(history)?, *block)
    }

    #[inline(always)]
    pub(super) fn interval(&self, history: &'h History) -> Result<Interval<'h>, Error> {
        let (start, end) = self.span(history);
        Ok(Interval { quark: self.quark, start, end, value: self.value(history)? })
    }

    /// The interval with time `t`, which is not before this one.
    #[inline(always)]
    pub(super) fn forward(self, history: &'h History, t: i64) -> Result<Spot<'h>, Error> {
        if t <= self.end(history) {
            return Ok(self);
        }
        if let Some(Stored { block, run, place: Place::Ended(position) }) = self.stored
            && run.last_end().is_some_and(|last| t <= last)
        {
            let found = run.find(t, Some(position));
            let place = Place::Ended(found.ok_or_else(|| history.damaged(block, "ends of a run"))?);
            return Ok(Spot { stored: Some(Stored { block, run, place }), ..self });
        }
        history.spot(self.quark, t, history.block_at(t))
    }

    /// The interval behind this one.
    pub(super) fn next(self, history: &'h History) -> Result<Option<Spot<'h>>, Error> {
        let Some(Stored { block, run, place: Place::Ended(position) }) = self.stored else {
            return Ok(None);
        };
        if let Some(next) = run.ends.next(position) {
            let stored = Some(Stored { block, run, place: Place::Ended(next) });
            return Ok(Some(Spot { stored, ..self }));
        }
        let mut last = Stored { block, run, place: Place::Open };
        while let Some(block) = history.next_with_run(self.quark, last.block + 1) {
            let run = history.run(block, self.quark)?;
            let place = run.ends.first().map_or(Place::Open, Place::Ended);
            last = Stored { block, run, place };
            if place != Place::Open {
                break;
            }
        }
        Ok(Some(Spot { stored: Some(last), ..self }))
    }

    /// The interval before this one.
    pub(super) fn previous(self, history: &'h History) -> Result<Option<Spot<'h>>, Error> {
        let Some(Stored { block, run, place }) = self.stored else { return Ok(None) };
        let before = match place {
            Place::Ended(position) => run.ends.previous(position),
            Place::Open => run.ends.last(),
        };
        if let Some(before) = before {
            let stored = Some(Stored { block, run, place: Place::Ended(before) });
            return Ok(Some(Spot { stored, ..self }));
        }
        let mut from = block;
        while let Some(block) = history.last_with_run(self.quark, from) {
            let run = history.run(block, self.quark)?;
            if let Some(last) = run.ends.last() {
                let stored = Some(Stored { block, run, place: Place::Ended(last) });
                return Ok(Some(Spot { stored, ..self }));
            }
            from = block;
        }
        Ok(None)
    }
}

impl History {
    /// The interval of an attribute with time `t`, both of which there are;
    /// `block` is what [`block_at`](Self::block_at) tells for `t`.
    #[inline(always)]
    pub(super) fn spot(&self, quark: Quark, t: i64, block: usize) -> Result<Spot<'_>, Error> {
        let mut last = None;
        let mut from = block;
        while let Some(block) = self.next_with_run(quark, from) {
            let run = self.run(block, quark)?;
            if run.last_end().is_some_and(|last| t <= last) {
                let Some(position) = run.find(t, None) else {
                    return Err(self.damaged(block, "ends of a run"));
                };
                let stored = Some(Stored { block, run, place: Place::Ended(position) });
                return Ok(Spot { quark, stored });
            }
            last = Some(Stored { block, run, place: Place::Open });
            from = block + 1;
        }
        if last.is_none()
            && let Some(block) = self.last_with_run(quark, block)
        {
            last = Some(Stored { block, run: self.run(block, quark)?, place: Place::Open });
        }
        Ok(Spot { quark, stored: last })
    }

    /// The last value of an attribute, and since when it has it.
    pub(super) fn last_code(&self, quark: Quark) -> Result<(i64, Code), Error> {
        let spot = self.spot(quark, self.end(), self.block_at(self.end()))?;
        Ok((spot.span(self).0, spot.code(self)?))
    }
}
