//! Which of the events of its interval a request is for.

use lttv_context::EventCall;
use lttv_filter::Filters;
#[cfg(feature = "state")]
use lttv_state::filter::KernelFilters;

/// Says which events a request's hooks are called for.
///
/// [`Filters`] made of an expression will do, as will any function of an event's
/// call. It is asked at most once an event and request: when the first of the
/// request's hooks would be called for it, with the state that this hook finds.
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
    /// Whether an event passes.
    fn passes(&mut self, call: &EventCall<'_, '_>) -> bool;
}

impl<F: FnMut(&EventCall<'_, '_>) -> bool> EventFilter for F {
    fn passes(&mut self, call: &EventCall<'_, '_>) -> bool {
        self(call)
    }
}

/// Filters of the traceset's traces, in its order. What they may say of state is
/// not known to them.
impl EventFilter for Filters {
    fn passes(&mut self, call: &EventCall<'_, '_>) -> bool {
        self.matches(&call.event)
    }
}

/// The same with `state.` fields, of the state that they were told to ask: one that is
/// attached to the scheduler's context.
#[cfg(feature = "state")]
impl EventFilter for KernelFilters {
    fn passes(&mut self, call: &EventCall<'_, '_>) -> bool {
        self.matches(call)
    }
}
