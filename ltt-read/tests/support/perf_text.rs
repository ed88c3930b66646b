//! The events of recordings of perf as text, in the form of the reference output.

use std::fmt::Write;
use std::sync::Arc;

use ltt_read::schema::Scope;
use ltt_read::{Error, Event, FieldInfo, Merge, NoticeKind, StrValue, Trace, Visitor};

/// Returns a line for each event of a trace, in order of time, and the error after them.
pub(crate) fn event_lines(trace: &Arc<Trace>) -> (Vec<String>, Option<Error>) {
    let (mut merge, mut lines) = (Merge::new(std::slice::from_ref(trace)), Vec::new());
    let mut before = None;
    while let Some(event) = merge.next() {
        assert!(event.timestamp() >= before, "out of order");
        before = event.timestamp();
        lines.push(line(&event));
    }
    (lines, merge.finish().err())
}

/// Returns the sum of the losses of a trace and the number of their places.
pub(crate) fn losses(trace: &Arc<Trace>) -> (u64, u64) {
    let (mut places, mut sum) = (0, 0);
    for mut cursor in trace.cursors() {
        while cursor.advance().expect("sound recordings") {
            for notice in cursor.take_notices() {
                let NoticeKind::DiscardedEvents { count, .. } = notice.kind else {
                    panic!("{notice}");
                };
                (places, sum) = (places + 1, sum + count.unwrap());
            }
        }
    }
    (places, sum)
}

/// Returns the text of an event.
pub(crate) fn line(event: &Event<'_>) -> String {
    let name = event.event_type().name();
    let mut context = Text::default();
    event.visit(Scope::SpecificContext, &mut context);
    let is_record = name.starts_with("perf:");
    let mut payload = Text { is_record, is_tracepoint: !is_record, ..Text::default() };
    event.visit(Scope::Payload, &mut payload);
    let of = |name: &str| context.fields.iter().find(|(known, _)| known == name);
    let value = |name: &str| of(name).map_or("-", |(_, value)| value);
    // The offset is that of a date.
    let time = event.timestamp().map(|time| {
        let clock = &event.trace().schema().clocks[0];
        let offset = clock.offset_seconds * 1_000_000_000 + clock.offset_cycles;
        (time.as_ns() - offset).to_string()
    });
    let time = time.as_deref().unwrap_or("-");
    let mut line = format!("{time} {} {name} {}/{}", value("cpu"), value("pid"), value("tid"));
    if !payload.is_record {
        let common = ["common_flags", "common_preempt_count", "common_pid"];
        let is_described = of(common[2]).is_some();
        for name in common.into_iter().filter(|name| of(name).is_some()) {
            _ = write!(line, " {name}={}", value(name));
        }
        write_fields(&mut line, &payload.fields);
        let more = ["ip", "addr", "period"].into_iter().filter(|_| !is_described);
        let last = [
            "callchain",
            "read",
            "regs_user",
            "regs_intr",
            "weight",
            "data_src",
            "transaction",
            "phys_addr",
            "cgroup",
            "data_page_size",
            "code_page_size",
        ];
        for name in more.chain(last).filter(|name| of(name).is_some()) {
            _ = write!(line, " {name}={}", value(name));
        }
    } else {
        write_fields(&mut line, &payload.fields);
    }
    line
}

fn write_fields(line: &mut String, fields: &[(String, String)]) {
    for (name, value) in fields {
        if !["data", "build_id_size"].contains(&name.as_str()) {
            _ = write!(line, " {name}={value}");
        }
    }
}

/// The fields of a scope with their values.
#[derive(Default)]
struct Text {
    fields: Vec<(String, String)>,
    is_record: bool,
    is_tracepoint: bool,
    /// The nesting of structures and arrays.
    depth: u32,
    members: u32,
    build_id_size: usize,
}

impl Text {
    fn value(&mut self, field: &FieldInfo, value: &str) {
        if self.depth == 0 {
            self.fields.push((field.name().unwrap_or_default().to_owned(), value.to_owned()));
            return;
        }
        // Of the values of counters, only the first one is shown.
        if field.name().is_some_and(|name| name != "value") {
            return;
        }
        let Some((_, whole)) = self.fields.last_mut() else { return };
        if !whole.ends_with('[') {
            whole.push(',');
        }
        whole.push_str(value);
    }

    fn enter(&mut self, field: &FieldInfo) {
        if self.depth == 0 {
            self.fields.push((field.name().unwrap_or_default().to_owned(), "[".to_owned()));
        }
        self.depth += 1;
    }

    fn leave(&mut self) {
        self.depth -= 1;
        if self.depth == 0
            && let Some((_, whole)) = self.fields.last_mut()
        {
            whole.push(']');
        }
    }
}

impl Visitor for Text {
    fn uint(&mut self, field: &FieldInfo, value: u64) {
        let outer = self.fields.last().map(|(name, _)| name.as_str());
        let name = if self.depth > 0 { outer } else { field.name() };
        let is_hex = match name {
            _ if self.is_tracepoint => false,
            Some("ip" | "callchain" | "misc" | "pgoff" | "addr") => true,
            Some("len") => self.fields.iter().any(|(name, _)| name == "tid"),
            _ => false,
        };
        if name == Some("build_id_size") {
            self.build_id_size = value as usize;
        }
        match is_hex {
            true => self.value(field, &format!("{value:#x}")),
            false => self.value(field, &value.to_string()),
        }
    }

    fn sint(&mut self, field: &FieldInfo, value: i64) {
        self.value(field, &value.to_string());
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
        self.value(field, &format!("\"{quoted}\""));
    }

    fn blob(&mut self, field: &FieldInfo, value: &[u8]) {
        let is_build_id = field.name() == Some("build_id");
        let size = if is_build_id { self.build_id_size } else { value.len() };
        let hex: String = value[..size].iter().map(|byte| format!("{byte:02x}")).collect();
        self.value(field, &hex);
    }

    fn begin_array(&mut self, field: &FieldInfo, _: u64) {
        self.enter(field);
    }

    fn end_array(&mut self, _: &FieldInfo) {
        self.leave();
    }

    fn begin_struct(&mut self, field: &FieldInfo) {
        if field.name().is_some() || self.depth > 0 {
            self.enter(field);
        }
        self.members += 1;
    }

    fn end_struct(&mut self, field: &FieldInfo) {
        if field.name().is_some() || self.depth > 0 {
            self.leave();
        }
    }
}
