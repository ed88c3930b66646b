//! The labels and values of single periods: their numbers, filters by them, and figures divided by them.

use std::fmt::Write as _;

use crate::support::event_text::trace_of;
use lttv_context::Traceset;
use lttv_filter::{Environment, Expression};
use lttv_state::analysis::read;
use lttv_state::latency::{Family, GroupBy, LatencyAnalysis, PartOf, Period, Settings};
use lttv_state::spans::{
    EventReader, Span, SpanAnalysis, SpanFilter, SpanNames, SpanSettings, SpanVisitor,
};

/// Requests: when they begin and end, and their kind, size and status.
const REQUESTS: [(u64, u64, &str, i64, i64); 6] = [
    (10, 15, "a", 0, 0),
    (20, 40, "a", 5, -3),
    (50, 51, "b", 7, -4),
    (60, 90, "b", 8, 12),
    (100, 101, "a", 4096, 1),
    (110, 150, "c", -1, 9),
];

fn traceset() -> Traceset {
    let mut lines = Vec::new();
    for (number, (begin, end, kind, size, status)) in REQUESTS.iter().enumerate() {
        let id = number % 2;
        lines.push(format!(
            "[0.{begin:09}] h begin: {{ cpu_id = 0 }}, {{ id = {id}, kind = \"{kind}\", size = {size} }}"
        ));
        lines.push(format!(
            "[0.{end:09}] h end: {{ cpu_id = 0 }}, {{ id = {id}, status = {status} }}"
        ));
    }
    lines.push(
        "[0.000000200] h begin: { cpu_id = 0 }, { id = 0, kind = \"d\", size = 3 }".to_owned(),
    );
    Traceset::from(vec![trace_of(lines.iter().map(String::as_str))])
}

fn request() -> Period {
    let parse = |text| Expression::parse(text).expect("an expression");
    Period::new("request", parse("begin"), parse("end"))
        .key("id", "id")
        .capture_at_begin("kind", "kind")
        .value_at_begin("size", "size")
        .value_at_end("code", "status")
}

/// The lines of the periods that pass a filter.
struct Lines<'t> {
    reader: EventReader<'t>,
    filter: Option<SpanFilter>,
    lines: Vec<String>,
}

impl SpanVisitor for Lines<'_> {
    fn span(&mut self, span: &Span, names: &SpanNames<'_>) {
        let Lines { reader, filter, lines } = self;
        if filter.as_ref().is_none_or(|filter| filter.matches(span, names, reader)) {
            let mut line = span.begin.as_ns().to_string();
            for (name, value) in reader.period_values(span, names) {
                let value = value.map_or("?".to_owned(), |value| value.to_string());
                let _ = write!(line, " {name}={value}");
            }
            assert_eq!(names.period(span).map(Period::name), Some("request"));
            lines.push(line);
        }
    }
}

fn lines(traceset: &Traceset, filter: Option<&str>, threads: usize) -> Vec<String> {
    let environment = Environment::new();
    let filter = filter.map(|text| {
        let expression = Expression::parse(text).expect("an expression");
        SpanFilter::with_periods(&expression, traceset, &[request()], &environment).expect("names")
    });
    let settings = SpanSettings::new()
        .families([Family::Period])
        .periods([request()], traceset.traces(), &environment)
        .expect("a period that fits");
    let visitor = Lines { reader: EventReader::new(traceset), filter, lines: Vec::new() };
    let analysis = SpanAnalysis::new(settings, visitor);
    read(traceset).threads(threads).run(analysis).output.visitor.lines
}

#[test]
fn periods_have_the_values_of_their_events() {
    let traceset = traceset();
    let of = REQUESTS.iter();
    let mut expected: Vec<String> = of
        .map(|(begin, _, kind, size, status)| {
            format!("{begin} kind={kind} size={size} code={status}")
        })
        .collect();
    expected.push("200 kind=d size=3 code=?".to_owned());
    for threads in 1..=3 {
        assert_eq!(lines(&traceset, None, threads), expected);
    }
}

#[test]
fn filters_name_labels_and_values() {
    let traceset = traceset();
    let begins = |filter: &str| -> Vec<u64> {
        let lines = lines(&traceset, Some(filter), 1);
        let begin = |line: &String| line.split(' ').next()?.parse().ok();
        lines.iter().map(|line| begin(line).expect("a time")).collect()
    };
    assert_eq!(begins("code < 0"), [20, 50]);
    assert_eq!(begins("request.code == -4"), [50]);
    assert_eq!(begins("kind == \"a\" && size >= 5"), [20, 100]);
    assert_eq!(begins("size < 0"), [110]);
    // The field of the event, which is not the name of a value.
    assert_eq!(begins("status > 1"), [60, 110]);
    let wrong = Expression::parse("cod == 1").expect("an expression");
    let wrong = SpanFilter::with_periods(&wrong, &traceset, &[request()], &Environment::new());
    let message = wrong.expect_err("there is no such name").to_string();
    assert!(message.contains("cod") && message.contains("code"), "{message}");
}

#[test]
fn figures_are_divided_by_labels_and_values() {
    let traceset = traceset();
    let rows = |by: &str, threads| {
        let settings = Settings::new().divide_by_value(by);
        let settings = settings
            .periods([request()], traceset.traces(), &Environment::new())
            .expect("a period that fits");
        let latency = read(&traceset).threads(threads).run(LatencyAnalysis::new(settings)).output;
        let rows = latency.traces()[0].rows(Family::Period, GroupBy::Value).into_iter();
        let mut rows: Vec<(String, u64, u64)> = rows
            .map(|row| {
                let spread = row.figures.durations().spread();
                let part = match row.part {
                    Some(PartOf::Label(text)) => text.to_string(),
                    Some(PartOf::Value(values)) => format!("{values:?}"),
                    other => format!("{other:?}"),
                };
                (part, spread.count(), spread.total())
            })
            .collect();
        rows.sort();
        rows
    };
    let row = |part: &str, count, total| (part.to_owned(), count, total);
    for threads in 1..=3 {
        let by_kind = [row("a", 3, 5 + 20 + 1), row("b", 2, 1 + 30), row("c", 1, 40)];
        assert_eq!(rows("kind", threads), by_kind);
        assert_eq!(rows("request.kind", threads), by_kind);
        let by_size = [
            row("-1..0", 1, 40),
            row("0..1", 1, 5),
            row("4..8", 2, 21),
            row("4096..8192", 1, 1),
            row("8..16", 1, 30),
        ];
        assert_eq!(rows("size", threads), by_size);
        assert_eq!(rows("nothing", threads), [row("None", 6, 97)]);
    }
}
