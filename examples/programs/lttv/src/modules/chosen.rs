//! Selection of events by the text filters.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use ltt_read::schema::EventTypeId;
use ltt_read::selection::{EventSelection, Shortcut, Verdict};
use ltt_read::{Event, TimeSpan, TraceIndex, TracefileIndex};
use lttv_context::{EventCall, TracesetContext};
use lttv_filter::Filters;
use lttv_state::filter::KernelFilters;

/// The events that pass all text filters; all events if there is no filter.
///
/// Filters select the events that are printed and counted. The state of a machine depends
/// on all events, so the hooks that follow it are not filtered.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    filters: OnceCell<KernelFilters>,
    /// `true` if the context skips other events in advance, so that hooks need no check.
    in_advance: Cell<bool>,
}

impl Chosen {
    /// Sets the filters.
    pub(super) fn set(&self, filters: KernelFilters) {
        // Only one module sets filters, and only once.
        _ = self.filters.set(filters);
    }

    /// Returns `true` if the event passes all filters.
    #[inline]
    pub(super) fn has(&self, call: &EventCall<'_, '_>) -> bool {
        let filters = self.filters.get().filter(|_| !self.in_advance.get());
        filters.is_none_or(|filters| filters.matches(call))
    }

    /// Has the context skip events that do not pass, unless an extension keeps state.
    pub(super) fn skip_others(self: &Rc<Self>, context: &mut TracesetContext<'static>) {
        if self.filters.get().is_some() && !context.extensions().keep_state() {
            context.set_filter(InAdvance(Rc::clone(self)));
            self.in_advance.set(true);
        }
    }
}

/// The choice of a context that skips all events that do not pass.
struct InAdvance(Rc<Chosen>);

impl InAdvance {
    fn ask<T>(&self, ask: impl FnOnce(&Filters) -> T, else_: T) -> T {
        self.0.filters.get().map_or(else_, |of| ask(of.filters()))
    }
}

impl EventSelection for InAdvance {
    fn matches(&self, event: &Event<'_>) -> bool {
        self.ask(|filters| filters.matches(event), true)
    }

    fn verdict(&self, trace: TraceIndex, event_type: EventTypeId) -> Verdict {
        self.ask(|filters| filters.verdict(trace, event_type), Verdict::Always)
    }

    fn shortcut(&self, trace: TraceIndex, event_type: EventTypeId) -> Option<&Shortcut> {
        self.0.filters.get()?.filters().shortcut(trace, event_type)
    }

    fn may_match(&self, trace: TraceIndex, tracefile: TracefileIndex) -> bool {
        self.ask(|filters| filters.may_match(trace, tracefile), true)
    }

    fn spans(&self) -> Vec<TimeSpan> {
        self.ask(|filters| filters.spans(), vec![TimeSpan::ALL])
    }
}
