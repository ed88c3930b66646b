//! All families at a glance, and the counters of what led to no duration.

use ltt_read::{TimeSpan, TraceIndex};
use lttv_common::table::{Table, known};
use lttv_state::durations::Distribution;
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
        // Most recordings have neither.
        let is_special = matches!(family, Family::Period | Family::Marker);
        let is_usual = Family::LATENCIES.contains(&family) && !is_special && !choice.is_selected;
        let has_figures = || of.total(family).durations().count() > 0;
        choice.is_chosen(family) && (is_usual || !choice.families.is_empty() || has_figures())
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
    /// Returns the figures of intervals of a length in ns, which cover a span. Without a choice of
    /// families, an interval has those with durations in it.
    pub(crate) fn intervals(
        &self,
        span: TimeSpan,
        length: u64,
        latencies: &Latencies<'_>,
    ) -> Vec<Interval> {
        let recorded: Vec<_> = Family::ALL
            .iter()
            .filter(|family| self.is_chosen(**family))
            .map(|family| {
                let traces = latencies.iter().filter(|(_, of)| of.missing(*family).is_empty());
                (*family, traces.copied().collect::<Vec<_>>())
            })
            .collect();
        let none = Distribution::default();
        let mut rows = Vec::new();
        let count = span.end.as_ns().abs_diff(span.start.as_ns()) / length.max(1) + 1;
        for number in 0..count {
            let start = span.start.saturating_add(length.saturating_mul(number));
            let end = start.saturating_add(length).min(span.end);
            for (family, traces) in &recorded {
                let of_trace = |of: &TraceLatency| of.in_interval(number, *family).cloned();
                if self.families.is_empty() && !traces.iter().any(|(_, of)| of_trace(of).is_some())
                {
                    continue;
                }
                rows.extend(traces.iter().map(|(trace, of)| Interval {
                    trace: *trace,
                    span: TimeSpan { start, end },
                    family: *family,
                    summary: Summary::of(of_trace(of).as_ref().unwrap_or(&none)),
                }));
            }
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
        .count("count", "COUNT", |row| row.it.1)
        .build()
}
