//! Rules: which events are messages.

use std::time::Duration;

use crate::hooks::Pattern;

/// The end of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The message leaves a host.
    Send,
    /// The message arrives at a host.
    Receive,
}

/// A rule that makes events of a name the ends of messages.
///
/// A send and a receive are one message if their rules have the same protocol and the same values
/// in the fields of their keys. The fields are compared in order, so their names may differ. An
/// event for which a field of the key is absent, for instance since it is in another option of a
/// variant, is not of this rule.
///
/// ```
/// use lttv_context::synchronize::matching::{Rule, Rules};
///
/// let mut rules = Rules::built_in();
/// rules.add(Rule::send("queue", "my_app:publish").key(["topic", "sequence"]));
/// let receive = Rule::receive("queue", "my_app:deliver").key(["topic", "sequence"]);
/// rules.add(receive.when("is_retry", 0));
/// ```
#[derive(Debug, Clone)]
pub struct Rule {
    pub(super) protocol: String,
    pub(super) event: Pattern,
    pub(super) direction: Direction,
    pub(super) key: Vec<String>,
    pub(super) conditions: Vec<Condition>,
    pub(super) time_of: Option<TimeOf>,
    pub(super) is_to_many: bool,
    pub(super) validity: Duration,
}

/// A condition on an integer field.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub(super) field: String,
    pub(super) value: u64,
    /// `true` if the field has to have the value, `false` if it must not.
    pub(super) holds: bool,
}

/// The earlier event with the time of a message.
#[derive(Debug, Clone)]
pub(super) struct TimeOf {
    pub(super) event: Pattern,
    pub(super) field: String,
}

impl Rule {
    /// The default of [`validity`](Self::validity).
    pub const VALIDITY: Duration = Duration::from_secs(60);

    /// Creates a rule that makes events of a name the sends of a protocol. The name may contain
    /// wildcards: `*` matches any text, and `?` any character. The name of the protocol is any
    /// text that the rules of both ends share.
    pub fn send(protocol: &str, event: &str) -> Self {
        Self::new(protocol, event, Direction::Send)
    }

    /// Creates a rule that makes events of a name the receives of a protocol: see
    /// [`send`](Self::send).
    pub fn receive(protocol: &str, event: &str) -> Self {
        Self::new(protocol, event, Direction::Receive)
    }

    fn new(protocol: &str, event: &str, direction: Direction) -> Self {
        Rule {
            protocol: protocol.to_owned(),
            event: Pattern::new(event),
            direction,
            key: Vec::new(),
            conditions: Vec::new(),
            time_of: None,
            is_to_many: false,
            validity: Self::VALIDITY,
        }
    }

    /// Sets the fields that identify a message, by paths of the form of those of
    /// [`Trace::field`](ltt_read::Trace::field). Each field is looked up in the payload, the
    /// specific context, the common context and the packet context, in this order. The rule applies
    /// only to event types with all of them.
    #[must_use]
    pub fn key<'f>(self, fields: impl IntoIterator<Item = &'f str>) -> Self {
        Rule { key: fields.into_iter().map(str::to_owned).collect(), ..self }
    }

    /// Restricts the rule to events with a value in an integer field. Negative values are given in
    /// two's complement.
    #[must_use]
    pub fn when(self, field: &str, value: u64) -> Self {
        self.condition(field, value, true)
    }

    /// Restricts the rule to events with an integer field that has another value.
    #[must_use]
    pub fn unless(self, field: &str, value: u64) -> Self {
        self.condition(field, value, false)
    }

    fn condition(mut self, field: &str, value: u64, holds: bool) -> Self {
        self.conditions.push(Condition { field: field.to_owned(), value, holds });
        self
    }

    /// Takes the time of the message from an earlier event of another name in the same trace: the
    /// last one with the same value in an integer field, such as the address of a buffer. Events
    /// without such an earlier event are not of this rule.
    #[must_use]
    pub fn time_of(self, event: &str, field: &str) -> Self {
        let time_of = TimeOf { event: Pattern::new(event), field: field.to_owned() };
        Rule { time_of: Some(time_of), ..self }
    }

    /// Lets several hosts receive one message. Without this, a message ends at the first host
    /// that is found to receive it. Has to be set for the rules of both ends.
    #[must_use]
    pub fn to_many(self) -> Self {
        Rule { is_to_many: true, ..self }
    }

    /// Sets the time for which a key identifies one message: a second send of the key on the same
    /// host within this time, by its clock, repeats the first one, and a later one is another
    /// message. The default is [`VALIDITY`](Self::VALIDITY).
    #[must_use]
    pub fn validity(self, validity: Duration) -> Self {
        Rule { validity, ..self }
    }
}

/// A list of rules. For each event, the first rule that applies is used.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    pub(super) rules: Vec<Rule>,
}

impl Rules {
    /// Creates a list without rules.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule after the others.
    pub fn add(&mut self, rule: Rule) {
        self.rules.push(rule);
    }

    /// Adds all rules of a list after the others.
    #[must_use]
    pub fn and(mut self, others: Rules) -> Self {
        self.rules.extend(others.rules);
        self
    }

    /// Returns the number of rules.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Returns `true` if there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}
