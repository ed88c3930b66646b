//! The events that running requests want, and reading only these.

use std::cell::Ref;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ltt_read::schema::EventTypeId;
use ltt_read::selection::{EventSelection, Shortcut, Verdict};
use ltt_read::{Event, TimeSpan, TraceIndex, TracefileIndex};

use crate::identity::RequestId;
use crate::request::request_filter::{EventFilter, SharedFilter};
use crate::scheduler::Scheduler;
use crate::scheduler::active_request::ActiveRequest;

/// The maximum number of running requests whose filters are combined. Combining more would
/// take longer than it saves.
const MAX_COMBINED: usize = 16;

/// The filter that the scheduler has set in its context.
#[derive(Debug, Default)]
pub(crate) struct WantedEvents {
    /// The requests that it was made for.
    requests: Vec<RequestId>,
    /// [`Scheduling::hook_changes`](lttv_context::Scheduling::hook_changes) at
    /// that time.
    hook_changes: u64,
    /// `true` if the context reads only events that some request wants.
    is_set: bool,
}

impl<'h> Scheduler<'h> {
    /// Makes the context read only the events that the running requests want. Returns
    /// whether it may leave out events.
    pub(crate) fn select_wanted(&mut self) -> bool {
        let hook_changes = self.context.scheduling().hook_changes();
        let running = self.running.iter().map(|request| request.id);
        if self.wanted.hook_changes == hook_changes
            && running.eq(self.wanted.requests.iter().copied())
        {
            return self.wanted.is_set;
        }
        self.read_all();
        let is_set = self.can_leave_out() && self.set_filter();
        self.wanted = WantedEvents {
            requests: self.running.iter().map(|request| request.id).collect(),
            hook_changes: self.context.scheduling().hook_changes(),
            is_set,
        };
        is_set
    }

    /// Makes the context read all events, and drops what requests have told about theirs.
    pub(crate) fn read_all(&mut self) {
        if self.wanted.is_set {
            self.context.clear_filter();
        }
        self.wanted = WantedEvents::default();
    }

    /// Returns whether events that no request wants may be left out: they are for the
    /// state of extensions and for hooks that belong to the application.
    fn can_leave_out(&mut self) -> bool {
        if self.running.is_empty() || self.running.len() > MAX_COMBINED {
            return false;
        }
        // A request that counts events in columns is served without a hook for each.
        let is_counter = self.running.len() == 1 && self.running[0].is_counter();
        (!self.context.extensions().keep_state() || is_counter)
            && !self.context.scheduling().has_filter()
            && self.running.iter().all(|request| request.is_restricted())
            && !self.context.scheduling().has_other_hooks()
    }

    /// Sets a filter for the events that any running request wants.
    fn set_filter(&mut self) -> bool {
        let filters: Vec<_> = self.running.iter().map(|r| r.selecting_filter()).collect();
        let filters: Vec<_> = filters.iter().map(|f| f.as_ref().map(|f| f.borrow())).collect();
        let parts = self.running.iter().zip(&filters).map(|(request, filter)| Part {
            trace: request.trace,
            selection: filter
                .as_ref()
                .and_then(|filter: &Ref<'_, dyn EventFilter>| filter.selection()),
        });
        let union = Union { parts: parts.collect() };
        let exact = match (&*self.running, &*filters) {
            ([request], [Some(filter)]) if filter.is_selection_exact() => Some(request),
            _ => None,
        };
        match exact {
            Some(request) => {
                let (shared, filter) = (request.shared().clone(), request.selecting_filter());
                self.context.scheduling().set_filter_with(&union, move |event, _| {
                    let matches = || matches(filter.as_ref(), event);
                    catch_unwind(AssertUnwindSafe(matches)).unwrap_or_else(|panic| {
                        shared.fail(panic);
                        true
                    })
                });
            }
            None => self.context.scheduling().set_filter_with(&union, |_, _| true),
        }
        true
    }
}

/// Returns whether the selection of a filter matches an event.
fn matches(filter: Option<&SharedFilter<'_>>, event: &Event<'_>) -> bool {
    let Some(filter) = filter else { return true };
    filter.borrow().selection().is_none_or(|selection| selection.matches(event))
}

/// The events that one request wants, as far as known in advance.
struct Part<'f> {
    trace: Option<TraceIndex>,
    selection: Option<&'f dyn EventSelection>,
}

/// The events that any of several requests wants, as far as known in advance.
struct Union<'f> {
    parts: Vec<Part<'f>>,
}

impl<'f> Union<'f> {
    /// Iterates over the selections of the requests that want events of a trace.
    fn in_trace(&self, trace: TraceIndex) -> impl Iterator<Item = Option<&'f dyn EventSelection>> {
        let parts = self.parts.iter();
        parts.filter(move |part| part.trace.is_none_or(|own| own == trace)).map(|p| p.selection)
    }
}

impl EventSelection for Union<'_> {
    fn matches(&self, _: &Event<'_>) -> bool {
        true // Not called: the filter is set with a function of its own.
    }

    fn verdict(&self, trace: TraceIndex, event_type: EventTypeId) -> Verdict {
        let mut verdict = Verdict::Never;
        for selection in self.in_trace(trace) {
            match selection.map_or(Verdict::Always, |s| s.verdict(trace, event_type)) {
                Verdict::Always => return Verdict::Always,
                Verdict::Depends => verdict = Verdict::Depends,
                Verdict::Never => {}
            }
        }
        verdict
    }

    fn shortcut(&self, trace: TraceIndex, event_type: EventTypeId) -> Option<&Shortcut> {
        match &*self.parts {
            [part] => part.selection?.shortcut(trace, event_type),
            _ => None,
        }
    }

    fn may_match(&self, trace: TraceIndex, tracefile: TracefileIndex) -> bool {
        let may = |selection: Option<&dyn EventSelection>| {
            selection.is_none_or(|selection| selection.may_match(trace, tracefile))
        };
        self.in_trace(trace).any(may)
    }

    fn spans(&self) -> Vec<TimeSpan> {
        let spans = |part: &Part<'_>| part.selection.map_or(vec![TimeSpan::ALL], |s| s.spans());
        join(self.parts.iter().flat_map(spans).collect())
    }
}

/// Joins spans that overlap or adjoin, and sorts them.
fn join(mut spans: Vec<TimeSpan>) -> Vec<TimeSpan> {
    spans.sort_unstable_by_key(|span| span.start);
    let mut joined: Vec<TimeSpan> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.start <= last.end.saturating_add(1) => {
                last.end = last.end.max(span.end);
            }
            _ => joined.push(span),
        }
    }
    joined
}

impl ActiveRequest<'_> {
    /// Returns whether the request wants only some events, as it is known in advance.
    fn is_restricted(&self) -> bool {
        self.trace.is_some() || self.selecting_filter().is_some()
    }
}
