//! Periods between events: compared with those of lttng-analyses on real traces, and parents, keys
//! and groups of event lists.

use std::io::Read;
use std::path::Path;

use crate::support;
use crate::support::event_text::trace_of;
use flate2::read::GzDecoder;
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_filter::{Environment, Expression};
use lttv_state::analysis::{attach, read};
use lttv_state::kernel::KernelState;
use lttv_state::latency::{
    Family, GroupBy, LatencyAnalysis, Period, PeriodError, Settings, TraceLatency,
};
use serde_json::Value;

fn period(name: &str, begin: &str, end: &str) -> Period {
    let parse = |text| Expression::parse(text).expect("an expression");
    Period::new(name, parse(begin), parse(end))
}

fn settings(traceset: &Traceset, periods: Vec<Period>) -> Settings {
    let settings = Settings::new().top(1 << 20);
    settings.periods(periods, traceset.traces(), &Environment::new()).expect("valid periods")
}

fn latency(traceset: &Traceset, periods: Vec<Period>) -> TraceLatency {
    let settings = settings(traceset, periods);
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let latency = attach(&mut context, kernel, .., LatencyAnalysis::new(settings));
    _ = context.read(&Bounds::all()).expect("bounds without a position");
    latency.take(context.extensions_mut()).traces()[0].clone()
}

/// Returns the tables of a class in the stored output of a command.
fn tables(path: &Path, class: &str) -> Option<Vec<Value>> {
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path).ok()?).read_to_string(&mut text).expect("gzip");
    let output: Value = serde_json::from_str(&text).expect("JSON");
    let tables = output["results"].as_array()?.iter().filter(|table| table["class"] == class);
    Some(tables.flat_map(|table| table["data"].as_array().cloned().unwrap_or_default()).collect())
}

#[test]
fn periods_of_real_traces_are_those_of_lttng_analyses() {
    let outputs = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/expected/analyses-2/lttng-analyses/open");
    let (mut switches, mut writes) = (0, 0);
    for name in ["k1-8cpu", "k1-ctx", "k1-mix", "k1-multi", "k1-tfc"] {
        let Some(path) = support::shared(&format!("ctf/{name}/kernel")) else { continue };
        let traceset = Traceset::open(path).expect("a trace");
        let folder = outputs.join(name);
        if let Some(rows) = tables(&folder.join("period-switch.json.gz"), "per_period_stats") {
            let of = latency(&traceset, vec![period("sw", "sched_switch", "sched_switch")]);
            let total = of.total(Family::Period);
            let spread = total.durations().spread();
            let value = |at: usize| rows[0][at]["value"].as_f64().expect("a number");
            let exact = [spread.count(), spread.least().value, spread.greatest().value];
            assert_eq!(exact.map(|of| of as f64), [value(1), value(2), value(4)], "{name}");
            assert_eq!(spread.total() as f64, value(6), "{name}");
            let near = |a: f64, b: f64| (a - b).abs() <= b * 1e-9;
            assert!(near(spread.mean(), value(3)), "{name}");
            assert!(near(spread.sample_deviation().unwrap(), value(5)), "{name}");
            switches += 1;
        }
        if let Some(rows) = tables(&folder.join("period-write.json.gz"), "log") {
            let write = period("w", "syscall_entry_write", "syscall_exit_write").key("cpu", "cpu");
            let of = latency(&traceset, vec![write]);
            let mut found: Vec<_> = of
                .top(Family::Period)
                .iter()
                .map(|sample| (sample.begin.as_ns(), sample.end.as_ns()))
                .collect();
            let time = |row: &Value, at: usize| row[at]["value"].as_i64().expect("a time");
            let mut expected: Vec<_> =
                rows.iter().map(|row| (time(row, 0), time(row, 1))).collect();
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{name}");
            writes += 1;
        }
    }
    if switches == 0 {
        support::report("skipped: no output of lttng-analyses is there");
    } else {
        assert!(switches >= 5 && writes >= 2, "{switches} {writes}");
    }
}

/// Two requests, of which the first one has two parts, one of them incomplete.
const REQUESTS: [&str; 9] = [
    "[0.000000010] h begin: { cpu_id = 0 }, { id = 1, kind = \"a\" }",
    "[0.000000020] h part_begin: { cpu_id = 0 }, { id = 1, size = 5 }",
    "[0.000000025] h part_begin: { cpu_id = 1 }, { id = 3, size = 5 }",
    "[0.000000030] h begin: { cpu_id = 0 }, { id = 2, kind = \"b\" }",
    "[0.000000040] h part_end: { cpu_id = 1 }, { id = 1 }",
    "[0.000000050] h part_begin: { cpu_id = 0 }, { id = 1, size = 5 }",
    "[0.000000060] h end: { cpu_id = 0 }, { id = 1, status = 0 }",
    "[0.000000070] h part_end: { cpu_id = 0 }, { id = 1 }",
    "[0.000000080] h begin: { cpu_id = 0 }, { id = 2, kind = \"c\" }",
];

fn requests() -> Vec<Period> {
    vec![
        period("request", "begin", "end")
            .key("id", "id")
            .capture_at_begin("kind", "kind")
            .capture_at_end("status", "status"),
        period("part", "part_begin && size > 1", "part_end").parent("request").key("id", "id"),
    ]
}

#[test]
fn periods_have_keys_parents_and_groups() {
    let traceset = Traceset::from(vec![trace_of(REQUESTS)]);
    let of = latency(&traceset, requests());
    let rows = of.rows(Family::Period, GroupBy::Subject);
    let rows: Vec<_> = rows
        .iter()
        .map(|row| {
            let durations = row.figures.durations().spread();
            (of.subject(row.subject.unwrap()), durations.count(), durations.total())
        })
        .collect();
    let expected = [("request kind=a status=0".to_owned(), 1, 50), ("part".to_owned(), 1, 20)];
    assert_eq!(rows, expected);
    assert_eq!(of.unmatched().incomplete_periods, 1);
    let open: Vec<_> =
        of.open().iter().map(|open| (of.subject_of_open(open), open.begin.as_ns())).collect();
    assert_eq!(open, [("request kind=b".to_owned(), 30), ("request kind=c".to_owned(), 80)]);
}

#[test]
fn periods_of_parts_add_up() {
    let traceset = Traceset::from(vec![trace_of(REQUESTS)]);
    let whole = latency(&traceset, requests());
    for cut in 11..80 {
        let cut = ltt_read::Timestamp::from_ns(cut);
        let mut first = TracesetContext::new(&traceset);
        let kernel = first.attach(KernelState::new());
        let handle =
            attach(&mut first, kernel, .., LatencyAnalysis::new(settings(&traceset, requests())));
        _ = first.read(&Bounds::all().until_start_of(cut)).expect("bounds without a position");
        let mut joined = handle.take_until(first.extensions_mut(), cut);
        let mut second = TracesetContext::new(&traceset);
        let kernel = second.attach(KernelState::new());
        let settings = settings(&traceset, requests());
        let handle = attach(&mut second, kernel, cut.., LatencyAnalysis::new(settings));
        second.state().seek_time(cut);
        _ = second.read(&Bounds::all()).expect("bounds without a position");
        joined.add(&handle.take(second.extensions_mut()));
        let joined = &joined.traces()[0];
        assert_eq!(joined.top(Family::Period), whole.top(Family::Period), "{cut}");
        assert_eq!(joined.open(), whole.open(), "{cut}");
        assert_eq!(joined.unmatched(), whole.unmatched(), "{cut}");
        let rows = |of: &TraceLatency| of.rows(Family::Period, GroupBy::ThreadAndSubject);
        assert_eq!(rows(joined), rows(&whole), "{cut}");
    }
}

#[test]
fn threads_do_not_change_the_periods() {
    let traceset = Traceset::open(support::bundled()).expect("a trace");
    let periods =
        || vec![period("read", "syscall_entry_read", "syscall_exit_read").key("tid", "tid")];
    let settings = settings(&traceset, periods());
    let top = |threads| {
        let latency =
            read(&traceset).threads(threads).run(LatencyAnalysis::new(settings.clone())).output;
        let of = &latency.traces()[0];
        (of.top(Family::Period).to_vec(), of.rows(Family::Period, GroupBy::ThreadAndSubject))
    };
    let one = top(1);
    assert!(one.0.len() > 20, "{}", one.0.len());
    assert_eq!(top(3), one);
}

#[test]
fn wrong_definitions_are_refused() {
    let traceset = Traceset::from(vec![trace_of(REQUESTS)]);
    let check = |periods: Vec<Period>| {
        Settings::new().periods(periods, traceset.traces(), &Environment::new()).map(|_| ())
    };
    let request = || period("request", "begin", "end").key("id", "id");
    let child = || period("part", "part_begin", "part_end");
    assert!(matches!(check(vec![request(), request()]), Err(PeriodError::Twice(_))));
    let orphan = child().parent("request");
    assert!(matches!(check(vec![orphan.clone()]), Err(PeriodError::Parent { .. })));
    assert!(matches!(check(vec![request(), orphan]), Err(PeriodError::Key(_))));
    let wrong = period("wrong", "begin && no_such_field == 1", "end");
    assert!(matches!(check(vec![wrong]), Err(PeriodError::Expression { .. })));
}

#[test]
fn names_of_fields_and_labels_are_checked() {
    let traceset = Traceset::from(vec![trace_of(REQUESTS)]);
    let check = |period: Period| {
        let settings = Settings::new();
        settings.periods([period], traceset.traces(), &Environment::new()).map(|_| ())
    };
    let request = || period("request", "begin", "end").key("id", "id");
    assert!(check(request().value_at_end("code", "status")).is_ok());
    for (wrong, message) in [
        (
            request().capture_at_begin("kind", "kin"),
            "no event that begins the period `request` has a field `kin`; did you mean `kind`?",
        ),
        (
            request().value_at_end("code", "kind"),
            "no event that ends the period `request` has a field `kind`; did you mean `tid`?",
        ),
        (
            period("request", "begin", "end").key("id", "ida"),
            "no event that ends the period `request` has a field `ida`; did you mean `id`?",
        ),
        (
            request().capture_at_begin("a", "kind").value_at_end("a", "status"),
            "the period `request` has two labels or values `a`",
        ),
    ] {
        assert_eq!(check(wrong).expect_err(message).to_string(), message);
    }
    // The traces have no such events, of which nothing is known.
    assert!(check(period("other", "nothing", "neither").key("x", "y")).is_ok());
    // The words are those of any event.
    assert!(check(request().capture_at_begin("thread", "tid")).is_ok());
}
