//! Selectors: which field of an event is meant.

use ltt_read::metadata::Span;

/// Which field is meant: `event.fields.sched_switch.next_tid`, `stack[2].ip`.
///
/// Selectors are equal if they mean the same; where they stand does not count.
#[derive(Debug, Clone)]
pub struct Selector {
    /// From where the steps lead.
    pub root: Root,
    /// The steps.
    pub steps: Vec<Step>,
    /// Where it stands.
    pub span: Span,
}

impl PartialEq for Selector {
    fn eq(&self, other: &Self) -> bool {
        (self.root, &self.steps) == (other.root, &other.steps)
    }
}

/// What the first word of a selector means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Root {
    /// A field by its name alone, wherever events have one of that name.
    Bare,
    /// `event.`: the event, its fields and contexts.
    Event,
    /// `packet.`: header and context of the packet that it is in.
    Packet,
    /// `tracefile.`: the data stream that it is in.
    Tracefile,
    /// `channel.`: the channel of that data stream.
    Channel,
    /// `trace.`: the trace that it is in.
    Trace,
    /// `state.`: the state of the traced system at the event.
    State,
}

impl Root {
    /// All that are written.
    pub const WRITTEN: [Root; 6] =
        [Root::Event, Root::Packet, Root::Tracefile, Root::Channel, Root::Trace, Root::State];

    /// As it is written; empty for [`Root::Bare`].
    pub fn word(self) -> &'static str {
        match self {
            Root::Bare => "",
            Root::Event => "event",
            Root::Packet => "packet",
            Root::Tracefile => "tracefile",
            Root::Channel => "channel",
            Root::Trace => "trace",
            Root::State => "state",
        }
    }

    /// The root that a word means.
    pub(crate) fn of(word: &str) -> Option<Root> {
        Root::WRITTEN.into_iter().find(|root| root.word().eq_ignore_ascii_case(word))
    }
}

/// A step of a selector, with its place in the text.
#[derive(Debug, Clone)]
pub struct Step {
    /// What it is.
    pub kind: StepKind,
    /// Where it stands.
    pub span: Span,
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

/// The kinds of steps.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StepKind {
    /// `.name`
    Name(String),
    /// `[5]`
    Index(u64),
    /// `.*`: any event, in `event.fields.*.name`.
    Any,
}

impl Step {
    /// The name, if it is one.
    pub fn name(&self) -> Option<&str> {
        if let StepKind::Name(name) = &self.kind { Some(name) } else { None }
    }
}

impl From<StepKind> for Step {
    fn from(kind: StepKind) -> Self {
        Step { kind, span: Span::default() }
    }
}

impl Selector {
    /// A root and a name below it.
    pub fn new(root: Root, name: &str) -> Self {
        Selector { root, steps: Vec::new(), span: Span::default() }.name(name)
    }

    /// A field by its name alone.
    pub fn bare(name: &str) -> Self {
        Self::new(Root::Bare, name)
    }

    /// `event.NAME`
    pub fn event(name: &str) -> Self {
        Self::new(Root::Event, name)
    }

    /// `event.fields.EVENT.FIELD`
    pub fn field_of(event: &str, field: &str) -> Self {
        Self::event("fields").name(event).name(field)
    }

    /// `event.fields.*.FIELD`
    pub fn field_of_any(field: &str) -> Self {
        Self::event("fields").with(StepKind::Any).name(field)
    }

    /// `state.NAME`
    pub fn state(name: &str) -> Self {
        Self::new(Root::State, name)
    }

    /// A step more: `.NAME`.
    #[must_use]
    pub fn name(self, name: &str) -> Self {
        self.with(StepKind::Name(name.to_owned()))
    }

    /// A step more: `[INDEX]`.
    #[must_use]
    pub fn index(self, index: u64) -> Self {
        self.with(StepKind::Index(index))
    }

    fn with(mut self, kind: StepKind) -> Self {
        self.steps.push(kind.into());
        self
    }

    /// The name of a step, if there is one.
    pub(crate) fn name_at(&self, step: usize) -> Option<&str> {
        self.steps.get(step)?.name()
    }
}
