//! The state of all attributes at a time.

use super::Interval;
use super::code::{Code, Kind};
use super::error::Error;
use super::lasting::Entry;
use super::reader::History;
use super::run::{Place, Run};
use crate::tree::Quark;
use crate::value::Value;

/// Attributes are taken together in so many.
const TOGETHER: usize = 64;

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
        // Most attributes last over the whole block, or have a run in it: these are
        // read one behind the other. Few are to be looked for elsewhere.
        let mut lasting = self.lasting_over(block);
        let mut runs = match block < self.blocks() {
            true => Some(self.block(block)?.all_runs()),
            false => None,
        };
        let mut texts = RecentTexts::new();
        for first in (0..self.tree().len()).step_by(TOGETHER) {
            // None was found yet: they end before they begin.
            let unknown = |i| Interval {
                quark: Quark((first + i) as u32),
                start: i64::MAX,
                end: i64::MIN,
                value: Value::Null,
            };
            let mut some: [Interval<'_>; TOGETHER] = std::array::from_fn(unknown);
            let mut bad = None;
            let mut put = |quark: usize, start: i64, end: i64, code: Option<Code>| {
                if let Some(interval) = some.get_mut(quark.wrapping_sub(first))
                    && start <= t
                    && t <= end
                {
                    let code = code.ok_or_else(|| self.damaged(block, "value"));
                    match code.and_then(|code| texts.value(self, code, block)) {
                        Ok(value) => {
                            (interval.start, interval.end) = (start, end);
                            interval.value = value;
                        }
                        Err(error) => bad = Some(error),
                    }
                }
            };
            lasting.below(first + TOGETHER, t, |quark, start, end, code| {
                put(quark, start, end, code);
            });
            if let Some(runs) = &mut runs {
                for (quark, run) in runs.of_64(first) {
                    let run = run.ok_or_else(|| self.damaged(block, "run"))?;
                    if let Some(found) = run.find(t) {
                        let code = run.code(Place::Ended(found.index));
                        put(quark, found.start, found.end, code);
                    }
                }
            }
            if let Some(error) = bad {
                return Err(error);
            }
            let len = TOGETHER.min(self.tree().len() - first);
            for interval in &mut some[..len] {
                if !(interval.start..=interval.end).contains(&t) {
                    let found = self.lasting(interval.quark, block)?;
                    if !(found.start..=found.end).contains(&t) {
                        return Err(self.damaged(block, "run"));
                    }
                    (interval.start, interval.end) = (found.start, found.end);
                    interval.value = texts.value(self, found.code, block)?;
                }
            }
            state.extend_from_slice(&some[..len]);
        }
        Ok(state)
    }

    /// The interval in which an attribute is at the end of a block.
    fn lasting(&self, quark: Quark, block: usize) -> Result<Entry, Error> {
        let mut from = block + 1;
        let entry = |start, end, code: Option<Code>, block| {
            let code = code.ok_or_else(|| self.damaged(block, "value"))?;
            Ok(Entry { quark, start, end, code })
        };
        while let Some(next) = self.next_with_run(quark, from) {
            let run = self.run(next, quark)?;
            if let Place::Ended(first) = run.first() {
                return entry(run.start, run.end(first), run.symbols.get(0), next);
            }
            from = next + 1;
        }
        match self.last_with_run(quark, from) {
            Some(last) => {
                let run = self.run(last, quark)?;
                let (start, _) = run.span(Place::Open);
                entry(start, self.end(), run.code(Place::Open), last)
            }
            // It was null all the time.
            None => entry(self.start(), self.end(), Some(Code::NULL), block),
        }
    }

    /// The first interval of each attribute that has some in a block.
    pub(super) fn first_ends(&self, block: usize, mut f: impl FnMut(Entry)) -> Result<(), Error> {
        let mut runs = self.block(block)?.all_runs();
        let bad = || self.damaged(block, "run");
        for first in (0..self.tree().len()).step_by(TOGETHER) {
            for (quark, run) in runs.of_64(first) {
                let run: Run<'_> = run.ok_or_else(bad)?;
                if let Place::Ended(first) = run.first() {
                    let code = run.symbols.get(0).ok_or_else(bad)?;
                    let (quark, start, end) = (Quark(quark as u32), run.start, run.end(first));
                    f(Entry { quark, start, end, code });
                }
            }
        }
        Ok(())
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
