//! The columns of the event list.

use lttv_state::kernel::Tid;

use crate::model::event_list::EventRow;
use crate::model::time_format::TimeFormat;
use crate::model::who_ran::Ran;
use crate::session::Session;

/// A column: heading, width, and the least width of the list at which it is visible.
pub(super) type Column = (&'static str, u16, u16);

/// The columns, with times in seconds since the epoch.
const COLUMNS: [Column; 9] = [
    ("TRACE", 8, 140),
    ("TRACEFILE", 12, 120),
    ("CPU", 3, 50),
    ("EVENT", 30, 1),
    ("TIME s", 10, 100),
    ("TIME ns", 9, 34),
    ("TID", 7, 60),
    ("PID", 7, 150),
    ("DESCRIPTION", 0, 70),
];

/// The columns of times in seconds since the epoch. In other notations there is one column, in
/// place of the second one.
const TIMES: (usize, usize) = (4, 5);

/// The width of the columns before that of times in narrow lists.
const BEFORE_TIME: u16 = 31;

/// Returns the columns for a notation of times.
pub(super) fn columns(format: TimeFormat) -> [Column; 9] {
    let mut columns = COLUMNS;
    if format != TimeFormat::Epoch {
        columns[TIMES.0].2 = u16::MAX;
        columns[TIMES.1] = (format.heading(), format.width(), BEFORE_TIME + format.width());
    }
    columns
}

/// Returns the texts of a row.
pub(super) fn cells(
    session: &Session,
    row: &EventRow,
    ran: Option<Option<Ran>>,
    time: Option<String>,
) -> [String; 9] {
    let (context, of) = (session.scheduler.context().contexts(), &row.content);
    let tracefile = context.tracefiles().get(of.tracefile);
    let trace = session.traceset().traces().get(of.trace);
    let name = trace.and_then(|trace| trace.path().file_name());
    let ns = row.time.as_ns();
    [
        name.map_or_else(|| of.trace.to_string(), |name| name.to_string_lossy().into_owned()),
        tracefile.map_or_else(String::new, |of| of.tracefile().name().to_owned()),
        of.cpu.map_or_else(|| "-".to_owned(), |cpu| cpu.to_string()),
        of.name.clone(),
        ns.div_euclid(1_000_000_000).to_string(),
        time.unwrap_or_else(|| format!("{:09}", ns.rem_euclid(1_000_000_000))),
        id(ran, |ran| ran.tid, of.tid),
        id(ran, |ran| ran.pid, of.pid),
        fields(&of.fields),
    ]
}

/// Returns an id of the process that was running at an event, or the one in the contexts of the
/// event if the kernel's state does not tell.
fn id(ran: Option<Option<Ran>>, of: impl Fn(Ran) -> Option<Tid>, context: Option<i64>) -> String {
    let by_state = ran.flatten().and_then(of).map(i64::from);
    match (by_state.or(context), ran) {
        (Some(id), _) => id.to_string(),
        (None, None) => "…".to_owned(),
        (None, Some(_)) => "?".to_owned(),
    }
}

/// Rearranges the fields of a line: first the payload, then the contexts, which vary less
/// between events.
fn fields(text: &str) -> String {
    let text = text.trim_start_matches([',', ' ']);
    let (context, payload) = text.split_at(payload(text).unwrap_or(text.len()));
    let context = context.trim_end();
    let payload = payload.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    match (payload.unwrap_or_default().trim(), context) {
        ("", "") => String::new(),
        (payload, "") => payload.to_owned(),
        ("", context) => format!("({context})"),
        (payload, context) => format!("{payload}  ({context})"),
    }
}

/// Returns the start of the last pair of braces, if it ends at the end of the text.
fn payload(text: &str) -> Option<usize> {
    let (mut depth, mut begin, mut end) = (0usize, None, 0);
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if std::mem::take(&mut is_escaped) => {}
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            '{' if !is_quoted => {
                if depth == 0 {
                    begin = Some(at);
                }
                depth += 1;
            }
            '}' if !is_quoted => {
                depth = depth.saturating_sub(1);
                end = at + 1;
            }
            _ => {}
        }
    }
    begin.filter(|_| depth == 0 && end == text.len())
}

#[cfg(test)]
mod tests {
    use super::fields;

    #[test]
    fn fields_of_the_event_come_first() {
        for (text, expected) in [
            ("", ""),
            (" { a = 1, b = { 2 } }", "a = 1, b = { 2 }"),
            (
                ", tid = 1, name = \"x {\" { a = \"}\\\"\" }",
                "a = \"}\\\"\"  (tid = 1, name = \"x {\")",
            ),
            (", tid = 1", "(tid = 1)"),
            (", ctx = { 1 }, tid = 1", "(ctx = { 1 }, tid = 1)"),
        ] {
            assert_eq!(fields(text), expected);
        }
    }
}
