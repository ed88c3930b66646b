//! Intervals of a history in each format.

use std::io::{self, Write};

use lttv_common::escape::Escapes;
use lttv_common::table::{self, Format, Kind, Table};
use lttv_common::text_dump::output::Output;
use lttv_state::history::{History, Interval};

/// A writer of intervals. Text is written at once, since there may be many.
pub(super) struct Intervals<'h> {
    history: &'h History,
    format: Format,
    out: &'h mut Output,
    table: Table,
}

impl<'h> Intervals<'h> {
    pub(super) fn new(history: &'h History, format: Format, out: &'h mut Output) -> Self {
        let table = Table::new("intervals", "Intervals")
            .column("start_ns", "FROM", Kind::Time)
            .column("end_ns", "TO", Kind::Time)
            .column("path", "PATH", Kind::Text)
            .column("value", "VALUE", Kind::Text);
        Intervals { history, format, out, table }
    }

    /// Writes an interval, or keeps it for a table.
    pub(super) fn write(&mut self, interval: &Interval<'_>) -> io::Result<()> {
        let path = self.history.tree().path(interval.quark);
        let (start, end) = (interval.start, interval.end);
        if self.format == Format::Text {
            let (start, end) = (start.to_string(), end.to_string());
            return writeln!(self.out, "{start:>20} {end:>20} {path} {}", interval.value);
        }
        let value = interval.value.to_string();
        self.table.row([start.into(), end.into(), path.to_string().into(), value.into()]);
        Ok(())
    }

    /// Writes what was kept. JSON also contains further tables.
    pub(super) fn finish(self, more: Vec<Table>) -> io::Result<()> {
        match self.format {
            Format::Text => Ok(()),
            Format::Csv => table::write(self.out, Format::Csv, &[self.table]),
            Format::Json => {
                self.out.set_escapes(Escapes::Json);
                let tables: Vec<Table> = [self.table].into_iter().chain(more).collect();
                table::write(self.out, Format::Json, &tables)
            }
        }
    }
}
