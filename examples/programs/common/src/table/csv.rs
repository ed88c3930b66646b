//! Tables as comma-separated values.

use std::borrow::Cow;
use std::io::{self, Write};

use super::{Cell, Table};

/// Writes the keys of the columns, then the rows.
pub(super) fn write(out: &mut impl Write, table: &Table) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(table.columns.iter().map(|column| column.key))?;
    for row in &table.rows {
        csv.write_record(row.iter().map(|cell| entry(cell).into_owned()))?;
    }
    csv.flush()
}

/// Returns the text of a cell.
fn entry(cell: &Cell) -> Cow<'_, str> {
    match cell {
        Cell::Empty => Cow::Borrowed(""),
        Cell::Text(text) => Cow::Borrowed(text),
        Cell::Integer(number) => number.to_string().into(),
        Cell::Number(number) => number.to_string().into(),
        Cell::Time(time) => time.as_ns().to_string().into(),
        Cell::Duration(ns) => ns.to_string().into(),
        Cell::Difference(ns) => ns.to_string().into(),
    }
}
