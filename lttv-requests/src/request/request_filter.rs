//! Filters on the events of requests, and limits on their number.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use ltt_read::selection::EventSelection;
use ltt_read::{Position, Timestamp, Trace, TracefileNumber};
use lttv_context::EventCall;
use lttv_filter::Filters;
#[cfg(feature = "state")]
use lttv_state::filter::KernelFilters;

/// A condition on the events for which a request's hooks are called.
///
/// It is implemented by [`Filters`], which are compiled from an expression, also behind a
/// reference, an [`Rc`] or an [`Arc`], and by any function of an [`EventCall`]. A filter is
/// called at most once per event and request: before the first of the request's hooks for
/// the event, with the state that this hook finds.
///
/// A filter can tell in advance which events cannot pass: [`selection`](Self::selection).
/// Tracefiles, packets and types of events that no running request wants are then not
/// read.
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

    /// Returns what is known in advance about the events that pass: their times,
    /// tracefiles and types. An event that the selection excludes in advance must never
    /// pass. `None`, the default, if nothing is known.
    ///
    /// ```
    /// use ltt_read::schema::EventTypeId;
    /// use ltt_read::selection::{EventSelection, Verdict};
    /// use ltt_read::{Event, TraceIndex};
    /// use lttv_context::EventCall;
    /// use lttv_requests::EventFilter;
    ///
    /// struct OfType(TraceIndex, EventTypeId);
    ///
    /// impl EventSelection for OfType {
    ///     fn matches(&self, event: &Event<'_>) -> bool {
    ///         (event.trace_index(), event.type_id()) == (self.0, self.1)
    ///     }
    ///
    ///     fn verdict(&self, trace: TraceIndex, event_type: EventTypeId) -> Verdict {
    ///         if (trace, event_type) == (self.0, self.1) { Verdict::Always } else { Verdict::Never }
    ///     }
    /// }
    ///
    /// impl EventFilter for OfType {
    ///     fn passes(&mut self, call: &EventCall<'_, '_>) -> bool {
    ///         self.matches(&call.event)
    ///     }
    ///
    ///     fn selection(&self) -> Option<&dyn EventSelection> {
    ///         Some(self)
    ///     }
    /// }
    /// ```
    fn selection(&self) -> Option<&dyn EventSelection> {
        None
    }

    /// Returns `true` if an event passes if and only if the selection
    /// [matches](EventSelection::matches) it, so that no state is needed. If `false`, the
    /// default, only what the selection knows in advance is used.
    fn is_selection_exact(&self) -> bool {
        false
    }

    /// Extends the filter to later versions of the traces, which may have more event types and
    /// tracefiles, and to traces after them. Returns `false` if it cannot: its requests then end
    /// with [`FinishReason::TracesetChanged`](crate::FinishReason::TracesetChanged). The default is
    /// `true` for filters without a selection.
    fn grow(&mut self, traces: &[Arc<Trace>]) -> bool {
        let _ = traces;
        self.selection().is_none()
    }
}

impl<F: FnMut(&EventCall<'_, '_>) -> bool> EventFilter for F {
    fn passes(&mut self, call: &EventCall<'_, '_>) -> bool {
        self(call)
    }
}

/// Implements [`EventFilter`] for [`Filters`] or a pointer to them.
macro_rules! impl_for_filters {
    ($(#[$doc:meta])* $name:ty $(, $grow:item)?) => {
        $(#[$doc])*
        impl EventFilter for $name {
            fn passes(&mut self, call: &EventCall<'_, '_>) -> bool {
                self.matches(&call.event)
            }

            $($grow)?

            fn selection(&self) -> Option<&dyn EventSelection> {
                let filters: &Filters = self;
                Some(filters)
            }

            fn is_selection_exact(&self) -> bool {
                true
            }
        }
    };
}

impl_for_filters!(
    /// One filter per trace of the traceset, in the order of the traces. They have no access
    /// to kernel state.
    Filters,
    fn grow(&mut self, traces: &[Arc<Trace>]) -> bool {
        EventSelection::grow(self, traces)
    }
);
impl_for_filters!(&Filters);
impl_for_filters!(Rc<Filters>);
impl_for_filters!(Arc<Filters>);

/// Implements [`EventFilter`] for [`KernelFilters`] or a pointer to them.
#[cfg(feature = "state")]
macro_rules! impl_for_kernel_filters {
    ($(#[$doc:meta])* $name:ty $(, $grow:item)?) => {
        $(#[$doc])*
        impl EventFilter for $name {
            fn passes(&mut self, call: &EventCall<'_, '_>) -> bool {
                self.matches(call)
            }

            $($grow)?

            fn selection(&self) -> Option<&dyn EventSelection> {
                Some(self.filters())
            }

            fn is_selection_exact(&self) -> bool {
                !self.uses_state()
            }
        }
    };
}

#[cfg(feature = "state")]
impl_for_kernel_filters!(
    /// Filters with `state.` fields. They read the kernel state that they were created for,
    /// which has to be attached to the scheduler's context.
    KernelFilters,
    fn grow(&mut self, traces: &[Arc<Trace>]) -> bool {
        KernelFilters::grow(self, traces);
        true
    }
);
#[cfg(feature = "state")]
impl_for_kernel_filters!(&KernelFilters);
#[cfg(feature = "state")]
impl_for_kernel_filters!(Rc<KernelFilters>);
#[cfg(feature = "state")]
impl_for_kernel_filters!(Arc<KernelFilters>);

/// A filter that several requests may use.
pub(crate) type SharedFilter<'h> = Rc<RefCell<dyn EventFilter + 'h>>;

/// The conditions under which a request's hooks are called for an event, decided once per
/// event.
#[derive(Default)]
pub(crate) struct RequestFilter<'h> {
    pub(crate) filter: Option<SharedFilter<'h>>,
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

impl<'h> RequestFilter<'h> {
    /// Returns the filter if it tells in advance which events cannot pass.
    pub(crate) fn selecting(&self) -> Option<&SharedFilter<'h>> {
        self.filter.as_ref().filter(|filter| filter.borrow().selection().is_some())
    }

    /// Returns the number of events that have passed.
    pub(crate) fn passed(&self) -> u64 {
        self.passed
    }

    /// Counts events that have passed without a call of a hook.
    pub(crate) fn count(&mut self, events: u64) {
        self.passed += events;
    }

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
            && self.filter.as_ref().is_none_or(|filter| filter.borrow_mut().passes(call));
        self.passed += u64::from(passes);
        passes
    }

    /// Returns `true` if the maximum number of events has passed.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.max_matches.is_some_and(|max_matches| self.passed >= max_matches)
    }
}
