//! The state of all attributes at a time.

use std::ops::ControlFlow;

use super::Interval;
use super::code::{Code, Kind};
use super::crossing::Crossing;
use super::cut::Found;
use super::error::Error;
use super::lasting::Entry;
use super::reader::History;
use super::run::Place;
use crate::tree::Quark;
use crate::value::Value;

/// Attributes are taken together in so many: few enough to stay in the nearest cache, and
/// a multiple of 64.
const TOGETHER: usize = 256;

impl History {
    /// All attributes at a time, in ns: an interval each, in the order of quarks.
    ///
    /// They take about 50 bytes each. Who looks at each of them but once, and has many, is
    /// better served by [`all_at`](Self::all_at).
    ///
    /// # Errors
    ///
    /// If the time is not in the history.
    pub fn state_at(&self, t: i64) -> Result<Vec<Interval<'_>>, Error> {
        self.check_time(t)?;
        let mut state = Vec::with_capacity(self.tree().len());
        let _all = self.states_at(t, |states| {
            state.extend_from_slice(states);
            ControlFlow::Continue(())
        })?;
        Ok(state)
    }

    /// The same: `found` is called with each interval. It may end the search with
    /// [`ControlFlow::Break`].
    ///
    /// ```
    /// # use std::ops::ControlFlow;
    /// # use lttv_state::history::{Builder, Error};
    /// # use lttv_state::value::Value;
    /// # let mut builder = Builder::in_memory(0);
    /// for thread in 0..1000 {
    ///     let quark = builder.add(&format!("threads/{thread}"))?;
    ///     builder.set(quark, 10, if thread % 8 == 0 { "running" } else { "waiting" })?;
    /// }
    /// let history = builder.close(100)?;
    /// let mut running = 0;
    /// history.all_at(50, |interval| {
    ///     running += u32::from(interval.value == Value::Str("running"));
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(running, 125);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the time is not in the history.
    pub fn all_at<'h>(
        &'h self,
        t: i64,
        mut found: impl FnMut(Interval<'h>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        self.check_time(t)?;
        self.states_at(t, |states| states.iter().try_for_each(|interval| found(*interval)))
    }

    /// The same for a time that is in the history; some intervals at once.
    fn states_at<'h>(
        &'h self,
        t: i64,
        mut take: impl FnMut(&[Interval<'h>]) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        let block = self.block_at(t);
        // Most attributes last over the whole block, or have a run in it: these are
        // read one behind the other. Few are to be looked for elsewhere.
        let mut lasting = self.lasting_over(block);
        let mut runs = match block < self.blocks() {
            true => Some(Crossing::new(self.block(block)?, t)),
            false => None,
        };
        let mut next = None;
        let mut missing = Vec::with_capacity(TOGETHER);
        let mut state = State::new(t);
        for first in (0..self.tree().len()).step_by(TOGETHER) {
            let count = (self.tree().len() - first).min(TOGETHER);
            state.expect(first);
            let intact = runs.as_mut().is_none_or(|runs| {
                let mut words = (first..first + TOGETHER).step_by(64);
                words.all(|first| runs.of_64(first, |found| state.put(found)))
            });
            if !intact {
                return Err(self.damaged(block, "run"));
            }
            lasting.below(first + TOGETHER, t, |quark, start, end, code| {
                state.put(Found { quark: quark as u32, start, end, code });
            });
            state.list_missing(count, &mut missing);
            if !missing.is_empty() && block + 1 < self.blocks() {
                // Most of them change in the next block.
                let next = match &mut next {
                    Some(next) => next,
                    None => next.insert(Crossing::first(self.block(block + 1)?)),
                };
                if !next.of(&missing, |found| state.put(found)) {
                    return Err(self.damaged(block + 1, "run"));
                }
                missing.retain(|quark| !state.has(quark.index()));
            }
            for quark in &missing {
                let Entry { quark, start, end, code } = self.lasting(*quark, block)?;
                state.put(Found { quark: quark.0, start, end, code: Some(code) });
                if !state.has(quark.index()) {
                    return Err(self.damaged(block, "run"));
                }
            }
            if let Some(code) = state.fill(self, count) {
                return Err(self.bad_value(code, block));
            }
            if take(&state.intervals[..count]).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
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
        for first in (0..self.tree().len()).step_by(64) {
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

/// Stands for no interval: it ends before it begins.
const UNKNOWN: (i64, i64) = (i64::MAX, i64::MIN);

/// Stands for no code: no history has this text.
const NONE: Code = Code { kind: Kind::Str, bits: u64::MAX };

/// A state as it is put together: some attributes at once.
struct State<'h> {
    t: i64,
    /// The attribute that these begin with.
    first: usize,
    /// First and last time of each interval, and its value.
    times: [(i64, i64); TOGETHER],
    codes: [Code; TOGETHER],
    intervals: [Interval<'h>; TOGETHER],
}

impl<'h> State<'h> {
    fn new(t: i64) -> State<'h> {
        let interval = Interval { quark: Quark(0), start: 0, end: 0, value: Value::Null };
        State {
            t,
            first: 0,
            times: [UNKNOWN; TOGETHER],
            codes: [NONE; TOGETHER],
            intervals: [interval; TOGETHER],
        }
    }

    /// The next attributes: none was found yet.
    fn expect(&mut self, first: usize) {
        self.first = first;
        self.times.fill(UNKNOWN);
    }

    /// Whether an interval has the time.
    #[inline(always)]
    fn fits(&self, (start, end): (i64, i64)) -> bool {
        (start <= self.t) & (self.t <= end)
    }

    /// Whether an attribute was found.
    fn has(&self, quark: usize) -> bool {
        let times = self.times.get(quark.wrapping_sub(self.first));
        times.is_some_and(|times| self.fits(*times))
    }

    /// Lists those of the first `count` that were not found yet; without a branch, as nobody
    /// can guess which these are.
    fn list_missing(&self, count: usize, missing: &mut Vec<Quark>) {
        missing.resize(TOGETHER, Quark(0));
        let mut listed = 0;
        for (i, times) in self.times[..count].iter().enumerate() {
            missing[listed % TOGETHER] = Quark((self.first + i) as u32);
            listed += usize::from(!self.fits(*times));
        }
        missing.truncate(listed);
    }

    /// Takes what was found, if anything was. What does not have the time is as good as
    /// nothing.
    #[inline(always)]
    fn put(&mut self, found: Found) {
        let at = (found.quark as usize).wrapping_sub(self.first);
        if let (Some(times), Some(code)) = (self.times.get_mut(at), self.codes.get_mut(at)) {
            *times = (found.start, found.end);
            *code = found.code.unwrap_or(NONE);
        }
    }

    /// Makes intervals of the first `count`. A code that has no value is returned.
    fn fill(&mut self, history: &'h History, count: usize) -> Option<Code> {
        let mut others = [0u8; TOGETHER];
        let mut listed = 0;
        let found = self.times.iter().zip(&self.codes).zip(&mut self.intervals[..count]);
        for (i, (((start, end), code), interval)) in found.enumerate() {
            // Those that are met often, told apart without a branch.
            let is_number = code.kind == Kind::I32;
            others[listed % TOGETHER] = i as u8;
            listed += usize::from(!(is_number | (code.kind == Kind::Null)));
            let value = if is_number { Value::I32(code.bits as i32) } else { Value::Null };
            let quark = Quark((self.first + i) as u32);
            *interval = Interval { quark, start: *start, end: *end, value };
        }
        for i in &others[..listed.min(TOGETHER)] {
            let code = self.codes[usize::from(*i)];
            match history.known_value(code) {
                Some(value) => self.intervals[usize::from(*i)].value = value,
                None => return Some(code),
            }
        }
        None
    }
}
