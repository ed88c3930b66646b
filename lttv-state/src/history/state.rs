//! The state of all attributes at a time.

use std::hint::select_unpredictable;
use std::ops::Range;

use super::Interval;
use super::code::{Code, Kind};
use super::error::Error;
use super::lasting::Entry;
use super::reader::History;
use super::run::Place;
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
        let mut found = Found { t, state: &mut state, texts: RecentTexts::new(self), bad: None };
        for first in (0..self.tree().len()).step_by(TOGETHER) {
            found.expect(first..self.tree().len().min(first + TOGETHER));
            lasting.below(first + TOGETHER, t, |quark, start, end, code| {
                found.put(quark, start, end, code);
            });
            let intact = runs.as_mut().is_none_or(|runs| {
                runs.of_64(first, |quark, run| {
                    if let Some(ended) = run.find(t) {
                        let code = run.code(Place::Ended(ended.index));
                        found.put(quark, ended.start, ended.end, code);
                    }
                })
            });
            if !intact {
                return Err(self.damaged(block, "run"));
            }
            for quark in first..found.state.len() {
                if found.is_missing(quark) {
                    let entry = self.lasting(Quark(quark as u32), block)?;
                    found.put(quark, entry.start, entry.end, Some(entry.code));
                    if found.is_missing(quark) && found.bad.is_none() {
                        return Err(self.damaged(block, "run"));
                    }
                }
            }
            if let Some(code) = found.bad {
                return Err(self.bad_value(code, block));
            }
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
        for first in (0..self.tree().len()).step_by(TOGETHER) {
            let mut bad_value = false;
            let intact = runs.of_64(first, |quark, run| {
                if let Place::Ended(first) = run.first() {
                    let (quark, start, end) = (Quark(quark as u32), run.start, run.end(first));
                    match run.symbols.get(0) {
                        Some(code) => f(Entry { quark, start, end, code }),
                        None => bad_value = true,
                    }
                }
            });
            if !intact || bad_value {
                return Err(self.damaged(block, "run"));
            }
        }
        Ok(())
    }
}

/// Stands for no code: no history has this text.
const NONE: Code = Code { kind: Kind::Str, bits: u64::MAX };

/// What is found of a state, by and by.
struct Found<'s, 'h> {
    t: i64,
    state: &'s mut Vec<Interval<'h>>,
    texts: RecentTexts<'h>,
    /// A code that has no value, or none at all.
    bad: Option<Code>,
}

impl<'h> Found<'_, 'h> {
    /// The next attributes: none was found yet, so they end before they begin.
    fn expect(&mut self, quarks: Range<usize>) {
        self.state.extend(quarks.map(|quark| Interval {
            quark: Quark(quark as u32),
            start: i64::MAX,
            end: i64::MIN,
            value: Value::Null,
        }));
    }

    fn is_missing(&self, quark: usize) -> bool {
        self.state.get(quark).is_some_and(|interval| interval.start > interval.end)
    }

    /// Takes an interval, if it has the time.
    #[inline(always)]
    fn put(&mut self, quark: usize, start: i64, end: i64, code: Option<Code>) {
        if let Some(interval) = self.state.get_mut(quark)
            && start <= self.t
            && self.t <= end
        {
            // Told apart without a branch, as kinds of values are by few.
            let code = select_unpredictable(code.is_some(), code.unwrap_or_default(), NONE);
            match self.texts.value(code) {
                Some(value) => {
                    (interval.start, interval.end) = (start, end);
                    interval.value = value;
                }
                None => self.bad = Some(code),
            }
        }
    }
}

/// Texts that were looked up last: in a state the same ones come again and again.
struct RecentTexts<'h> {
    history: &'h History,
    recent: Vec<Option<(u64, &'h str)>>,
}

const RECENT: usize = 1024;

impl<'h> RecentTexts<'h> {
    fn new(history: &'h History) -> Self {
        RecentTexts { history, recent: vec![None; RECENT] }
    }

    /// What a code stands for. None if there is no such value.
    #[inline(always)]
    fn value(&mut self, code: Code) -> Option<Value<'h>> {
        if code.kind != Kind::Str {
            return self.history.known_value(code);
        }
        let recent = &mut self.recent[code.bits as usize % RECENT];
        if let Some((id, text)) = recent
            && *id == code.bits
        {
            return Some(Value::Str(text));
        }
        let value = self.history.known_value(code)?;
        *recent = value.as_str().map(|text| (code.bits, text));
        Some(value)
    }
}
