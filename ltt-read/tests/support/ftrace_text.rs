//! The events of recordings of ftrace as text, in the form of the reference output.

use std::fmt::Write;
use std::sync::Arc;

use ltt_read::schema::Scope;
use ltt_read::{Event, FieldInfo, Merge, NoticeKind, StrValue, Trace, Visitor};

/// Returns a line for each event of some traces, in order of time.
pub(crate) fn event_lines(traces: &[Arc<Trace>]) -> Vec<String> {
    let (mut merge, mut lines) = (Merge::new(traces), Vec::new());
    while let Some(event) = merge.next() {
        lines.push(line(&event));
    }
    merge.finish().expect("sound recordings");
    lines
}

/// Returns a line for each place of some traces at which events were lost, sorted.
pub(crate) fn loss_lines(traces: &[Arc<Trace>]) -> Vec<String> {
    let mut lines = Vec::new();
    for mut cursor in traces.iter().flat_map(Trace::cursors) {
        while cursor.advance().expect("sound recordings") {
            for notice in cursor.take_notices() {
                let NoticeKind::DiscardedEvents { count, .. } = notice.kind else {
                    panic!("{notice}");
                };
                let count = count.map_or("?".to_owned(), |count| count.to_string());
                lines.push(format!("{}lost={count}", start(&cursor.event())));
            }
        }
    }
    lines.sort();
    lines
}

/// Returns the text of an event.
fn line(event: &Event<'_>) -> String {
    let mut text = Text { out: start(event) };
    let unknown = event.event_type().name() == "unknown";
    if unknown {
        let id = event.field("id").and_then(|id| id.as_u64()).unwrap_or(0);
        return format!("{}unknown:{id}", text.out);
    }
    text.out.push_str(event.event_type().name());
    for scope in [Scope::CommonContext, Scope::Payload] {
        event.visit(scope, &mut text);
    }
    text.out
}

/// Returns the buffer, the time and the CPU of an event.
fn start(event: &Event<'_>) -> String {
    let buffer = event.trace().schema().env_str("buffer");
    let buffer = buffer.map(|name| format!("{name}/")).unwrap_or_default();
    let time = event.timestamp().expect("a time").as_ns();
    format!("{buffer}{time} {} ", event.tracefile().cpu().expect("a CPU"))
}

struct Text {
    out: String,
}

impl Text {
    fn value(&mut self, field: &FieldInfo, value: std::fmt::Arguments<'_>) {
        match field.name() {
            Some(name) => _ = write!(self.out, " {name}={value}"),
            None if self.out.ends_with('[') => _ = write!(self.out, "{value}"),
            None => _ = write!(self.out, ",{value}"),
        }
    }
}

impl Visitor for Text {
    fn uint(&mut self, field: &FieldInfo, value: u64) {
        self.value(field, format_args!("{value}"));
    }

    fn sint(&mut self, field: &FieldInfo, value: i64) {
        self.value(field, format_args!("{value}"));
    }

    fn string(&mut self, field: &FieldInfo, value: StrValue<'_>) {
        let mut quoted = String::new();
        for byte in value.bytes {
            match byte {
                b'\\' | b'"' => quoted.extend(['\\', char::from(*byte)]),
                32..127 => quoted.push(char::from(*byte)),
                b'\n' => quoted.push_str("\\n"),
                b'\t' => quoted.push_str("\\t"),
                b'\r' => quoted.push_str("\\r"),
                _ => _ = write!(quoted, "\\x{byte:02x}"),
            }
        }
        self.value(field, format_args!("\"{quoted}\""));
    }

    fn blob(&mut self, field: &FieldInfo, value: &[u8]) {
        let hex: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
        self.value(field, format_args!("0x{hex}"));
    }

    fn begin_array(&mut self, field: &FieldInfo, _: u64) {
        _ = write!(self.out, " {}=[", field.name().unwrap_or_default());
    }

    fn end_array(&mut self, _: &FieldInfo) {
        self.out.push(']');
    }
}
