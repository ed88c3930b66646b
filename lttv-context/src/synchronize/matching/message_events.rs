//! The events of a traceset that are ends of messages.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use ltt_read::schema::{EventTypeId, FieldKind, Length, Scope};
use ltt_read::tuning::KeyFields;
use ltt_read::{Event, Field, Trace, TraceIndex, TracefileIndex, Value};

use super::hosts::Hosts;
use super::matcher::MessageEnd;
use super::rule::{Direction, Rule, Rules};
use crate::synchronize::message::HostIndex;
use crate::traceset::Traceset;

/// The greatest number of remembered times for [`Rule::time_of`] in one trace. If it is reached,
/// all of them are forgotten.
const MOST_TIMES: usize = 1 << 16;

/// The rules, resolved in the traces of a traceset: finds ends of messages among events.
///
/// Fields are found once for each event type, and read through handles. Callers with a loop of
/// their own pass the events that [`wants`](Self::wants) names to [`end_of`](Self::end_of);
/// [`read_messages`](super::read_messages) contains such a loop.
#[derive(Debug)]
pub struct MessageEvents {
    traces: Vec<OfTrace>,
    /// The key of the current event.
    key: Vec<u8>,
}

/// The event types of one trace.
#[derive(Debug)]
struct OfTrace {
    host: HostIndex,
    /// By event type.
    types: Vec<Option<Box<OfType>>>,
    /// `true` for tracefiles that may contain wanted events.
    tracefiles: Vec<bool>,
    /// The times of events by the rule that needs them and the value of their field, in ns.
    times: HashMap<(u32, u64), i64>,
}

/// The use of one event type.
#[derive(Debug, Default)]
struct OfType {
    ends: Vec<End>,
    /// The rules that need the time of these events, and the field that identifies an event.
    times: Vec<(u32, Field)>,
}

/// A rule for one event type with the fields of its key, of which the key is not made yet.
#[derive(Debug)]
struct ResolvedEnd {
    end: End,
    paths: Vec<PathFields>,
}

/// A rule for one event type.
#[derive(Debug)]
struct End {
    protocol: u32,
    direction: Direction,
    validity: u64,
    is_to_many: bool,
    conditions: Vec<(Field, u64, bool)>,
    /// The number of the rule whose remembered times contain that of the message, and the field of
    /// this event.
    time_of: Option<(u32, Field)>,
    key: Vec<KeyPart>,
}

/// A part of a key.
#[derive(Debug)]
enum KeyPart {
    /// Integers, which are read fastest.
    Integers(KeyFields),
    /// A field of any other kind.
    Value(Field),
}

/// The fields of a path in a key.
#[derive(Debug, Clone)]
enum PathFields {
    /// An integer.
    Integer(Field),
    /// The elements of a short array of constant length, such as an address, and the array.
    Elements(Vec<Field>, Field),
    /// A field of any other kind.
    Other(Field),
}

/// The form of one path of all keys of a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathForm {
    /// A number of integers, each in a number of bytes. The number is `None` for a path that is no
    /// array.
    Integers { count: Option<usize>, bytes: usize },
    /// Values of any kind, or of different kinds in different event types.
    Values,
}

/// The forms of the keys of all protocols, by the number of the protocol and the place in the key.
type KeyForms = HashMap<(u32, usize), PathForm>;

impl MessageEvents {
    /// Resolves rules in the traces of a traceset.
    pub fn new(traceset: &Traceset, hosts: &Hosts, rules: &Rules) -> Self {
        let mut protocols = BTreeMap::new();
        for rule in &rules.rules {
            let next = protocols.len() as u32;
            protocols.entry(rule.protocol.as_str()).or_insert(next);
        }
        let mut forms = KeyForms::new();
        let resolved = traceset.traces().iter().map(|trace| {
            let ends = ResolvedEnd::all_of(trace, rules, &protocols);
            ends.iter().flatten().for_each(|end| end.note_forms(&mut forms));
            ends
        });
        let resolved: Vec<_> = resolved.collect();
        let traces = traceset.traces().iter().zip(resolved).enumerate();
        let traces = traces.map(|(index, (trace, ends))| {
            let host = hosts.of_trace(TraceIndex(index)).unwrap_or(HostIndex(0));
            OfTrace::new(trace, host, rules, ends, &forms)
        });
        MessageEvents { traces: traces.collect(), key: Vec::new() }
    }

    /// Returns `true` if events of a type may be ends of messages, or contain their times.
    #[inline]
    pub fn wants(&self, trace: TraceIndex, event_type: EventTypeId) -> bool {
        let of_trace = self.traces.get(trace.0);
        of_trace.and_then(|of| of.types.get(event_type.index())).is_some_and(Option::is_some)
    }

    /// Returns `true` if a tracefile may contain wanted events.
    pub fn may_want(&self, trace: TraceIndex, tracefile: TracefileIndex) -> bool {
        self.traces
            .get(trace.0)
            .and_then(|of| of.tracefiles.get(tracefile.0))
            .is_some_and(|wants| *wants)
    }

    /// Returns the end of a message that an event is, and remembers what later events need of it.
    /// The events of a tracefile have to come in order. `None` if it is no end of a message, or has
    /// no time.
    pub fn end_of(&mut self, event: &Event<'_>) -> Option<MessageEnd<'_>> {
        let time = event.timestamp()?;
        let of_trace = self.traces.get_mut(event.trace_index().0)?;
        let of_type = of_trace.types.get(event.type_id().index())?.as_deref()?;
        for (rule, field) in &of_type.times {
            if let Some(value) = event.integer(field) {
                if of_trace.times.len() >= MOST_TIMES {
                    of_trace.times.clear();
                }
                of_trace.times.insert((*rule, value), time.as_ns());
            }
        }
        for end in &of_type.ends {
            if !end.read_key(event, &mut self.key) {
                continue;
            }
            let time = match &end.time_of {
                None => time,
                Some((rule, field)) => {
                    let earlier = event
                        .integer(field)
                        .and_then(|value| of_trace.times.remove(&(*rule, value)));
                    ltt_read::Timestamp::from_ns(earlier?)
                }
            };
            return Some(MessageEnd {
                host: of_trace.host,
                direction: end.direction,
                time,
                protocol: end.protocol,
                key: &self.key,
                validity: end.validity,
                is_to_many: end.is_to_many,
            });
        }
        None
    }
}

impl OfTrace {
    fn new(
        trace: &Trace,
        host: HostIndex,
        rules: &Rules,
        ends: Vec<Vec<ResolvedEnd>>,
        forms: &KeyForms,
    ) -> Self {
        let schema = trace.schema();
        let mut types: Vec<Option<Box<OfType>>> = schema.event_types.iter().map(|_| None).collect();
        for (number, (event_type, ends)) in schema.event_types.iter().zip(ends).enumerate() {
            let ends = ends.into_iter().map(|end| End::new(end, forms)).collect();
            let mut of_type = OfType { ends, times: Vec::new() };
            for (rule_number, rule) in rules.rules.iter().enumerate() {
                if let Some(of) =
                    rule.time_of.as_ref().filter(|of| of.event.matches(event_type.name()))
                {
                    let field = find_field(trace, EventTypeId(number as u32), &of.field);
                    of_type.times.extend(field.map(|field| (rule_number as u32, field)));
                }
            }
            if !of_type.ends.is_empty() || !of_type.times.is_empty() {
                types[number] = Some(Box::new(of_type));
            }
        }
        let wanted = schema.event_types.iter().zip(&types).filter(|(_, of_type)| of_type.is_some());
        let streams: Vec<_> = wanted.map(|(event_type, _)| event_type.stream).collect();
        let tracefiles = trace.tracefiles().iter().map(|tracefile| {
            // The events of a tracefile without a stream class are not known in advance.
            tracefile.stream_class().map_or(!streams.is_empty(), |stream| streams.contains(&stream))
        });
        OfTrace { host, tracefiles: tracefiles.collect(), types, times: HashMap::new() }
    }
}

impl ResolvedEnd {
    /// Resolves all rules for all event types of a trace, by event type.
    fn all_of(trace: &Trace, rules: &Rules, protocols: &BTreeMap<&str, u32>) -> Vec<Vec<Self>> {
        let types = trace.schema().event_types.iter().enumerate();
        let ends = types.map(|(number, event_type)| {
            let id = EventTypeId(number as u32);
            let rules = rules.rules.iter().enumerate();
            // Many rules share the paths of addresses.
            let mut known = HashMap::new();
            let resolve =
                |(number, rule)| Self::new(trace, id, rule, number as u32, protocols, &mut known);
            rules
                .filter(|(_, rule)| rule.event.matches(event_type.name()))
                .filter_map(resolve)
                .collect()
        });
        ends.collect()
    }

    /// Resolves a rule for an event type; `None` if the type lacks a field. `known` contains the
    /// paths of keys that have been resolved for the event type before.
    fn new<'r>(
        trace: &Trace,
        id: EventTypeId,
        rule: &'r Rule,
        number: u32,
        protocols: &BTreeMap<&str, u32>,
        known: &mut HashMap<&'r str, Option<PathFields>>,
    ) -> Option<Self> {
        let find = |path: &String| find_field(trace, id, path);
        let time_of = match &rule.time_of {
            Some(of) => Some((number, find(&of.field)?)),
            None => None,
        };
        let paths = rule.key.iter().map(|path| {
            let resolve = || Some(PathFields::new(trace, path, find(path)?));
            known.entry(path.as_str()).or_insert_with(resolve).clone()
        });
        let paths = paths.collect::<Option<_>>()?;
        let conditions = rule.conditions.iter();
        let end = End {
            protocol: *protocols.get(rule.protocol.as_str())?,
            direction: rule.direction,
            validity: u64::try_from(rule.validity.as_nanos()).unwrap_or(u64::MAX),
            is_to_many: rule.is_to_many,
            conditions: conditions
                .map(|of| Some((find(&of.field)?, of.value, of.holds)))
                .collect::<Option<_>>()?,
            time_of,
            key: Vec::new(),
        };
        Some(ResolvedEnd { end, paths })
    }

    /// Adds the forms of its paths to those of the other ends of the protocol.
    fn note_forms(&self, forms: &mut KeyForms) {
        for (place, path) in self.paths.iter().enumerate() {
            let form = path.form();
            let common = forms.entry((self.end.protocol, place)).or_insert(form);
            *common = common.and(form);
        }
    }
}

impl End {
    fn new(resolved: ResolvedEnd, forms: &KeyForms) -> Self {
        let mut end = resolved.end;
        let mut integers = Vec::new();
        for (place, path) in resolved.paths.into_iter().enumerate() {
            match (path, forms.get(&(end.protocol, place))) {
                (PathFields::Integer(field), Some(PathForm::Integers { bytes, .. })) => {
                    integers.push((field, *bytes));
                }
                (PathFields::Elements(elements, _), Some(PathForm::Integers { bytes, .. })) => {
                    integers.extend(elements.into_iter().map(|element| (element, *bytes)));
                }
                (
                    PathFields::Integer(field)
                    | PathFields::Elements(_, field)
                    | PathFields::Other(field),
                    _,
                ) => {
                    end.add_integers(&mut integers);
                    end.key.push(KeyPart::Value(field));
                }
            }
        }
        end.add_integers(&mut integers);
        end
    }

    /// Adds integers with the numbers of their bytes to the key.
    fn add_integers(&mut self, integers: &mut Vec<(Field, usize)>) {
        if integers.is_empty() {
            return;
        }
        let fields = KeyFields::new(integers.iter().map(|(field, bytes)| (field, *bytes)));
        match fields {
            Some(fields) => self.key.push(KeyPart::Integers(fields)),
            None => debug_assert!(false, "plain integers of one event type"),
        }
        integers.clear();
    }

    /// Reads the key of an event. Returns `false` if the event is not of the rule.
    fn read_key(&self, event: &Event<'_>, key: &mut Vec<u8>) -> bool {
        key.clear();
        let holds = |(field, value, holds): &(Field, u64, bool)| {
            event.integer(field).is_some_and(|found| (found == *value) == *holds)
        };
        let add = |part: &KeyPart| match part {
            KeyPart::Integers(fields) => event.key(fields, key),
            KeyPart::Value(field) => event.get(field).is_some_and(|value| add_value(key, &value)),
        };
        self.conditions.iter().all(holds) && self.key.iter().all(add)
    }
}

impl PathFields {
    fn new(trace: &Trace, path: &str, field: Field) -> Self {
        const MOST_ELEMENTS: u64 = 64;
        if field.is_plain_integer() {
            return PathFields::Integer(field);
        }
        if let FieldKind::Array(array) = &field.info().class().kind
            && let Length::Static(count @ 1..=MOST_ELEMENTS) = array.length
        {
            let element = |index| {
                let element = find_field(trace, field.event_type(), &format!("{path}[{index}]"));
                element.filter(Field::is_plain_integer)
            };
            if let Some(elements) = (0..count).map(element).collect() {
                return PathFields::Elements(elements, field);
            }
        }
        PathFields::Other(field)
    }

    fn form(&self) -> PathForm {
        match self {
            PathFields::Integer(field) => {
                PathForm::Integers { count: None, bytes: bytes_of(field) }
            }
            PathFields::Elements(elements, _) => {
                let bytes = elements.iter().map(bytes_of).max().unwrap_or(1);
                PathForm::Integers { count: Some(elements.len()), bytes }
            }
            PathFields::Other(_) => PathForm::Values,
        }
    }
}

impl PathForm {
    /// Returns the form in which values of both forms are comparable.
    fn and(self, other: PathForm) -> PathForm {
        match (self, other) {
            (
                PathForm::Integers { count, bytes },
                PathForm::Integers { count: other_count, bytes: other_bytes },
            ) if count == other_count => {
                PathForm::Integers { count, bytes: bytes.max(other_bytes) }
            }
            _ => PathForm::Values,
        }
    }
}

/// Returns the number of bytes in which all values of an integer differ, also from those of other
/// fields of as many bytes: all 8 if they may be negative.
fn bytes_of(field: &Field) -> usize {
    match &field.info().class().kind {
        FieldKind::Integer(fixed, integer) if !integer.signed => {
            (fixed.bits as usize).div_ceil(8).clamp(1, 8)
        }
        _ => 8,
    }
}

fn find_field(trace: &Trace, id: EventTypeId, path: &str) -> Option<Field> {
    let scopes =
        [Scope::Payload, Scope::SpecificContext, Scope::CommonContext, Scope::PacketContext];
    scopes.into_iter().find_map(|scope| trace.field(id, scope, path))
}

/// Adds an integer in 7 bits per byte (LEB128), so that integers of fields of any size are equal if
/// their values are.
fn add_integer(key: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        key.push(value as u8 | 0x80);
        value >>= 7;
    }
    key.push(value as u8);
}

/// Adds a value such that no other value of the same kind has the same bytes. Returns `false` for
/// a value that cannot be a part of a key.
fn add_value(key: &mut Vec<u8>, value: &Value<'_>) -> bool {
    let mut add_bytes = |bytes: &[u8]| {
        add_integer(key, bytes.len() as u64);
        key.extend_from_slice(bytes);
        true
    };
    match value {
        Value::Str(text) => add_bytes(text.to_str_lossy().as_bytes()),
        Value::Blob(bytes) => add_bytes(bytes),
        Value::Float(number) => add_bytes(&number.to_bits().to_le_bytes()),
        Value::Array(elements) => {
            add_integer(key, elements.len());
            elements.iter().all(|element| add_value(key, &element))
        }
        Value::Struct(members) => members.members().all(|(_, member)| add_value(key, &member)),
        Value::Sint(number) => {
            add_integer(key, *number as u64);
            true
        }
        other => other.as_u64().is_some_and(|number| {
            add_integer(key, number);
            true
        }),
    }
}
