//! Times in options: each time that is printed is accepted, and none silently means another one.

use std::ffi::OsStr;

use super::{KERNEL, lttv, lttv_with, text};

/// The trace crosses midnight after this correction: 2026-11-21 00:00 is 0.26 s after its begin.
const OFFSET: [&str; 2] = ["--clock-offset", "kernel=-14216.5s"];

fn dump(options: &[&str]) -> String {
    text(&lttv(&[&["dump", KERNEL, "--utc"], options].concat()))
}

fn error(options: &[&str]) -> String {
    let run = lttv(&[&["dump", KERNEL, "--utc"], options].concat());
    assert_eq!(run.status, Some(2), "{run:?}");
    run.stderr
}

#[test]
fn times_of_day_are_found_on_both_sides_of_midnight() {
    let of =
        |begin: &str, end: &str| dump(&[&OFFSET[..], &["--begin", begin, "--end", end]].concat());
    let expected = of("2026-11-20 23:59:59.99", "2026-11-21 00:00:00.01");
    assert!(expected.lines().count() > 100);
    assert_eq!(of("23:59:59.99", "00:00:00.01"), expected);
    assert_eq!(of("23:59:59.99", "+20ms"), expected);
    let filter = "event.time >= 23:59:59.99 && event.time <= 00:00:00.01";
    assert_eq!(dump(&[&OFFSET[..], &["-e", filter]].concat()), expected);
}

#[test]
fn each_printed_time_is_accepted_as_the_same_instant() {
    let expected = dump(&["--timerange", "+20ms..+30ms"]);
    let first = |options: &[&str]| {
        let lines = dump(&[options, &["--timerange", "+20ms..+30ms"]].concat());
        lines.lines().next().expect("an event").to_owned()
    };
    let between = |line: String| line.split(" Client").next().expect("a time").to_owned();
    let csv = dump(&["--timerange", "+20ms..+30ms", "--format=csv", "--columns=time"]);
    let times = [
        csv.lines().nth(1).expect("an event").to_owned(),
        between(first(&["--clock-seconds"])),
        between(first(&["--clock-date"])),
        between(first(&[])),
    ];
    let begins: Vec<String> =
        times.iter().map(|begin| dump(&["--begin", begin, "--end=+10ms"])).collect();
    assert!(begins[0].lines().count() > 10);
    assert!(begins.iter().all(|of| *of == begins[0]), "{times:?}");
    assert!(expected.starts_with(begins[0].lines().next().expect("an event")));
}

#[test]
fn the_end_counts_from_the_begin() {
    let expected = dump(&["--timerange", "1795233416.5..1795233416.501"]);
    assert!(expected.lines().count() > 10);
    for range in ["1795233416.5..+1ms", "03:56:56.5..+1ms", "1795233416500000000,+1ms"] {
        assert_eq!(dump(&["--timerange", range]), expected, "{range}");
    }
}

#[test]
fn numbers_and_times_of_day_outside_of_the_trace_are_errors_with_its_span() {
    for time in ["2.15", "0", "12:00"] {
        let error = error(&["--begin", time]);
        assert!(error.contains(&format!("--begin: `{time}` is outside of the traces")), "{error}");
    }
    assert!(error(&["--end", "2.15"]).contains("1795233416.829982847"), "the last event");
    let state = lttv(&["state", KERNEL, "--utc", "--at", "2.15"]);
    assert!(state.stderr.contains("--at: `2.15` is outside"));
}

#[test]
fn an_hour_that_clocks_repeat_is_printed_with_its_offset() {
    // To 02:30 of the day on which clocks are set back in Berlin.
    let shift = ["--clock-offset", "kernel=-2345216.5s", "--clock-date"];
    let dump = |more: &[&str]| {
        let options = [&["dump", KERNEL, "--timerange", "+20ms..+30ms"], &shift[..], more].concat();
        text(&lttv_with(&options, &[("TZ", OsStr::new("Europe/Berlin"))]))
    };
    let lines = dump(&[]);
    let (time, _) = lines.lines().next().and_then(|of| of.split_once(" Client")).expect("a time");
    assert!(time.starts_with("2026-10-25 02:") && time.ends_with("+02:00"), "{time}");
    let options = [&["dump", KERNEL, "--begin", time, "--end=+1ms"], &shift[..]].concat();
    let found = text(&lttv_with(&options, &[("TZ", OsStr::new("Europe/Berlin"))]));
    assert!(lines.starts_with(found.lines().next().expect("an event")));
}
