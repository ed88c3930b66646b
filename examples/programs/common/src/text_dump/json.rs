//! Events as JSON: one object per line, for other programs.
//!
//! | field | JSON value |
//! |---|---|
//! | integer | number with all digits, also beyond 2⁵³ |
//! | enumeration | `{"value":4,"labels":["RANGE"]}` |
//! | boolean | `true`, `false` |
//! | bit array | number |
//! | bit map | `{"value":5,"flags":["a","c"]}` |
//! | float | shortest number that parses to the same value; `"nan"`, `"inf"`, `"-inf"` |
//! | string | string, with U+FFFD in place of invalid characters |
//! | blob | string of hexadecimal digits |
//! | structure, array | object, array |
//! | variant | `{"option":"name","value":…}`; the index of an option without a name |
//! | option | the value, or `null` |

use std::fmt::Write;
use std::sync::Arc;

use ltt_read::FieldInfo;
use ltt_read::schema::{FieldClass, FieldKind, Scope};
use ltt_read::{Event, StrValue, Trace, Tracefile, Visitor};

use super::integer::{self, Value};
use super::packet_text::PacketText;
use super::per_trace::PerTrace;
use super::plan::{Dialect, How, Plan};
use super::{EventText, StateAt};
use super::{quote, scopes};
use crate::text::clock_text::ClockRange;
use crate::text::number;
use crate::text::{Chunk, Text};

/// A format that prints events as JSON objects.
#[derive(Debug)]
pub struct Json {
    traces: PerTrace<TraceText>,
}

/// The parts that all objects of one trace share.
#[derive(Debug)]
struct TraceText {
    /// For each tracefile, `,"trace":…,"tracefile":…,"cpu":…` and the packet context that
    /// was printed last.
    tracefiles: Vec<(Chunk, PacketText)>,
    /// The parts by event type, created at the first event of the type.
    types: Vec<Option<Box<TypeText>>>,
    /// For each stream class, the plan of its packet context, if it is printed.
    contexts: Vec<Option<Plan>>,
}

/// The parts that all objects of one event type share.
#[derive(Debug)]
struct TypeText {
    clock: ClockRange,
    /// `,"name":…,"id":…`
    name: Chunk,
    body: Plan,
}

impl Json {
    /// Creates a format for the events of these traces.
    pub fn new(traces: &[Arc<Trace>]) -> Self {
        Json { traces: PerTrace::new(traces, |_, trace| TraceText::new(trace)) }
    }
}

/// The payloads of events as JSON objects.
#[derive(Debug)]
pub struct Fields {
    /// For each trace, the plans by event type, created at the first event of the type.
    traces: PerTrace<Vec<Option<Plan>>>,
}

impl Fields {
    /// Creates the texts of the events of these traces.
    pub fn new(traces: &[Arc<Trace>]) -> Self {
        let plans =
            |_: usize, trace: &Trace| trace.schema().event_types.iter().map(|_| None).collect();
        Fields { traces: PerTrace::new(traces, plans) }
    }

    /// Appends the payload of an event as an object: `{}` if it has none.
    pub fn append(&mut self, event: &Event<'_>, out: &mut Text) {
        let plans = self.traces.of(event.trace());
        let plan = plans.and_then(|plans| plans.get_mut(event.type_id().index()));
        let Some(plan) = plan.filter(|_| event.has_scope(Scope::Payload)) else {
            return out.append(b"{}");
        };
        let plan = plan.get_or_insert_with(|| {
            let mut plan = Plan::default();
            // Fields are numbered in all scopes together.
            for (_, class) in scopes::body(event.trace().schema(), event.event_type()) {
                plan.root(&Keys, class, "{", How::Class, &|_| false);
            }
            plan
        });
        event.visit(Scope::Payload, &mut Values { out, plan });
    }
}

impl TraceText {
    fn new(trace: &Trace) -> TraceText {
        let context = |stream| {
            let mut plan = Plan::default();
            let (class, lead) = (scopes::packet_context(stream)?, key(Scope::PacketContext));
            plan.root(&Keys, class, lead, How::Class, &|member| scopes::is_internal(&member.class));
            Some(plan)
        };
        let place = |t| (Chunk::new(place(trace, t)), PacketText::default());
        TraceText {
            tracefiles: trace.tracefiles().iter().map(place).collect(),
            types: trace.schema().event_types.iter().map(|_| None).collect(),
            contexts: trace.schema().stream_classes.iter().map(context).collect(),
        }
    }
}

/// Returns the members that identify a tracefile.
fn place(trace: &Trace, tracefile: &Tracefile) -> Text {
    let mut text = Text::from(",\"trace\":");
    quote::json_quoted(&mut text, &trace.path().to_string_lossy());
    text.append(b",\"tracefile\":");
    quote::json_quoted(&mut text, tracefile.name());
    if let Some(cpu) = tracefile.cpu() {
        text.append(b",\"cpu\":");
        number::decimal(&mut text, cpu.into());
    }
    text
}

/// Returns the object key of a scope.
fn key(scope: Scope) -> &'static str {
    match scope {
        Scope::PacketHeader => ",\"packet_header\":{",
        Scope::PacketContext => ",\"packet_context\":{",
        Scope::EventHeader => ",\"event_header\":{",
        Scope::CommonContext => ",\"common_context\":{",
        Scope::SpecificContext => ",\"specific_context\":{",
        Scope::Payload => ",\"fields\":{",
    }
}

impl TypeText {
    /// Creates the parts from the first event of a type.
    #[cold]
    #[inline(never)]
    fn new(event: &Event<'_>) -> Box<Self> {
        let (schema, event_type) = (event.trace().schema(), event.event_type());
        let mut name = Text::from(",\"name\":");
        quote::json_quoted(&mut name, event_type.name());
        name.append(b",\"id\":");
        number::decimal(&mut name, event_type.id);
        let mut body = Plan::default();
        for (scope, class) in scopes::body(schema, event_type) {
            body.root(&Keys, class, key(scope), How::Class, &|_| false);
        }
        let clock = ClockRange::of(schema, event_type);
        Box::new(TypeText { clock, name: Chunk::new(name), body })
    }
}

impl EventText for Json {
    fn continue_with(&mut self, traces: &[Arc<Trace>], _: &[String]) {
        self.traces.continue_with(traces, |_, trace| TraceText::new(trace));
    }

    fn has_parts(&self) -> bool {
        true
    }

    fn event(&mut self, event: &Event<'_>, _: Option<StateAt<'_>>, out: &mut Text) {
        let Some(trace) = self.traces.of(event.trace()) else { return };
        let Some(text) = trace.types.get_mut(event.type_id().index()) else { return };
        let text = text.get_or_insert_with(|| TypeText::new(event));
        let tracefile = event.tracefile_index().0;
        let Some((place, packet)) = trace.tracefiles.get_mut(tracefile) else { return };
        out.append(b"{\"timestamp\":");
        match event.timestamp() {
            None => out.append(b"null"),
            Some(time) if text.clock == ClockRange::Wrapped => {
                number::decimal(out, time.as_ns().cast_unsigned());
            }
            Some(time) => number::signed(out, time.as_ns()),
        }
        if let Some(cycles) = event.cycles() {
            out.append(b",\"cycles\":");
            number::decimal(out, cycles);
        }
        place.append(out);
        text.name.append(out);
        let stream = event.packet().stream_class.index();
        if let Some(Some(plan)) = trace.contexts.get_mut(stream) {
            packet.append(event, out, |out| {
                event.visit(Scope::PacketContext, &mut Values { out, plan });
            });
        }
        event.visit_body(&mut Values { out, plan: &mut text.body });
        out.append(b"}\n");
    }
}

/// The dialect of object members.
#[derive(Debug)]
struct Keys;

impl Dialect for Keys {
    fn member(&self, lead: &mut Text, first: bool, name: &str) {
        if !first {
            lead.push(b',');
        }
        quote::json_quoted(lead, name);
        lead.push(b':');
    }

    fn option(&self, lead: &mut Text, number: usize, name: Option<&str>) {
        match name {
            Some(name) => quote::json_quoted(lead, name),
            None => number::decimal(lead, number as u64),
        }
        lead.append(b",\"value\":");
    }

    fn open(&self, lead: &mut Text, class: &FieldClass) -> How {
        let bracket: &[u8] = match &class.kind {
            FieldKind::Struct(_) => b"{",
            FieldKind::Array(_) => b"[",
            FieldKind::Variant(_) => b"{\"option\":",
            _ => b"",
        };
        lead.append(bracket);
        match integer::properties(class) {
            Some((integer, _)) if integer.mappings.is_some() => How::Labels(0),
            Some(_) => How::Decimal,
            None => How::Class,
        }
    }
}

/// A visitor that appends fields to an object.
struct Values<'a> {
    out: &'a mut Text,
    plan: &'a mut Plan,
}

impl Values<'_> {
    /// Appends the text before a value, comma and key. Returns the notation of the value.
    #[inline(always)]
    fn lead(&mut self, field: &FieldInfo) -> How {
        match self.plan.step(field, self.out, comma) {
            Some(step) => {
                step.lead.append(self.out);
                step.how
            }
            None => How::Hidden,
        }
    }

    /// Appends the text before a value. Returns `true` if the value is printed.
    fn shows(&mut self, field: &FieldInfo) -> bool {
        self.lead(field) != How::Hidden
    }

    #[inline(always)]
    fn integer(&mut self, field: &FieldInfo, value: Value) {
        let Some(step) = self.plan.step(field, self.out, comma) else { return };
        match (step.how, value.short_decimal()) {
            (How::Decimal, Some(short)) => step.lead.append_with(self.out, short),
            (how, _) => {
                step.lead.append(self.out);
                match how {
                    How::Labels(memo) => self.labels(field, memo, value),
                    _ => value.decimal(self.out),
                }
            }
        }
    }

    fn labels(&mut self, field: &FieldInfo, memo: usize, value: Value) {
        let Some((integer, _)) = integer::properties(field.class()) else { return };
        let Some(memo) = self.plan.memo(memo) else { return };
        memo.append(self.out, value.raw(), |out| {
            out.append(b"{\"value\":");
            value.decimal(out);
            names(out, "labels", integer::labels(integer, value));
            if let Some(flags) = integer.flags(value.wide()) {
                names(out, "flags", flags.into_iter());
            }
            out.push(b'}');
        });
    }

    /// Closes a container if the plan opened it.
    fn end(&mut self, field: &FieldInfo, close: &[u8]) {
        if self.plan.how(field) != How::Hidden {
            self.out.append(close);
        }
    }
}

/// Appends the separator before an array element.
fn comma(out: &mut Text, number: u64) {
    out.spill();
    if number > 0 {
        out.push(b',');
    }
}

/// Appends a member with an array of names.
fn names<'n>(out: &mut Text, key: &str, names: impl Iterator<Item = &'n str>) {
    out.append(b",\"");
    out.append(key.as_bytes());
    out.append(b"\":[");
    for (i, name) in names.enumerate() {
        if i > 0 {
            out.push(b',');
        }
        quote::json_quoted(out, name);
    }
    out.push(b']');
}

impl Visitor for Values<'_> {
    #[inline]
    fn uint(&mut self, field: &FieldInfo, value: u64) {
        self.integer(field, Value::Unsigned(value));
    }

    #[inline]
    fn sint(&mut self, field: &FieldInfo, value: i64) {
        self.integer(field, Value::Signed(value));
    }

    fn boolean(&mut self, field: &FieldInfo, value: bool) {
        if self.shows(field) {
            self.out.append(if value { b"true" } else { b"false" });
        }
    }

    fn bits(&mut self, field: &FieldInfo, value: u64) {
        if !self.shows(field) {
            return;
        }
        let Some(flags) = field.class().flags(value.into()) else {
            return number::decimal(self.out, value);
        };
        self.out.append(b"{\"value\":");
        number::decimal(self.out, value);
        names(self.out, "flags", flags.into_iter());
        self.out.push(b'}');
    }

    fn float(&mut self, field: &FieldInfo, value: f64) {
        if !self.shows(field) {
            return;
        }
        let single = matches!(&field.class().kind, FieldKind::Float(f) if f.bits <= 32);
        // Writing to a text never fails.
        let _ = match (value.is_finite(), single) {
            (false, _) if value.is_nan() => self.out.write_str("\"nan\""),
            (false, _) if value > 0.0 => self.out.write_str("\"inf\""),
            (false, _) => self.out.write_str("\"-inf\""),
            // A 32-bit value needs fewer digits to parse to the same value.
            (true, true) => write!(self.out, "{:?}", value as f32),
            (true, false) => write!(self.out, "{value:?}"),
        };
    }

    fn string(&mut self, field: &FieldInfo, value: StrValue<'_>) {
        if self.shows(field) {
            quote::json_quoted(self.out, &value.to_str_lossy());
        }
    }

    fn blob(&mut self, field: &FieldInfo, value: &[u8]) {
        if !self.shows(field) {
            return;
        }
        self.out.push(b'"');
        for &byte in value {
            self.out.spill();
            quote::byte_hex(self.out, byte);
        }
        self.out.push(b'"');
    }

    fn begin_struct(&mut self, field: &FieldInfo) {
        self.lead(field);
    }

    fn end_struct(&mut self, field: &FieldInfo) {
        self.end(field, b"}");
    }

    fn begin_array(&mut self, field: &FieldInfo, _len: u64) {
        self.lead(field);
        self.plan.enter_array();
    }

    fn end_array(&mut self, field: &FieldInfo) {
        self.plan.leave_array();
        self.end(field, b"]");
    }

    fn begin_variant(&mut self, field: &FieldInfo, _option: usize) {
        self.lead(field);
    }

    fn end_variant(&mut self, field: &FieldInfo) {
        self.end(field, b"}");
    }

    fn begin_option(&mut self, field: &FieldInfo, present: bool) {
        if self.shows(field) && !present {
            self.out.append(b"null");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_fields::{Sample, every_kind, nested, with_event};
    use super::*;

    /// Formats a sample as an object, and checks that it is valid JSON.
    fn text(sample: fn() -> Vec<Sample>) -> String {
        let mut out = Text::default();
        with_event(sample(), |event| {
            Json::new(&[Arc::clone(event.trace())]).event(event, None, &mut out);
        });
        let text = out.to_string();
        serde_json::from_str::<serde_json::Value>(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        text
    }

    #[test]
    fn fields_without_parts() {
        let text = text(every_kind);
        let (_, fields) = text.split_once(",\"fields\":").unwrap();
        assert_eq!(
            fields,
            concat!(
                r#"{"u":18446744073709551615,"s":-7,"x":48879,"xx":42968761703,"o":420,"#,
                r#""en":{"value":4,"labels":["RANGE","OVERLAP"]},"un":{"value":9,"labels":[]},"#,
                r#""b":true,"ba":6,"bm":{"value":5,"flags":["low","two"]},"f":0.1,"d":1e300,"#,
                r#""nan":"nan","str":"a\"\nb","wide":"hé","blob":"00ff"}}"#,
                "\n"
            )
        );
    }

    #[test]
    fn the_payload_alone() {
        let (mut out, whole) = (Text::default(), text(nested));
        with_event(nested(), |event| {
            Fields::new(&[Arc::clone(event.trace())]).append(event, &mut out);
        });
        let (_, fields) = whole.trim_end().split_once(",\"fields\":").unwrap();
        assert_eq!(fields, format!("{out}}}"));
    }

    #[test]
    fn fields_with_parts() {
        assert_eq!(
            text(nested),
            concat!(
                r#"{"timestamp":1600000001000000007,"cycles":1000000007,"trace":"","tracefile":"c_0","#,
                r#""cpu":3,"name":"sample","id":0,"packet_context":{"cpu_id":3},"fields":{"#,
                r#""one":1,"st":{},"two":2,"arr":[{"a":1},{"a":2}],"zero":0,"none":[],"#,
                r#""var":{"option":"this","value":3},"opt":4,"nil":null}}"#,
                "\n"
            )
        );
    }
}
