//! Which of the events of its interval a request is for.

use lttv_context::EventCall;

/// Says which events a request's hooks are called for.
///
/// Any function of an event's call will do. It is asked at most once an event and
/// request: when the first of the request's hooks would be called for it, with the
/// state that this hook finds.
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
