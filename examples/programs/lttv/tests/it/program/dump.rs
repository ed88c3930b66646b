//! `lttv dump`: options without an effect.

use super::{KERNEL, assert_refused, lttv, text};

#[test]
fn options_without_an_effect_are_refused() {
    for (args, message) in [
        (&["--threads=2", "--follow"][..], "--threads has no use"),
        (&["--names=all"], "--names needs --format babeltrace"),
        (&["--fields=all", "--format=json"], "--fields needs --format babeltrace"),
        (&["--no-delta"], "--no-delta needs --format babeltrace"),
        (&["--process", "--format=json"], "--process"),
        (&["--process", "--columns=time"], "--process"),
        (&["--clock-date", "--format=json"], "--format json"),
        (&["--clock-date", "--count"], "--count"),
        (&["--columns=time", "--format=json"], "--columns needs"),
        (&["--columns=time", "--format=babeltrace"], "--columns needs"),
        (&["--columns=time", "--count"], "--count"),
        (&["--format=json", "--count"], "--count"),
        (&["--top=3"], "--top needs --columns"),
        (&["--top=3", "--columns=name"], "`name` is a text"),
    ] {
        assert_refused(&[&["dump", KERNEL], args].concat(), message);
    }
}

#[test]
fn lines_have_the_thread_as_far_as_it_is_known() {
    let kernel = text(&lttv(&["dump", KERNEL, "--timerange", "+17.8ms..+18.5ms"]));
    let line = kernel.lines().next().expect("an event");
    let expected = "03:56:56.255770982 Client manageme/163 [6] sched_waking { comm = ";
    assert!(line.starts_with(expected), "{line}");
    // Events of perf have ids, and its records names; records of what was before have no time, so that no thread
    // recorded them.
    let perf = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/perf/perf.data");
    let perf = text(&lttv(&["dump", perf]));
    assert!(perf.starts_with("- - perf:mmap { "), "{}", perf.lines().next().unwrap_or(""));
    assert!(perf.lines().any(|line| line.starts_with("98.608467087 ls/575 [0] cpu-clock")));
    // The origin is the first event.
    let relative = text(&lttv(&["dump", KERNEL, "--relative"]));
    assert!(relative.starts_with("0.000000000 swapper/0 [0] irq_softirq_raise { "));
}
