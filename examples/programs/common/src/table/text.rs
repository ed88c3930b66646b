//! Tables for people: aligned columns.

use std::borrow::Cow;
use std::io::{self, Write};

use ltt_read::Timestamp;

use super::fit::{Extent, GAP, fit};
use super::{Cell, Kind, Table, TextStyle, number};
use crate::bar::bar;
use crate::escape;
use crate::text::Text;
use crate::text::clock_text::{ClockRange, ClockStyle, ClockText};
use crate::time::date_text;
use crate::units::{bytes, exact_length, length};

/// The number of characters of a bar for 100 %.
const BAR: usize = 10;

/// A column of texts that can be printed.
struct Column<'t> {
    title: Cow<'t, str>,
    entries: Vec<Cow<'t, str>>,
    is_text: bool,
    is_minor: bool,
    wraps: bool,
}

/// Writes a table: each column is as wide as its widest entry, texts are aligned to the left,
/// all others to the right. If the lines are too long, columns are left out, and named below.
pub(super) fn write(out: &mut impl Write, style: &TextStyle, table: &Table) -> io::Result<()> {
    for line in lines(&table.title, style.width.unwrap_or(usize::MAX)) {
        writeln!(out, "{line}")?;
    }
    if table.is_empty() {
        return writeln!(out, "  none\n");
    }
    let columns: Vec<_> = (0..table.columns.len()).map(|at| column(table, at, style)).collect();
    let extents: Vec<_> = columns.iter().map(Column::extent).collect();
    let mut widths = fit(&extents, style.width);
    let hidden: Vec<_> = columns.iter().zip(&widths).filter(|(_, width)| width.is_none()).collect();
    let hidden: Vec<&str> = hidden.iter().map(|(column, _)| &*column.title).collect();
    let names = more(&hidden, style.width);
    let columns = with_bar(columns, table, &mut widths, style);
    let columns: Vec<_> =
        columns.iter().zip(widths).filter_map(|(column, width)| Some((column, width?))).collect();
    write_row(out, columns.iter().map(|(column, width)| (*column, *width, &*column.title)))?;
    for row in 0..table.rows().count() {
        write_row(out, columns.iter().map(|(it, width)| (*it, *width, &*it.entries[row])))?;
    }
    if let Some(names) = names {
        writeln!(out, "{names}")?;
    }
    writeln!(out)
}

/// Writes the entries of a row, each with its column and the width of that. A row has as many lines as
/// the entry with most.
fn write_row<'t>(
    out: &mut impl Write,
    entries: impl Iterator<Item = (&'t Column<'t>, usize, &'t str)>,
) -> io::Result<()> {
    let cells: Vec<_> = entries
        .map(|(column, width, entry)| match column.wraps {
            true => (column, width, lines(entry, width)),
            false => (column, width, vec![shortened(entry, width)]),
        })
        .collect();
    let height = cells.iter().map(|(.., lines)| lines.len()).max().unwrap_or(0);
    for at in 0..height {
        let mut line = String::new();
        for (column, width, lines) in &cells {
            let text = lines.get(at).map_or("", |text| text);
            let blanks = " ".repeat(width.saturating_sub(text.chars().count()));
            line.extend([" ".repeat(GAP)]);
            match column.is_text {
                true => line.extend([text, &blanks]),
                false => line.extend([&blanks, text]),
            }
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

impl Column<'_> {
    fn extent(&self) -> Extent {
        let widest = self.entries.iter().map(|entry| entry.chars().count()).max().unwrap_or(0);
        let title = self.title.chars().count();
        let Column { is_text, is_minor, wraps, .. } = *self;
        Extent { width: widest.max(title), title, is_text, wraps, is_minor }
    }
}

/// Returns a column as texts.
fn column<'t>(table: &'t Table, at: usize, style: &TextStyle) -> Column<'t> {
    let of = &table.columns[at];
    let mut clock = clock(table, style);
    let entry = |row: &'t [Cell]| entry(&row[at], of.kind, &mut clock, style);
    let entries: Vec<_> = table.rows().map(entry).collect();
    let says_nothing = entries.iter().all(|entry| entry.is_empty() || entry == "0");
    Column {
        title: Cow::Borrowed(&of.title),
        is_minor: of.is_minor || says_nothing,
        entries,
        is_text: of.kind == Kind::Text,
        wraps: of.wraps,
    }
}

/// Returns the notation of points in time: with the date if the table has times of several days.
fn clock(table: &Table, style: &TextStyle) -> ClockText {
    let times = table.rows().flatten().filter_map(|cell| match cell {
        Cell::Time(time) => Some(*time),
        _ => None,
    });
    let span = times.fold(None, |span: Option<(Timestamp, Timestamp)>, time| {
        Some(span.map_or((time, time), |(first, last)| (first.min(time), last.max(time))))
    });
    let day = |time: Timestamp| {
        let text = date_text(time, &style.zone);
        text.split_once(' ').map(|(day, _)| day.to_owned())
    };
    let is_one_day = span.is_none_or(|(first, last)| day(first) == day(last));
    let of = match style.clock {
        ClockStyle::TimeOfDay if !is_one_day => ClockStyle::DateTime,
        other => other,
    };
    ClockText::new(of, style.zone.clone())
}

/// Adds a column of bars after the first one of percentages, if there is room.
fn with_bar<'t>(
    mut columns: Vec<Column<'t>>,
    table: &Table,
    widths: &mut Vec<Option<usize>>,
    style: &TextStyle,
) -> Vec<Column<'t>> {
    let at = table.columns.iter().position(|column| column.kind == Kind::Percent);
    let used: usize = widths.iter().flatten().map(|width| width + GAP).sum();
    let has_room = style.width.is_some_and(|line| used + GAP + BAR <= line);
    let Some(at) = at.filter(|at| has_room && widths[*at].is_some()) else { return columns };
    let bar_of = |row: &[Cell]| match row[at] {
        Cell::Number(percent) => {
            bar((percent.clamp(0.0, 100.0) * 100.0) as u64, 10_000, BAR as u64)
        }
        _ => String::new(),
    };
    let entries = table.rows().map(|row| Cow::Owned(bar_of(row))).collect();
    let bars =
        Column { title: Cow::Borrowed(""), entries, is_text: true, is_minor: true, wraps: false };
    columns.insert(at + 1, bars);
    widths.insert(at + 1, Some(BAR));
    columns
}

/// Returns the line that names columns that were left out.
fn more(hidden: &[&str], width: Option<usize>) -> Option<String> {
    let number = hidden.len();
    let plural = if number == 1 { "" } else { "s" };
    let line = format!("  {number} more column{plural} with --wide: {}", hidden.join(", "));
    (number > 0).then(|| shortened(&line, width.unwrap_or(usize::MAX)))
}

/// Returns a text of at most `width` characters. Paths lose their start, others their end.
fn shortened(text: &str, width: usize) -> String {
    let count = text.chars().count();
    if count <= width {
        return text.to_owned();
    }
    let rest = width.saturating_sub(1);
    match text.starts_with('/') {
        true => std::iter::once('…').chain(text.chars().skip(count - rest)).collect(),
        false => text.chars().take(rest).chain(std::iter::once('…')).collect(),
    }
}

/// Returns the lines of a text, of at most `width` characters if no word is longer.
fn lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let fits = |line: &String| line.chars().count() + 1 + word.chars().count() <= width;
        match lines.last_mut() {
            Some(line) if line.is_empty() => *line = shortened(word, width),
            Some(line) if fits(line) => line.extend([" ", word]),
            _ => lines.push(shortened(word, width)),
        }
    }
    lines
}

/// Returns the text of a cell.
fn entry<'t>(cell: &'t Cell, kind: Kind, clock: &mut ClockText, style: &TextStyle) -> Cow<'t, str> {
    let duration = if style.is_exact { exact_length } else { length };
    match cell {
        Cell::Empty => Cow::Borrowed(""),
        Cell::Text(text) => escape::name(text),
        Cell::Integer(number) => match (kind, u64::try_from(*number)) {
            (Kind::Bytes, Ok(number)) if number > 0 && !style.is_exact => bytes(number),
            (Kind::Count | Kind::Value | Kind::Bytes, _) => number::count(*number, style.thousands),
            _ => number.to_string(),
        }
        .into(),
        Cell::Number(number) => match kind {
            _ if *number == 0.0 => "0".to_owned(),
            Kind::Microseconds => duration((number * 1e3).round() as u64),
            Kind::BytesPerSecond if !style.is_exact => bytes(number.round() as u64),
            _ if style.is_exact => number.to_string(),
            Kind::Percent => number::percent(*number),
            _ => number::decimal(*number, style.thousands),
        }
        .into(),
        Cell::Time(time) => {
            let mut text = Text::default();
            clock.time(&mut text, *time, ClockRange::Signed);
            String::from_utf8_lossy(text.as_bytes()).into_owned().into()
        }
        Cell::Duration(0) | Cell::Difference(0) => Cow::Borrowed("0"),
        Cell::Duration(ns) => duration(*ns).into(),
        Cell::Difference(ns) => {
            let size = duration(u64::try_from(ns.unsigned_abs()).unwrap_or(u64::MAX));
            format!("{}{size}", if *ns < 0 { "-" } else { "" }).into()
        }
    }
}
