//! The contents of cells, and their notation.

use std::fmt::Write;

use ltt_read::{Event, Value};

use super::Column;
use super::of_type::OfType;
use super::top::Number;
use crate::escape;
use crate::table::is_formula;
use crate::text::Text;
use crate::text::clock_text::{ClockRange, ClockStyle, ClockText};
use crate::text::number;
use crate::text_dump::StateAt;
use crate::text_dump::lttv::Lttv;

/// The notation of rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// Comma-separated values in place of aligned text.
    pub(super) is_csv: bool,
    /// Times in nanoseconds.
    pub(super) times_as_ns: bool,
}

impl Layout {
    /// Appends a cell: quoted if necessary, or filled up to the width of the column.
    pub(super) fn append(
        self,
        out: &mut Text,
        column: &Column,
        text: &[u8],
        is_first: bool,
        is_last: bool,
    ) {
        if self.is_csv {
            if !is_first {
                out.push(b',');
            }
            let apostrophe: &[u8] = if is_formula(text) { b"'" } else { b"" };
            // As RFC 4180 asks for.
            if !text.iter().any(|c| matches!(c, b',' | b'"' | b'\n' | b'\r')) {
                out.append(apostrophe);
                return out.append(text);
            }
            out.push(b'"');
            out.append(apostrophe);
            for part in text.split_inclusive(|c| *c == b'"') {
                out.append(part);
                if part.ends_with(b"\"") {
                    out.push(b'"');
                }
            }
            return out.push(b'"');
        }
        if !is_first {
            out.append(b"  ");
        }
        let length = text.iter().filter(|c| (**c & 0xc0) != 0x80).count();
        let blanks = column.width().saturating_sub(length);
        let fill = |out: &mut Text| (0..blanks).for_each(|_| out.push(b' '));
        match column.is_text() {
            false => {
                fill(out);
                out.append(text);
            }
            true => {
                out.append(text);
                if !is_last {
                    fill(out);
                }
            }
        }
    }
}

/// The cells of one event. Each function appends a cell to `out`, and returns its number, by
/// which rows are compared.
pub(super) struct Cell<'c, 'e> {
    pub(super) event: &'c Event<'e>,
    pub(super) state: Option<StateAt<'c>>,
    pub(super) of: &'c OfType,
    pub(super) cpu: Option<u32>,
    pub(super) clock: &'c mut ClockText,
    pub(super) layout: Layout,
    pub(super) out: &'c mut Text,
}

impl Cell<'_, '_> {
    /// The time of the event.
    pub(super) fn time(&mut self) -> Option<Number> {
        let time = self.event.timestamp()?;
        let range = ClockRange::of(self.event.trace().schema(), self.event.event_type());
        match (self.layout.times_as_ns, self.clock.style()) {
            (true, _) if range == ClockRange::Wrapped => {
                number::decimal(self.out, time.as_ns().cast_unsigned());
            }
            (true, _) => number::signed(self.out, time.as_ns()),
            (false, ClockStyle::Cycles) => {
                number::decimal(self.out, self.event.cycles().unwrap_or(0));
            }
            (false, _) => self.clock.time(self.out, time, range),
        }
        Some(Number::integer(time.as_ns().into()))
    }

    /// A length of time in nanoseconds: an integer, or seconds in text.
    pub(super) fn duration(&mut self, ns: Option<i64>) -> Option<Number> {
        let ns = ns?;
        if self.layout.is_csv {
            number::signed(self.out, ns);
        } else {
            if ns < 0 {
                self.out.push(b'-');
            }
            let ns = ns.unsigned_abs();
            number::decimal(self.out, ns / 1_000_000_000);
            self.out.push(b'.');
            self.out.append(&number::nanoseconds(ns % 1_000_000_000));
        }
        Some(Number::integer(ns.into()))
    }

    /// An integer.
    pub(super) fn integer(&mut self, value: Option<i128>) -> Option<Number> {
        let value = value?;
        // Writing to a text never fails.
        _ = write!(self.out, "{value}");
        Some(Number::integer(value))
    }

    /// A text without control characters.
    pub(super) fn text(&mut self, text: &str) -> Option<Number> {
        self.out.append(text.as_bytes());
        None
    }

    /// The command.
    pub(super) fn comm(&mut self) -> Option<Number> {
        self.of.thread.command(self.event, self.state, self.cpu, self.out);
        None
    }

    /// All fields of the payload.
    pub(super) fn fields(&mut self, lines: &mut Lttv) -> Option<Number> {
        lines.fields(self.event, self.out);
        // Without the braces.
        let text = self.out.as_bytes().trim_ascii();
        let inner = text.strip_prefix(b"{").and_then(|text| text.strip_suffix(b"}"));
        let inner = inner.unwrap_or(text).trim_ascii().to_vec();
        self.out.clear();
        self.out.append(&inner);
        None
    }

    /// The field of the column at this place.
    pub(super) fn field(&mut self, place: usize) -> Option<Number> {
        let field = self.of.fields.get(place)?.as_ref()?;
        match self.event.get(field)? {
            Value::Uint(value) => self.integer(Some(value.into())),
            Value::Sint(value) => self.integer(Some(value.into())),
            Value::Str(text) => self.text(&escape::name(&text.to_str_lossy())),
            value => {
                // Writing to a text never fails. Control characters are escaped.
                _ = write!(self.out, "{value}");
                value.as_f64().map(Number::float)
            }
        }
    }
}
