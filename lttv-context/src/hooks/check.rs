//! The choice of the events that hooks are called for.

use std::fmt;

use ltt_read::order::{Decision, SelectiveRead};
use ltt_read::selection::{EventSelection, Verdict, Verdicts};
use ltt_read::{Event, Merge, TimeSpan, Timestamp};

use crate::state::Extensions;
use crate::traceset::{Contexts, Traceset};

/// A choice of events, with tables of the decisions known in advance.
pub(crate) struct Check<'h> {
    verdicts: Verdicts,
    /// The read of as little as possible, if no extension needs the rest.
    pub(crate) selective: SelectiveRead,
    choice: Box<dyn Choice + 'h>,
}

/// A decision about the events that are not decided in advance.
trait Choice {
    fn passes(&mut self, event: &Event<'_>, extensions: &Extensions) -> bool;

    /// Extends the choice to a later state of a traceset. Returns the decisions known in advance;
    /// `None` if it cannot be extended.
    fn grow(&mut self, traceset: &Traceset) -> Option<&dyn EventSelection>;
}

/// A selection that decides about each event by itself.
struct Selection<S>(S);

impl<S: EventSelection> Choice for Selection<S> {
    fn passes(&mut self, event: &Event<'_>, _: &Extensions) -> bool {
        self.0.matches(event)
    }

    fn grow(&mut self, traceset: &Traceset) -> Option<&dyn EventSelection> {
        self.0.grow(traceset.traces()).then_some(&self.0)
    }
}

/// A function that also depends on extensions.
struct Function<F>(F);

impl<F: FnMut(&Event<'_>, &Extensions) -> bool> Choice for Function<F> {
    fn passes(&mut self, event: &Event<'_>, extensions: &Extensions) -> bool {
        (self.0)(event, extensions)
    }

    fn grow(&mut self, _: &Traceset) -> Option<&dyn EventSelection> {
        None
    }
}

impl<'h> Check<'h> {
    /// Creates the check of a choice that decides about each event by itself.
    pub(crate) fn new(contexts: &Contexts, choice: impl EventSelection + 'h) -> Self {
        let check = Self::with(contexts, &choice, |_, _| false);
        Check { choice: Box::new(Selection(choice)), ..check }
    }

    /// Creates a check with the decisions of a choice that are known in advance, and a function
    /// that makes the others.
    pub(crate) fn with(
        contexts: &Contexts,
        choice: &impl EventSelection,
        passes: impl FnMut(&Event<'_>, &Extensions) -> bool + 'h,
    ) -> Self {
        let traceset = contexts.traceset();
        Check {
            verdicts: Verdicts::new(choice, traceset.traces()),
            selective: SelectiveRead::new(tracefiles(choice, traceset), spans(choice, traceset)),
            choice: Box::new(Function(passes)),
        }
    }

    /// Extends the check to a later state of its traceset. Returns `false` if it cannot be
    /// extended; it stays as it is then.
    pub(crate) fn grow(&mut self, traceset: &Traceset) -> bool {
        // Skipped events stay skipped: no tracefile is left out, and what is known of a type of events
        // does not change.
        let Some(choice) = self.choice.grow(traceset) else { return false };
        self.verdicts = Verdicts::new(choice, traceset.traces());
        self.selective.grow(tracefiles(choice, traceset), spans(choice, traceset));
        true
    }

    /// Returns `true` if it is known in advance that all events pass.
    pub(crate) fn passes_all(&self) -> bool {
        self.verdicts.are_all(Verdict::Always)
    }

    /// Returns `true` if an event passes.
    #[inline(always)]
    pub(crate) fn passes(&mut self, event: &Event<'_>, extensions: &Extensions) -> bool {
        self.verdicts.passes(event, || self.choice.passes(event, extensions))
    }

    /// Advances to the next event that passes, or that is not before `limit`, or at which `looks`
    /// is used up. Returns its time of delivery, or `None` if there is none.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        merge: &mut Merge,
        extensions: &Extensions,
        limit: Timestamp,
        looks: &mut Looks,
    ) -> Option<Timestamp> {
        let Check { verdicts, selective, choice } = self;
        selective.next(merge, limit, |event| {
            if looks.spend() {
                Decision::Stop
            } else if verdicts.passes(event, || choice.passes(event, extensions)) {
                Decision::Take
            } else {
                Decision::Leave
            }
        })
    }
}

/// Determines for each tracefile, by number, whether its events may pass. Tracefiles that grow may
/// get events of types that are not declared yet.
fn tracefiles(choice: &(impl EventSelection + ?Sized), traceset: &Traceset) -> Box<[bool]> {
    let tracefiles = traceset.tracefiles().into_iter();
    let may_match =
        |(trace, tracefile)| traceset.is_growing() || choice.may_match(trace, tracefile);
    tracefiles.map(may_match).collect()
}

/// Determines the spans of time in which events may pass. While traces grow, this is all time: a
/// seek to a span could pass over events that are not final, and after the last one a read would
/// not come to where it is pending.
fn spans(choice: &(impl EventSelection + ?Sized), traceset: &Traceset) -> Vec<TimeSpan> {
    match traceset.is_growing() {
        true => vec![TimeSpan::ALL],
        false => choice.spans(),
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
        f.debug_struct("Check").field("selective", &self.selective).finish_non_exhaustive()
    }
}
