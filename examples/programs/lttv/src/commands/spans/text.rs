//! Spans as lines for people.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io;
use std::sync::Arc;

use ltt_read::{Timestamp, Trace, TraceIndex};
use lttv_common::escape;
use lttv_common::settings;
use lttv_common::spans::{Shown, object};
use lttv_common::text::clock_text::{ClockRange, ClockText};
use lttv_common::text::output::Output;
use lttv_common::text::{Text, without_middle};
use lttv_common::time::clock_of;
use lttv_common::units::{exact_length, length};
use lttv_filter::Zone;
use lttv_state::kernel::Tid;
use lttv_state::spans::{
    Completeness, Family, Span, SpanThread, Waker, write_arguments, write_new_arguments,
    write_result,
};

use super::described::Described;

/// Writes a line for each span, such as
/// `12:34:56.123456789 diskio/210 [2] openat(dfd: AT_FDCWD, filename: "/x") = -1 ENOENT  <1.2 ms>`.
#[derive(Debug)]
pub(in crate::commands) struct Lines {
    clock: ClockText,
    /// The number of columns that lines fit in; `None` for any.
    width: Option<usize>,
    has_traces: bool,
    is_exact: bool,
    nesting: Option<Nesting>,
    line: String,
}

/// The spans that contain the next one of each thread.
#[derive(Debug, Default)]
struct Nesting(HashMap<(TraceIndex, Option<Tid>), Vec<Timestamp>>);

impl Nesting {
    /// Returns the number of spans of the same thread that contain a span.
    fn depth(&mut self, span: &Span) -> usize {
        let ends = self.0.entry((span.trace, span.thread.tid)).or_default();
        ends.retain(|end| *end > span.begin);
        let depth = ends.iter().filter(|end| **end >= span.end).count();
        ends.push(span.end);
        depth
    }
}

impl Lines {
    /// Creates lines for spans of traces with times in a zone, which name the trace if there are
    /// several.
    pub(in crate::commands) fn new(zone: Zone, traces: &[Arc<Trace>]) -> Self {
        let clock = ClockText::new(clock_of(settings::current().clock(), traces), zone);
        Lines {
            clock,
            width: None,
            has_traces: traces.len() > 1,
            is_exact: false,
            nesting: None,
            line: String::new(),
        }
    }

    /// Shows durations with all digits.
    pub(super) fn exact(self) -> Self {
        Lines { is_exact: true, ..self }
    }

    /// Leaves out the middle of lines with more characters than this.
    pub(super) fn fitting(self, width: Option<usize>) -> Self {
        Lines { width, ..self }
    }

    /// Indents what happens within another span of the thread.
    pub(super) fn nested(self) -> Self {
        Lines { nesting: Some(Nesting::default()), ..self }
    }

    /// Writes the line of a span.
    pub(super) fn write(
        &mut self,
        shown: &mut Shown<'_, '_, '_>,
        out: &mut Output,
    ) -> io::Result<()> {
        let before = out.buffer().len();
        self.clock.time(out.buffer(), shown.span.begin, ClockRange::Signed);
        let time = out.buffer().len() - before;
        self.rest(shown);
        if let Some(width) = self.width
            && let Cow::Owned(line) = without_middle(&self.line, width.saturating_sub(time))
        {
            self.line = line;
        }
        self.line.push('\n');
        io::Write::write_all(out, self.line.as_bytes())
    }

    /// Returns the texts of a span and the object.
    pub(in crate::commands) fn describe(&mut self, shown: &mut Shown<'_, '_, '_>) -> Described {
        let mut time = Text::with_room(32);
        self.clock.time(&mut time, shown.span.begin, ClockRange::Signed);
        self.rest(shown);
        let line = String::from_utf8_lossy(time.as_bytes()).into_owned() + &self.line;
        let mut text = String::new();
        what(shown, &mut text);
        Described { span: *shown.span, line, what: text, object: object(shown) }
    }

    /// Sets the part of the line of a span that follows its time.
    fn rest(&mut self, shown: &mut Shown<'_, '_, '_>) {
        let span = shown.span;
        let length_of = if self.is_exact { exact_length } else { length };
        let Lines { line, .. } = self;
        line.clear();
        line.push(' ');
        write_thread(shown.names.comm(span, &span.thread), &span.thread, line);
        if span.cpu != u32::MAX {
            let _ = write!(line, " [{}]", span.cpu);
        }
        line.push(' ');
        if let Some(nesting) = &mut self.nesting {
            (0..nesting.depth(span)).for_each(|_| line.push_str("  "));
        }
        if span.completeness == Completeness::NoBegin {
            line.push_str("... ");
        }
        what(shown, line);
        let _ = match (span.completeness, span.duration()) {
            (Completeness::NoEnd, _) => write!(line, "  <unfinished>"),
            (Completeness::Lost, Some(ns)) => write!(line, "  <{}, events lost>", length_of(ns)),
            (_, Some(ns)) => write!(line, "  <{}>", length_of(ns)),
            (_, None) => Ok(()),
        };
        if self.has_traces
            && let Some(trace) = shown.traceset.traces().get(span.trace.0)
        {
            let _ = write!(self.line, "  ({})", trace.path().display());
        }
    }
}

/// Writes a thread as `NAME/TID`.
fn write_thread(comm: &str, thread: &SpanThread, line: &mut String) {
    match (&*escape::name(comm), thread.tid) {
        ("", None) => line.push('?'),
        ("", Some(0)) => line.push_str("idle"),
        (comm, Some(0)) => line.push_str(comm),
        (comm, None) => line.push_str(comm),
        (comm, Some(tid)) => {
            let _ = write!(line, "{}/{tid}", if comm.is_empty() { "?" } else { comm });
        }
    }
}

/// Writes what a span is.
fn what(shown: &mut Shown<'_, '_, '_>, line: &mut String) {
    let (span, names) = (shown.span, shown.names);
    match span.family {
        Family::Syscall
        | Family::FileOpen
        | Family::FileRead
        | Family::FileWrite
        | Family::FileSync
        | Family::Futex => call(shown, line),
        Family::Run => {
            line.push_str("run");
            if let Some(state) = state_after(shown) {
                let _ = write!(line, ", then {state}");
            }
        }
        Family::Blocked => {
            line.push_str("blocked");
            waker(shown, line);
        }
        Family::WakeUp => {
            line.push_str("wait for a CPU");
            waker(shown, line);
        }
        Family::Preemption => line.push_str("wait for a CPU, preempted"),
        Family::Period => {
            line.push_str(&escape::name(&names.label(span)));
            let labels = names.period(span).map_or(0, |period| period.labels().count());
            for (name, value) in shown.reader.period_values(span, names).into_iter().skip(labels) {
                let value = value.map_or("?".to_owned(), |value| value.to_string());
                let _ = write!(line, " {}={value}", escape::name(name));
            }
        }
        family => {
            let _ = write!(line, "{} {}", family.key(), escape::name(&names.label(span)));
            let is_request = names.operation(span).is_some();
            if let Some(first) = span.first.filter(|_| is_request) {
                line.push('(');
                shown.reader.read(span.trace, first, |event| write_arguments(event, "", "", line));
                line.push(')');
            }
        }
    }
}

/// Writes a system call with its arguments and its result.
fn call(shown: &mut Shown<'_, '_, '_>, line: &mut String) {
    let (span, names) = (shown.span, shown.names);
    let name = match names.call(span) {
        Some(_) => shown.name(),
        None => shown.call().into(),
    };
    let file = names.file(span);
    let _ = write!(line, "{}(", escape::name(&name));
    let arguments = line.len();
    if let Some(first) = span.first {
        shown.reader.read(span.trace, first, |event| write_arguments(event, &name, file, line));
    }
    if let Some(last) = span.last {
        let end = line.len();
        if end > arguments {
            line.push_str(", ");
        }
        let start = line.len();
        shown.reader.read(span.trace, last, |event| {
            write_new_arguments(event, &name, "", arguments..end, line);
        });
        if line.len() == start {
            line.truncate(end);
        }
    }
    line.push(')');
    if let Some(result) = span.result {
        line.push_str(" = ");
        write_result(&name, result, line);
        let is_open = span.family == Family::FileOpen || name.starts_with("open");
        if is_open && result >= 0 && !file.is_empty() {
            let _ = write!(line, "<{}>", escape::name(file));
        }
    }
}

/// Writes who ended a wait.
fn waker(shown: &Shown<'_, '_, '_>, line: &mut String) {
    match &shown.span.waker {
        Waker::Interrupt => line.push_str(", woken by an interrupt"),
        Waker::Thread(thread) => {
            line.push_str(", woken by ");
            write_thread(shown.names.comm(shown.span, thread), thread, line);
        }
        _ => {}
    }
}

/// Returns the state in which a thread was switched out, as `ps` shows it.
fn state_after(shown: &mut Shown<'_, '_, '_>) -> Option<&'static str> {
    let last = shown.span.last?;
    let state = shown.reader.read(shown.span.trace, last, |event| {
        event.field("prev_state").and_then(|value| value.as_i64())
    });
    // `TASK_REPORT` of the kernel; a preempted thread has a bit above.
    Some(match state?? & 0xff {
        0 => "R",
        1 => "S",
        2 => "D",
        4 => "T",
        8 => "t",
        16 => "X",
        32 => "Z",
        64 => "P",
        128 => "I",
        _ => return None,
    })
}
