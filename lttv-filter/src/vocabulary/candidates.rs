//! The candidates for a place in an expression.

use std::collections::HashSet;

use super::Vocabulary;
use super::complete::{Candidate, CandidateKind};
use super::known::{KnownField, labels, relations};
use super::narrow::{Passing, types};
use crate::model::{Constant, ConstantValue, FieldType, IntegerKind, Model, Resolution};
use crate::span::Span;
use crate::syntax::{LiteralKind, Place, Relation, Root, Selector};

/// The maximum number of open groups in which another one is suggested.
const MAX_GROUPS: usize = 100;

/// The candidates for a place, in the order in which they are added.
pub(super) struct Candidates<'v> {
    vocabulary: &'v Vocabulary,
    passing: &'v Passing,
    /// The word before the cursor, without its quote, in lower case.
    word: String,
    /// The word as it is written.
    written: &'v str,
    /// `false` for a sign, whose start has to be equal.
    is_word: bool,
    known: HashSet<String>,
    /// The candidates with their ranks.
    candidates: Vec<(u8, Candidate)>,
}

impl<'v> Candidates<'v> {
    pub(super) fn new(vocabulary: &'v Vocabulary, passing: &'v Passing, written: &'v str) -> Self {
        let written = written.strip_prefix(['"', '\'', '`']).unwrap_or(written);
        let (word, known) = (written.to_lowercase(), HashSet::new());
        let is_word = written.contains(char::is_alphanumeric);
        Candidates { vocabulary, passing, word, written, is_word, known, candidates: Vec::new() }
    }

    /// Returns the candidates, the best ones first.
    pub(super) fn finish(mut self, span: Span) -> Vec<Candidate> {
        self.candidates.sort_by_key(|(rank, _)| *rank);
        self.candidates.into_iter().map(|(_, c)| Candidate { span, ..c }).collect()
    }

    /// Adds the candidates for a place.
    pub(super) fn add(&mut self, place: &Place, depth: usize) {
        match place {
            Place::Nothing => {}
            Place::Term => {
                self.selectors(place);
                self.event_names();
                self.operator("exists(", "the event has the field");
                for (word, what) in [("true", "all events"), ("false", "no event")] {
                    self.push(word, CandidateKind::Value, what);
                }
                if depth < MAX_GROUPS {
                    self.operator("!", "not");
                    self.operator("(", "group");
                }
            }
            Place::Present | Place::Compared => self.selectors(place),
            Place::Member(base, is_present) => self.members(base, *is_present),
            Place::Relation(selector) => self.relations(selector, depth),
            Place::ReversedRelation => self.of_relations(&ORDER),
            Place::In => self.push("in (", CandidateKind::Relation, IN.1),
            Place::Value(selector, relation) => self.values(selector, *relation),
            Place::Element(selector) => self.values(selector, Relation::Eq),
            Place::AfterElement => {
                self.operator(",", "another value");
                self.operator(")", "end of the set");
            }
            Place::Open => self.operator("(", ""),
            Place::Close => self.operator(")", ""),
            Place::Operator => self.operators(depth),
        }
    }

    /// Adds a text that is its own name.
    fn push(&mut self, text: &str, kind: CandidateKind, description: &str) {
        self.push_named(text, text.to_owned(), kind, description.to_owned(), None);
    }

    fn operator(&mut self, text: &str, description: &str) {
        self.push(text, CandidateKind::Operator, description);
    }

    /// Adds a text if its name contains the word before the cursor, unless it is known.
    fn push_named(
        &mut self,
        name: &str,
        text: String,
        kind: CandidateKind,
        description: String,
        event: Option<usize>,
    ) {
        let lower = || name.to_lowercase();
        let rank = match () {
            () if name.starts_with(self.written) => 0,
            () if lower().starts_with(&self.word) => 1,
            () if self.is_word && lower().contains(&self.word) => 2,
            () => return,
        };
        if self.known.insert(text.clone()) {
            let candidate = Candidate { span: Span::default(), text, kind, description, event };
            self.candidates.push((rank, candidate));
        }
    }

    /// Adds fields and properties; those of the events that can pass come first.
    fn selectors(&mut self, place: &Place) {
        let vocabulary = self.vocabulary;
        if self.passing.is_narrow {
            for event in self.passing_events() {
                for field in &vocabulary.events[event].fields {
                    self.field(field, place);
                }
            }
        }
        for field in &vocabulary.selectors {
            self.field(field, place);
        }
        for field in &vocabulary.fields {
            self.field(field, place);
        }
    }

    /// Adds the names of events, which can stand alone; those of the events that can pass
    /// come first.
    fn event_names(&mut self) {
        let vocabulary = self.vocabulary;
        let passing = if self.passing.is_narrow { self.passing_events() } else { Vec::new() };
        let fields = vocabulary.selectors.iter().chain(&vocabulary.fields);
        let truths = fields.filter(|field| field.types().iter().any(is_truth));
        let truths: HashSet<&str> = truths.map(KnownField::selector).collect();
        for at in passing.into_iter().chain(0..vocabulary.events.len()) {
            let event = &vocabulary.events[at];
            let text = Selector::field(&event.name).to_string();
            if !truths.contains(&*text) {
                let categories = event.categories.join(", ");
                self.push_named(&event.name, text, CandidateKind::Event, categories, Some(at));
            }
        }
    }

    /// Adds a field. One that cannot be compared can only be tested for presence.
    fn field(&mut self, field: &KnownField, place: &Place) {
        let name = field.selector();
        let text = match place {
            Place::Present => name.to_owned(),
            _ if can_be_compared(field) => name.to_owned(),
            Place::Term => format!("exists({name})"),
            _ => return,
        };
        self.push_named(name, text, kind_of(field), described(field), None);
    }

    /// Returns the indices of the events that can pass.
    fn passing_events(&self) -> Vec<usize> {
        let passes = |(_, event): &(usize, &super::KnownEvent)| {
            let source = &self.vocabulary.source;
            event.types.iter().any(|(trace, id)| self.passing.contains(source.number(*trace, *id)))
        };
        let events = self.vocabulary.events.iter().enumerate();
        events.filter(passes).map(|(at, _)| at).collect()
    }

    /// Adds the texts that can follow a part of a selector.
    fn members(&mut self, base: &str, is_present: bool) {
        let vocabulary = self.vocabulary;
        let fits = |field: &&KnownField| is_present || can_be_compared(field);
        for field in vocabulary.selectors.iter().chain(&vocabulary.fields).filter(fits) {
            if let Some(rest) = field.selector().strip_prefix(base) {
                self.push(rest, kind_of(field), &described(field));
            }
        }
        let kind = CandidateKind::Property;
        match base {
            "event." if !vocabulary.events.is_empty() => {
                self.push("fields.", kind, "fields of the payload");
            }
            "event.fields." => {
                for at in self.passing_events() {
                    self.event_step(at);
                }
                (0..vocabulary.events.len()).for_each(|at| self.event_step(at));
                self.push("*.", kind, "any event");
            }
            "event.fields.*." => {
                vocabulary.fields.iter().filter(fits).for_each(|field| self.path(field));
            }
            _ => {
                let of = |event: &&super::KnownEvent| {
                    format!("{}.", Selector::event("fields").member(&event.name)) == base
                };
                if base.starts_with("event.fields.")
                    && let Some(event) = vocabulary.events.iter().find(of)
                {
                    event.fields.iter().filter(fits).for_each(|field| self.path(field));
                }
            }
        }
    }

    /// Adds the path of a field from its payload.
    fn path(&mut self, field: &KnownField) {
        if let Some(path) = &field.path {
            self.push(path, CandidateKind::Field, &described(field));
        }
    }

    /// Adds the name of an event as a step of a selector.
    fn event_step(&mut self, at: usize) {
        let event = &self.vocabulary.events[at];
        let selector = Selector::event("fields").member(&event.name).to_string();
        let Some(step) = selector.strip_prefix("event.fields.") else { return };
        let (text, kind) = (format!("{step}."), CandidateKind::Event);
        self.push_named(&event.name, text, kind, event.categories.join(", "), Some(at));
    }

    /// Adds the relations that a field allows. A truth value is a term without any.
    fn relations(&mut self, selector: &Selector, depth: usize) {
        let types = types(&self.passing.find(self.vocabulary, selector));
        if self.is_known_event(selector) && self.vocabulary.source.is_event(selector) {
            self.operators(depth);
            if types.is_empty() {
                return;
            }
        }
        let allowed = match types.is_empty() {
            // An unknown field.
            true => [&ORDER[..], &[Relation::Matches, Relation::NotMatches]].concat(),
            false => relations(&types),
        };
        self.of_relations(&allowed);
        if allowed.contains(&Relation::Eq) {
            for (text, what) in [IN, ("not in (", "is none of")] {
                self.push(text, CandidateKind::Relation, what);
            }
        }
        if types.iter().any(is_truth) {
            self.operators(depth);
        }
    }

    /// Returns `true` if a selector that stands alone is the name of an event of the traces.
    fn is_known_event(&self, selector: &Selector) -> bool {
        let names: Option<Vec<&str>> = selector.steps.iter().map(|step| step.name()).collect();
        names.is_some_and(|names| self.event_of(&names.join(".")).is_some())
    }

    fn of_relations(&mut self, relations: &[Relation]) {
        for relation in relations {
            self.push(relation.symbol(), CandidateKind::Relation, description(*relation));
        }
    }

    fn operators(&mut self, depth: usize) {
        for (sign, what) in [("&&", "and"), ("||", "or"), ("^", "exclusive or")] {
            self.operator(sign, what);
        }
        if !self.word.is_empty() {
            ["and", "or", "xor"].iter().for_each(|word| self.operator(word, ""));
        }
        if depth > 0 {
            self.operator(")", "end of the group");
        }
    }

    /// Adds the labels and known values of a field, as far as a relation can have them.
    fn values(&mut self, selector: &Selector, relation: Relation) {
        let found = self.passing.find(self.vocabulary, selector);
        let types = types(&found);
        let is_pattern = matches!(relation, Relation::Matches | Relation::NotMatches);
        let is_equality = is_pattern || matches!(relation, Relation::Eq | Relation::Ne);
        if is_equality {
            for label in labels(&types) {
                self.text(label, is_pattern, CandidateKind::Label, String::new(), None);
            }
        }
        if !is_pattern && types.iter().any(is_truth) {
            for truth in ["true", "false"] {
                self.push(truth, CandidateKind::Value, "");
            }
        }
        for constant in constants(&found) {
            self.constant(selector, constant, is_pattern, is_equality);
        }
        if is_equality && self.written.contains('.') {
            let source = &self.vocabulary.source;
            for id in (0..source.types()).filter(|id| self.passing.contains(*id)) {
                let longer = [source.find_qualified(id, selector)];
                for constant in constants(&longer) {
                    self.constant(selector, constant, is_pattern, is_equality);
                }
            }
        }
        let is_cpu = selector.root == Root::State && selector.name_at(0) == Some("cpu");
        if is_cpu && !is_pattern {
            for cpu in &self.vocabulary.cpus {
                self.push(&cpu.to_string(), CandidateKind::Cpu, "CPU");
            }
        }
    }

    fn constant(
        &mut self,
        selector: &Selector,
        constant: &Constant,
        is_pattern: bool,
        is_equality: bool,
    ) {
        let is_property = |root: Root, name: &str| {
            // Words, too, which have the names of these properties.
            (selector.root == root || selector.root == Root::Unqualified)
                && selector.steps.len() == 1
                && selector.name_at(0) == Some(name)
        };
        match &constant.value {
            ConstantValue::Integer(n) if !is_pattern => {
                let (kind, what) = match is_property(Root::Tracefile, "cpu") {
                    true => (CandidateKind::Cpu, "CPU"),
                    false => (CandidateKind::Value, ""),
                };
                self.push(&n.to_string(), kind, what);
            }
            ConstantValue::Text(text) if is_equality => {
                let (kind, event) = match is_property(Root::Event, "name") {
                    true => (CandidateKind::Event, self.event_of(text)),
                    false => (CandidateKind::Value, None),
                };
                let categories = event.map(|at| self.vocabulary.events[at].categories.join(", "));
                self.text(text, is_pattern, kind, categories.unwrap_or_default(), event);
            }
            _ => {}
        }
    }

    /// Finds the event with a name, or with a name after its channel.
    fn event_of(&self, text: &str) -> Option<usize> {
        let find = |name: &str| {
            self.vocabulary.events.binary_search_by(|event| (*event.name).cmp(name)).ok()
        };
        find(text).or_else(|| find(text.split_once('.')?.1))
    }

    /// Adds a text in quotes.
    fn text(
        &mut self,
        text: &str,
        is_pattern: bool,
        kind: CandidateKind,
        description: String,
        event: Option<usize>,
    ) {
        let literal = match is_pattern {
            true => LiteralKind::Text(escaped(text)),
            false => LiteralKind::Text(text.to_owned()),
        };
        self.push_named(text, literal.to_string(), kind, description, event);
    }
}

const ORDER: [Relation; 6] =
    [Relation::Eq, Relation::Ne, Relation::Lt, Relation::Le, Relation::Gt, Relation::Ge];

/// The words that are properties of events where they are no fields of the payload.
const WORDS: [&str; 5] = ["tid", "pid", "comm", "cpu", "name"];

const IN: (&str, &str) = ("in (", "is one of");

/// Returns the kind of a field of the vocabulary.
fn kind_of(field: &KnownField) -> CandidateKind {
    let is_property = ["event.", "packet.", "tracefile.", "channel.", "trace.", "state."]
        .iter()
        .any(|root| field.selector().starts_with(root));
    let is_property = is_property || WORDS.contains(&field.selector());
    match is_property && field.path.is_none() {
        true => CandidateKind::Property,
        false => CandidateKind::Field,
    }
}

/// Returns `true` if a field has a type that can be compared, or no known type.
fn can_be_compared(field: &KnownField) -> bool {
    field.types().is_empty() || field.types().iter().any(|of| !of.relations().is_empty())
}

/// Returns the type and the description of a field.
fn described(field: &KnownField) -> String {
    let mut names: Vec<&str> = Vec::new();
    for of in field.types() {
        if !names.contains(&of.name()) {
            names.push(of.name());
        }
    }
    let names = names.join(" or ");
    match field.description() {
        "" => names,
        what if names.is_empty() => what.to_owned(),
        what => format!("{names}, {what}"),
    }
}

fn is_truth(of: &FieldType) -> bool {
    match of {
        FieldType::Integer(of) => of.kind == IntegerKind::Truth,
        _ => false,
    }
}

/// Returns the values that were found.
fn constants(found: &[Resolution<()>]) -> Vec<&Constant> {
    let mut constants: Vec<&Constant> = Vec::new();
    for found in found {
        match found {
            Resolution::Constant(constant) => constants.push(constant),
            Resolution::OneOf(_, values) => constants.extend(values.iter().flatten()),
            Resolution::Nothing | Resolution::Fields(_) => {}
        }
    }
    // Labels stand for the numbers of enumerations.
    constants.retain(|constant| match &constant.field_type {
        FieldType::Integer(of) => of.labels.is_empty() || of.kind == IntegerKind::Flags,
        _ => true,
    });
    constants
}

/// Returns the pattern that only a text matches.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

fn description(relation: Relation) -> &'static str {
    match relation {
        Relation::Eq => "equals",
        Relation::Ne => "differs from",
        Relation::Lt => "is less than",
        Relation::Le => "is at most",
        Relation::Gt => "is greater than",
        Relation::Ge => "is at least",
        Relation::Matches => "matches a pattern",
        Relation::NotMatches => "does not match a pattern",
        Relation::Bits => "has one of the bits",
    }
}
