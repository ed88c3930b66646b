//! All families at a glance, and the counters of what led to no duration.

use ltt_read::{TimeSpan, TraceIndex};
use lttv_common::table::{Table, known};
use lttv_state::kernel::needs::Need;
use lttv_state::latency::{Family, TraceLatency};

use super::{Choice, Latencies, Summary, rows_of, with_durations};

/// Returns the table of all chosen families. A family whose events were not recorded has no
/// figures, but the names of the events.
pub(crate) fn overview(
    choice: &Choice,
    title: impl Into<String>,
    latencies: &Latencies<'_>,
) -> Table {
    let is_shown = |of: &TraceLatency, family: Family| {
        let is_usual = family != Family::Period || !choice.families.is_empty();
        choice.is_chosen(family) && (is_usual || of.total(family).durations().count() > 0)
    };
    let rows = rows_of(latencies, |of| {
        Family::ALL.into_iter().filter(move |family| is_shown(of, *family)).map(|family| {
            let summary = Summary::of(of.total(family).durations());
            (family, summary, Need::list(of.missing(family)))
        })
    });
    let table =
        choice.table("families", title, &rows).text("family", "FAMILY", |row| row.it.0.key());
    with_durations(table, |row| row.it.2.is_empty().then_some(&row.it.1))
        .text("missing", "NOT RECORDED", |row| known(&row.it.2))
        .build()
}

/// The figures of a family in an interval of time.
#[derive(Debug)]
pub(crate) struct Interval {
    trace: TraceIndex,
    span: TimeSpan,
    family: Family,
    summary: Summary,
}

impl Choice {
    /// Returns the figures of an interval of time.
    pub(crate) fn interval(&self, span: TimeSpan, latencies: &Latencies<'_>) -> Vec<Interval> {
        let mut rows = Vec::new();
        for family in self.families(latencies) {
            let recorded = latencies.iter().filter(|(_, of)| of.missing(family).is_empty());
            rows.extend(recorded.map(|&(trace, of)| Interval {
                trace,
                span,
                family,
                summary: Summary::of(of.total(family).durations()),
            }));
        }
        rows
    }
}

/// Returns the table of the figures of intervals of time.
pub(crate) fn intervals(choice: &Choice, rows: &[Interval]) -> Table {
    let table = Table::of("intervals", "Latencies over time", rows)
        .trace_if(choice.has_traces, |row| row.trace)
        .time("begin_ns", "BEGIN", |row| row.span.start)
        .text("family", "FAMILY", |row| row.family.key());
    with_durations(table, |row| Some(&row.summary)).build()
}

/// Returns the table of what led to no duration.
pub(crate) fn unmatched(choice: &Choice, latencies: &Latencies<'_>) -> Table {
    let rows = rows_of(latencies, |of| {
        let unmatched = of.unmatched().iter().map(|(_, text, count)| (text, count));
        let before = "durations that began before the window, and count as a whole";
        let all = unmatched.chain([(before, of.began_before().0)]);
        all.filter(|(_, count)| *count > 0).collect::<Vec<_>>()
    });
    choice
        .table("unmatched", "Without a duration", &rows)
        .text("kind", "KIND", |row| row.it.0)
        .integer("count", "COUNT", |row| row.it.1)
        .build()
}
