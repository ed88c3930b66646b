//! Which events a hook is for.

use ltt_read::schema::{EventType, EventTypeId, Scope as FieldScope};
use ltt_read::{Field, Trace};
use lttv_hooks::{HookId, Priority};

use crate::contexts::{Contexts, TraceContext, TracefileContext};
use crate::pattern::Pattern;

/// Which events a hook is to be called for, and when among other hooks.
///
/// It is made without any trace in mind, and looked up in each trace of a
/// traceset: one subscription serves all. Names may have wildcards: `*` for any
/// text, `?` for any character. That a trace has no such event is not an error.
///
/// ```
/// use lttv_context::{Subscription, TracesetContext, Traceset};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut to_idle = 0;
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let switches = Subscription::to("sched_switch").fields(["prev_tid", "next_tid"]);
/// context.on_event(switches, |call| {
///     if call.integer(0) != Some(0) && call.integer(1) == Some(0) {
///         to_idle += 1;
///     }
/// });
/// context.middle(&Default::default())?;
/// drop(context);
/// assert_eq!(to_idle, 174);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Subscription {
    pub(crate) what: What,
    pub(crate) priority: Priority,
    pub(crate) identity: Option<HookId>,
    pub(crate) scope: Scope,
    channel: Option<Pattern>,
    provider: Option<Pattern>,
    domain: Option<Pattern>,
    fields: Vec<String>,
}

#[derive(Debug, Clone)]
pub(crate) enum What {
    Everything,
    Named(Pattern),
    Type { trace: usize, event_type: EventTypeId },
}

/// A part of a traceset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Scope {
    /// All of it.
    #[default]
    Traceset,
    /// The trace of this index.
    Trace(usize),
    /// The tracefile of this number among all of the traceset.
    Tracefile(usize),
}

impl Scope {
    /// Whether all of a trace is in it.
    pub(crate) fn has_trace(self, trace: &TraceContext) -> bool {
        self == Scope::Traceset || self == Scope::Trace(trace.index())
    }

    /// Whether a tracefile is in it.
    pub(crate) fn has_tracefile(self, tracefile: &TracefileContext) -> bool {
        match self {
            Scope::Traceset => true,
            Scope::Trace(index) => index == tracefile.trace_index(),
            Scope::Tracefile(number) => number == tracefile.number(),
        }
    }

    /// What is both in this part and in another; `None` if nothing is.
    pub(crate) fn meet(self, other: Scope, contexts: &Contexts) -> Option<Scope> {
        let trace_of = |number: usize| Some(contexts.tracefiles().get(number)?.trace_index());
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
    /// To every event. Its hook is in the main list: of equal priority it comes
    /// before those of particular events.
    pub fn to_every_event() -> Self {
        Self::new(What::Everything)
    }

    /// To events of this name.
    pub fn to(name: &str) -> Self {
        Self::new(What::Named(Pattern::new(name)))
    }

    /// To one event type of the trace of an index.
    pub fn to_type(trace: usize, event_type: EventTypeId) -> Self {
        Self::new(What::Type { trace, event_type })
    }

    fn new(what: What) -> Self {
        Subscription {
            what,
            priority: Priority::DEFAULT,
            identity: None,
            scope: Scope::Traceset,
            channel: None,
            provider: None,
            domain: None,
            fields: Vec::new(),
        }
    }

    /// When among other hooks; by default [`Priority::DEFAULT`].
    #[must_use]
    pub fn priority(self, priority: Priority) -> Self {
        Subscription { priority, ..self }
    }

    /// Under which identity; by default one of its own. A hook that is added
    /// again under one identity is still called once, and needs as many removals.
    #[must_use]
    pub fn identity(self, id: HookId) -> Self {
        Subscription { identity: Some(id), ..self }
    }

    /// Only events in a part of the traceset.
    #[must_use]
    pub fn within(self, scope: Scope) -> Self {
        Subscription { scope, ..self }
    }

    /// Only events of tracefiles of this [channel](ltt_read::Tracefile::channel).
    #[must_use]
    pub fn channel(self, name: &str) -> Self {
        Subscription { channel: Some(Pattern::new(name)), ..self }
    }

    /// Only events of this provider: what comes before the colon in names such as
    /// `my_app:request`. The event's name is then what follows it.
    #[must_use]
    pub fn provider(self, name: &str) -> Self {
        Subscription { provider: Some(Pattern::new(name)), ..self }
    }

    /// Only events of traces whose environment names this domain, such as `kernel`
    /// or `ust`.
    #[must_use]
    pub fn domain(self, name: &str) -> Self {
        Subscription { domain: Some(Pattern::new(name)), ..self }
    }

    /// Only events that have all these fields: in payload, specific or common
    /// context, or packet context, looked for in this order. Paths are those of
    /// [`Trace::field`]. The hook finds their handles in
    /// [`EventCall::fields`](crate::EventCall::fields), in this order.
    #[must_use]
    pub fn fields<'s>(self, paths: impl IntoIterator<Item = &'s str>) -> Self {
        Subscription { fields: paths.into_iter().map(str::to_owned).collect(), ..self }
    }

    /// The event types of a trace that it is to, each with its fields.
    pub(crate) fn types(&self, index: usize, trace: &Trace) -> Vec<(EventTypeId, Vec<Field>)> {
        let schema = trace.schema();
        if self
            .domain
            .as_ref()
            .is_some_and(|d| !schema.env_str("domain").is_some_and(|n| d.matches(n)))
        {
            return Vec::new();
        }
        // Analyses may have a subscription for each type: that must not take time for
        // all types each.
        let places = match self.what {
            What::Type { trace, event_type } if trace == index => {
                event_type.index()..event_type.index() + 1
            }
            What::Type { .. } => 0..0,
            What::Everything | What::Named(_) => 0..schema.event_types.len(),
        };
        let types = schema.event_types.get(places.clone()).unwrap_or_default();
        let types = (places.start as u32..).map(EventTypeId).zip(types);
        let wanted = types.filter(|(id, event_type)| self.wants(index, *id, event_type));
        wanted.filter_map(|(id, _)| Some((id, self.find_fields(trace, id)?))).collect()
    }

    /// Whether it is to events of tracefiles of a channel.
    pub(crate) fn wants_channel(&self, channel: &str) -> bool {
        self.channel.as_ref().is_none_or(|pattern| pattern.matches(channel))
    }

    /// Whether it is to all there is in its scope.
    pub(crate) fn is_unconditional(&self) -> bool {
        matches!(self.what, What::Everything)
            && self.fields.is_empty()
            && [&self.channel, &self.provider, &self.domain].iter().all(|p| p.is_none())
    }

    fn wants(&self, trace: usize, id: EventTypeId, event_type: &EventType) -> bool {
        let mut name = event_type.name();
        if let Some(pattern) = &self.provider {
            let Some((provider, rest)) = name.split_once(':') else { return false };
            if !pattern.matches(provider) {
                return false;
            }
            name = rest;
        }
        match &self.what {
            What::Everything => true,
            What::Named(pattern) => pattern.matches(name),
            What::Type { trace: t, event_type } => (*t, *event_type) == (trace, id),
        }
    }

    fn find_fields(&self, trace: &Trace, id: EventTypeId) -> Option<Vec<Field>> {
        use FieldScope::{CommonContext, PacketContext, Payload, SpecificContext};
        let scopes = [Payload, SpecificContext, CommonContext, PacketContext];
        let find = |path: &String| scopes.iter().find_map(|scope| trace.field(id, *scope, path));
        self.fields.iter().map(find).collect()
    }
}

impl From<&str> for Subscription {
    fn from(name: &str) -> Self {
        Subscription::to(name)
    }
}

impl From<&String> for Subscription {
    fn from(name: &String) -> Self {
        Subscription::to(name)
    }
}
