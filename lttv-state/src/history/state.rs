//! The state of all attributes at a time.

use std::hint::select_unpredictable;
use std::ops::ControlFlow;

use super::Interval;
use super::block::AllRuns;
use super::code::{Code, Kind};
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
            true => Some(self.block(block)?.all_runs()),
            false => None,
        };
        let mut next = None;
        let mut missing = Vec::new();
        let mut found =
            Found { t, first: 0, states: &mut [UNKNOWN; TOGETHER], history: self, bad: None };
        for first in (0..self.tree().len()).step_by(TOGETHER) {
            let count = (self.tree().len() - first).min(TOGETHER);
            found.expect(first);
            lasting.below(first + TOGETHER, t, |quark, start, end, code| {
                found.put(quark, start, end, code);
            });
            let intact = runs.as_mut().is_none_or(|runs| {
                (first..first + TOGETHER).step_by(64).all(|first| {
                    runs.of_64(first, |quark, run| {
                        if let Some(ended) = run.find(t) {
                            let code = run.code(Place::Ended(ended.index));
                            found.put(quark, ended.start, ended.end, code);
                        }
                    })
                })
            });
            if !intact {
                return Err(self.damaged(block, "run"));
            }
            found.list_missing(count, &mut missing);
            if !missing.is_empty() && next.is_none() && block + 1 < self.blocks() {
                next = Some(self.block(block + 1)?.all_runs());
            }
            for quark in &missing {
                let first = next.as_ref().and_then(|next| first_entry(next, *quark));
                let entry = match first {
                    Some(first) => first,
                    None => self.lasting(*quark, block)?,
                };
                found.put(quark.index(), entry.start, entry.end, Some(entry.code));
                if found.is_missing(quark.index()) && found.bad.is_none() {
                    return Err(self.damaged(block, "run"));
                }
            }
            if let Some(code) = found.bad {
                return Err(self.bad_value(code, block));
            }
            if take(&found.states[..count]).is_break() {
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

/// The first interval of an attribute in a block, if it has one.
#[inline(always)]
fn first_entry(runs: &AllRuns<'_>, quark: Quark) -> Option<Entry> {
    let run = runs.run(quark.index())??;
    let Place::Ended(first) = run.first() else { return None };
    let code = run.symbols.get(first)?;
    Some(Entry { quark, start: run.start, end: run.end(first), code })
}

/// Stands for no code: no history has this text.
const NONE: Code = Code { kind: Kind::Str, bits: u64::MAX };

/// Stands for no interval: it ends before it begins.
const UNKNOWN: Interval<'static> =
    Interval { quark: Quark(0), start: i64::MAX, end: i64::MIN, value: Value::Null };

/// What is found of a state, by and by.
struct Found<'s, 'h> {
    t: i64,
    history: &'h History,
    /// The attribute that `states` begin with.
    first: usize,
    states: &'s mut [Interval<'h>; TOGETHER],
    /// A code that has no value, or none at all.
    bad: Option<Code>,
}

impl<'h> Found<'_, 'h> {
    /// The next attributes: none was found yet.
    fn expect(&mut self, first: usize) {
        self.first = first;
        for (i, interval) in self.states.iter_mut().enumerate() {
            *interval = Interval { quark: Quark((first + i) as u32), ..UNKNOWN };
        }
    }

    fn is_missing(&self, quark: usize) -> bool {
        let interval = self.states.get(quark.wrapping_sub(self.first));
        interval.is_some_and(|interval| interval.start > interval.end)
    }

    /// Lists those of the first `count` that were not found yet; without a branch, as nobody
    /// can guess which these are.
    fn list_missing(&self, count: usize, missing: &mut Vec<Quark>) {
        missing.resize(count, Quark(0));
        let mut listed = 0;
        for interval in &self.states[..count] {
            missing[listed] = interval.quark;
            listed += usize::from(interval.start > interval.end);
        }
        missing.truncate(listed);
    }

    /// Takes an interval, if it has the time.
    #[inline(always)]
    fn put(&mut self, quark: usize, start: i64, end: i64, code: Option<Code>) {
        if let Some(interval) = self.states.get_mut(quark.wrapping_sub(self.first))
            && start <= self.t
            && self.t <= end
        {
            // Told apart without a branch, as kinds of values are by few.
            let code = select_unpredictable(code.is_some(), code.unwrap_or_default(), NONE);
            match self.history.known_value(code) {
                Some(value) => {
                    (interval.start, interval.end) = (start, end);
                    interval.value = value;
                }
                None => self.bad = Some(code),
            }
        }
    }
}
