//! Queries of histories.

use std::error::Error;
use std::io::Write;
use std::ops::{ControlFlow, Range};

use ltt_read::Timestamp;
use lttv_common::report::Usage;
use lttv_common::table::{Format, Table};
use lttv_common::text::output::Output;
use lttv_state::history::{History, HistoryError};
use lttv_state::tree::Quark;

use super::intervals::Intervals;

/// Converts an error of a query. A time outside of the history is an error of the command
/// line.
fn query_error(error: HistoryError) -> Box<dyn Error> {
    match error {
        HistoryError::OutOfRange { .. } => Usage::new(error).into(),
        error => error.into(),
    }
}

/// Describes a history, and verifies its checksums.
pub(super) fn info(history: &History, out: &mut Output) -> Result<(), Box<dyn Error>> {
    history.verify()?;
    writeln!(out, "from       {}", history.start())?;
    writeln!(out, "to         {}", history.end())?;
    writeln!(out, "attributes {}", history.tree().len())?;
    writeln!(out, "intervals  {}", history.intervals_count())?;
    writeln!(out, "blocks     {}, all checksums correct", history.blocks())?;
    writeln!(out, "built from {}", history.identity())?;
    Ok(())
}

/// Writes the values at a time.
pub(super) fn at(
    history: &History,
    time: Timestamp,
    pattern: &str,
    format: Format,
    out: &mut Output,
) -> Result<(), Box<dyn Error>> {
    let quarks = history.tree().matching(Quark::ROOT, pattern).map_err(Usage::new)?;
    let mut intervals = Intervals::new(history, format, out);
    for quark in quarks {
        intervals.write(&history.at(quark, time).map_err(query_error)?)?;
    }
    Ok(intervals.finish(Vec::new())?)
}

/// Writes the values of attributes in a time range.
pub(super) fn range(
    history: &History,
    pattern: &str,
    range: Range<Timestamp>,
    each: u64,
    format: Format,
    out: &mut Output,
) -> Result<(), Box<dyn Error>> {
    let quarks = history.tree().matching(Quark::ROOT, pattern).map_err(Usage::new)?;
    let mut intervals = Intervals::new(history, format, out);
    let mut written = Ok(());
    let flow = history.for_each_in(&quarks, range, each, |interval| {
        written = intervals.write(&interval);
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    _ = flow.map_err(query_error)?;
    written?;
    Ok(intervals.finish(Vec::new())?)
}

/// Writes the values of an attribute in a time range, and the total time of each value.
pub(super) fn changes(
    history: &History,
    path: &str,
    range: Range<Timestamp>,
    reverse: bool,
    format: Format,
    out: &mut Output,
) -> Result<(), Box<dyn Error>> {
    let quark = history.tree().find(Quark::ROOT, path).map_err(Usage::new)?;
    let quark = quark.ok_or_else(|| Usage::new(format_args!("no attribute {path:?}")))?;
    let mut intervals = Intervals::new(history, format, out);
    let found = history.intervals(quark, range.clone()).map_err(query_error)?;
    let mut each = |interval: Result<_, HistoryError>| -> Result<(), Box<dyn Error>> {
        Ok(intervals.write(&interval?)?)
    };
    match reverse {
        false => found.into_iter().try_for_each(&mut each)?,
        true => found.rev().try_for_each(&mut each)?,
    }
    let sums = history.durations(quark, range)?;
    if format == Format::Text {
        intervals.finish(Vec::new())?;
        writeln!(out, "\ntotal")?;
        for sum in sums {
            writeln!(out, "{:>20} ns {:>10} times {}", sum.time, sum.count, sum.value)?;
        }
        return Ok(());
    }
    let total = Table::of("total", "Total time of each value", &sums)
        .text("value", "VALUE", |sum| sum.value.to_string())
        .duration("time_ns", "TIME", |sum| sum.time)
        .count("count", "COUNT", |sum| sum.count)
        .build();
    Ok(intervals.finish(vec![total])?)
}
