//! Time windows: every notation selects the same events.

use super::{KERNEL, UST, assert_refused, lttv, text};

/// Returns the times of the events that are printed, in ns.
fn times(args: &[&str]) -> Vec<i64> {
    let columns = ["dump", KERNEL, "--format", "csv", "--columns", "time"];
    let csv = text(&lttv(&[&columns, args].concat()));
    csv.lines().skip(1).map(|line| line.parse().unwrap()).collect()
}

#[test]
fn every_notation_of_a_time_means_the_same() {
    let all = times(&[]);
    assert_eq!(all.len(), 6087);
    let (first, last) = (all[0], all[all.len() - 1]);
    assert_eq!(first, 1_795_233_416_237_946_824);
    let (begin, end) = (1_795_233_416_300_000_000, 1_795_233_416_400_000_000);
    let expected: Vec<_> =
        all.iter().copied().filter(|time| (begin..=end).contains(time)).collect();
    assert!(expected.len() > 100);
    let from_first = [format!("+{}ns", begin - first), format!("+{}us", (end - first) / 1000 + 1)];
    let from_last = [format!("-{}ns", last - begin), format!("-{}ns", last - end)];
    let windows: [[&str; 2]; 6] = [
        ["1795233416.3", "1795233416.4"],
        ["2026-11-21 03:56:56.3", "2026-11-21 03:56:56.4Z"],
        ["2026-11-21T03:56:56.300000000", "03:56:56.4"],
        ["03:56:56.3Z", "1795233416.400000000"],
        [&from_first[0], "1795233416.4"],
        [&from_last[0], &from_last[1]],
    ];
    for [begin, end] in windows {
        assert_eq!(times(&["--begin", begin, "--end", end]), expected, "{begin} {end}");
        for range in
            [format!("{begin}..{end}"), format!("{begin},{end}"), format!("[{begin},{end}]")]
        {
            assert_eq!(times(&["--timerange", &range]), expected, "{range}");
        }
    }
    // Rounded up to the next microsecond, which may contain more events.
    let rounded = times(&["--begin", &from_first[0], "--end", &from_first[1]]);
    assert!(rounded.starts_with(&expected));
    // Ranges that are open at one side or both.
    let after = all.iter().filter(|time| **time >= begin).count();
    assert_eq!(times(&["--timerange", "1795233416.3.."]).len(), after);
    let before = all.iter().filter(|time| **time <= end).count();
    assert_eq!(times(&["--timerange", "..1795233416.4"]).len(), before);
    assert_eq!(times(&["--timerange", ".."]), all);
    // Both ends are inclusive, and a window may reach over the traces.
    let exactly = format!("+0..+{}ns", last - first);
    assert_eq!(times(&["--timerange", &exactly]), all);
    assert_eq!(times(&["--timerange", "+0..+0"]), [first]);
    assert_eq!(times(&["--timerange", "5s..2000000000s"]), all);
}

#[test]
fn local_times_follow_the_zone_and_utc_does_not() {
    let count = |zone: &str, args: &[&str]| {
        let args = [&["dump", KERNEL, "--count", "--begin", "03:56:56.3"], args].concat();
        let run = super::finished(super::command(&args).env("TZ", zone));
        (run.status, String::from_utf8(run.stdout).unwrap())
    };
    let expected = count("UTC", &[]);
    assert_eq!(count("Asia/Tokyo", &["--utc"]), expected);
    assert_ne!(count("Asia/Tokyo", &[]), expected);
}

#[test]
fn a_window_outside_of_the_trace_warns_with_the_range() {
    for (trace, first) in [(KERNEL, "1795233416.237946824"), (UST, "17952")] {
        for args in [&["--count"][..], &[], &["--format=json"], &["--columns=time"]] {
            let run = lttv(&[&["dump", trace, "--begin", "5s", "--end", "6s"], args].concat());
            assert_eq!(run.status, Some(0), "{run:?}");
            let events = String::from_utf8(run.stdout).unwrap();
            assert!(events.trim().is_empty() || ["0", "TIME"].contains(&events.trim()), "{events}");
            assert!(
                run.stderr.starts_with("lttv: warning: the window is outside of the traces"),
                "{}",
                run.stderr
            );
            assert!(run.stderr.contains(&format!("from {first}")), "{}", run.stderr);
            assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        }
    }
    // An empty window between events is no reason to warn.
    let run = lttv(&["dump", KERNEL, "--timerange", "+1ns..+2ns"]);
    assert_eq!((run.status, run.stdout.len(), &*run.stderr), (Some(0), 0, ""));
}

#[test]
fn wrong_times_are_refused() {
    for args in [["--begin", "soon"], ["--end", "1e5"], ["--timerange", "5"]] {
        assert_refused(&["dump", KERNEL, args[0], args[1]], args[0]);
    }
    assert_refused(&["dump", KERNEL, "--begin", "6s", "--end", "5s"], "is after the end");
    assert_refused(&["dump", KERNEL, "--timerange", "1..2", "--begin", "1"], "--begin");
}
