//! Figures by properties of single spans: they add up to the whole, are those of the spans, and those of parts of a
//! trace add up.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::support;
use ltt_read::Timestamp;
use lttv_context::Traceset;
use lttv_state::analysis::read;
use lttv_state::latency::{
    GroupBy, Latency, LatencyAnalysis, LatencyFigures, PartOf, Row, Settings, TraceLatency,
};
use lttv_state::spans::{
    Completeness, EventReader, Family, Span, SpanAnalysis, SpanNames, SpanSettings, SpanVisitor,
};

const DIVISIONS: [GroupBy; 4] = [GroupBy::File, GroupBy::Cpu, GroupBy::Size, GroupBy::Result];

fn latency(
    traceset: &Traceset,
    settings: Settings,
    window: (Bound<Timestamp>, Bound<Timestamp>),
) -> Latency {
    let settings = settings.families(Family::ALL);
    read(traceset).threads(2).window(window).run(LatencyAnalysis::new(settings)).output
}

const ALL: (Bound<Timestamp>, Bound<Timestamp>) = (Bound::Unbounded, Bound::Unbounded);

/// Returns the value of a row as a text; empty if there is none.
fn value(row: &Row) -> String {
    match &row.part {
        None => String::new(),
        Some(PartOf::File(file)) => file.to_string(),
        Some(PartOf::Cpu(cpu)) => cpu.to_string(),
        Some(PartOf::Size(bytes)) => bytes.start.to_string(),
        Some(PartOf::Result(error)) => format!("{error:?}"),
        Some(_) => "others".to_owned(),
    }
}

/// Returns the numbers and sums of rows by value.
fn by_value(of: &TraceLatency, family: Family, by: GroupBy) -> BTreeMap<String, (u64, u64)> {
    let sums = |row: &Row| {
        let durations = row.figures.durations().spread();
        (value(row), (durations.count(), durations.total()))
    };
    of.rows(family, by).iter().map(sums).filter(|(_, (count, _))| *count > 0).collect()
}

/// Returns what can be seen of figures.
fn visible(of: &LatencyFigures) -> String {
    let bins: Vec<_> = of.durations().log2_bins().collect();
    let errors: Vec<_> = of.errors().collect();
    let (spread, net) = (of.durations().spread(), of.net().map(|net| net.total()));
    let (greatest, least) = (spread.greatest().value, spread.least().value);
    let moved = (of.bytes(), of.sectors(), of.nested());
    format!(
        "{} {} {greatest} {least} {bins:?} {errors:?} {moved:?} {net:?}",
        spread.count(),
        spread.total()
    )
}

#[test]
fn rows_add_up_to_the_whole() {
    let mut compared = 0;
    for (name, traceset) in support::kernel_traces() {
        let whole = latency(&traceset, Settings::new(), ALL);
        for by in DIVISIONS {
            let divided = latency(&traceset, Settings::new().divide(by), ALL);
            for (whole, divided) in whole.traces().iter().zip(divided.traces()) {
                for family in Family::ALL {
                    let mut sum = LatencyFigures::default();
                    divided.rows(family, by).iter().for_each(|row| sum.add(&row.figures));
                    let total = visible(&whole.total(family));
                    assert_eq!(visible(&sum), total, "{name} {family} {by:?}");
                    assert_eq!(visible(&divided.total(family)), total, "{name} {family} {by:?}");
                    // Rows by other properties are those without the division.
                    let rows = |of: &TraceLatency| by_value(of, family, GroupBy::Thread);
                    assert_eq!(rows(divided), rows(whole), "{name} {family} {by:?}");
                    compared += divided.rows(family, by).len();
                }
                assert_eq!(divided.unmatched(), whole.unmatched(), "{name} {by:?}");
                assert_eq!(divided.disks().collect::<Vec<_>>(), whole.disks().collect::<Vec<_>>());
            }
        }
    }
    support::report(&format!("{compared} rows were compared"));
    assert!(compared > 200);
}

/// The key of sums: trace, family and value.
type Key = (usize, Family, String);

/// Sums of whole spans by a property.
struct Sums<'t> {
    by: GroupBy,
    reader: EventReader<'t>,
    sums: BTreeMap<Key, (u64, u64)>,
}

impl SpanVisitor for Sums<'_> {
    fn span(&mut self, span: &Span, names: &SpanNames<'_>) {
        let Some(duration) = span.duration() else { return };
        if span.completeness != Completeness::Whole {
            return;
        }
        let value = match self.by {
            GroupBy::File => self.reader.file(span, names).into_owned(),
            GroupBy::Cpu => span.cpu.to_string(),
            _ => match span.result {
                None => String::new(),
                Some(_) => format!("{:?}", span.error()),
            },
        };
        let sum = self.sums.entry((span.trace.0, span.family, value)).or_default();
        *sum = (sum.0 + 1, sum.1 + duration);
    }
}

#[test]
fn rows_are_sums_of_spans() {
    for (name, traceset) in support::kernel_traces() {
        for by in [GroupBy::File, GroupBy::Cpu, GroupBy::Result] {
            let reader = EventReader::new(&traceset);
            let visitor = Sums { by, reader, sums: BTreeMap::new() };
            let settings = SpanSettings::new().families(Family::ALL);
            let spans = read(&traceset).run(SpanAnalysis::new(settings, visitor)).output;
            let mut found = BTreeMap::new();
            let divided = latency(&traceset, Settings::new().divide(by), ALL);
            for (at, of) in divided.traces().iter().enumerate() {
                for family in Family::ALL {
                    let rows = by_value(of, family, by).into_iter();
                    found.extend(rows.map(|(value, sums)| ((at, family, value), sums)));
                }
            }
            assert_eq!(found, spans.visitor.sums, "{name} {by:?}");
        }
    }
}

#[test]
fn rows_of_parts_of_a_trace_add_up() {
    for (name, traceset) in support::kernel_traces() {
        for by in [GroupBy::File, GroupBy::Size] {
            let settings = || Settings::new().divide(by);
            let whole = latency(&traceset, settings(), ALL);
            let span = whole.traces()[0].span();
            let cut = span.start.saturating_add(span.end.since(span.start) / 3);
            let mut joined =
                latency(&traceset, settings(), (Bound::Unbounded, Bound::Included(cut)));
            joined.add(&latency(&traceset, settings(), (Bound::Excluded(cut), Bound::Unbounded)));
            for (joined, whole) in joined.traces().iter().zip(whole.traces()) {
                for family in Family::ALL {
                    let rows = |of: &TraceLatency| by_value(of, family, by);
                    // Events of traces whose clock goes back are in a window by their own time.
                    if name != "ctf/tc-bug446190" {
                        assert_eq!(rows(joined), rows(whole), "{name} {family} {by:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn each_row_has_its_longest_durations() {
    let mut compared = 0;
    for (name, traceset) in support::kernel_traces() {
        let settings = Settings::new().top(usize::MAX);
        let all = latency(&traceset, settings, ALL);
        let of_rows = latency(&traceset, Settings::new().top(3).top_of_rows(), ALL);
        for (all, of_rows) in all.traces().iter().zip(of_rows.traces()) {
            for family in Family::ALL {
                for row in of_rows.rows(family, GroupBy::Thread) {
                    let own = all.top(family).iter().filter(|of| Some(of.thread) == row.thread);
                    let expected: Vec<_> = own.take(3).copied().collect();
                    assert_eq!(row.figures.top(), expected, "{name} {family}");
                    compared += expected.len();
                }
                assert!(
                    all.rows(family, GroupBy::Thread).iter().all(|of| of.figures.top().is_empty())
                );
            }
        }
    }
    support::report(&format!("{compared} durations were compared"));
    assert!(compared > 100);
}
