//! One JSON object a line, for other programs.
//!
//! | field | as |
//! |---|---|
//! | integer | number with all its digits, also beyond 2⁵³ |
//! | enumeration | `{"value":4,"labels":["RANGE"]}` |
//! | boolean | `true`, `false` |
//! | bit array | number |
//! | bit map | `{"value":5,"flags":["a","c"]}` |
//! | float | shortest number that reads back the same; `"nan"`, `"inf"`, `"-inf"` |
//! | string | string, U+FFFD where its bytes are not sound text |
//! | blob | string of hexadecimal digits |
//! | structure, array | object, array |
//! | variant | `{"option":"name","value":…}`; the number of an option without name |
//! | option | the value, or `null` |

use std::io::Write;
use std::sync::Arc;

use ltt_read::layout::FieldInfo;
use ltt_read::schema::{EventType, FieldKind, Schema, Scope};
use ltt_read::{Event, StrValue, Trace, Visitor};

use super::EventText;
use super::integer::{self, Value};
use super::nesting::{Around, Nesting};
use super::per_trace::PerTrace;
use super::scopes::{self, Leads, Member};
use super::{number, quote};

/// Prints events as JSON objects.
#[derive(Debug)]
pub struct Json {
    traces: PerTrace<TraceText>,
    nesting: Nesting,
}

/// What objects of one trace have in common.
#[derive(Debug)]
struct TraceText {
    quoted_path: Vec<u8>,
    types: Vec<TypeText>,
}

/// The part of an object that the event type decides.
#[derive(Debug)]
struct TypeText {
    /// `,"name":…,"id":…`
    name: Vec<u8>,
    scopes: Vec<(Scope, &'static str, Vec<Member>)>,
}

impl Json {
    /// Prints events of these traces.
    pub fn new(traces: &[Arc<Trace>]) -> Self {
        let traces = PerTrace::new(traces, |_, trace| {
            let mut quoted_path = Vec::new();
            quote::json_quoted(&mut quoted_path, &trace.path().to_string_lossy());
            let schema = trace.schema();
            let types = schema.event_types.iter().map(|t| TypeText::new(schema, t)).collect();
            TraceText { quoted_path, types }
        });
        Json { traces, nesting: Nesting::default() }
    }
}

impl TypeText {
    fn new(schema: &Schema, event_type: &EventType) -> Self {
        let mut name = b",\"name\":".to_vec();
        quote::json_quoted(&mut name, event_type.name());
        name.extend_from_slice(b",\"id\":");
        number::decimal(&mut name, event_type.id);
        let scopes = scopes::shown(schema, event_type)
            .map(|(scope, class)| (scope, key(scope), scopes::members(class, scope, &Keys)));
        TypeText { name, scopes: scopes.collect() }
    }
}

/// The object key of a scope.
fn key(scope: Scope) -> &'static str {
    match scope {
        Scope::PacketHeader => ",\"packet_header\":",
        Scope::PacketContext => ",\"packet_context\":",
        Scope::EventHeader => ",\"event_header\":",
        Scope::CommonContext => ",\"common_context\":",
        Scope::SpecificContext => ",\"specific_context\":",
        Scope::Payload => ",\"fields\":",
    }
}

impl EventText for Json {
    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        let Some(TraceText { quoted_path, types }) = self.traces.of(event.trace()) else { return };
        let Some(text) = types.get(event.type_id().index()) else { return };
        out.extend_from_slice(b"{\"timestamp\":");
        match event.timestamp() {
            Some(time) => number::signed(out, time.ns()),
            None => out.extend_from_slice(b"null"),
        }
        if let Some(cycles) = event.cycles() {
            out.extend_from_slice(b",\"cycles\":");
            number::decimal(out, cycles);
        }
        out.extend_from_slice(b",\"trace\":");
        out.extend_from_slice(quoted_path);
        let tracefile = event.tracefile();
        out.extend_from_slice(b",\"tracefile\":");
        quote::json_quoted(out, tracefile.name());
        if let Some(cpu) = tracefile.cpu() {
            out.extend_from_slice(b",\"cpu\":");
            number::decimal(out, cpu.into());
        }
        out.extend_from_slice(&text.name);
        for (scope, key, members) in &text.scopes {
            out.extend_from_slice(key.as_bytes());
            event.visit(*scope, &mut Values { out, nesting: &mut self.nesting, members });
        }
        out.extend_from_slice(b"}\n");
    }
}

/// Appends one scope as a JSON value.
struct Values<'a> {
    out: &'a mut Vec<u8>,
    nesting: &'a mut Nesting,
    /// The members of the root structure.
    members: &'a [Member],
}

impl Values<'_> {
    /// What comes before a value: comma and key. `None` if the value is not to
    /// be shown; otherwise whether it is a plain integer.
    #[inline]
    fn lead(&mut self, field: &FieldInfo) -> Option<bool> {
        let (around, index) = self.nesting.next();
        match around {
            Around::Root => {
                let member = self.members.get(index as usize)?;
                if member.hidden {
                    return None;
                }
                member.lead.append(self.out);
                return Some(member.plain);
            }
            Around::Struct => Keys.lead(self.out, index == 0, field.name().unwrap_or_default()),
            Around::Array if index > 0 => self.out.push(b','),
            Around::Array | Around::Scope | Around::Wrapper => {}
            Around::Absent => return None,
        }
        Some(false)
    }

    #[inline]
    fn integer(&mut self, field: &FieldInfo, value: Value) {
        let Some(plain) = self.lead(field) else { return };
        match integer::properties(field.class()) {
            Some((integer, _)) if !plain && integer.mappings.is_some() => {
                self.out.extend_from_slice(b"{\"value\":");
                value.decimal(self.out);
                self.names("labels", integer::labels(integer, value));
                self.out.push(b'}');
            }
            _ => value.decimal(self.out),
        }
    }

    fn names<'n>(&mut self, key: &str, names: impl Iterator<Item = &'n str>) {
        self.out.extend_from_slice(b",\"");
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":[");
        for (i, name) in names.enumerate() {
            if i > 0 {
                self.out.push(b',');
            }
            quote::json_quoted(self.out, name);
        }
        self.out.push(b']');
    }

    /// Opens a container, unless it is not to be shown.
    #[inline]
    fn begin(&mut self, field: &FieldInfo, open: &[u8], around: Around) -> bool {
        let shown = self.lead(field).is_some();
        if shown {
            self.out.extend_from_slice(open);
        }
        self.nesting.enter(if shown { around } else { Around::Absent });
        shown
    }

    /// Closes a container, if it was opened.
    #[inline]
    fn end(&mut self, close: &[u8]) {
        if self.nesting.leave().0 != Around::Absent {
            self.out.extend_from_slice(close);
        }
    }
}

/// Keys of objects.
struct Keys;

impl Leads for Keys {
    fn lead(&self, out: &mut Vec<u8>, first: bool, name: &str) {
        if !first {
            out.push(b',');
        }
        quote::json_quoted(out, name);
        out.push(b':');
    }
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
        if self.lead(field).is_some() {
            self.out.extend_from_slice(if value { b"true" } else { b"false" });
        }
    }

    fn bits(&mut self, field: &FieldInfo, value: u64) {
        if self.lead(field).is_none() {
            return;
        }
        let FieldKind::BitMap(_, flags) = &field.class().kind else {
            return number::decimal(self.out, value);
        };
        self.out.extend_from_slice(b"{\"value\":");
        number::decimal(self.out, value);
        let set = |low: i128, high: i128| (low.max(0)..=high.min(63)).any(|b| value >> b & 1 != 0);
        let on = flags.iter().filter(|f| f.ranges.iter().any(|&(low, high)| set(low, high)));
        self.names("flags", on.map(|f| &*f.name));
        self.out.push(b'}');
    }

    fn float(&mut self, field: &FieldInfo, value: f64) {
        if self.lead(field).is_none() {
            return;
        }
        let single = matches!(&field.class().kind, FieldKind::Float(f) if f.bits <= 32);
        // Writing to a vector cannot fail.
        let _ = match (value.is_finite(), single) {
            (false, _) if value.is_nan() => self.out.write_all(b"\"nan\""),
            (false, _) if value > 0.0 => self.out.write_all(b"\"inf\""),
            (false, _) => self.out.write_all(b"\"-inf\""),
            // A 32-bit value needs fewer digits to be told from its neighbours.
            (true, true) => write!(self.out, "{:?}", value as f32),
            (true, false) => write!(self.out, "{value:?}"),
        };
    }

    fn string(&mut self, field: &FieldInfo, value: StrValue<'_>) {
        if self.lead(field).is_some() {
            quote::json_quoted(self.out, &value.to_str_lossy());
        }
    }

    fn blob(&mut self, field: &FieldInfo, value: &[u8]) {
        if self.lead(field).is_none() {
            return;
        }
        self.out.push(b'"');
        for &byte in value {
            quote::byte_hex(self.out, byte);
        }
        self.out.push(b'"');
    }

    #[inline]
    fn begin_struct(&mut self, field: &FieldInfo) {
        let around = if self.nesting.is_root() { Around::Root } else { Around::Struct };
        self.begin(field, b"{", around);
    }

    #[inline]
    fn end_struct(&mut self, _field: &FieldInfo) {
        self.end(b"}");
    }

    fn begin_array(&mut self, field: &FieldInfo, _len: u64) {
        self.begin(field, b"[", Around::Array);
    }

    fn end_array(&mut self, _field: &FieldInfo) {
        self.end(b"]");
    }

    fn begin_variant(&mut self, field: &FieldInfo, option: usize) {
        if !self.begin(field, b"{\"option\":", Around::Wrapper) {
            return;
        }
        let name = match &field.class().kind {
            FieldKind::Variant(v) => v.options.get(option).and_then(|o| o.name.as_deref()),
            _ => None,
        };
        match name {
            Some(name) => quote::json_quoted(self.out, name),
            None => number::decimal(self.out, option as u64),
        }
        self.out.extend_from_slice(b",\"value\":");
    }

    fn end_variant(&mut self, _field: &FieldInfo) {
        self.end(b"}");
    }

    fn begin_option(&mut self, field: &FieldInfo, present: bool) {
        match present {
            true => self.begin(field, b"", Around::Wrapper),
            false => self.begin(field, b"null", Around::Absent),
        };
    }

    fn end_option(&mut self, _field: &FieldInfo) {
        self.end(b"");
    }
}

#[cfg(test)]
mod tests {
    use ltt_read::schema::FieldClass;

    use super::super::test_fields::{every_kind, member_classes, nested, packet_context};
    use super::*;

    fn text(feed: fn(&mut dyn Visitor)) -> String {
        let class = FieldClass::structure(member_classes(feed));
        let members = &scopes::members(&class, Scope::PacketContext, &Keys);
        let mut out = Vec::new();
        feed(&mut Values { out: &mut out, nesting: &mut Nesting::default(), members });
        let text = String::from_utf8(out).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        text
    }

    #[test]
    fn leaves() {
        assert_eq!(
            text(every_kind),
            r#"{"u":18446744073709551615,"s":-7,"x":48879,"en":{"value":4,"labels":["RANGE","OVERLAP"]},"un":{"value":9,"labels":[]},"b":true,"ba":6,"bm":{"value":5,"flags":["low","two"]},"f":0.1,"d":1e300,"nan":"nan","str":"a\"\nb","wide":"hé","blob":"00ff"}"#
        );
    }

    #[test]
    fn packet_contexts_without_the_readers_own_fields() {
        assert_eq!(text(packet_context), r#"{"cpu_id":3}"#);
    }

    #[test]
    fn containers() {
        assert_eq!(
            text(nested),
            r#"{"st":{},"arr":[{"a":1},{"a":2}],"none":[],"var":{"option":"one","value":3},"opt":4,"nil":null}"#
        );
    }
}
