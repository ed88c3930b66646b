//! The state of all attributes at a time.

use super::Interval;
use super::code::{Code, Kind};
use super::error::Error;
use super::reader::History;
use super::run::{Place, Run};
use crate::tree::Quark;
use crate::value::Value;

/// An interval, with its value as a code of a run in `block`.
#[derive(Debug, Clone, Copy)]
struct Stored {
    start: i64,
    end: i64,
    /// None for a symbol that stands for nothing.
    code: Option<Code>,
    block: usize,
}

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
        // Most attributes have a run in the block of that time, with it: these are
        // read one behind the other. For the others it is looked up where they have.
        let mut runs = match block < self.blocks() {
            true => Some(self.block(block)?.all_runs()),
            false => None,
        };
        let mut texts = RecentTexts::new();
        for quark in self.tree().quarks() {
            let run = match runs.as_mut().and_then(|runs| runs.next(quark.index())) {
                Some(None) => return Err(self.damaged(block, "run")),
                Some(run) => run,
                None => None,
            };
            let found = run.as_ref().and_then(|run| Some((run.find(t)?, run)));
            let stored = match found {
                Some((found, run)) => {
                    let code = run.code(Place::Ended(found.position));
                    Stored { start: found.start, end: found.end, code, block }
                }
                None => self.lasting(quark, block, run.as_ref())?,
            };
            let Stored { start, end, code, block } = stored;
            let code = code.filter(|_| start <= t && t <= end);
            let code = code.ok_or_else(|| self.damaged(block, "run"))?;
            state.push(Interval { quark, start, end, value: texts.value(self, code, block)? });
        }
        Ok(state)
    }

    /// The interval in which an attribute is at the end of a block, where it may have
    /// a run.
    #[inline(always)]
    fn lasting(&self, quark: Quark, block: usize, run: Option<&Run<'_>>) -> Result<Stored, Error> {
        let mut from = block + 1;
        while let Some(next) = self.next_with_run(quark, from) {
            let run = self.run(next, quark)?;
            if let Some(first) = run.ends.first() {
                let (start, end) = (run.start, run.end(first));
                return Ok(Stored { start, end, code: run.symbols.get(0), block: next });
            }
            from = next + 1;
        }
        let open = |run: &Run<'_>, block| {
            let (start, _) = run.span(Place::Open);
            Stored { start, end: self.end(), code: run.code(Place::Open), block }
        };
        match (run, self.last_with_run(quark, from)) {
            (Some(run), Some(last)) if last == block => Ok(open(run, block)),
            (_, Some(last)) => Ok(open(&self.run(last, quark)?, last)),
            // It was null all the time.
            (_, None) => {
                Ok(Stored { start: self.start(), end: self.end(), code: Some(Code::NULL), block })
            }
        }
    }
}

/// Texts that were looked up last: in a state the same ones come again and again.
struct RecentTexts<'h>(Vec<Option<(u64, &'h str)>>);

const RECENT: usize = 1024;

impl<'h> RecentTexts<'h> {
    fn new() -> Self {
        RecentTexts(vec![None; RECENT])
    }

    #[inline(always)]
    fn value(
        &mut self,
        history: &'h History,
        code: Code,
        block: usize,
    ) -> Result<Value<'h>, Error> {
        if code.kind != Kind::Str {
            return history.value(code, block);
        }
        let recent = &mut self.0[code.bits as usize % RECENT];
        if let Some((id, text)) = recent
            && *id == code.bits
        {
            return Ok(Value::Str(text));
        }
        let value = history.value(code, block)?;
        *recent = value.as_str().map(|text| (code.bits, text));
        Ok(value)
    }
}
