//! Requests for events, and their properties.

pub(crate) mod control;
pub(crate) mod request_filter;
pub(crate) mod request_hooks;
pub(crate) mod request_start;

use std::cell::RefCell;
use std::ops::RangeBounds;
use std::rc::Rc;

use ltt_read::{Timestamp, TraceIndex};
use lttv_context::{
    Bounds, EventCall, Level, ReadCall, Scope, StalePosition, Subscription, TracesetPosition,
};
use lttv_hooks::{IntoFlow, Priority};

use crate::chunk::FinishReason;
use crate::identity::Owner;
use control::{Control, Shared};
use request_filter::{EventFilter, SharedFilter};
#[cfg(feature = "views")]
use request_hooks::Columns;
use request_hooks::{HookPlace, RequestHooks};
use request_start::{RequestStart, Start};

/// The urgency of a request. The most urgent request is served first, regardless of the
/// positions of others.
///
/// It differs from [`lttv_hooks::Priority`], the order in which hooks are called for one
/// event.
///
/// ```
/// use lttv_requests::Urgency;
///
/// assert!(Urgency::HIGH > Urgency::NORMAL && Urgency::NORMAL > Urgency::LOW);
/// assert!(Urgency::new(255) > Urgency::HIGH);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Urgency(u8);

impl Urgency {
    /// The urgency of requests that can wait: 64.
    pub const LOW: Urgency = Urgency(64);
    /// The default urgency: 128.
    pub const NORMAL: Urgency = Urgency(128);
    /// The urgency of requests that a user waits for: 192.
    pub const HIGH: Urgency = Urgency(192);

    /// Creates an urgency of one of 256 levels; 255 is the most urgent.
    pub const fn new(level: u8) -> Self {
        Urgency(level)
    }

    /// Returns the urgency as a number.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl Default for Urgency {
    fn default() -> Self {
        Urgency::NORMAL
    }
}

/// A request for the events of an interval, with the hooks to call for them.
///
/// A request has one start and any number of ends, all of which are exact. It ends at the
/// first of its ends; without any, it ends at the end of the traceset. The data of a
/// viewer is captured by its hooks.
///
/// ```
/// use ltt_read::Timestamp;
/// use lttv_requests::{EventsRequest, Owner, Urgency};
///
/// let list = Owner::unique();
/// let request = EventsRequest::new(list)
///     .urgency(Urgency::HIGH)
///     .starting_at(Timestamp::from_ns(1_000))
///     .until(Timestamp::from_ns(2_000))
///     .max_events(100)
///     .before_request(|_, _| println!("busy"))
///     .on_event("sched_switch", |call, request| {
///         println!("{}", call.event_time());
///         if call.tracefile.tracefile().cpu() == Some(7) {
///             request.stop();
///         }
///     })
///     .after_request(|_, _, reason| println!("done: {reason:?}"));
/// # _ = request;
/// ```
///
/// # Order of hooks
///
/// First, `before_request` is called once, with the state of the start. Then, for each
/// chunk, `before_chunk`, the event hooks, and `after_chunk` are called. Event hooks of
/// all requests are called in the order of [`lttv_hooks`]. Finally, `after_request` is
/// called once, with the reason of the end, however the request ended. A request that
/// ends without an event has one chunk.
///
/// Hooks before and after have a level. Before the request and before each chunk, they are
/// called for the traceset, then for its first trace, then for the tracefiles of this
/// trace, then for the next trace. After each chunk and after the request, the order is the
/// other way round: for the tracefiles of the first trace, then for this trace, then for
/// the next one, and for the traceset last. Of several hooks at one place, the one with the
/// lower [priority](HookPlace::priority) is called first, and of equal priorities, the one
/// that was added first:
///
/// ```
/// # use std::cell::RefCell;
/// # use lttv_context::{Level, Traceset, TracesetContext};
/// # use lttv_requests::{Budget, EventsRequest, HookPlace, Owner, Scheduler};
/// use lttv_hooks::Priority;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let lines = RefCell::new(Vec::new());
/// let note = |line| lines.borrow_mut().push(line);
/// # let mut scheduler = Scheduler::new(TracesetContext::new(Traceset::open(path)?));
/// let early = HookPlace::at(Level::Trace).priority(Priority::FIRST);
/// let request = EventsRequest::new(Owner::unique())
///     .max_events(0)
///     .before_request_at(Level::Trace, |_, _| note("second for the trace"))
///     .before_request_at(early, |_, _| note("first for the trace"))
///     .before_request(|_, _| note("for the traceset"))
///     .after_request_at(Level::Trace, |_, _, _| note("after the trace"))
///     .after_request(|_, _, _| note("after the traceset"));
/// scheduler.submit(request)?;
/// while scheduler.service_chunk(Budget::default()).has_more() {}
/// drop(scheduler);
/// assert_eq!(
///     lines.into_inner(),
///     [
///         "for the traceset",
///         "first for the trace",
///         "second for the trace",
///         "after the trace",
///         "after the traceset"
///     ]
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// An event hook that returns [`Flow::Break`](std::ops::ControlFlow::Break) ends the
/// chunk, so that control returns to the application; no request loses an event. To end
/// its request, a hook calls [`Control::stop`].
///
/// A hook that panics ends its request and does not affect others: see
/// [`Scheduler`](crate::Scheduler#panics-of-hooks).
#[derive(Debug)]
pub struct EventsRequest<'h> {
    pub(crate) owner: Owner,
    pub(crate) urgency: Urgency,
    pub(crate) start: RequestStart,
    pub(crate) bounds: Bounds,
    pub(crate) by_delivery: bool,
    pub(crate) waits: bool,
    pub(crate) uses_state: bool,
    pub(crate) trace: Option<TraceIndex>,
    pub(crate) hooks: RequestHooks<'h>,
    pub(crate) shared: Rc<Shared<'h>>,
}

impl<'h> EventsRequest<'h> {
    /// Creates a request for all events of the traceset, without any hook.
    pub fn new(owner: Owner) -> Self {
        EventsRequest {
            owner,
            urgency: Urgency::default(),
            start: RequestStart::from(Start::Begin),
            bounds: Bounds::all(),
            by_delivery: false,
            waits: false,
            uses_state: true,
            trace: None,
            hooks: RequestHooks::default(),
            shared: Shared::new(),
        }
    }

    /// Sets the urgency. The default is [`Urgency::NORMAL`].
    #[must_use]
    pub fn urgency(self, urgency: Urgency) -> Self {
        EventsRequest { urgency, ..self }
    }

    /// Sets the start: a [`Timestamp`] (no event before it is delivered) or a
    /// [`TracesetPosition`]. The default is the start of the traceset.
    #[must_use]
    pub fn starting_at(self, start: impl Into<Start>) -> Self {
        EventsRequest { start: RequestStart::from(start.into()), ..self }
    }

    /// Sets the end time. The request ends when all events before this time have been
    /// delivered; events at this time or later are not delivered.
    #[must_use]
    pub fn until(self, time: Timestamp) -> Self {
        EventsRequest { bounds: self.bounds.until(time), ..self }
    }

    /// Sets the end time, inclusive. The request ends when all events at this time or
    /// before have been delivered.
    #[must_use]
    pub fn through(self, time: Timestamp) -> Self {
        match time.as_ns().checked_add(1) {
            Some(end) => self.until(Timestamp::from_ns(end)),
            None => self,
        }
    }

    /// Sets the start time and the end time, as [`Bounds::within`](lttv_context::Bounds::within) does: `a..b`
    /// is without `b`, a [`TimeSpan`](ltt_read::TimeSpan) contains both of its ends.
    #[must_use]
    pub fn within(self, times: impl RangeBounds<Timestamp>) -> Self {
        let all = Bounds::all().within(times);
        let request = match all.start_time() {
            Some(start) => self.starting_at(start),
            None => self,
        };
        match all.end_time() {
            Some(end) => request.until(end),
            None => request,
        }
    }

    /// Interprets start and end times as times of [delivery](EventCall::delivery_time) instead of
    /// times of events: the request receives all events from the position that seeking
    /// the start leads to, up to the position that seeking the end leads to. With this,
    /// requests for adjoining intervals receive adjoining parts of the event sequence,
    /// even where clocks go back.
    #[must_use]
    pub fn by_delivery(self) -> Self {
        EventsRequest { by_delivery: true, ..self }
    }

    /// Makes the request wait for events that are still to be recorded, in a [growing
    /// traceset](lttv_context::Traceset::growing): it goes on when the scheduler
    /// [continues](crate::Scheduler::continue_with), until one of its ends, or that of the
    /// traceset. Without this, it ends with [`FinishReason::Pending`] when all of its events that
    /// are final have been delivered.
    #[must_use]
    pub fn waiting(self) -> Self {
        EventsRequest { waits: true, ..self }
    }

    /// Declares that the hooks of the request do not use the state of extensions. Where that state would
    /// have to be replayed first, the request is served at once, and the state is left aside meanwhile: it
    /// belongs to another position. With a filter that may use the state, since its [selection is not
    /// exact](EventFilter::is_selection_exact), this has no effect.
    #[must_use]
    pub fn without_state(self) -> Self {
        EventsRequest { uses_state: false, ..self }
    }

    /// Sets the end position. The request ends at this position, or immediately if it
    /// starts after it.
    #[must_use]
    pub fn until_position(self, position: &TracesetPosition) -> Self {
        EventsRequest { bounds: self.bounds.until_position(position), ..self }
    }

    /// Limits the number of events of the traceset, or of the request's trace, whether or
    /// not they match the filter or a hook.
    #[must_use]
    pub fn max_events(self, events: u64) -> Self {
        EventsRequest { bounds: self.bounds.events(events), ..self }
    }

    /// Limits the number of events that pass the filter and for which at least one hook
    /// is called.
    #[must_use]
    pub fn max_matches(self, events: u64) -> Self {
        self.shared.filter.borrow_mut().max_matches = Some(events);
        self.shared.is_filtered.set(true);
        self
    }

    /// Restricts the request to the trace with this index in the traceset.
    #[must_use]
    pub fn in_trace(self, trace: TraceIndex) -> Self {
        EventsRequest { trace: Some(trace), ..self }
    }

    /// Sets the filter. Hooks are only called for events that pass it. Replaces a
    /// previous filter.
    ///
    /// Events that the filter [excludes in advance](EventFilter::selection) are not read,
    /// unless another running request or an extension of the context needs them, or the
    /// request has a [limit](Self::max_events) that counts them.
    #[must_use]
    pub fn filter(self, filter: impl EventFilter + 'h) -> Self {
        self.shared_filter(Rc::new(RefCell::new(filter)))
    }

    /// Sets a filter that other requests use as well.
    pub(crate) fn shared_filter(self, filter: SharedFilter<'h>) -> Self {
        self.shared.filter.borrow_mut().filter = Some(filter);
        self.shared.is_filtered.set(true);
        self
    }

    /// Counts events in columns of equal width, of which the first starts at `start`. For
    /// events in one column, `add` is called with the time of one of them, or the start of
    /// the column, and their number. It may stop the request, also when called with the
    /// number 0. `complete` is called with the start of a column all of whose events in the
    /// request have been counted, as soon as this is known; it may not be called at all.
    #[cfg(feature = "views")]
    pub(crate) fn count_columns(
        mut self,
        start: Timestamp,
        width: u64,
        add: impl FnMut(Timestamp, u64, &Control<'h>) + Clone + 'h,
        complete: impl FnMut(Timestamp) + 'h,
    ) -> Self {
        let mut add_one = add.clone();
        let hook = self.shared.event_hook(move |call: &mut EventCall<'_, 'h>, control| {
            add_one(call.event.timestamp().unwrap_or(Timestamp::MIN), 1, control);
        });
        let mut by_hook = lttv_context::HookSet::new();
        by_hook.on_event(Subscription::to_every_event(), hook);
        let (add, complete) = (Box::new(add), Box::new(complete));
        self.hooks.columns = Some(Columns { start, width, add, complete, by_hook });
        self.note_hooks();
        self
    }

    /// Adds a hook for events with a name (optionally with the wildcards `*` and `?`), or
    /// for those of a [`Subscription`].
    #[must_use]
    pub fn on_event<V: IntoFlow>(
        mut self,
        events: impl Into<Subscription>,
        hook: impl FnMut(&mut EventCall<'_, 'h>, &Control<'h>) -> V + 'h,
    ) -> Self {
        self.hooks.events.on_event(events, self.shared.event_hook(hook));
        self.hooks.event_hooks += 1;
        self.note_hooks();
        self
    }

    /// Records whether there are several hooks for events.
    fn note_hooks(&self) {
        let hooks = self.hooks.event_hooks + usize::from(self.hooks.columns.is_some());
        self.shared.filter.borrow_mut().has_several_hooks = hooks > 1;
    }

    /// Adds a hook for all events.
    #[must_use]
    pub fn on_every_event<V: IntoFlow>(
        self,
        hook: impl FnMut(&mut EventCall<'_, 'h>, &Control<'h>) -> V + 'h,
    ) -> Self {
        self.on_event(Subscription::to_every_event(), hook)
    }

    /// Adds a hook that is called once, before all other calls of the request. Equivalent
    /// to [`before_request_at`](Self::before_request_at) with the level of the traceset.
    #[must_use]
    pub fn before_request<V: IntoFlow>(
        self,
        hook: impl FnMut(&mut ReadCall<'_, 'h>, &Control<'h>) -> V + 'h,
    ) -> Self {
        self.before_request_at(Level::Traceset, hook)
    }

    /// Adds a hook that is called once before the request at a [`Level`], or at a
    /// [`HookPlace`], which also has a priority: for the traceset, for each of its traces,
    /// or for each of their tracefiles. If the request is restricted to a trace, hooks at
    /// the lower levels are called for that trace and its tracefiles only.
    #[must_use]
    pub fn before_request_at<V: IntoFlow>(
        mut self,
        place: impl Into<HookPlace>,
        hook: impl FnMut(&mut ReadCall<'_, 'h>, &Control<'h>) -> V + 'h,
    ) -> Self {
        let (place, hook) = (place.into(), self.shared.level_hook(hook));
        self.hooks.request.at(place.level).before_with(place.level, place.priority, hook);
        self
    }

    /// Adds a hook that is called once, after all other calls of the request, with the
    /// reason of the end. Equivalent to [`after_request_at`](Self::after_request_at) with
    /// the level of the traceset.
    #[must_use]
    pub fn after_request(
        self,
        hook: impl FnMut(&mut ReadCall<'_, 'h>, &Control<'h>, FinishReason) + 'h,
    ) -> Self {
        self.after_request_at(Level::Traceset, hook)
    }

    /// Adds a hook that is called once after the request, with the reason of the end, at
    /// the places of [`before_request_at`](Self::before_request_at).
    #[must_use]
    pub fn after_request_at(
        mut self,
        place: impl Into<HookPlace>,
        hook: impl FnMut(&mut ReadCall<'_, 'h>, &Control<'h>, FinishReason) + 'h,
    ) -> Self {
        self.hooks.after_request.push((place.into(), Box::new(hook)));
        self
    }

    /// Adds a hook that is called before each chunk, at the places of
    /// [`before_request_at`](Self::before_request_at).
    #[must_use]
    pub fn before_chunk<V: IntoFlow>(
        mut self,
        place: impl Into<HookPlace>,
        hook: impl FnMut(&mut ReadCall<'_, 'h>, &Control<'h>) -> V + 'h,
    ) -> Self {
        let (place, hook) = (place.into(), self.shared.level_hook(hook));
        self.hooks.chunk.at(place.level).before_with(place.level, place.priority, hook);
        self
    }

    /// Adds a hook that is called after each chunk, at the places of
    /// [`before_request_at`](Self::before_request_at).
    #[must_use]
    pub fn after_chunk<V: IntoFlow>(
        mut self,
        place: impl Into<HookPlace>,
        hook: impl FnMut(&mut ReadCall<'_, 'h>, &Control<'h>) -> V + 'h,
    ) -> Self {
        let (place, hook) = (place.into(), self.shared.level_hook(hook));
        self.hooks.chunk.at(place.level).after_with(place.level, place.priority, hook);
        self
    }

    /// Restricts the hooks to the request's trace, if there is one, and counts its
    /// events. Called once, on submission.
    pub(crate) fn restrict_to_trace(&mut self) {
        let shared = &self.shared;
        let Some(trace) = self.trace else { return };
        if !self.is_selecting() {
            shared.max_counted.set(self.bounds.max_events().unwrap_or(u64::MAX));
            let all = Subscription::to_every_event().priority(Priority::LAST);
            self.hooks.events.on_event(all, shared.count_hook());
        }
        self.hooks.events.set_scope(Scope::Trace(trace));
        if let Some(columns) = &mut self.hooks.columns {
            columns.by_hook.set_scope(Scope::Trace(trace));
        }
        self.hooks.request.set_scope(Scope::Trace(trace));
        self.hooks.chunk.set_scope(Scope::Trace(trace));
    }

    /// Returns `true` if events that the filter excludes in advance need not be read.
    pub(crate) fn is_selecting(&self) -> bool {
        self.bounds.max_events().is_none() && self.shared.filter.borrow().selecting().is_some()
    }
}

/// An error from submitting a request.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// The start or end position belongs to another traceset.
    #[error(transparent)]
    Stale(StalePosition),
    /// The request is restricted to a trace that does not exist.
    #[error("request is restricted to trace {}, but the traceset has {traces} traces", trace.0)]
    NoSuchTrace {
        /// The index of the requested trace.
        trace: TraceIndex,
        /// The number of traces of the traceset.
        traces: usize,
    },
    /// The request was submitted to the scheduler from a hook, which has to use its
    /// [`Control`](crate::Control).
    #[error("request submitted to the scheduler from a hook, which has to use its control")]
    InHook,
    /// The request was submitted by a hook whose own request has not been submitted.
    #[error("request comes from a hook whose own request has not been submitted")]
    NotServed,
}

ltt_read::debug_as_chain!(SubmitError);
