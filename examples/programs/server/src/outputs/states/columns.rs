//! Answers with columns: the states that reach over the border of two of them, and the shares of the states in
//! columns with several.
//!
//! Column `n` is the time from sample `n` to before sample `n + 1`. Shares are exact, in ns: the states of a chart
//! that is one pixel wide for each column are all in its answer, however short.

use std::collections::HashMap;
use std::fmt::Write;

use lttv_state::history::History;

use super::super::work::Work;
use super::super::xy;
use super::lane::Span;
use crate::dataset::{ChartRow, Lane, ThreadRows, clamped};
use crate::error::{OutputError, Result};
use crate::protocol::models::{State, StyleRef};
use crate::protocol::parameters::Parameters;
use crate::protocol::samples::Samples;

/// The styles of an answer, with their numbers. Those of threads on CPUs have the thread, too.
#[derive(Debug, Default)]
struct Styles {
    keys: Vec<(&'static str, String)>,
    numbers: HashMap<&'static str, HashMap<String, usize>>,
}

impl Styles {
    fn number(&mut self, key: &'static str, thread: &str) -> usize {
        let of_key = self.numbers.entry(key).or_default();
        if let Some(number) = of_key.get(thread) {
            return *number;
        }
        self.keys.push((key, thread.to_owned()));
        of_key.insert(thread.to_owned(), self.keys.len() - 1);
        self.keys.len() - 1
    }
}

/// The shares of the states in the current column of a row.
#[derive(Debug, Default)]
struct Column {
    number: usize,
    /// The number of a style, or `None` for a gap, and its time in ns.
    shares: Vec<(Option<usize>, u64)>,
}

impl Column {
    fn add(&mut self, style: Option<usize>, ns: u64) {
        match self.shares.iter_mut().find(|(of, _)| *of == style) {
            Some((_, sum)) => *sum += ns,
            None => self.shares.push((style, ns)),
        }
    }

    /// Adds the column to a text if it has several states, and begins another one. Gaps are what is left of
    /// its width.
    fn end(&mut self, columns: &mut String, next: usize) {
        if self.shares.len() > 1 {
            let comma = if columns.is_empty() { "" } else { "," };
            // Writing to a text cannot fail.
            _ = write!(columns, "{comma}[{}", self.number);
            for (style, ns) in &self.shares {
                if let Some(style) = style {
                    _ = write!(columns, ",{style},{ns}");
                }
            }
            columns.push(']');
        }
        self.shares.clear();
        self.number = next;
    }
}

/// Answers a request for columns.
pub(super) fn answer<'r>(
    (history, threads): (&History, Option<&ThreadRows>),
    rows: impl Iterator<Item = &'r ChartRow>,
    parameters: &Parameters,
    work: &mut Work<'_>,
) -> Result {
    let samples = parameters.samples("nbTimes")?;
    let items = parameters.items()?;
    let by_id: HashMap<i64, &ChartRow> = rows.map(|row| (row.id, row)).collect();
    let mut styles = Styles::default();
    work.text(r#"{"model":{"rows":["#)?;
    let mut is_first = true;
    for id in xy::unique(items) {
        let Some(row) = by_id.get(&id) else { continue };
        work.list_text(&mut is_first, |out| {
            out.extend_from_slice(format!(r#"{{"entryId":{id},"states":["#).as_bytes());
        })?;
        let columns = write_row((history, threads), row, &samples, &mut styles, work)?;
        work.text(r#"],"columns":["#)?;
        work.text(&columns)?;
        work.text("]}")?;
    }
    work.text(r#"],"styles":"#)?;
    work.json(&styles.keys)?;
    work.text("}")?;
    work.end(history.is_complete())
}

/// Writes the states of a row that reach into several columns. Returns the columns with several states.
fn write_row(
    (history, threads): (&History, Option<&ThreadRows>),
    row: &ChartRow,
    samples: &Samples,
    styles: &mut Styles,
    work: &mut Work<'_>,
) -> std::result::Result<String, OutputError> {
    let mut columns = String::new();
    let has_threads = matches!(row.lane, Lane::Cpu { .. });
    let (start, life_end) = row.lane.life(history);
    let (start, end) = (start.max(samples.start()), life_end.min(samples.end()));
    if start >= end {
        return Ok(columns);
    }
    let column_of = |time: i64| samples.first_from(time.saturating_add(1)).saturating_sub(1);
    let border = |column: usize| samples.at(column).unwrap_or(i64::MAX);
    let length = |from: i64, to: i64| to.wrapping_sub(from) as u64;
    let mut reader = row.lane.reader(history, threads)?;
    let mut column = Column { number: column_of(start), ..Column::default() };
    // What is before the life of the row is a gap.
    let before = length(border(column.number), start);
    if before > 0 {
        column.add(None, before);
    }
    let mut next = border(column.number + 1);
    let (mut reached, mut is_first) = (start, true);
    while reached < end {
        work.tick()?;
        let span: Span<'_> = reader.at(clamped(history, reached))?;
        let until = span.end.min(end);
        if until <= reached {
            break;
        }
        let label = span.label.as_ref().map(|label| label.as_str());
        let thread = label.filter(|_| has_threads).unwrap_or("");
        let style = span.style.map(|key| styles.number(key, thread));
        // A state that fills a column reaches its borders, or over them.
        let fills = until > next || (until == next && reached == border(column.number));
        if until <= next {
            column.add(style, length(reached, until));
        } else {
            column.add(style, length(reached, next));
            let last = column_of(until - 1);
            column.end(&mut columns, last);
            column.add(style, length(border(last), until));
            next = border(last + 1);
        }
        if let Some(key) = span.style.filter(|_| fills) {
            let (start, end) = (span.start, span.end);
            let style = Some(StyleRef::new(key));
            let state = State { start, end, label, tags: 0, style };
            work.list_text(&mut is_first, |out| state.write(out))?;
        }
        reached = until;
        if reached >= next {
            let number = column.number + 1;
            column.end(&mut columns, number);
            next = border(number + 1);
        }
    }
    // So is what is after its life.
    if !column.shares.is_empty() {
        let after = length(reached, next.min(samples.end()));
        if after > 0 {
            column.add(None, after);
        }
        column.end(&mut columns, 0);
    }
    Ok(columns)
}
