//! Times that users write mean the one instant of the traces, or are refused.

use std::ops::Bound;

use crate::support::config::cases;
use ltt_read::{TimeSpan, Timestamp};
use lttv_filter::{Environment, Expression, Filters, Notation, TimeErrorKind, TraceTimes, Zone};
use proptest::prelude::*;

const SECOND: i64 = 1_000_000_000;
const HOUR: i64 = 3600 * SECOND;
const DAY: i64 = 24 * HOUR;
/// 2026-11-21 00:00 UTC.
const MIDNIGHT: i64 = 1_795_219_200 * SECOND;
/// 2026-10-25 01:00 UTC, when clocks are set back from 03:00 to 02:00 in Berlin.
const SET_BACK: i64 = 1_792_890_000 * SECOND;
/// 2026-03-29 01:00 UTC, when clocks are set forward from 02:00 to 03:00 in Berlin.
const SET_FORWARD: i64 = 1_774_746_000 * SECOND;

fn times(start: i64, end: i64) -> TraceTimes<'static> {
    let [start, end] = [start, end].map(Timestamp::from_ns);
    TraceTimes::from(TimeSpan { start, end })
}

fn berlin() -> Environment {
    Environment::new().in_zone(Zone::named("Europe/Berlin").expect("a zone of the system"))
}

/// Returns the time in ns, or else the message.
fn ns_in(environment: &Environment, text: &str, times: &TraceTimes<'_>) -> Result<i64, String> {
    let time = environment.parse_time(text, times);
    time.map(Timestamp::as_ns).map_err(|error| error.to_string())
}

fn ns(text: &str, start: i64, end: i64) -> Result<i64, String> {
    ns_in(&Environment::new(), text, &times(start, end))
}

#[test]
fn a_time_of_day_is_in_the_traces_over_midnight() {
    let (start, end) = (MIDNIGHT - HOUR, MIDNIGHT + HOUR);
    assert_eq!(ns("23:30", start, end), Ok(MIDNIGHT - HOUR / 2));
    assert_eq!(ns("00:30", start, end), Ok(MIDNIGHT + HOUR / 2));
    assert_eq!(ns("00:00", start, end), Ok(MIDNIGHT));
    assert_eq!(
        ns("12:00", start, end).unwrap_err(),
        "`12:00` is outside of the traces, which are from 2026-11-20T23:00:00 to \
         2026-11-21T01:00:00; with a date it is `2026-11-20T12:00:00` or `2026-11-21T12:00:00`"
    );
}

#[test]
fn a_time_of_day_on_several_days_is_refused_with_the_candidates() {
    let (start, end) = (MIDNIGHT + 2 * HOUR, MIDNIGHT + 2 * DAY + HOUR);
    let error = ns("03:00:00.5", start, end).unwrap_err();
    assert_eq!(
        error,
        "`03:00:00.5` can mean several times of the traces: `2026-11-21T03:00:00.5` or \
         `2026-11-22T03:00:00.5`"
    );
    // Those before the first and after the last event are none of them.
    assert_eq!(ns("01:30", start, end), Ok(MIDNIGHT + DAY + 3 * HOUR / 2));
    for (candidate, day) in [("2026-11-21T03:00:00.5", 0), ("2026-11-22T03:00:00.5", 1)] {
        let expected = MIDNIGHT + day * DAY + 3 * HOUR + SECOND / 2;
        assert_eq!(ns(candidate, start, end), Ok(expected));
    }
    let years = ns("03:00", -100 * 365 * DAY, 100 * 365 * DAY).unwrap_err();
    assert!(years.len() < 300, "{years}");
}

#[test]
fn an_hour_that_clocks_repeat_is_refused_with_both_offsets() {
    let environment = berlin();
    let whole = times(SET_BACK - 2 * HOUR, SET_BACK + 2 * HOUR);
    let of = |text: &str| ns_in(&environment, text, &whole);
    for text in ["02:30", "2026-10-25 02:30"] {
        let error = of(text).unwrap_err();
        let candidates = "`2026-10-25T02:30:00+02:00` or `2026-10-25T02:30:00+01:00`";
        assert_eq!(error, format!("`{text}` can mean several times of the traces: {candidates}"));
    }
    let (summer, winter) = (SET_BACK - HOUR / 2, SET_BACK + HOUR / 2);
    for text in ["2026-10-25T02:30:00+02:00", "02:30+02:00", "2026-10-25 02:30 CEST", "00:30Z"] {
        assert_eq!(of(text), Ok(summer), "{text}");
    }
    for text in ["2026-10-25T02:30:00+01:00", "02:30+01:00", "2026-10-25 02:30 CET", "01:30Z"] {
        assert_eq!(of(text), Ok(winter), "{text}");
    }
    // A trace of only one of the hours.
    let late = times(SET_BACK, SET_BACK + HOUR);
    assert_eq!(ns_in(&environment, "02:30", &late), Ok(winter));
    assert_eq!(ns_in(&environment, "2026-10-25 02:30", &late), Ok(winter));
    assert!(of("2026-10-25 02:30 EST").unwrap_err().contains("another name of a time zone"));
}

#[test]
fn an_hour_that_clocks_skip_is_refused() {
    let environment = berlin();
    let whole = times(SET_FORWARD - HOUR, SET_FORWARD + HOUR);
    for text in ["02:30", "2026-03-29 02:30"] {
        let error = ns_in(&environment, text, &whole).unwrap_err();
        assert!(error.starts_with(&format!("`{text}` does not exist in the time zone")), "{error}");
    }
    assert_eq!(ns_in(&environment, "03:30", &whole), Ok(SET_FORWARD + HOUR / 2));
    // On a day of 23 hours, 12:00 is noon.
    let day = times(SET_FORWARD - HOUR, SET_FORWARD + 12 * HOUR);
    assert_eq!(ns_in(&environment, "12:00", &day), Ok(SET_FORWARD + 9 * HOUR));
}

#[test]
fn offsets_from_utc_may_be_negative() {
    let west = Environment::new().in_zone(Zone::offset(-9 * 3600 - 1800).expect("an offset"));
    let (start, end) = (MIDNIGHT, MIDNIGHT + HOUR);
    assert_eq!(ns_in(&west, "14:45", &times(start, end)), Ok(MIDNIGHT + HOUR / 4));
    assert_eq!(ns("14:45-09:30", start, end), Ok(MIDNIGHT + HOUR / 4));
    assert_eq!(ns("2026-11-20 14:45:00-09:30", start, end), Ok(MIDNIGHT + HOUR / 4));
    assert_eq!(ns("2026-11-20T14:45-09:30", start, end), Ok(MIDNIGHT + HOUR / 4));
}

#[test]
fn numbers_outside_of_the_traces_are_refused_with_their_span() {
    let (start, end) = (MIDNIGHT + SECOND / 4, MIDNIGHT + 2 * SECOND);
    assert_eq!(
        ns("2.15", start, end).unwrap_err(),
        "`2.15` is outside of the traces, which are from 1795219200.250000000 to \
         1795219202.000000000"
    );
    for text in ["0", "2", "-5.5", "1795219100", "1795219204", "99999999999999999999"] {
        assert!(ns(text, start, end).unwrap_err().starts_with(&format!("`{text}` is ")), "{text}");
    }
    // Whoever leaves out digits means the trace.
    assert_eq!(ns("1795219200", start, end), Ok(MIDNIGHT));
    assert_eq!(ns("00:00", start, end), Ok(MIDNIGHT));
    assert!(ns("1795219200.0000001", start, end).is_err());
    // A unit says that the origin is meant.
    assert_eq!(ns("2150ms", start, end), Ok(2_150_000_000));
}

#[test]
fn an_integer_is_of_seconds_or_nanoseconds_whichever_is_in_the_traces() {
    let (start, end) = (MIDNIGHT, MIDNIGHT + 10 * SECOND);
    assert_eq!(ns("1795219205", start, end), Ok(MIDNIGHT + 5 * SECOND));
    assert_eq!(ns("1795219205000000007", start, end), Ok(MIDNIGHT + 5 * SECOND + 7));
    assert_eq!(ns("5", 0, 100), Ok(5));
    assert_eq!(ns("0", 0, 10 * SECOND), Ok(0));
    assert_eq!(ns("-7", -100, 0), Ok(-7));
    assert_eq!(
        ns("5", 0, 10 * SECOND).unwrap_err(),
        "`5` can mean several times of the traces: `5.000000000` or `0.000000005`"
    );
    assert_eq!(ns("5.0", 0, 10 * SECOND), Ok(5 * SECOND));
    assert_eq!(ns("5ns", 0, 10 * SECOND), Ok(5));
}

#[test]
fn the_end_of_a_range_counts_from_its_begin() {
    let times = times(MIDNIGHT, MIDNIGHT + 10 * SECOND);
    let window = |text: &str| {
        let bounds = Environment::new().parse_window(text, &times);
        let ns = |bound| match bound {
            Bound::Included(time) => Some(Timestamp::as_ns(time) - MIDNIGHT),
            _ => None,
        };
        bounds.map(|(from, to)| (ns(from), ns(to))).map_err(|error| error.to_string())
    };
    let ms = 1_000_000;
    let after = Ok((Some(3 * SECOND), Some(3 * SECOND + ms)));
    for text in ["00:00:03..+1ms", "1795219203..+1ms", "[00:00:03, +1ms]", "-7s..+1ms"] {
        assert_eq!(window(text), after, "{text}");
    }
    assert_eq!(window("+3..+4"), Ok((Some(3 * SECOND), Some(4 * SECOND))));
    assert_eq!(window("..+4"), Ok((None, Some(4 * SECOND))));
    assert_eq!(window("00:00:03.."), Ok((Some(3 * SECOND), None)));
    assert_eq!(window(".."), Ok((None, None)));
    assert_eq!(window("+4..00:00:03").unwrap_err(), "`+4..00:00:03` ends before it begins");
    assert!(window("00:00:03").unwrap_err().starts_with("`00:00:03` is not a time range"));
}

#[test]
fn errors_name_what_was_typed() {
    let (start, end) = (MIDNIGHT, MIDNIGHT + HOUR);
    for bad in [
        "",
        "-",
        ".5",
        "1.",
        "1.1234567891",
        "1e3",
        "0x10",
        " 1",
        "3:2:8",
        "03:02.5",
        "03:02:08:1",
        "2026-11-21  03:02",
        "2026-1-21 03:02",
        "2026-11-21x",
        "€€€€",
        "2026-11-2€ 03:02",
        "1795230127Z",
        "Z",
        "+",
        "+ms",
        "+-1s",
        "-+1s",
        "+1.5ns",
        "+1 week",
        "00:10Zx",
        "2026-11-21 00:10 A B",
        "2026-11-21 00:10Z UTC",
        "2026-11-21 ",
        "2026-11-21 UTC",
    ] {
        let error = ns(bad, start, end).unwrap_err();
        assert!(error.starts_with(&format!("`{bad}` is not a time: expected")), "{error}");
    }
    for bad in ["2026-13-01", "25:00", "9999-01-01", "+9999999999999h", "+9223372036s"] {
        assert!(ns(bad, start, end).unwrap_err().starts_with(&format!("`{bad}` is no time")));
    }
    let none = TraceTimes::of(&[]);
    for text in ["03:02", "+1s", "-1s"] {
        let error = Environment::new().parse_time(text, &none).unwrap_err();
        assert_eq!((&*error.text, error.kind), (text, TimeErrorKind::NoTimes));
    }
}

#[test]
fn times_in_filters_are_in_the_traces_over_midnight() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    let traces = ltt_read::open_all(path).expect("the bundled trace");
    // Its packets begin at 03:56:53.5, its events at 03:56:56.2.
    let zone = Zone::offset(-(3 * 3600 + 56 * 60 + 55)).expect("an offset");
    let environment = Environment::new().in_zone(zone);
    let count = |text: &str| {
        let expression = Expression::parse(text).expect("an expression");
        let filters = Filters::with_environment(&expression, &traces, &environment);
        let number = |filters: Filters| {
            let mut passing = filters.read();
            std::iter::from_fn(|| passing.next().map(|_| ())).count()
        };
        filters.map(number).map_err(|error| error.to_string())
    };
    assert_eq!(count("event.time >= 23:59:59"), Ok(6087));
    assert_eq!(count("event.time < 23:59:59"), Ok(0));
    let (before, after) = (count("event.time < 00:00:01.5"), count("event.time >= 00:00:01.5"));
    assert_eq!(before.clone().unwrap() + after.unwrap(), 6087);
    assert_eq!(count("event.time < 1795233416500000000"), before, "nanoseconds");
    let error = count("event.time >= 12:00").unwrap_err();
    assert!(error.contains("`12:00:00` is outside of the traces, which are from 2026-11-2"));
}

fn zones() -> impl Strategy<Value = Zone> {
    let named = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"];
    prop_oneof![
        Just(Zone::UTC),
        proptest::sample::select(named.to_vec())
            .prop_map(|name| Zone::named(name).expect("a zone")),
        (-50_000..50_000).prop_map(|minutes| Zone::offset(minutes / 60 * 60).expect("an offset")),
    ]
}

proptest! {
    #![proptest_config(cases(20_000))]

    #[test]
    fn a_formatted_time_means_the_same_instant(
        zone in zones(),
        origin in prop_oneof![
            any::<i64>(), Just(SET_BACK), Just(SET_FORWARD), Just(MIDNIGHT), -DAY..DAY
        ],
        at in 0..20 * HOUR,
        length in 0..20 * HOUR,
        step in proptest::sample::select(vec![1, SECOND, 60 * SECOND, HOUR / 2]),
    ) {
        // Less than a day, in which times of day are unambiguous even where clocks are set back.
        let start = origin.saturating_sub(length / 2);
        let end = start.saturating_add(length);
        let time = start.saturating_add(at / step * step).min(end);
        let times = times(start, end);
        let environment = Environment::new().in_zone(zone);
        for notation in [
            Notation::Seconds,
            Notation::TimeOfDay,
            Notation::DateTime,
            Notation::DateTimeZone,
            Notation::Nanoseconds,
        ] {
            let environment = environment.clone().in_notation(notation);
            let text = environment.format(Timestamp::from_ns(time));
            let found = environment.parse_time(&text, &times);
            let is_ambiguous = matches!(
                &found,
                Err(error) if matches!(error.kind, TimeErrorKind::Ambiguous { .. })
            );
            // Within seconds of the origin, a number may be of seconds as well.
            if notation == Notation::Nanoseconds && is_ambiguous {
                prop_assert!(start <= time && time.checked_mul(SECOND).is_some_and(|ns| ns <= end));
                continue;
            }
            prop_assert_eq!(found.map(Timestamp::as_ns), Ok(time), "{}", text);
        }
    }

    #[test]
    fn no_text_panics(text in "[-+0-9:.TZ a-z]{0,24}", start in any::<i64>(), length in 0..DAY) {
        let times = times(start, start.saturating_add(length));
        let _ = berlin().parse_time(&text, &times);
        let _ = berlin().parse_window(&text, &times);
    }
}
