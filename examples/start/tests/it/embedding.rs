//! The programs with contexts and schedulers: their counts are those of the bundled trace.

use crate::{output, run, text, trace};

#[test]
fn events_are_counted_by_type() {
    let all = output("count_by_type", &[]);
    assert!(all.ends_with("6087  events in all\n"), "{all}");
    let count = |line: &str| line.split_whitespace().next().and_then(|count| count.parse().ok());
    let counts: Vec<u64> = all.lines().filter_map(count).collect();
    assert_eq!(counts.iter().sum::<u64>(), 2 * 6087);
    let switches = output("count_by_type", &[&trace("kernel"), "sched_switch"]);
    assert_eq!(switches.lines().count(), 2, "{switches}");
}

#[test]
fn viewers_receive_all_events_of_the_trace() {
    let counted = output("count_by_type", &[&trace("kernel"), "sched_switch"]);
    let switches = counted.split_whitespace().next().expect("a count");
    for program in ["embed_requests", "embed_thread"] {
        let shown = output(program, &[]);
        assert!(shown.contains(&format!(" {switches} switches")), "{program}: {shown}");
    }
    let shown = output("embed_async", &[]);
    assert!(shown.contains(&format!("switches: {switches}\n")), "{shown}");
    assert_eq!(shown.lines().filter(|line| line.starts_with("  ")).count(), 10, "{shown}");
}

#[test]
fn missing_traces_are_errors() {
    for program in ["count_by_type", "embed_requests", "embed_thread", "embed_async"] {
        let done = run(program, &["/nowhere/at/all"]);
        assert!(!done.status.success(), "{program}");
        assert!(text(&done.stderr).contains("/nowhere/at/all"), "{program}");
    }
    // A port that no daemon listens on.
    let done = run("embed_live", &["localhost:1", "host", "session"]);
    assert!(!done.status.success() && !done.stderr.is_empty());
}
