//! Tables for people: aligned columns.

use std::borrow::Cow;
use std::io::{self, Write};

use super::{Cell, Kind, Table};
use crate::escape;

/// Writes a table: each column is as wide as its widest entry, texts are aligned to the left,
/// all others to the right.
pub(super) fn write(out: &mut impl Write, table: &Table) -> io::Result<()> {
    writeln!(out, "{}", table.title)?;
    if table.rows.is_empty() {
        return writeln!(out, "  none\n");
    }
    let titles = table.columns.iter().map(|column| Cow::Borrowed(&*column.title)).collect();
    let rows = table.rows.iter().map(|row| row.iter().map(entry).collect::<Vec<_>>());
    let lines: Vec<Vec<Cow<'_, str>>> = std::iter::once(titles).chain(rows).collect();
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..table.columns.len()).map(width).collect();
    for line in &lines {
        let mut text = String::new();
        for ((entry, column), width) in line.iter().zip(&table.columns).zip(&widths) {
            text += "  ";
            let blanks = " ".repeat(width.saturating_sub(entry.chars().count()));
            match column.kind {
                Kind::Text => text.extend([&**entry, &blanks]),
                _ => text.extend([&*blanks, &**entry]),
            }
        }
        writeln!(out, "{}", text.trim_end())?;
    }
    writeln!(out)
}

/// Returns the text of a cell.
fn entry(cell: &Cell) -> Cow<'_, str> {
    match cell {
        Cell::Empty => Cow::Borrowed(""),
        Cell::Text(text) => escape::name(text),
        Cell::Integer(number) => number.to_string().into(),
        Cell::Number(number) => format!("{number:.3}").into(),
        Cell::Time(time) => time.to_string().into(),
        Cell::Duration(ns) => format!("{}.{:03}", ns / 1000, ns % 1000).into(),
        Cell::Difference(ns) => {
            let (sign, ns) = (if *ns < 0 { "-" } else { "" }, ns.unsigned_abs());
            format!("{sign}{}.{:03}", ns / 1000, ns % 1000).into()
        }
    }
}
