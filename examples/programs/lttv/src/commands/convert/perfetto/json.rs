//! Trace events in the JSON of Chrome's trace viewer.

use std::io::{self, Write};

use ltt_read::schema::Scope;
use ltt_read::{Event, Value};
use lttv_state::counters::Number;
use lttv_state::spans::PeriodValue;

/// The number from which on JSON readers round integers.
const EXACT: u64 = 1 << 53;

/// The place of a trace event: the ids of a process and a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Track {
    pub(super) pid: i64,
    pub(super) tid: i64,
}

/// A writer of trace events.
///
/// Times are written as those since a zero, since viewers read them as floating-point numbers of
/// microseconds: times since 1970 would be rounded to a quarter of a microsecond.
pub(super) struct Json<W> {
    out: W,
    /// The zero of times, in ns.
    zero: i64,
    count: u64,
    /// The object that is being written.
    line: Vec<u8>,
}

impl<W: Write> Json<W> {
    /// Starts the file, with the zero of times in ns.
    pub(super) fn new(mut out: W, zero: i64) -> io::Result<Self> {
        let head = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"zero_ns\":";
        write!(out, "{head}\"{zero}\"}},\n\"traceEvents\":[")?;
        Ok(Json { out, zero, count: 0, line: Vec::new() })
    }

    /// Ends the list. Returns the output and the number of trace events.
    pub(super) fn finish(mut self) -> io::Result<(W, u64)> {
        self.out.write_all(b"\n]}\n")?;
        Ok((self.out, self.count))
    }

    /// Writes a slice with a known end.
    pub(super) fn slice(&mut self, name: &str, at: Track, from: i64, to: i64) -> io::Result<()> {
        self.open("X", name, at)?;
        self.time(from)?;
        self.microseconds("dur", to.saturating_sub(from))?;
        self.close()
    }

    /// Writes a slice that may overlap others of its track: of a category, with a number of its own and some values. It
    /// is open without an end.
    pub(super) fn overlapping(
        &mut self,
        (category, name, number): (&str, &str, u64),
        at: Track,
        (from, to): (i64, Option<i64>),
        values: &[(&str, Option<PeriodValue<'_>>)],
    ) -> io::Result<()> {
        for (kind, time) in [("b", Some(from)), ("e", to)] {
            let Some(time) = time else { continue };
            self.open(kind, name, at)?;
            self.line.extend(b",\"cat\":");
            serde_json::to_writer(&mut self.line, category)?;
            write!(self.line, ",\"id\":{number}")?;
            self.time(time)?;
            if kind == "b" {
                self.line.extend(b",\"args\":{");
                for (at, (name, value)) in values.iter().enumerate() {
                    self.line.extend(if at == 0 { &b""[..] } else { b"," });
                    serde_json::to_writer(&mut self.line, name)?;
                    self.line.push(b':');
                    match value {
                        Some(PeriodValue::Integer(value))
                            if value.unsigned_abs() < EXACT.into() =>
                        {
                            write!(self.line, "{value}")?;
                        }
                        Some(PeriodValue::Float(value)) => {
                            serde_json::to_writer(&mut self.line, value)?;
                        }
                        Some(value) => {
                            serde_json::to_writer(&mut self.line, &value.to_string())?;
                        }
                        None => self.line.extend(b"null"),
                    }
                }
                self.line.push(b'}');
            }
            self.close()?;
        }
        Ok(())
    }

    /// Writes the start of a slice, with the fields of an event if there is one.
    pub(super) fn start(
        &mut self,
        name: &str,
        at: Track,
        time: i64,
        event: Option<&Event<'_>>,
    ) -> io::Result<()> {
        self.open("B", name, at)?;
        self.time(time)?;
        if let Some(event) = event {
            self.fields(event)?;
        }
        self.close()
    }

    /// Writes the end of the slice that was started last on a track.
    pub(super) fn end(&mut self, at: Track, time: i64) -> io::Result<()> {
        self.open("E", "", at)?;
        self.time(time)?;
        self.close()
    }

    /// Writes a mark with the fields of an event.
    pub(super) fn mark(
        &mut self,
        name: &str,
        at: Track,
        time: i64,
        event: &Event<'_>,
    ) -> io::Result<()> {
        self.open("i", name, at)?;
        self.line.extend(b",\"s\":\"t\"");
        self.time(time)?;
        self.fields(event)?;
        self.close()
    }

    /// Writes one end of an arrow: its start, or its arrival at the slice around a time.
    pub(super) fn arrow(
        &mut self,
        is_start: bool,
        number: u64,
        at: Track,
        time: i64,
    ) -> io::Result<()> {
        self.open(if is_start { "s" } else { "f" }, "wake-up", at)?;
        let end: &str = if is_start { "" } else { ",\"bp\":\"e\"" };
        write!(self.line, ",\"cat\":\"sched\",\"id\":{number}{end}")?;
        self.time(time)?;
        self.close()
    }

    /// Writes the value of a counter from a time on, with its unit.
    pub(super) fn counter(
        &mut self,
        name: &str,
        at: Track,
        time: i64,
        (unit, value): (&str, Number),
    ) -> io::Result<()> {
        self.open("C", name, at)?;
        self.time(time)?;
        self.line.extend(b",\"args\":{");
        serde_json::to_writer(&mut self.line, if unit.is_empty() { "value" } else { unit })?;
        // Viewers read values as floating-point numbers. JSON has no infinite ones.
        match value {
            Number::Float(value) if !value.is_finite() => self.line.extend(b":null}"),
            value => write!(self.line, ":{value}}}")?,
        }
        self.close()
    }

    /// Writes a property of a process or thread, such as its `thread_name`.
    pub(super) fn name(&mut self, what: &str, at: Track, name: &str) -> io::Result<()> {
        self.open("M", what, at)?;
        self.line.extend(b",\"args\":{\"name\":");
        serde_json::to_writer(&mut self.line, name)?;
        self.line.push(b'}');
        self.close()
    }

    /// Writes the place of a thread among those of its process.
    pub(super) fn place(&mut self, at: Track, place: i64) -> io::Result<()> {
        self.open("M", "thread_sort_index", at)?;
        write!(self.line, ",\"args\":{{\"sort_index\":{place}}}")?;
        self.close()
    }

    fn open(&mut self, kind: &str, name: &str, Track { pid, tid }: Track) -> io::Result<()> {
        let before = if self.count == 0 { "\n" } else { ",\n" };
        write!(self.line, "{before}{{\"ph\":\"{kind}\",\"pid\":{pid},\"tid\":{tid},\"name\":")?;
        serde_json::to_writer(&mut self.line, name)?;
        Ok(())
    }

    fn time(&mut self, ns: i64) -> io::Result<()> {
        self.microseconds("ts", ns.saturating_sub(self.zero))
    }

    /// Writes a time in microseconds, the unit of the format, exact to the nanosecond.
    fn microseconds(&mut self, key: &str, ns: i64) -> io::Result<()> {
        let sign = if ns < 0 { "-" } else { "" };
        let (whole, rest) = (ns.unsigned_abs() / 1000, ns.unsigned_abs() % 1000);
        write!(self.line, ",\"{key}\":{sign}{whole}.{rest:03}")
    }

    fn fields(&mut self, event: &Event<'_>) -> io::Result<()> {
        let Some(payload) = event.scope(Scope::Payload) else { return Ok(()) };
        let mut before: &[u8] = b",\"args\":{";
        for (info, value) in payload.members() {
            self.line.extend(before);
            serde_json::to_writer(&mut self.line, info.name().unwrap_or_default())?;
            self.line.push(b':');
            self.value(&value)?;
            before = b",";
        }
        if before == b"," {
            self.line.push(b'}');
        }
        Ok(())
    }

    /// Writes a field. Numbers that JSON readers would round are text.
    fn value(&mut self, value: &Value<'_>) -> io::Result<()> {
        match value {
            Value::Uint(number) if *number < EXACT => write!(self.line, "{number}"),
            Value::Sint(number) if number.unsigned_abs() < EXACT => write!(self.line, "{number}"),
            Value::Bool(value) => write!(self.line, "{value}"),
            Value::Float(number) => Ok(serde_json::to_writer(&mut self.line, number)?),
            Value::Str(text) => Ok(serde_json::to_writer(&mut self.line, &*text.to_str_lossy())?),
            other => Ok(serde_json::to_writer(&mut self.line, &other.to_string())?),
        }
    }

    fn close(&mut self) -> io::Result<()> {
        self.line.push(b'}');
        self.count += 1;
        self.out.write_all(&self.line)?;
        self.line.clear();
        Ok(())
    }
}
