//! Filters on the events of requests, and limits on their number.

use ltt_read::{Position, Timestamp, TracefileNumber};
use lttv_context::EventCall;
use lttv_filter::Filters;
#[cfg(feature = "state")]
use lttv_state::filter::KernelFilters;

/// A condition on the events for which a request's hooks are called.
///
/// It is implemented by [`Filters`], which are compiled from an expression, and by any
/// function of an [`EventCall`]. A filter is called at most once per event and request:
/// before the first of the request's hooks for the event, with the state that this hook
/// finds.
///
/// ```
/// use lttv_context::EventCall;
/// use lttv_requests::EventFilter;
///
/// fn on_first_cpu() -> impl EventFilter {
///     |call: &EventCall<'_, '_>| call.tracefile.tracefile().cpu() == Some(0)
/// }
/// # _ = on_first_cpu();
/// ```
pub trait EventFilter {
    /// Returns `true` if an event passes.
    fn passes(&mut self, call: &EventCall<'_, '_>) -> bool;
}

impl<F: FnMut(&EventCall<'_, '_>) -> bool> EventFilter for F {
    fn passes(&mut self, call: &EventCall<'_, '_>) -> bool {
        self(call)
    }
}

/// One filter per trace of the traceset, in the order of the traces. They have no access
/// to kernel state.
impl EventFilter for Filters {
    fn passes(&mut self, call: &EventCall<'_, '_>) -> bool {
        self.matches(&call.event)
    }
}

/// Filters with `state.` fields. They read the kernel state that they were created for,
/// which has to be attached to the scheduler's context.
#[cfg(feature = "state")]
impl EventFilter for KernelFilters {
    fn passes(&mut self, call: &EventCall<'_, '_>) -> bool {
        self.matches(call)
    }
}

/// The conditions under which a request's hooks are called for an event, decided once per
/// event.
#[derive(Default)]
pub(crate) struct RequestFilter<'h> {
    pub(crate) filter: Option<Box<dyn EventFilter + 'h>>,
    /// The time from which on, and before which, events are delivered to the request.
    /// `None` if the order of events guarantees this.
    pub(crate) window: Option<(Timestamp, Option<Timestamp>)>,
    /// The maximum number of events that pass. `None` if there is no limit.
    pub(crate) max_matches: Option<u64>,
    /// `true` if the request has several event hooks, so that one event is tested several
    /// times.
    pub(crate) has_several_hooks: bool,
    passed: u64,
    /// The event of the last decision (number of its tracefile and position in it), and
    /// whether it passed.
    last: Option<(TracefileNumber, Position, bool)>,
}

impl RequestFilter<'_> {
    /// Returns `true` if the time of an event is in the request's window.
    pub(crate) fn is_in_window(&self, call: &EventCall<'_, '_>) -> bool {
        self.window.is_none_or(|(since, until)| {
            let time = call.event.timestamp().unwrap_or(Timestamp::MIN);
            since <= time && until.is_none_or(|until| time < until)
        })
    }

    /// Returns `true` if the hooks are to be called for an event. Counts each passing
    /// event once.
    pub(crate) fn accepts(&mut self, call: &EventCall<'_, '_>) -> bool {
        if !self.has_several_hooks {
            return self.decide(call);
        }
        let event = (call.tracefile.number(), call.event.position());
        if let Some((tracefile, position, passes)) = self.last
            && (tracefile, position) == event
        {
            return passes;
        }
        let passes = self.decide(call);
        self.last = Some((event.0, event.1, passes));
        passes
    }

    /// Tests an event, and counts it if it passes.
    fn decide(&mut self, call: &EventCall<'_, '_>) -> bool {
        let passes = self.is_in_window(call)
            && self.filter.as_mut().is_none_or(|filter| filter.passes(call));
        self.passed += u64::from(passes);
        passes
    }

    /// Returns `true` if the maximum number of events has passed.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.max_matches.is_some_and(|max_matches| self.passed >= max_matches)
    }
}
