//! The choice of the events that hooks are called for.

use std::fmt;

use ltt_read::selection::{EventSelection, Spans, Verdict, Verdicts};
use ltt_read::{Decision, Event, Merge, Timestamp};

use crate::context::TracesetContext;
use crate::contexts::Contexts;
use crate::extension::Extensions;
use crate::position::{Latest, UNKNOWN, time_of};

type Predicate<'h> = dyn FnMut(&Event<'_>, &Extensions) -> bool + 'h;

/// A choice of events, with tables of the decisions known in advance.
pub(crate) struct Check<'h> {
    /// `true` for each tracefile whose events may pass, by tracefile number.
    pub(crate) tracefiles: Box<[bool]>,
    verdicts: Verdicts,
    spans: Spans,
    /// `true` if the merge is at a place to which the time spans have led it.
    pub(crate) is_at_span: bool,
    predicate: Box<Predicate<'h>>,
}

/// # Choosing events
///
/// With a check, hooks are called only for events that pass it. Other events are treated as
/// absent: numbers of events in [`Bounds`](crate::Bounds) and [`ReadEnd`](crate::ReadEnd) count
/// only those that pass. There are two exceptions. Hooks of [extensions](crate::Extension) are
/// called for every event, so that their state is right, and seeking by events and positions
/// counts all events.
///
/// Data in which no event can pass is not read unless an extension keeps state: whole
/// tracefiles and packets are skipped, and single events are skipped before they are merged.
///
/// Events that do not pass still count as read. A read that ended by a hook or a number of
/// events is positioned after the last event delivered, and one that met any other bound at
/// that bound. After the check is removed or replaced, reading continues from there with every
/// event.
///
/// ```
/// use lttv_context::{Bounds, Subscription, TracesetContext, Traceset};
/// use lttv_filter::{Expression, Filters};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let expression = Expression::parse("tracefile.cpu == 1 && next_tid != 0")?;
/// let filters = Filters::new(&expression, traceset.traces())?;
///
/// let mut switches = 0;
/// let mut context = TracesetContext::new(&traceset);
/// context.set_filter(&filters);
/// context.on_event(Subscription::to_every_event(), |call| {
///     assert_eq!(call.tracefile.tracefile().cpu(), Some(1));
///     switches += 1;
/// });
/// let read = context.read(&Bounds::all())?;
/// drop(context);
/// assert_eq!(read.events, switches);
/// # assert!(switches > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<'h> TracesetContext<'h> {
    /// Sets the check, in place of any previous one: hooks are called only for the events that
    /// `choice` chooses.
    pub fn set_filter(&mut self, choice: impl EventSelection + 'h) {
        let check = Check::new(&self.contexts, &choice);
        self.set_check(Check {
            predicate: Box::new(move |event, _| choice.matches(event)),
            ..check
        });
    }

    /// Sets a check that also depends on what is attached to the context, usually on the state of
    /// extensions.
    ///
    /// `choice` makes the decisions that are known in advance. For other events `passes` is called
    /// instead of [`EventSelection::matches`], at most once per event, with the same state that the first
    /// hook without state of its own is called with.
    pub fn set_filter_with(
        &mut self,
        choice: &impl EventSelection,
        passes: impl FnMut(&Event<'_>, &Extensions) -> bool + 'h,
    ) {
        let check = Check::new(&self.contexts, choice);
        self.set_check(Check { predicate: Box::new(passes), ..check });
    }

    /// Removes the check: hooks are called for all events.
    pub fn clear_filter(&mut self) {
        self.unfilter_merge();
        self.check = None;
    }

    fn set_check(&mut self, check: Check<'h>) {
        self.unfilter_merge();
        self.check = Some(check).filter(|check| !check.passes_all());
    }
}

impl<'h> Check<'h> {
    fn new(contexts: &Contexts, choice: &impl EventSelection) -> Self {
        let tracefiles = contexts.tracefiles().iter();
        Check {
            tracefiles: tracefiles.map(|t| choice.may_match(t.trace_index(), t.index())).collect(),
            verdicts: Verdicts::new(choice, contexts.traceset().traces()),
            spans: Spans::new(choice.spans()),
            is_at_span: false,
            predicate: Box::new(|_, _| false),
        }
    }

    /// Notes that the merge was moved by a seek.
    pub(crate) fn moved(&mut self) {
        self.is_at_span = false;
    }

    /// Returns `true` if it is known in advance that all events pass.
    fn passes_all(&self) -> bool {
        self.verdicts.are_all(Verdict::Always)
    }

    /// Returns `true` if an event passes.
    #[inline(always)]
    pub(crate) fn passes(&mut self, event: &Event<'_>, extensions: &Extensions) -> bool {
        self.verdicts.passes(event, || (self.predicate)(event, extensions))
    }

    /// Restarts the time spans at the current position of the merge. Moves the merge to the first
    /// span that is not over, if a bound on the times before the position is known and the span
    /// starts after it.
    pub(crate) fn enter_spans(&mut self, merge: &mut Merge, latest: Latest) {
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
