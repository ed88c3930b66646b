//! Subscriptions: the choice of events that a hook is called for.

use ltt_read::schema::{EventType, EventTypeId, Scope as FieldScope};
use ltt_read::{Field, Trace, TraceIndex, TracefileNumber};
use lttv_hooks::{HookId, Priority};

use super::pattern::Pattern;
use crate::traceset::{Contexts, TraceContext, TracefileContext};

/// A description of the events that a hook is called for, and of its priority.
///
/// A subscription is independent of any trace. It is resolved in each trace of a traceset, so
/// one subscription serves all of them. Names may contain wildcards: `*` matches any text, and
/// `?` any character. A trace without matching events is not an error.
///
/// ```
/// use lttv_context::{Subscription, TracesetContext, Traceset};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut to_idle = 0;
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let switches = Subscription::to("sched_switch").fields(["prev_tid", "next_tid"]);
/// context.on_event(switches, |call| {
///     if call.signed(0) != Some(0) && call.signed(1) == Some(0) {
///         to_idle += 1;
///     }
/// });
/// assert_eq!(context.read(&Default::default())?.errors, 0);
/// drop(context);
/// assert_eq!(to_idle, 174);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Subscription {
    pub(crate) selector: EventSelector,
    pub(crate) priority: Priority,
    pub(crate) identity: Option<HookId>,
    pub(crate) scope: Scope,
    pub(super) channel: Option<Pattern>,
    pub(super) provider: Option<Pattern>,
    pub(super) domain: Option<Pattern>,
    pub(super) fields: Vec<String>,
}

/// The events that a subscription selects before its restrictions apply.
#[derive(Debug, Clone)]
pub(crate) enum EventSelector {
    Everything,
    Named(Pattern),
    Type { trace: TraceIndex, event_type: EventTypeId },
}

/// A part of a traceset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Scope {
    /// The whole traceset.
    #[default]
    Traceset,
    /// The trace of this index in the traceset.
    Trace(TraceIndex),
    /// The tracefile of this number among all tracefiles of the traceset.
    Tracefile(TracefileNumber),
}

impl Scope {
    /// Returns `true` if the whole trace is in this part.
    pub(crate) fn contains_trace(self, trace: &TraceContext) -> bool {
        self == Scope::Traceset || self == Scope::Trace(trace.index())
    }

    /// Returns `true` if the tracefile is in this part.
    pub(crate) fn contains_tracefile(self, tracefile: &TracefileContext) -> bool {
        match self {
            Scope::Traceset => true,
            Scope::Trace(index) => index == tracefile.trace_index(),
            Scope::Tracefile(number) => number == tracefile.number(),
        }
    }

    /// Returns the intersection of two parts, or `None` if it is empty.
    pub(crate) fn intersect(self, other: Scope, contexts: &Contexts) -> Option<Scope> {
        let trace_of =
            |number: TracefileNumber| Some(contexts.tracefiles().get(number.0)?.trace_index());
        match (self, other) {
            (Scope::Traceset, part) | (part, Scope::Traceset) => Some(part),
            (Scope::Trace(a), Scope::Trace(b)) => (a == b).then_some(self),
            (Scope::Tracefile(a), Scope::Tracefile(b)) => (a == b).then_some(self),
            (Scope::Trace(trace), part @ Scope::Tracefile(number))
            | (part @ Scope::Tracefile(number), Scope::Trace(trace)) => {
                (trace_of(number) == Some(trace)).then_some(part)
            }
        }
    }
}

impl Subscription {
    /// Creates a subscription to every event. Its hook is in the main list, so among hooks of equal
    /// priority it comes before those for particular events.
    pub fn to_every_event() -> Self {
        Self::new(EventSelector::Everything)
    }

    /// Creates a subscription to events of this name, which may contain wildcards.
    pub fn to(name: &str) -> Self {
        Self::new(EventSelector::Named(Pattern::new(name)))
    }

    /// Creates a subscription to one event type of the trace of an index.
    pub fn to_type(trace: TraceIndex, event_type: EventTypeId) -> Self {
        Self::new(EventSelector::Type { trace, event_type })
    }

    fn new(selector: EventSelector) -> Self {
        Subscription {
            selector,
            priority: Priority::DEFAULT,
            identity: None,
            scope: Scope::Traceset,
            channel: None,
            provider: None,
            domain: None,
            fields: Vec::new(),
        }
    }

    /// Sets the priority among other hooks. The default is [`Priority::DEFAULT`].
    #[must_use]
    pub fn priority(self, priority: Priority) -> Self {
        Subscription { priority, ..self }
    }

    /// Sets the id of the hook. By default each hook gets a new id. A hook that is added several
    /// times under one id is called once per event, and has to be removed as often as it was added.
    #[must_use]
    pub fn identity(self, id: HookId) -> Self {
        Subscription { identity: Some(id), ..self }
    }

    /// Restricts the subscription to events in a part of the traceset.
    #[must_use]
    pub fn within(self, scope: Scope) -> Self {
        Subscription { scope, ..self }
    }

    /// Restricts the subscription to events of tracefiles of this
    /// [channel](ltt_read::Tracefile::channel), which may contain wildcards.
    #[must_use]
    pub fn channel(self, name: &str) -> Self {
        Subscription { channel: Some(Pattern::new(name)), ..self }
    }

    /// Restricts the subscription to events of this provider, which may contain wildcards. The
    /// provider is the text before the colon in names such as `my_app:request`, and the event's
    /// name is then the text after it.
    #[must_use]
    pub fn provider(self, name: &str) -> Self {
        Subscription { provider: Some(Pattern::new(name)), ..self }
    }

    /// Restricts the subscription to events of traces with this domain in their environment, such
    /// as `kernel` or `ust`. The name may contain wildcards.
    #[must_use]
    pub fn domain(self, name: &str) -> Self {
        Subscription { domain: Some(Pattern::new(name)), ..self }
    }

    /// Restricts the subscription to events that have all these fields. Each field is looked up in
    /// the payload, the specific context, the common context and the packet context, in this order.
    /// Paths have the form of those of [`Trace::field`].
    ///
    /// [`EventCall::fields`](crate::EventCall::fields) contains the handles in this order when the
    /// hook is called.
    #[must_use]
    pub fn fields<'s>(self, paths: impl IntoIterator<Item = &'s str>) -> Self {
        Subscription { fields: paths.into_iter().map(str::to_owned).collect(), ..self }
    }

    /// Finds the selected event types of a trace, each with the handles of its fields.
    pub(crate) fn types(&self, index: TraceIndex, trace: &Trace) -> Vec<(EventTypeId, Vec<Field>)> {
        let schema = trace.schema();
        if self
            .domain
            .as_ref()
            .is_some_and(|d| !schema.env_str("domain").is_some_and(|n| d.matches(n)))
        {
            return Vec::new();
        }
        // An analysis may have a subscription per event type. Resolving one of these must not visit
        // all types of the trace.
        let places = match self.selector {
            EventSelector::Type { trace, event_type } if trace == index => {
                event_type.index()..event_type.index() + 1
            }
            EventSelector::Type { .. } => 0..0,
            EventSelector::Everything | EventSelector::Named(_) => 0..schema.event_types.len(),
        };
        let types = schema.event_types.get(places.clone()).unwrap_or_default();
        let types = (places.start as u32..).map(EventTypeId).zip(types);
        let wanted = types.filter(|(id, event_type)| self.wants(index, *id, event_type));
        wanted.filter_map(|(id, _)| Some((id, self.find_fields(trace, id)?))).collect()
    }

    /// Returns the fields that an event type lacks.
    pub(super) fn fields_lacking(&self, trace: &Trace, id: EventTypeId) -> Vec<&str> {
        let lacks = |path: &&String| find_field(trace, id, path).is_none();
        self.fields.iter().filter(lacks).map(String::as_str).collect()
    }

    /// Returns `true` if the subscription selects events of tracefiles of this channel.
    pub(crate) fn wants_channel(&self, channel: &str) -> bool {
        self.channel.as_ref().is_none_or(|pattern| pattern.matches(channel))
    }

    /// Returns `true` if the subscription selects all events in its scope.
    pub(crate) fn is_unconditional(&self) -> bool {
        matches!(self.selector, EventSelector::Everything)
            && self.fields.is_empty()
            && [&self.channel, &self.provider, &self.domain].iter().all(|p| p.is_none())
    }

    fn wants(&self, trace: TraceIndex, id: EventTypeId, event_type: &EventType) -> bool {
        let mut name = event_type.name();
        if let Some(pattern) = &self.provider {
            let Some((provider, rest)) = name.split_once(':') else { return false };
            if !pattern.matches(provider) {
                return false;
            }
            name = rest;
        }
        match &self.selector {
            EventSelector::Everything => true,
            EventSelector::Named(pattern) => pattern.matches(name),
            EventSelector::Type { trace: t, event_type } => (*t, *event_type) == (trace, id),
        }
    }

    fn find_fields(&self, trace: &Trace, id: EventTypeId) -> Option<Vec<Field>> {
        self.fields.iter().map(|path| find_field(trace, id, path)).collect()
    }
}

/// The scopes in which fields are looked up, in this order.
pub(super) const SCOPES: [FieldScope; 4] = [
    FieldScope::Payload,
    FieldScope::SpecificContext,
    FieldScope::CommonContext,
    FieldScope::PacketContext,
];

fn find_field(trace: &Trace, id: EventTypeId, path: &str) -> Option<Field> {
    SCOPES.iter().find_map(|scope| trace.field(id, *scope, path))
}

impl<S: AsRef<str> + ?Sized> From<&S> for Subscription {
    fn from(name: &S) -> Self {
        Subscription::to(name.as_ref())
    }
}
