//! The vocabulary of traces.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ltt_read::Trace;
use ltt_read::schema::{EnvValue, EventTypeId, FieldClass, FieldKind, Format, Schema};

use super::known::{KnownEvent, KnownField};
use super::source::Source;
use super::traces::Traces;
use super::{Vocabulary, walk};
use crate::model::{Constant, ConstantValue, FieldType, Model, Resolution};
use crate::span::Span;
use crate::syntax::{ExprKind, LiteralKind, Root, Selector, Step, StepKind, parse};
use crate::trace::{NoState, StateFields, Word};

/// The properties of events, with their descriptions.
const PROPERTIES: [(Root, &str, &str); 13] = [
    (Root::Event, "name", "name of the event, also CHANNEL.EVENT"),
    (Root::Event, "category", "provider, subsystem, facility or channel"),
    (Root::Event, "subname", "name after the first `:`"),
    (Root::Event, "time", "time of the event"),
    (Root::Event, "cycles", "clock value in cycles"),
    (Root::Event, "id", "number of the event type in its stream"),
    (Root::Event, "loglevel", "log level"),
    (Root::Tracefile, "cpu", "number of the CPU"),
    (Root::Tracefile, "name", "name of the tracefile"),
    (Root::Channel, "name", "name of the channel"),
    (Root::Trace, "name", "name of the trace's directory"),
    (Root::Trace, "path", "path of the trace's directory"),
    (Root::Trace, "uuid", "UUID of the trace"),
];

/// The scopes that bare names are searched in.
const PAYLOAD: u8 = 1;
const CONTEXT: u8 = 2;
const PACKET: u8 = 4;

const OF_CONTEXT: &str = "field of the context";

impl Vocabulary {
    /// Creates the vocabulary of traces.
    pub fn new(traces: &[Arc<Trace>]) -> Self {
        Self::with_state(traces, &NoState)
    }

    /// Creates the vocabulary of traces, with the fields of a state.
    pub fn with_state(traces: &[Arc<Trace>], state: &dyn StateFields) -> Self {
        let known = Traces::new(traces, state);
        let mut builder = Builder { ambiguous: ambiguous(traces), ..Builder::default() };
        // Words hide the fields that have their names.
        let words = Word::ALL.into_iter().filter(|word| known.know(*word));
        builder.ambiguous.extend(words.map(|word| word.as_str().to_owned()));
        for trace in 0..traces.len() {
            builder.events(&known, trace);
        }
        let mut selectors = properties(&known);
        selectors.extend(known.state_fields().map(|(name, of)| {
            let selector = Selector::state(name).to_string();
            let mut field = KnownField::new(selector, state.description(name));
            field.add_type(of);
            field
        }));
        for trace in traces {
            builder.shared(trace.schema());
        }
        let Builder { mut events, mut shared, .. } = builder;
        // A context of the event hides the one of its stream.
        let types = traces.iter().flat_map(|trace| &trace.schema().event_types);
        if types.into_iter().any(|event_type| event_type.specific_context.is_some()) {
            for field in shared.iter_mut().filter(|field| field.description() == OF_CONTEXT) {
                *field = KnownField::resolved(field, &known);
            }
        }
        selectors.append(&mut shared);
        events.sort_by(|a, b| a.name.cmp(&b.name));
        let mut cpus: Vec<u32> = traces
            .iter()
            .flat_map(|trace| trace.tracefiles().iter().filter_map(|tracefile| tracefile.cpu()))
            .collect();
        cpus.sort_unstable();
        cpus.dedup();
        let fields = merged(&events);
        Vocabulary { source: Source::Traces(known), selectors, fields, events, cpus }
    }
}

#[derive(Default)]
struct Builder {
    /// The names that several scopes have.
    ambiguous: HashSet<String>,
    events: Vec<KnownEvent>,
    /// The index of an event by its name.
    by_name: HashMap<String, usize>,
    /// The fields that all events of a stream have.
    shared: Vec<KnownField>,
}

impl Builder {
    /// Adds the events of a trace.
    fn events(&mut self, traces: &Traces, trace: usize) {
        let schema = traces.traces()[trace].schema();
        let category = Selector::event("category");
        for (id, event_type) in (0..).zip(&schema.event_types) {
            let name = event_type.name();
            let next = self.events.len();
            let at = *self.by_name.entry(name.to_owned()).or_insert(next);
            if at == next {
                let (name, types, fields) = (name.to_owned(), Vec::new(), Vec::new());
                let (categories, channels) = (Vec::new(), Vec::new());
                self.events.push(KnownEvent { name, categories, channels, types, fields });
            }
            let event = &mut self.events[at];
            event.types.push((trace, id));
            let Some((model, _)) = traces.model_of(traces.number(trace, id)) else { continue };
            add_texts(model.find(id, &category), &mut event.categories);
            let has_channel = schema.format != Format::Legacy
                || schema.stream_of(EventTypeId(id)).identity.name.is_some();
            if has_channel {
                add_texts(model.channels(EventTypeId(id)), &mut event.channels);
            }
            for (class, scope) in
                [(&event_type.payload, PAYLOAD), (&event_type.specific_context, CONTEXT)]
            {
                let Some(class) = class else { continue };
                add_fields(class, scope, &self.ambiguous, &mut event.fields);
            }
        }
    }

    /// Adds the fields that all events of a stream or trace have, and the environment.
    fn shared(&mut self, schema: &Schema) {
        for stream in &schema.stream_classes {
            if let Some(class) = &stream.common_context {
                add_fields(class, CONTEXT, &self.ambiguous, &mut self.shared);
            }
            if let Some(class) = &stream.packet_context {
                add_fields(class, PACKET, &self.ambiguous, &mut self.shared);
            }
            if let Some(class) = &stream.event_header {
                let root = Selector::event("header");
                add_below(class, &root, "field of the event header", &mut self.shared);
            }
        }
        if let Some(class) = &schema.packet_header {
            let root = Selector::new(Root::Packet, "header");
            add_below(class, &root, "field of the packet header", &mut self.shared);
        }
        for (name, value) in &schema.env {
            let selector = Selector::new(Root::Trace, "env").member(name).to_string();
            let (of, value) = match value {
                EnvValue::Int(value) => (FieldType::integer(64, *value < 0), value.to_string()),
                EnvValue::Str(text) => {
                    (FieldType::Text, LiteralKind::Text(text.to_string()).to_string())
                }
            };
            let field = entry(selector, "environment of the trace", &mut self.shared);
            field.add_type(&of);
            if !field.values.contains(&value) {
                field.values.push(value);
            }
        }
    }
}

/// Returns the entry for a selector, which is added if it is new.
fn entry<'f>(
    selector: String,
    description: &str,
    fields: &'f mut Vec<KnownField>,
) -> &'f mut KnownField {
    let at = fields.iter().position(|field| field.selector() == selector).unwrap_or_else(|| {
        fields.push(KnownField::new(selector, description));
        fields.len() - 1
    });
    &mut fields[at]
}

/// Adds the fields of a scope, with the shortest selectors that are not ambiguous.
fn add_fields(
    class: &FieldClass,
    scope: u8,
    ambiguous: &HashSet<String>,
    fields: &mut Vec<KnownField>,
) {
    walk::fields(class, |steps, of| {
        let steps = steps.to_vec();
        let bare =
            Selector { root: Root::Unqualified, steps: steps.clone(), span: Span::default() };
        let is_ambiguous =
            steps.first().and_then(Step::name).is_some_and(|name| ambiguous.contains(name));
        let below = |mut root: Selector| {
            root.steps.extend(steps);
            root
        };
        let (rooted, description) = match scope {
            PAYLOAD => {
                let mut root = Selector::event("fields");
                root.steps.push(Step::new(StepKind::Any));
                (root, "field of the payload")
            }
            CONTEXT => (Selector::event("context"), OF_CONTEXT),
            _ => (Selector::new(Root::Packet, "context"), "field of the packet context"),
        };
        let path = bare.to_string();
        let selector = if is_ambiguous { below(rooted).to_string() } else { path.clone() };
        let field = entry(selector, description, fields);
        field.add_type(&of);
        if scope == PAYLOAD {
            field.path = Some(path);
        }
    });
}

/// Adds the fields of a class below a root.
fn add_below(class: &FieldClass, root: &Selector, description: &str, fields: &mut Vec<KnownField>) {
    walk::fields(class, |steps, of| {
        let mut selector = root.clone();
        selector.steps.extend_from_slice(steps);
        entry(selector.to_string(), description, fields).add_type(&of);
    });
}

/// Returns the names that several of the scopes of a trace have, for which bare names are
/// searched.
fn ambiguous(traces: &[Arc<Trace>]) -> HashSet<String> {
    let mut ambiguous = HashSet::new();
    for schema in traces.iter().map(|trace| trace.schema()) {
        let mut scopes: HashMap<&str, u8> = HashMap::new();
        let of_types = schema.event_types.iter().flat_map(|event_type| {
            [(&event_type.payload, PAYLOAD), (&event_type.specific_context, CONTEXT)]
        });
        let of_streams = schema.stream_classes.iter().flat_map(|stream| {
            [(&stream.common_context, CONTEXT), (&stream.packet_context, PACKET)]
        });
        for (class, scope) in of_types.chain(of_streams) {
            let Some(FieldKind::Struct(s)) = class.as_deref().map(|class| &class.kind) else {
                continue;
            };
            for member in &s.members {
                *scopes.entry(&member.name).or_default() |= scope;
            }
        }
        let several = scopes.into_iter().filter(|(_, scopes)| scopes.count_ones() > 1);
        ambiguous.extend(several.map(|(name, _)| name.to_owned()));
    }
    ambiguous
}

/// Returns the properties that events of the traces have. Without events, all of them.
fn properties(traces: &Traces) -> Vec<KnownField> {
    let mut known = Vec::new();
    let words = Word::ALL.into_iter().filter(|word| traces.know(*word));
    let words = words.map(|word| (Root::Unqualified, word.as_str(), word.meaning()));
    for (root, name, description) in PROPERTIES.into_iter().chain(words) {
        let selector = Selector::new(root, name);
        let mut field = KnownField::new(selector.to_string(), description);
        let mut values = Vec::new();
        for number in 0..traces.types() {
            let Some((model, id)) = traces.model_of(number) else { continue };
            match model.find(id, &selector) {
                Resolution::Nothing => {}
                Resolution::Constant(constant) => add_constant(&constant, &mut field, &mut values),
                Resolution::OneOf(_, constants) => {
                    for constant in constants.iter().flatten() {
                        add_constant(constant, &mut field, &mut values);
                    }
                }
                Resolution::Fields(fields) => {
                    fields.iter().for_each(|access| field.add_type(&access.field_type));
                }
            }
        }
        values.sort_unstable();
        values.dedup();
        field.values = values.into_iter().map(|(_, text)| text).collect();
        if !field.types().is_empty() || traces.types() == 0 {
            known.push(field);
        }
    }
    known
}

/// Adds the type and value of a constant. Values are sorted by number, then by text.
fn add_constant(constant: &Constant, field: &mut KnownField, values: &mut Vec<(i128, String)>) {
    field.add_type(&constant.field_type);
    match (&constant.field_type, &constant.value) {
        (FieldType::Integer(of), ConstantValue::Integer(n)) if of.labels.is_empty() => {
            values.push((*n, n.to_string()));
        }
        (_, ConstantValue::Text(text)) => {
            values.push((0, LiteralKind::Text(text.clone()).to_string()));
        }
        _ => {}
    }
}

/// Adds the texts of constants that are new.
fn add_texts<F>(found: Resolution<F>, texts: &mut Vec<String>) {
    let mut add = |constant: &Constant| {
        if let ConstantValue::Text(text) = &constant.value
            && !texts.contains(text)
        {
            texts.push(text.clone());
        }
    };
    match found {
        Resolution::Constant(constant) => add(&constant),
        Resolution::OneOf(_, values) => values.iter().flatten().for_each(add),
        _ => {}
    }
}

/// Returns the fields of all events by selector, in alphabetical order.
fn merged(events: &[KnownEvent]) -> Vec<KnownField> {
    let mut by_selector: HashMap<&str, KnownField> = HashMap::new();
    for field in events.iter().flat_map(KnownEvent::fields) {
        match by_selector.get_mut(field.selector()) {
            None => drop(by_selector.insert(field.selector(), field.clone())),
            Some(known) => field.types().iter().for_each(|of| known.add_type(of)),
        }
    }
    let mut fields: Vec<KnownField> = by_selector.into_values().collect();
    fields.sort_by(|a, b| a.selector().cmp(b.selector()));
    fields
}

impl KnownField {
    /// Returns the field with the types that its selector has in the events of traces.
    fn resolved(field: &KnownField, traces: &Traces) -> Self {
        let mut resolved = KnownField::new(field.selector().to_owned(), field.description());
        let tree = parse(&format!("exists({})", field.selector()));
        let Ok(ExprKind::Exists(selector)) = tree.map(|tree| tree.kind) else { return resolved };
        for number in 0..traces.types() {
            let Some((model, id)) = traces.model_of(number) else { continue };
            if let Resolution::Fields(fields) = model.find(id, &selector) {
                fields.iter().for_each(|access| resolved.add_type(&access.field_type));
            }
        }
        resolved
    }
}
