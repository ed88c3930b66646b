//! Single durations: the longest ones, their distribution, and what has not ended.

use lttv_common::bar::bar;
use lttv_common::table::Table;
use lttv_state::latency::{Family, TraceLatency};

use super::{Choice, Latencies, Row, name, rows_of, tid};

/// Returns rows of the chosen families: all traces of the first family, then those of the next.
fn rows_of_families<'l, T, I: IntoIterator<Item = T>>(
    choice: &Choice,
    latencies: &Latencies<'l>,
    each: impl Fn(&'l TraceLatency, Family) -> I,
) -> Vec<Row<'l, (Family, T)>> {
    let mut rows = Vec::new();
    for family in choice.families(latencies) {
        let of_trace = |of| each(of, family).into_iter().map(|it| (family, it)).collect::<Vec<_>>();
        rows.extend(rows_of(latencies, of_trace));
    }
    rows
}

/// Returns the table of the longest durations of the chosen families, the longest first.
pub(crate) fn top(choice: &Choice, latencies: &Latencies<'_>) -> Table {
    let rows = rows_of_families(choice, latencies, |of, family| of.top(family));
    choice
        .table("top", "Longest", &rows)
        .text("family", "FAMILY", |row| row.it.0.key())
        .duration("duration_ns", "DURATION", |row| row.it.1.duration())
        .time("begin_ns", "BEGIN", |row| row.it.1.begin)
        .time("end_ns", "END", |row| row.it.1.end)
        .minor()
        .integer("cpu", "CPU", |row| row.it.1.cpu)
        .integer("tid", "TID", |row| tid(row.of, row.it.1.thread))
        .text("thread", "THREAD", |row| name(row.of, row.it.1.thread))
        .text("subject", "SUBJECT", |row| row.of.subject_of(row.it.1))
        .integer("by_tid", "TID", |row| tid(row.of, row.it.1.by))
        .minor()
        .text("by", "BY", |row| name(row.of, row.it.1.by))
        .build()
}

/// The width of the longest bar, in characters.
const BAR: u64 = 40;

/// Returns the table of the numbers of durations by length, with a bar for each.
pub(crate) fn histogram(choice: &Choice, latencies: &Latencies<'_>) -> Table {
    let rows = rows_of_families(choice, latencies, |of, family| {
        let bins = bins(family, choice.bins, of);
        let most = bins.iter().map(|bin| bin.2).max().unwrap_or(0);
        bins.into_iter().map(move |(from, to, count)| (from, to, count, most))
    });
    choice
        .table("histogram", "Distribution", &rows)
        .text("family", "FAMILY", |row| row.it.0.key())
        .duration("from_ns", "FROM", |row| row.it.1.0)
        .duration("to_ns", "TO", |row| row.it.1.1)
        .minor()
        .integer("count", "COUNT", |row| row.it.1.2)
        .text("bar", "", |row| bar(row.it.1.2, row.it.1.3, BAR))
        .build()
}

/// Returns the bounds in ns and the numbers of durations of the bins of a family.
fn bins(family: Family, equal: Option<u32>, of: &TraceLatency) -> Vec<(u64, u64, u64)> {
    let total = of.total(family);
    let durations = total.durations();
    let Some(bins) = equal.filter(|_| durations.count() > 0) else {
        return durations.log2_bins().map(|(bin, count)| (bin.start, bin.end, count)).collect();
    };
    let (low, high) = (durations.spread().least().value, durations.spread().greatest().value);
    let bound =
        |bin: u32| low + (u128::from(high - low) * u128::from(bin) / u128::from(bins)) as u64;
    let counts = durations.equal_bins(low..=high, bins);
    (0..).zip(counts).map(|(at, count)| (bound(at), bound(at + 1), count)).collect()
}

/// Returns the table of what had begun and not ended at the end of the window, the oldest first.
pub(crate) fn open(choice: &Choice, latencies: &Latencies<'_>) -> Table {
    let rows =
        rows_of(latencies, |of| of.open().iter().filter(|open| choice.is_chosen(open.family)));
    choice
        .table("not_ended", "Not ended", &rows)
        .text("family", "FAMILY", |row| row.it.family.key())
        .duration("age_ns", "AGE", |row| row.of.span().end.since(row.it.begin))
        .time("begin_ns", "BEGIN", |row| row.it.begin)
        .integer("tid", "TID", |row| tid(row.of, row.it.thread))
        .text("thread", "THREAD", |row| name(row.of, row.it.thread))
        .text("subject", "SUBJECT", |row| row.of.subject_of_open(row.it))
        .build()
}
