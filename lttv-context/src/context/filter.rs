//! The filter that decides which events hooks are called for.

use ltt_read::selection::EventSelection;

use super::TracesetContext;
use crate::hooks::Check;

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
        self.set_check(Check::new(&self.contexts, choice));
    }

    /// Removes the check: hooks are called for all events.
    pub fn clear_filter(&mut self) {
        // The next read without a check moves the merge to its place among all events.
        self.check = None;
    }

    pub(super) fn set_check(&mut self, check: Check<'h>) {
        self.reader.read_all();
        // What a growing traceset declares later may not pass.
        let is_growing = self.traceset().is_growing();
        self.check = Some(check).filter(|check| is_growing || !check.passes_all());
    }
}
