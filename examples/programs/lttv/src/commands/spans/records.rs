//! Spans as CSV and as JSON, exact, with times and durations in ns.

use std::io::{self, Write};

use lttv_common::spans::{Shown, object};
use lttv_common::table::is_formula;
use lttv_common::text::output::Output;
use lttv_state::kernel::NameId;
use lttv_state::spans::{Period, PeriodValue, Waker, error_name, path_of, write_arguments};

/// The columns of CSV.
const COLUMNS: [&str; 19] = [
    "begin",
    "end",
    "duration",
    "completeness",
    "family",
    "name",
    "comm",
    "tid",
    "pid",
    "cpu",
    "file",
    "result",
    "error",
    "waker",
    "waker_tid",
    "trace",
    "arguments",
    "begin_event",
    "end_event",
];

/// Writes a line for each span, after one with the names of the columns.
#[derive(Debug)]
pub(super) struct Csv {
    /// The labels and values of periods, each with the name of the period.
    values: Vec<(String, String)>,
    has_head: bool,
    row: Vec<u8>,
    text: String,
}

/// Writes an object for each span, one in a line.
#[derive(Debug, Default)]
pub(super) struct Json {
    row: Vec<u8>,
}

impl Csv {
    /// Creates lines with a column for each label and value of some periods.
    pub(super) fn new(periods: &[Period]) -> Self {
        let values = periods.iter().flat_map(|period| {
            let names = period.labels().chain(period.values());
            names.map(|name| (period.name().to_owned(), name.to_owned()))
        });
        Csv { values: values.collect(), has_head: false, row: Vec::new(), text: String::new() }
    }

    /// Writes the names of the columns, if they have not been written.
    pub(super) fn head(&mut self, out: &mut Output) -> io::Result<()> {
        if std::mem::replace(&mut self.has_head, true) {
            return Ok(());
        }
        let Csv { values, row, .. } = self;
        row.clear();
        COLUMNS.iter().for_each(|name| cell(row, name));
        values.iter().for_each(|(period, name)| cell(row, &format!("{period}.{name}")));
        end_row(row, out)
    }

    pub(super) fn write(
        &mut self,
        shown: &mut Shown<'_, '_, '_>,
        out: &mut Output,
    ) -> io::Result<()> {
        self.head(out)?;
        let (span, names) = (shown.span, shown.names);
        let Csv { values, row, text, .. } = self;
        row.clear();
        number(row, span.begin.as_ns());
        number(row, span.end.as_ns());
        optional(row, span.duration());
        cell(row, span.completeness.key());
        cell(row, span.family.key());
        cell(row, &shown.name());
        cell(row, names.comm(span, &span.thread));
        optional(row, span.thread.tid);
        optional(row, span.thread.pid);
        optional(row, Some(span.cpu).filter(|cpu| *cpu != u32::MAX));
        // Each event is read once, for all that is written of it.
        text.clear();
        let call = names.call(span).unwrap_or("");
        let (mut ends, mut path) = (["", ""], None);
        let trace = shown.traceset.traces().get(span.trace.0);
        for (place, end) in [span.first, span.last].into_iter().zip(&mut ends) {
            let Some((place, trace)) = place.zip(trace) else { continue };
            let before = text.len();
            let id = shown.reader.read(span.trace, place, |event| {
                if before > 0 {
                    text.push_str(", ");
                }
                let start = text.len();
                write_arguments(event, call, "", text);
                if text.len() == start {
                    text.truncate(before);
                }
                if before == 0 && span.file == NameId::EMPTY && !call.is_empty() {
                    path = path_of(event);
                }
                event.type_id()
            });
            *end = id.map_or("", |id| trace.schema().event_types[id.index()].name());
        }
        cell(row, path.as_deref().unwrap_or(names.file(span)));
        optional(row, span.result);
        cell(row, span.error().and_then(error_name).unwrap_or(""));
        match &span.waker {
            Waker::Thread(thread) => {
                cell(row, names.comm(span, thread));
                optional(row, thread.tid);
            }
            Waker::Interrupt => {
                cell(row, "interrupt");
                cell(row, "");
            }
            _ => row.extend_from_slice(b",,"),
        }
        cell(row, &trace.map_or(String::new(), |trace| trace.path().display().to_string()));
        cell(row, text);
        cell(row, ends[0]);
        cell(row, ends[1]);
        if !values.is_empty() {
            let own = shown.reader.period_values(span, names);
            let period = names.period(span).map_or("", |period| period.name());
            for (of, name) in values.iter() {
                let found = own.iter().find(|(own, _)| of == period && own == name);
                match found.and_then(|(_, value)| value.as_ref()) {
                    Some(PeriodValue::Text(text)) => cell(row, text),
                    Some(value) => number(row, value),
                    None => cell(row, ""),
                }
            }
        }
        end_row(row, out)
    }
}

/// Writes a row whose last cell has been added.
fn end_row(row: &mut Vec<u8>, out: &mut Output) -> io::Result<()> {
    row.pop();
    row.push(b'\n');
    out.write_all(row)
}

fn number(row: &mut Vec<u8>, number: impl std::fmt::Display) {
    // Writing to memory does not fail.
    let _ = write!(row, "{number},");
}

fn optional(row: &mut Vec<u8>, of: Option<impl std::fmt::Display>) {
    match of {
        Some(of) => number(row, of),
        None => row.push(b','),
    }
}

fn cell(row: &mut Vec<u8>, text: &str) {
    let is_quoted = text.contains([',', '"', '\n', '\r']);
    row.extend_from_slice(if is_quoted { b"\"" } else { b"" });
    row.extend_from_slice(if is_formula(text.as_bytes()) { b"'" } else { b"" });
    for part in text.split_inclusive('"') {
        row.extend_from_slice(part.as_bytes());
        row.extend_from_slice(if part.ends_with('"') { b"\"" } else { b"" });
    }
    row.extend_from_slice(if is_quoted { b"\"," } else { b"," });
}

impl Json {
    pub(super) fn write(
        &mut self,
        shown: &mut Shown<'_, '_, '_>,
        out: &mut Output,
    ) -> io::Result<()> {
        self.row.clear();
        serde_json::to_writer(&mut self.row, &object(shown))?;
        self.row.push(b'\n');
        out.write_all(&self.row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let text = |text: &str| {
            let mut row = Vec::new();
            cell(&mut row, text);
            String::from_utf8(row).expect("UTF-8")
        };
        assert_eq!(text("sda read"), "sda read,");
        assert_eq!(text("a,\"b\""), "\"a,\"\"b\"\"\",");
        assert_eq!(text("=1+1"), "'=1+1,");
        assert_eq!(text("=A(1,2)"), "\"'=A(1,2)\",");
        assert_eq!(text(""), ",");
    }
}
