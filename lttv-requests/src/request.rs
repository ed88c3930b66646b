//! What a viewer asks for.

use std::fmt;
use std::rc::Rc;

use ltt_read::Timestamp;
use lttv_context::{
    Bounds, EventCall, HookSet, Level, LevelCall, Scope, Subscription, TracesetPosition,
};
use lttv_hooks::{Priority, Verdict};

use crate::control::{Control, Shared};
use crate::cut::Cut;
use crate::filter::EventFilter;
use crate::finish::FinishReason;
use crate::identity::Owner;
use crate::start::Start;
use crate::urgency::Urgency;

/// What a viewer asks for: events from a start up to the first of its ends, and
/// the hooks to be called for them.
///
/// There is one start, and any number of ends; without any it goes to the end of
/// the traceset. All are exact. What belongs to a viewer is captured by its hooks.
///
/// ```
/// use ltt_read::Timestamp;
/// use lttv_requests::{EventsRequest, Owner, Urgency};
///
/// let list = Owner::fresh();
/// let request = EventsRequest::new(list)
///     .urgency(Urgency::HIGH)
///     .from(Timestamp::from_ns(1_000))
///     .until(Timestamp::from_ns(2_000))
///     .events(100)
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
/// # When hooks are called
///
/// Once `before_request`, when state is that of the start. For each chunk
/// `before_chunk`, events, `after_chunk`; for events in the order of
/// [`lttv_hooks`], among those of other requests. Once `after_request`, with the
/// reason, however it ended. A request that ends without an event has one chunk.
///
/// An event hook that returns [`Flow::Break`](std::ops::ControlFlow::Break) ends
/// the chunk, so that the application gets its turn; nobody loses an event. To
/// end its request it calls [`Control::stop`].
///
/// A hook that panics ends its request, and concerns no other one: see
/// [`Scheduler`](crate::Scheduler#panics-of-hooks).
pub struct EventsRequest<'h> {
    pub(crate) owner: Owner,
    pub(crate) urgency: Urgency,
    pub(crate) start: Cut,
    pub(crate) bounds: Bounds,
    pub(crate) by_delivery: bool,
    pub(crate) trace: Option<usize>,
    pub(crate) hooks: RequestHooks<'h>,
    pub(crate) shared: Rc<Shared<'h>>,
}

/// The hooks of a request, by when they begin and end.
#[derive(Default)]
pub(crate) struct RequestHooks<'h> {
    /// Around all of it.
    pub(crate) request: Option<HookSet<'h>>,
    pub(crate) after_request: Vec<Box<AfterRequest<'h>>>,
    /// Around a chunk, for the traceset.
    pub(crate) chunk: Option<HookSet<'h>>,
    /// The same for traces and tracefiles.
    pub(crate) parts: Option<HookSet<'h>>,
    /// For events.
    pub(crate) events: HookSet<'h>,
    event_hooks: usize,
}

pub(crate) type AfterRequest<'h> =
    dyn FnMut(&mut LevelCall<'_, 'h>, &Control<'h>, FinishReason) + 'h;

impl<'h> EventsRequest<'h> {
    /// All events of the traceset, without any hook.
    pub fn new(owner: Owner) -> Self {
        EventsRequest {
            owner,
            urgency: Urgency::default(),
            start: Cut::from(Start::Begin),
            bounds: Bounds::all(),
            by_delivery: false,
            trace: None,
            hooks: RequestHooks::default(),
            shared: Shared::new(),
        }
    }

    /// How urgent it is; by default [`Urgency::NORMAL`].
    #[must_use]
    pub fn urgency(self, urgency: Urgency) -> Self {
        EventsRequest { urgency, ..self }
    }

    /// Where it begins, instead of at the begin of the traceset: at a [`Timestamp`]
    /// (no event before it is for this request), or at a [`TracesetPosition`].
    #[must_use]
    pub fn from(self, start: impl Into<Start>) -> Self {
        EventsRequest { start: Cut::from(start.into()), ..self }
    }

    /// It ends when it has all events before this time. Events at it or later are not for
    /// this request.
    #[must_use]
    pub fn until(self, time: Timestamp) -> Self {
        EventsRequest { bounds: self.bounds.until(time), ..self }
    }

    /// It ends when it has all events at this time or before.
    #[must_use]
    pub fn through(self, time: Timestamp) -> Self {
        match time.ns().checked_add(1) {
            Some(end) => self.until(Timestamp::from_ns(end)),
            None => self,
        }
    }

    /// Takes the times at which it starts and ends for times of
    /// [delivery](EventCall::time), not for those of events: it gets all events from where
    /// seeking the one leads to, up to where seeking the other does. So stretches follow
    /// each other as the events do, also where clocks go back.
    #[must_use]
    pub fn by_delivery(self) -> Self {
        EventsRequest { by_delivery: true, ..self }
    }

    /// It ends at this position, or at once if it starts behind it.
    #[must_use]
    pub fn until_position(self, position: &TracesetPosition) -> Self {
        EventsRequest { bounds: self.bounds.until_position(position), ..self }
    }

    /// It ends after so many events of the traceset, or of its trace, whether or
    /// not they match its filter or a hook.
    #[must_use]
    pub fn events(self, events: u64) -> Self {
        EventsRequest { bounds: self.bounds.events(events), ..self }
    }

    /// It ends after so many events that pass its filter and are for one of its
    /// hooks at least.
    #[must_use]
    pub fn matches(self, events: u64) -> Self {
        self.shared.gate.borrow_mut().most = Some(events);
        self.shared.gated.set(true);
        self
    }

    /// Only events of the trace of this index.
    #[must_use]
    pub fn in_trace(self, trace: usize) -> Self {
        EventsRequest { trace: Some(trace), ..self }
    }

    /// Its hooks are called for events that pass this filter only; one that was
    /// given before does not count any more.
    #[must_use]
    pub fn filter(self, filter: impl EventFilter + 'h) -> Self {
        self.shared.gate.borrow_mut().filter = Some(Box::new(filter));
        self.shared.gated.set(true);
        self
    }

    /// A hook for events: of a name (maybe with `*` or `?`), or as a
    /// [`Subscription`] says.
    #[must_use]
    pub fn on_event<V: Verdict>(
        mut self,
        events: impl Into<Subscription>,
        hook: impl FnMut(&mut EventCall<'_, 'h>, &Control<'h>) -> V + 'h,
    ) -> Self {
        self.hooks.events.on_event(events, self.shared.event_hook(hook));
        self.hooks.event_hooks += 1;
        self.shared.gate.borrow_mut().several = self.hooks.event_hooks > 1;
        self
    }

    /// A hook for all events.
    #[must_use]
    pub fn on_every_event<V: Verdict>(
        self,
        hook: impl FnMut(&mut EventCall<'_, 'h>, &Control<'h>) -> V + 'h,
    ) -> Self {
        self.on_event(Subscription::to_every_event(), hook)
    }

    /// A hook to be called once, before anything else of it.
    #[must_use]
    pub fn before_request<V: Verdict>(
        mut self,
        hook: impl FnMut(&mut LevelCall<'_, 'h>, &Control<'h>) -> V + 'h,
    ) -> Self {
        let hook = self.shared.level_hook(hook);
        self.hooks.request.get_or_insert_default().before(Level::Traceset, hook);
        self
    }

    /// A hook to be called once, after everything else of it, with the reason for
    /// its end.
    #[must_use]
    pub fn after_request(
        mut self,
        hook: impl FnMut(&mut LevelCall<'_, 'h>, &Control<'h>, FinishReason) + 'h,
    ) -> Self {
        self.hooks.after_request.push(Box::new(hook));
        self
    }

    /// A hook to be called before each chunk: for the traceset, for its traces, or
    /// for their tracefiles. If the request is for one trace, only that and its
    /// tracefiles get calls besides the traceset.
    #[must_use]
    pub fn before_chunk<V: Verdict>(
        self,
        level: Level,
        hook: impl FnMut(&mut LevelCall<'_, 'h>, &Control<'h>) -> V + 'h,
    ) -> Self {
        let hook = self.shared.level_hook(hook);
        self.on_chunk(level, |set| _ = set.before_with(level, Priority::DEFAULT, hook))
    }

    /// A hook to be called after each chunk: as
    /// [`before_chunk`](Self::before_chunk).
    #[must_use]
    pub fn after_chunk<V: Verdict>(
        self,
        level: Level,
        hook: impl FnMut(&mut LevelCall<'_, 'h>, &Control<'h>) -> V + 'h,
    ) -> Self {
        let hook = self.shared.level_hook(hook);
        self.on_chunk(level, |set| _ = set.after_with(level, Priority::DEFAULT, hook))
    }

    fn on_chunk(mut self, level: Level, add: impl FnOnce(&mut HookSet<'h>)) -> Self {
        let set = match level {
            Level::Traceset => &mut self.hooks.chunk,
            Level::Trace | Level::Tracefile => &mut self.hooks.parts,
        };
        add(set.get_or_insert_default());
        self
    }

    /// Puts the hooks in their final form.
    pub(crate) fn close(&mut self) {
        let shared = &self.shared;
        let Some(trace) = self.trace else { return };
        shared.most.set(self.bounds.max_events().unwrap_or(u64::MAX));
        let all = Subscription::to_every_event().priority(Priority::LAST);
        self.hooks.events.on_event(all, shared.count_hook());
        self.hooks.events.set_scope(Scope::Trace(trace));
        if let Some(parts) = &mut self.hooks.parts {
            parts.set_scope(Scope::Trace(trace));
        }
    }
}

impl fmt::Debug for EventsRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventsRequest")
            .field("owner", &self.owner)
            .field("urgency", &self.urgency)
            .field("start", &self.start)
            .field("bounds", &self.bounds)
            .field("trace", &self.trace)
            .finish_non_exhaustive()
    }
}
