//! Which events hooks are called for.

use std::fmt;

use ltt_read::choice::{Choice, Spans, Verdict, Verdicts};
use ltt_read::{Event, Look, Merge, Timestamp};

use crate::context::TracesetContext;
use crate::contexts::Contexts;
use crate::extension::Extensions;
use crate::position::{Latest, UNKNOWN, time_of};

type Asked<'h> = dyn FnMut(&Event<'_>, &Extensions) -> bool + 'h;

/// A choice of events: what is known of it in advance, as tables.
pub(crate) struct Check<'h> {
    /// By number of the tracefile.
    pub(crate) tracefiles: Box<[bool]>,
    verdicts: Verdicts,
    spans: Spans,
    /// Whether the merge stands where the spans have led it.
    pub(crate) is_led: bool,
    asked: Box<Asked<'h>>,
}

/// With a check, hooks are called for events only that pass it. All is as if
/// there were no others: numbers of events in [`Bounds`](crate::Bounds) and
/// [`ReadEnd`](crate::ReadEnd) count those that pass. Only the hooks of
/// [extensions](crate::Extension) get every event, so that their state is right;
/// seeking by events and positions goes by all events, too.
///
/// As long as no extension keeps state, nothing is read in which no event can
/// pass: tracefiles and packets are left out, other events passed over before they
/// are put in order.
///
/// Events that do not pass count as read nevertheless. A read that a hook or a number
/// of events ended stands after the last event that was delivered; one that met any other
/// bound stands at that bound. Without the check, or with another one, reading goes on
/// from there with every event.
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
/// context.choose(&filters);
/// context.on_event(Subscription::to_every_event(), |call| {
///     assert_eq!(call.tracefile.tracefile().cpu(), Some(1));
///     switches += 1;
/// });
/// let read = context.middle(&Bounds::all())?;
/// drop(context);
/// assert_eq!(read.events, switches);
/// # assert!(switches > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<'h> TracesetContext<'h> {
    /// Sets a check: hooks are called for events that it chooses. It takes the
    /// place of the one before.
    pub fn choose(&mut self, choice: impl Choice + 'h) {
        let check = Check::new(&self.contexts, &choice);
        self.set_check(Check { asked: Box::new(move |event, _| choice.chooses(event)), ..check });
    }

    /// The same for a check that looks at what has been attached, most often at
    /// state. A choice tells what is known in advance; where this leaves it open,
    /// `passes` is asked instead of it: once an event, with the state that the
    /// first hook finds that keeps none.
    pub fn choose_with(
        &mut self,
        choice: &impl Choice,
        passes: impl FnMut(&Event<'_>, &Extensions) -> bool + 'h,
    ) {
        let check = Check::new(&self.contexts, choice);
        self.set_check(Check { asked: Box::new(passes), ..check });
    }

    /// Removes the check: hooks are called for all events.
    pub fn choose_all(&mut self) {
        self.read_whole();
        self.check = None;
    }

    fn set_check(&mut self, check: Check<'h>) {
        self.read_whole();
        self.check = Some(check).filter(|check| !check.is_idle());
    }
}

impl<'h> Check<'h> {
    fn new(contexts: &Contexts, choice: &impl Choice) -> Self {
        let tracefiles = contexts.tracefiles().iter();
        Check {
            tracefiles: tracefiles.map(|t| choice.may_choose(t.trace_index(), t.index())).collect(),
            verdicts: Verdicts::new(choice, contexts.traceset().traces()),
            spans: Spans::new(choice.spans()),
            is_led: false,
            asked: Box::new(|_, _| false),
        }
    }

    /// To be called when the merge has been moved.
    pub(crate) fn moved(&mut self) {
        self.is_led = false;
    }

    /// Whether it is known in advance that everything passes.
    fn is_idle(&self) -> bool {
        self.verdicts.are_all(Verdict::Always)
    }

    /// Whether hooks are called for an event.
    #[inline(always)]
    pub(crate) fn passes(&mut self, event: &Event<'_>, extensions: &Extensions) -> bool {
        self.verdicts.passes(event, || (self.asked)(event, extensions))
    }

    pub(crate) fn enter(&mut self, merge: &mut Merge, latest: Latest) {
        match latest {
            UNKNOWN => self.spans.restart(),
            latest => self.spans.enter(merge, latest.map(Timestamp::from_ns)),
        }
    }

    /// Goes to the next event that passes, or is not before a limit, or when as
    /// many events have been looked at as may be. False if there is none.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        merge: &mut Merge,
        extensions: &Extensions,
        limit: i64,
        looks: &mut Looks,
    ) -> bool {
        while let Some(last) = self.spans.last().map(Timestamp::ns) {
            let stop = limit.min(last.saturating_add(1));
            let found = merge.next_taken(|event| match () {
                () if time_of(event) >= stop || looks.are_spent() => Look::Stop,
                () if self.passes(event, extensions) => Look::Take,
                () => Look::Leave,
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

/// How many events may be looked at.
#[derive(Debug)]
pub(crate) struct Looks {
    pub(crate) left: u64,
    pub(crate) spent: bool,
}

impl Looks {
    #[inline(always)]
    fn are_spent(&mut self) -> bool {
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
