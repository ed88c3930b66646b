//! Intervals of a history in each format.

use std::io::{self, Write};

use ltt_read::Timestamp;
use lttv_common::escape::Escapes;
use lttv_common::table::{self, Format, Table, TextStyle};
use lttv_common::text::output::Output;
use lttv_state::history::{History, Interval};

/// A writer of intervals. Text is written at once, since there may be many.
pub(super) struct Intervals<'h> {
    history: &'h History,
    format: Format,
    out: &'h mut Output,
    /// Start, end, path and value of each interval that is not yet written.
    rows: Vec<(Timestamp, Timestamp, String, String)>,
}

impl<'h> Intervals<'h> {
    pub(super) fn new(history: &'h History, format: Format, out: &'h mut Output) -> Self {
        Intervals { history, format, out, rows: Vec::new() }
    }

    /// Writes an interval, or keeps it for a table.
    pub(super) fn write(&mut self, interval: &Interval<'_>) -> io::Result<()> {
        let path = self.history.tree().path(interval.quark);
        let (start, end) = (interval.start, interval.end);
        if self.format == Format::Text {
            let (start, end) = (start.to_string(), end.to_string());
            return writeln!(self.out, "{start:>20} {end:>20} {path} {}", interval.value);
        }
        self.rows.push((start, end, path.to_string(), interval.value.to_string()));
        Ok(())
    }

    /// Writes what was kept. JSON also contains further tables.
    pub(super) fn finish(self, more: Vec<Table>) -> io::Result<()> {
        let table = Table::of("intervals", "Intervals", &self.rows)
            .time("start_ns", "FROM", |row| row.0)
            .time("end_ns", "TO", |row| row.1)
            .text("path", "PATH", |row| row.2.as_str())
            .text("value", "VALUE", |row| row.3.as_str())
            .build();
        match self.format {
            Format::Text => Ok(()),
            Format::Csv => table::write(self.out, Format::Csv, &TextStyle::default(), &[table]),
            Format::Json => {
                self.out.set_escapes(Escapes::Json);
                let tables: Vec<Table> = [table].into_iter().chain(more).collect();
                table::write(self.out, Format::Json, &TextStyle::default(), &tables)
            }
        }
    }
}
