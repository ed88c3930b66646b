//! The driver of LTTV.

use serde_json::Value;

use super::{KERNEL, assert_refused, lttv, text};

fn json(args: &[&str]) -> Value {
    let args = [&["run", "-t", KERNEL, "--json"], args].concat();
    serde_json::from_str(&text(&lttv(&args))).unwrap()
}

#[test]
fn events_and_results_are_one_json_object() {
    let expected = text(&lttv(&["dump", KERNEL, "--format=json"]));
    let expected: Vec<Value> =
        expected.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(expected.len(), 6087);
    let alone = json(&["-m", "textDump"]);
    assert_eq!(alone["events"].as_array(), Some(&expected));
    assert_eq!(alone.as_object().unwrap().len(), 1);
    let both = json(&["-m", "textDump", "-m", "eventCounts"]);
    assert_eq!(both["events"].as_array(), Some(&expected));
    assert_eq!(both["eventCounts"]["totals"]["[0]"]["count"], 6087);
    let counts = json(&["-m", "textDump", "-n", "-m", "eventCounts"]);
    assert_eq!(counts, json(&["-m", "eventCounts"]));
    let none = json(&["-m", "textDump", "-e", "next_tid == 3000000"]);
    assert_eq!(none["events"].as_array().map(Vec::len), Some(0));
}

#[test]
fn options_of_lines_are_refused_with_json() {
    for option in ["--process", "--process-state", "--no-field-names"] {
        let args = ["run", "-m", "textDump", "--json", option, "-t", KERNEL];
        assert_refused(&args, "--json has no use for");
    }
}

#[test]
fn a_filter_that_no_module_uses_is_refused() {
    for module in ["interrupts", "diskPerformance", "depAnalysis", "precompute", "memoryMaps"] {
        let args = ["run", "-m", module, "-e", "cpu == 2", "-t", KERNEL];
        assert_refused(&args, &format!("a filter has no use here: {module} follows all events"));
    }
    // It is for the events here.
    let both = ["run", "-m", "textDump", "-m", "interrupts", "-e", "cpu == 2", "-t", KERNEL];
    assert!(text(&lttv(&both)).contains("\nInterrupts\n"));
}

#[test]
fn a_window_outside_of_the_trace_is_refused_by_analyses() {
    for module in ["statistics", "interrupts", "depAnalysis", "eventCounts", "rates"] {
        for window in [["--begin=5s", "--end=6s"], ["--begin=+1h", "--end=+2h"]] {
            let args = [&["run", "-m", module, "-t", KERNEL], &window[..]].concat();
            assert_refused(&args, "the window is outside of the traces, whose events are from");
        }
    }
    let run = lttv(&["run", "-m", "textDump", "-t", KERNEL, "--begin=5s", "--end=6s"]);
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(run.stderr.contains("warning: the window is outside of the traces"), "{run:?}");
}
