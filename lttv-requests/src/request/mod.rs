//! Requests for events, and their properties.

pub(crate) mod control;
pub(crate) mod request_filter;
pub(crate) mod request_start;

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use ltt_read::{Timestamp, TraceIndex};
use lttv_context::{
    Bounds, EventCall, HookSet, Level, ReadCall, Scope, StalePosition, Subscription,
    TracesetPosition,
};
use lttv_hooks::{IntoFlow, Priority};

use crate::chunk::FinishReason;
use crate::identity::Owner;
use control::{Control, Shared};
use request_filter::{EventFilter, SharedFilter};
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
///         println!("{}", call.time());
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
    pub(crate) trace: Option<TraceIndex>,
    pub(crate) hooks: RequestHooks<'h>,
    pub(crate) shared: Rc<Shared<'h>>,
}

/// The hooks of a request, grouped by the phases that they enclose.
#[derive(Default)]
pub(crate) struct RequestHooks<'h> {
    /// The `before_request` hooks.
    pub(crate) request: Option<HookSet<'h>>,
    pub(crate) after_request: Vec<Box<AfterRequest<'h>>>,
    /// The hooks before and after chunks at the level of the traceset.
    pub(crate) chunk: Option<HookSet<'h>>,
    /// The hooks before and after chunks at the levels of traces and tracefiles.
    pub(crate) parts: Option<HookSet<'h>>,
    /// The event hooks.
    pub(crate) events: HookSet<'h>,
    pub(crate) event_hooks: usize,
    pub(crate) columns: Option<Columns<'h>>,
}

impl fmt::Debug for RequestHooks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestHooks").field("events", &self.event_hooks).finish_non_exhaustive()
    }
}

/// A counter of events in columns of equal width.
pub(crate) struct Columns<'h> {
    pub(crate) start: Timestamp,
    pub(crate) width: u64,
    pub(crate) add: Box<AddEvents<'h>>,
    /// The hook that counts each event by itself, where other requests are served as well.
    pub(crate) by_hook: HookSet<'h>,
}

/// A function that adds a number of events at a time.
pub(crate) type AddEvents<'h> = dyn FnMut(Timestamp, u64, &Control<'h>) + 'h;

impl Columns<'_> {
    /// Returns the start and end of the column of a time. `None` if it is before the
    /// first column, or if its end cannot be represented.
    pub(crate) fn column_of(&self, time: Timestamp) -> Option<Range<Timestamp>> {
        let offset = (time >= self.start).then(|| time.since(self.start))?;
        let begin = self.start.as_ns().checked_add_unsigned(offset - offset % self.width)?;
        let end = begin.checked_add_unsigned(self.width)?;
        Some(Timestamp::from_ns(begin)..Timestamp::from_ns(end))
    }
}

pub(crate) type AfterRequest<'h> =
    dyn FnMut(&mut ReadCall<'_, 'h>, &Control<'h>, FinishReason) + 'h;

impl<'h> EventsRequest<'h> {
    /// Creates a request for all events of the traceset, without any hook.
    pub fn new(owner: Owner) -> Self {
        EventsRequest {
            owner,
            urgency: Urgency::default(),
            start: RequestStart::from(Start::Begin),
            bounds: Bounds::all(),
            by_delivery: false,
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

    /// Interprets start and end times as times of [delivery](EventCall::time) instead of
    /// times of events: the request receives all events from the position that seeking
    /// the start leads to, up to the position that seeking the end leads to. With this,
    /// requests for adjoining intervals receive adjoining parts of the event sequence,
    /// even where clocks go back.
    #[must_use]
    pub fn by_delivery(self) -> Self {
        EventsRequest { by_delivery: true, ..self }
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
    /// number 0.
    #[cfg(feature = "views")]
    pub(crate) fn count_columns(
        mut self,
        start: Timestamp,
        width: u64,
        add: impl FnMut(Timestamp, u64, &Control<'h>) + Clone + 'h,
    ) -> Self {
        let mut add_one = add.clone();
        let hook = self.shared.event_hook(move |call: &mut EventCall<'_, 'h>, control| {
            add_one(call.event.timestamp().unwrap_or(Timestamp::MIN), 1, control);
        });
        let mut by_hook = HookSet::new();
        by_hook.on_event(Subscription::to_every_event(), hook);
        self.hooks.columns = Some(Columns { start, width, add: Box::new(add), by_hook });
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

    /// Adds a hook that is called once, before all other calls of the request.
    #[must_use]
    pub fn before_request<V: IntoFlow>(
        mut self,
        hook: impl FnMut(&mut ReadCall<'_, 'h>, &Control<'h>) -> V + 'h,
    ) -> Self {
        let hook = self.shared.level_hook(hook);
        self.hooks.request.get_or_insert_default().before(Level::Traceset, hook);
        self
    }

    /// Adds a hook that is called once, after all other calls of the request, with the
    /// reason of the end.
    #[must_use]
    pub fn after_request(
        mut self,
        hook: impl FnMut(&mut ReadCall<'_, 'h>, &Control<'h>, FinishReason) + 'h,
    ) -> Self {
        self.hooks.after_request.push(Box::new(hook));
        self
    }

    /// Adds a hook that is called before each chunk: for the traceset, for each of its
    /// traces, or for each of their tracefiles. If the request is restricted to a trace,
    /// hooks at the lower levels are called for that trace and its tracefiles only.
    #[must_use]
    pub fn before_chunk<V: IntoFlow>(
        self,
        level: Level,
        hook: impl FnMut(&mut ReadCall<'_, 'h>, &Control<'h>) -> V + 'h,
    ) -> Self {
        let hook = self.shared.level_hook(hook);
        self.on_chunk(level, |set| _ = set.before_with(level, Priority::DEFAULT, hook))
    }

    /// Adds a hook that is called after each chunk, with the levels of
    /// [`before_chunk`](Self::before_chunk).
    #[must_use]
    pub fn after_chunk<V: IntoFlow>(
        self,
        level: Level,
        hook: impl FnMut(&mut ReadCall<'_, 'h>, &Control<'h>) -> V + 'h,
    ) -> Self {
        let hook = self.shared.level_hook(hook);
        self.on_chunk(level, |set| _ = set.after_with(level, Priority::DEFAULT, hook))
    }

    /// Adds a hook to the set for its level.
    fn on_chunk(mut self, level: Level, add: impl FnOnce(&mut HookSet<'h>)) -> Self {
        let set = match level {
            Level::Traceset => &mut self.hooks.chunk,
            Level::Trace | Level::Tracefile => &mut self.hooks.parts,
        };
        add(set.get_or_insert_default());
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
        if let Some(parts) = &mut self.hooks.parts {
            parts.set_scope(Scope::Trace(trace));
        }
    }

    /// Returns `true` if events that the filter excludes in advance need not be read.
    pub(crate) fn is_selecting(&self) -> bool {
        self.bounds.max_events().is_none() && self.shared.filter.borrow().selecting().is_some()
    }
}

/// An error from submitting a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
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
