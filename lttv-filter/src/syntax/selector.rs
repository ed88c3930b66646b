//! Selectors of fields.

use crate::span::Span;

/// A reference to a field: `event.fields.sched_switch.next_tid`, `stack[2].ip`.
///
/// Equality ignores spans.
#[derive(Debug, Clone)]
pub struct Selector {
    /// The root, at which the steps start.
    pub root: Root,
    /// The steps from the root to the field.
    pub steps: Vec<Step>,
    /// The span in the text.
    pub span: Span,
}

impl PartialEq for Selector {
    fn eq(&self, other: &Self) -> bool {
        (self.root, &self.steps) == (other.root, &other.steps)
    }
}

/// The first word of a selector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Root {
    /// No root: a field by its name alone, in any scope that has one with this name.
    Unqualified,
    /// The event, its fields and contexts: `event.`.
    Event,
    /// The header and context of the event's packet: `packet.`.
    Packet,
    /// The event's tracefile: `tracefile.`.
    Tracefile,
    /// The channel of the event's tracefile: `channel.`.
    Channel,
    /// The event's trace: `trace.`.
    Trace,
    /// The state of the traced system at the event: `state.`.
    State,
}

impl Root {
    /// All roots except [`Root::Unqualified`], which is not written.
    pub(crate) const QUALIFIED: [Root; 6] =
        [Root::Event, Root::Packet, Root::Tracefile, Root::Channel, Root::Trace, Root::State];

    /// Returns the word of the root. Empty for [`Root::Unqualified`].
    pub(crate) fn word(self) -> &'static str {
        match self {
            Root::Unqualified => "",
            Root::Event => "event",
            Root::Packet => "packet",
            Root::Tracefile => "tracefile",
            Root::Channel => "channel",
            Root::Trace => "trace",
            Root::State => "state",
        }
    }

    /// Finds the root with a word, in upper or lower case.
    pub(crate) fn of(word: &str) -> Option<Root> {
        Root::QUALIFIED.into_iter().find(|root| root.word().eq_ignore_ascii_case(word))
    }
}

/// A step of a selector, with its span in the text. Equality ignores spans.
#[derive(Debug, Clone)]
pub struct Step {
    /// The kind of the step.
    pub kind: StepKind,
    /// The span in the text.
    pub span: Span,
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

/// The kind of a step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StepKind {
    /// A member by its name: `.name`.
    Name(String),
    /// An element by its index, from 0: `[5]`.
    Index(u64),
    /// Any event, in `event.fields.*.name`: `.*`.
    Any,
}

impl Step {
    /// Creates a step that is at no place of a text.
    pub fn new(kind: StepKind) -> Self {
        Step { kind, span: Span::default() }
    }

    /// Returns the name. `None` for other kinds of steps.
    pub fn name(&self) -> Option<&str> {
        if let StepKind::Name(name) = &self.kind { Some(name) } else { None }
    }
}

impl Selector {
    /// Creates a selector with a root and one name.
    pub fn new(root: Root, name: &str) -> Self {
        Selector { root, steps: Vec::new(), span: Span::default() }.member(name)
    }

    /// Creates a selector of a field by its name alone: `FIELD`.
    pub fn field(name: &str) -> Self {
        Self::new(Root::Unqualified, name)
    }

    /// Creates the selector `event.NAME`.
    pub fn event(name: &str) -> Self {
        Self::new(Root::Event, name)
    }

    /// Creates the selector `event.fields.*.FIELD`.
    pub fn field_of_any(field: &str) -> Self {
        Self::event("fields").with(StepKind::Any).member(field)
    }

    /// Creates the selector `state.NAME`.
    pub fn state(name: &str) -> Self {
        Self::new(Root::State, name)
    }

    /// Adds a step to a member: `.NAME`.
    #[must_use]
    pub fn member(self, name: &str) -> Self {
        self.with(StepKind::Name(name.to_owned()))
    }

    /// Adds a step to an element: `[INDEX]`.
    #[must_use]
    pub fn element(self, index: u64) -> Self {
        self.with(StepKind::Index(index))
    }

    fn with(mut self, kind: StepKind) -> Self {
        self.steps.push(Step::new(kind));
        self
    }

    /// Returns the name of a step, if the step exists and has one.
    pub(crate) fn name_at(&self, step: usize) -> Option<&str> {
        self.steps.get(step)?.name()
    }
}
