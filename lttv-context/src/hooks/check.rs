//! The choice of the events that hooks are called for.

use std::fmt;
use std::mem;

use ltt_read::selection::{EventSelection, Spans, Verdict, Verdicts};
use ltt_read::{Decision, Event, Merge, Timestamp};

use crate::state::Extensions;
use crate::traceset::{Contexts, Latest, UNKNOWN, time_of};

type Predicate<'h> = dyn FnMut(&Event<'_>, &Extensions) -> bool + 'h;

/// A choice of events, with tables of the decisions known in advance.
pub(crate) struct Check<'h> {
    /// `true` for each tracefile whose events may pass, by tracefile number.
    tracefiles: Box<[bool]>,
    verdicts: Verdicts,
    spans: Spans,
    /// `true` if the merge is at a place to which the time spans have led it.
    is_at_span: bool,
    predicate: Box<Predicate<'h>>,
}

impl<'h> Check<'h> {
    /// Creates the check of a choice that decides about each event by itself.
    pub(crate) fn new(contexts: &Contexts, choice: impl EventSelection + 'h) -> Self {
        let check = Self::with(contexts, &choice, |_, _| false);
        Check { predicate: Box::new(move |event, _| choice.matches(event)), ..check }
    }

    /// Creates a check with the decisions of a choice that are known in advance, and a function
    /// that makes the others.
    pub(crate) fn with(
        contexts: &Contexts,
        choice: &impl EventSelection,
        passes: impl FnMut(&Event<'_>, &Extensions) -> bool + 'h,
    ) -> Self {
        let tracefiles = contexts.tracefiles().iter();
        Check {
            tracefiles: tracefiles.map(|t| choice.may_match(t.trace_index(), t.index())).collect(),
            verdicts: Verdicts::new(choice, contexts.traceset().traces()),
            spans: Spans::new(choice.spans()),
            is_at_span: false,
            predicate: Box::new(passes),
        }
    }

    /// Notes that the merge was moved by a seek.
    pub(crate) fn moved(&mut self) {
        self.is_at_span = false;
    }

    /// Returns `true` if it is known in advance that all events pass.
    pub(crate) fn passes_all(&self) -> bool {
        self.verdicts.are_all(Verdict::Always)
    }

    /// Returns `true` if an event passes.
    #[inline(always)]
    pub(crate) fn passes(&mut self, event: &Event<'_>, extensions: &Extensions) -> bool {
        self.verdicts.passes(event, || (self.predicate)(event, extensions))
    }

    /// Stops the merge from reading the tracefiles in which no event passes.
    pub(crate) fn retain_tracefiles(&mut self, merge: &mut Merge) {
        merge.retain_tracefiles(|number| self.tracefiles.get(number.0) == Some(&true));
        self.moved();
    }

    /// Restarts the time spans at the current position of the merge, unless it is at a place to
    /// which they have led it. Moves the merge to the first span that is not over, if a bound on
    /// the times before the position is known and the span starts after it.
    pub(crate) fn enter_spans(&mut self, merge: &mut Merge, latest: Latest) {
        if mem::replace(&mut self.is_at_span, true) {
            return;
        }
        match latest {
            UNKNOWN => self.spans.restart(),
            latest => self.spans.enter(merge, latest.map(Timestamp::from_ns)),
        }
    }

    /// Advances to the next event that passes, or that is not before `limit`, or at which `looks`
    /// is used up. Returns `false` if there is none.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        merge: &mut Merge,
        extensions: &Extensions,
        limit: i64,
        looks: &mut Looks,
    ) -> bool {
        while let Some(last) = self.spans.last().map(Timestamp::as_ns) {
            let stop = limit.min(last.saturating_add(1));
            let found = merge.next_taken(|event| {
                if time_of(event) >= stop || looks.spend() {
                    Decision::Stop
                } else if self.passes(event, extensions) {
                    Decision::Take
                } else {
                    Decision::Leave
                }
            });
            let Some(event) = found else { return false };
            let time = time_of(&event);
            if time <= last || time >= limit || looks.spent {
                return true;
            }
            self.spans.move_on(merge, Timestamp::from_ns(time));
        }
        false
    }
}

/// The remaining number of events that may be looked at.
#[derive(Debug)]
pub(crate) struct Looks {
    pub(crate) left: u64,
    pub(crate) spent: bool,
}

impl Looks {
    /// Counts one event that is looked at. Returns `true` if no more may be looked at.
    #[inline(always)]
    fn spend(&mut self) -> bool {
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => self.spent = true,
        }
        self.spent
    }
}

impl fmt::Debug for Check<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check").field("spans", &self.spans).finish_non_exhaustive()
    }
}
