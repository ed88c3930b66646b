//! Counters: compared with sums of single nanoseconds, in windows, intervals and on several threads.

use std::collections::BTreeMap;

use crate::support::event_text::trace_of;
use ltt_read::Timestamp;
use lttv_context::Traceset;
use lttv_filter::{Environment, Expression};
use lttv_state::analysis::read;
use lttv_state::counters::{
    Counter, CounterAnalysis, CounterError, CounterFigures, CounterSettings, FoundCounters, Number,
};

/// The time of the last event, in ns.
const LAST: i64 = 1_000;

/// An event: its time in ns, its key, and its value.
type Event = (i64, i64, i64);

/// Returns events at different times, with a few keys.
fn events() -> Vec<Event> {
    let mut seed = 12345_u64;
    let mut next = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut time = 3;
    let mut all = Vec::new();
    while time < LAST {
        all.push((time, next(3) as i64, next(41) as i64 - 20));
        time += 1 + next(40) as i64;
    }
    all
}

fn traceset(events: &[Event]) -> Traceset {
    let line = |(time, key, value): &Event| {
        format!("[0.{time:09}] h load: {{ cpu_id = 0 }}, {{ queue = {key}, length = {value} }}")
    };
    let mut lines: Vec<String> = events.iter().map(line).collect();
    lines.push(format!("[0.{LAST:09}] h end: {{ cpu_id = 0 }}, {{ x = 1 }}"));
    Traceset::from(vec![trace_of(lines.iter().map(String::as_str))])
}

fn load() -> Counter {
    Counter::new("load", Expression::parse("load").expect("an expression"), "length")
        .key("queue", "queue")
}

fn found(
    traceset: &Traceset,
    counter: Counter,
    (begin, end): (i64, i64),
    every: Option<u64>,
    threads: usize,
) -> FoundCounters {
    let ns = Timestamp::from_ns;
    let settings = CounterSettings::new([counter], traceset.traces(), &Environment::new());
    let settings = settings.expect("a counter that fits");
    let settings = match every {
        Some(length) => settings.every(ns(begin), length),
        None => settings,
    };
    let read = read(traceset).window(ns(begin)..=ns(end)).threads(threads);
    let found = read.run(CounterAnalysis::new(settings));
    assert!(found.errors.is_empty());
    found.output
}

/// The figures of a series as texts: count, first, last, least, greatest, area and time.
fn texts(figures: &CounterFigures) -> [String; 7] {
    let text = |number: Option<Number>| number.map_or("-".to_owned(), |number| number.to_string());
    let area = figures.mean().map(|mean| (mean * figures.time() as f64).round() as i64);
    [
        figures.count().to_string(),
        text(figures.first()),
        text(figures.last()),
        text(figures.least()),
        text(figures.greatest()),
        area.map_or("-".to_owned(), |area| area.to_string()),
        figures.time().to_string(),
    ]
}

/// The figures of each key in a time, from the value in each nanosecond.
fn expected(
    events: &[Event],
    is_delta: bool,
    (begin, end): (i64, i64),
    includes_end: bool,
) -> BTreeMap<i64, [String; 7]> {
    let mut all = BTreeMap::new();
    for key in 0..3 {
        let mut level: Option<i64> = None;
        let (mut own, mut values, mut area, mut time) = (Vec::new(), Vec::new(), 0, 0);
        for now in 0..=end {
            for (_, _, value) in events.iter().filter(|of| of.0 == now && of.1 == key) {
                let after = if is_delta { level.unwrap_or(0) + value } else { *value };
                level = Some(after);
                if now >= begin && (now < end || includes_end) {
                    own.push(after);
                    values.push(after);
                }
            }
            if let Some(level) = level.filter(|_| now >= begin && now < end) {
                values.push(level);
                (area, time) = (area + level, time + 1);
            }
        }
        let (Some(least), Some(greatest)) = (values.iter().min(), values.iter().max()) else {
            continue;
        };
        let text = |value: Option<&i64>| value.map_or("-".to_owned(), i64::to_string);
        let of_time = |text: String| if time > 0 { text } else { "-".to_owned() };
        let figures = [
            own.len().to_string(),
            text(own.first()),
            text(own.last()),
            least.to_string(),
            greatest.to_string(),
            of_time(area.to_string()),
            time.to_string(),
        ];
        all.insert(key, figures);
    }
    all
}

fn key_of(series: &lttv_state::counters::Series) -> i64 {
    let (label, value) = series.keys().next().expect("a key");
    assert_eq!(label, "queue");
    value.and_then(|value| value.parse().ok()).expect("a number")
}

#[test]
fn figures_are_those_of_single_nanoseconds() {
    let events = events();
    let traceset = traceset(&events);
    for is_delta in [false, true] {
        let counter = || if is_delta { load().delta() } else { load() };
        for window in [(0, LAST), (0, 300), (250, 700), (events[4].0, events[9].0), (990, LAST)] {
            for threads in 1..=3 {
                let found = found(&traceset, counter(), window, None, threads);
                let own: BTreeMap<_, _> =
                    found.series().iter().map(|of| (key_of(of), texts(of.figures()))).collect();
                let context = format!("{is_delta} {window:?} {threads}");
                assert_eq!(own, expected(&events, is_delta, window, true), "{context}");
            }
        }
    }
}

#[test]
fn intervals_are_windows() {
    let events = events();
    let traceset = traceset(&events);
    for (window, length) in [((0, LAST), 100), ((0, LAST), 7), ((133, 900), 50)] {
        for threads in [1, 3] {
            let found = found(&traceset, load(), window, Some(length), threads);
            let mut compared = 0;
            for series in found.series() {
                let key = key_of(series);
                let mut next = None;
                for (number, figures) in series.intervals() {
                    assert_eq!(*next.get_or_insert(number), number, "none is left out");
                    next = Some(number + 1);
                    let begin = window.0 + (number * length) as i64;
                    let end = (begin + length as i64).min(window.1);
                    // An event at the end of the window is in its last interval.
                    let is_last = end == window.1;
                    let all = expected(&events, false, (begin, end), is_last && begin < end);
                    let at_end = begin == window.1;
                    if !at_end {
                        let context = format!("{window:?} {length} {key} {number}");
                        assert_eq!(Some(&texts(&figures)), all.get(&key), "{context}");
                        compared += 1;
                    }
                }
            }
            assert!(compared > 20, "{compared}");
        }
    }
}

#[test]
fn texts_and_missing_fields_tell_series_apart() {
    let lines = [
        "[0.000000010] h set: { cpu_id = 0 }, { name = \"a\", value = 10 }",
        "[0.000000020] h set: { cpu_id = 0 }, { name = \"b\", value = 25 }",
        "[0.000000030] h set: { cpu_id = 0 }, { name = \"a\", value = 35 }",
        "[0.000000040] h set: { cpu_id = 0 }, { name = \"a\", value = 5 }",
    ];
    let traceset = Traceset::from(vec![trace_of(lines)]);
    let set = || Expression::parse("set").expect("an expression");
    let counter = Counter::new("value", set(), "value").key("of", "name");
    let found = found(&traceset, counter, (0, 40), None, 1);
    let rows: Vec<_> = found
        .series()
        .iter()
        .map(|of| {
            let keys: Vec<_> = of.keys().map(|(label, value)| (label.to_owned(), value)).collect();
            (keys, of.figures().mean(), of.figures().greatest())
        })
        .collect();
    let key = |name: &str| vec![("of".to_owned(), Some(name.to_owned()))];
    let integer = |number| Some(Number::Integer(number));
    let mean = (10.0 * 20.0 + 35.0 * 10.0) / 30.0;
    assert_eq!(rows, [(key("a"), Some(mean), integer(35)), (key("b"), Some(25.0), integer(25))]);
}

#[test]
fn wrong_counters_are_refused() {
    let traceset = traceset(&events());
    let check = |counters: Vec<Counter>| {
        let settings = CounterSettings::new(counters, traceset.traces(), &Environment::new());
        settings.map(|_| ()).map_err(|error| error.to_string())
    };
    let counter =
        |value: &str| Counter::new("c", Expression::parse("load").expect("an expression"), value);
    assert_eq!(check(vec![counter("length")]), Ok(()));
    let error = |text: &str| Err(text.to_owned());
    assert_eq!(
        check(vec![counter("lenght")]),
        error("no event of the counter `c` has a field `lenght`; did you mean `length`?")
    );
    assert_eq!(
        check(vec![counter("length"), counter("length")]),
        error("there are two counters `c`")
    );
    let twice = counter("length").key("a", "queue").key("a", "queue");
    assert_eq!(check(vec![twice]), error("the key of the counter `c` has two labels `a`"));
    let wrong = Expression::parse("load && nothing == 1").expect("an expression");
    let wrong = CounterSettings::new(
        [Counter::new("c", wrong, "length")],
        traceset.traces(),
        &Environment::new(),
    );
    assert!(matches!(wrong, Err(CounterError::Expression { .. })));
}
