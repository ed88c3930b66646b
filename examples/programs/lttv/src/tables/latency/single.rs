//! Single durations: the longest ones, their distribution, and what has not ended.

use std::rc::Rc;

use lttv_common::bar::bar;
use lttv_common::table::Table;
use lttv_state::durations::Distribution;
use lttv_state::latency::{Family, GroupBy, LatencyFigures, Row as FamilyRow, TraceLatency};

use super::keys::with_key;
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

/// The rows of a family that are shown, for tables with several lines for each; without any, there is one for all.
fn divided<T>(
    choice: &Choice,
    of: &TraceLatency,
    family: Family,
    is_divided: bool,
    each: impl Fn(&LatencyFigures) -> Vec<T>,
) -> Vec<(Option<Rc<FamilyRow>>, T)> {
    let rows = is_divided.then(|| of.rows(family, choice.by)).into_iter().flatten();
    let rows = rows.take(choice.rows.unwrap_or(usize::MAX));
    let mut all = Vec::new();
    for row in rows {
        let (of_row, row) = (each(&row.figures), Rc::new(row));
        all.extend(of_row.into_iter().map(|it| (Some(row.clone()), it)));
    }
    if !is_divided {
        all.extend(each(&of.total(family)).into_iter().map(|it| (None, it)));
    }
    all
}

/// Returns the table of the longest durations of the chosen families, or of each of their rows, the longest first.
pub(crate) fn top(choice: &Choice, latencies: &Latencies<'_>) -> Table {
    let is_divided = choice.has_row_top;
    let rows = rows_of_families(choice, latencies, |of, family| match is_divided {
        true => divided(choice, of, family, true, |figures| figures.top().to_vec()),
        false => of.top(family).iter().map(|sample| (None, *sample)).collect(),
    });
    let title =
        "Longest (`lttv why --at BEGIN --tid TID --family FAMILY` tells where the time went)";
    let table = choice.table("top", title, &rows).text("family", "FAMILY", |row| row.it.0.key());
    // The columns of each duration tell the thread and the name.
    let has_key = is_divided && (choice.by.is_of_spans() || choice.by == GroupBy::Process);
    let table = match has_key {
        true => with_key(table, choice, "NAME", |row| (row.of, row.it.1.0.as_deref())),
        false => table,
    };
    let table = table
        .duration("duration_ns", "DURATION", |row| row.it.1.1.duration())
        .time("begin_ns", "BEGIN", |row| row.it.1.1.begin)
        .time("end_ns", "END", |row| row.it.1.1.end)
        .minor();
    let table = match has_key && choice.by == GroupBy::Cpu {
        true => table,
        false => table.integer("cpu", "CPU", |row| row.it.1.1.cpu),
    };
    table
        .integer("tid", "TID", |row| tid(row.of, row.it.1.1.thread))
        .text("thread", "THREAD", |row| name(row.of, row.it.1.1.thread))
        .text("subject", "SUBJECT", |row| row.of.subject_of(&row.it.1.1))
        .integer("by_tid", "TID", |row| tid(row.of, row.it.1.1.by))
        .minor()
        .text("by", "BY", |row| name(row.of, row.it.1.1.by))
        .build()
}

/// The width of the longest bar, in characters.
const BAR: u64 = 40;

/// A bin of a distribution: its bounds in ns, its number of durations, and the greatest number of a bin.
type Bin = (u64, u64, u64, u64);

/// Returns the table of the numbers of durations by length, with a bar for each: of the chosen families, or of each
/// of their rows.
pub(crate) fn histogram(choice: &Choice, latencies: &Latencies<'_>) -> Table {
    let is_divided = choice.has_row_histogram;
    let rows = rows_of_families(choice, latencies, |of, family| {
        divided(choice, of, family, is_divided, |figures| bins(figures.durations(), choice.bins))
    });
    let table = choice
        .table("histogram", "Distribution", &rows)
        .text("family", "FAMILY", |row| row.it.0.key());
    let table = match is_divided {
        true => with_key(table, choice, "NAME", |row| (row.of, row.it.1.0.as_deref())),
        false => table,
    };
    table
        .duration("from_ns", "FROM", |row| row.it.1.1.0)
        .duration("to_ns", "TO", |row| row.it.1.1.1)
        .minor()
        .count("count", "COUNT", |row| row.it.1.1.2)
        .text("bar", "", |row| bar(row.it.1.1.2, row.it.1.1.3, BAR))
        .build()
}

/// Returns the bins of durations.
fn bins(durations: &Distribution, equal: Option<u32>) -> Vec<Bin> {
    let bins: Vec<(u64, u64, u64)> = match equal.filter(|_| durations.count() > 0) {
        None => durations.log2_bins().map(|(bin, count)| (bin.start, bin.end, count)).collect(),
        Some(bins) => {
            let spread = durations.spread();
            let (low, high) = (spread.least().value, spread.greatest().value);
            let bound = |bin: u32| {
                low + (u128::from(high - low) * u128::from(bin) / u128::from(bins)) as u64
            };
            let counts = (0..).zip(durations.equal_bins(low..=high, bins));
            counts.map(|(at, count)| (bound(at), bound(at + 1), count)).collect()
        }
    };
    let most = bins.iter().map(|bin| bin.2).max().unwrap_or(0);
    bins.into_iter().map(|(from, to, count)| (from, to, count, most)).collect()
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
