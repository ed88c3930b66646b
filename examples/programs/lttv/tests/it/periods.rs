//! Periods that files define: those of the options, and those of a plain pairing of events.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support;
use serde_json::Value;

fn bundled() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/kernel")
}

/// Returns the rows of periods in `lttv latency`.
fn periods(args: &[&str], trace: &Path) -> Vec<Value> {
    let options = ["latency", "--no-cache", "--format=json", "--table=period"];
    let run = support::run(
        &support::lttv(),
        &[&options[..], args].concat(),
        Some(trace),
        Duration::from_secs(60),
    );
    assert_eq!(run.status, Some(0), "{args:?}: {run:?}");
    let tables: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    tables["period"].as_array().expect("a table").clone()
}

#[test]
fn a_file_defines_the_periods_of_the_options() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("spans.toml");
    let text = "[[span]]\nname = \"call\"\nbegin = \"syscall_entry_write\"\nend = \"syscall_exit_write\"\n\
                key = [\"tid\"]\nlabels-at-begin = [\"file=fd\"]\nlabels-at-end = [\"result=ret\"]\n\n\
                [[span]]\nname = \"run\"\nparent = \"call\"\nbegin = \"sched_switch\"\nend = \"sched_waking\"\n\
                key = [\"next_tid=tid\"]\n";
    fs::write(&file, text).expect("a file");
    let defined = periods(&["--define", file.to_str().expect("UTF-8")], &bundled());
    let given = periods(
        &[
            "--period=call : syscall_entry_write : syscall_exit_write",
            "--period-key=call : tid",
            "--period-captures=call : file=fd : result=ret",
            "--period=run(call) : sched_switch : sched_waking",
            "--period-key=run : next_tid=tid",
        ],
        &bundled(),
    );
    assert!(defined.len() > 5, "{defined:?}");
    assert_eq!(defined, given);
}

#[test]
fn wrong_definitions_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("spans.toml");
    let refused = |text: &str| {
        fs::write(&file, text).expect("a file");
        let args = ["latency", "--define", file.to_str().expect("UTF-8")];
        let run = support::run(&support::lttv(), &args, Some(&bundled()), Duration::from_secs(60));
        assert_eq!(run.status, Some(2), "{text}: {run:?}");
        run.stderr
    };
    let span = "[[span]]\nname = \"a\"\nbegin = \"sched_switch\"\n";
    assert!(refused(span).contains("missing field `end`"));
    assert!(refused(&format!("{span}end = \"(\"\n")).contains("spans.toml:4: "));
    let unknown = refused(&format!("{span}end = \"nosuchfield == 1\"\n"));
    assert!(unknown.contains("nosuchfield"), "{unknown}");
}

/// The periods of packets that are handed to a device, of a recording of ftrace.
#[test]
fn packets_are_transmitted_as_a_plain_pairing_tells() {
    let Some(trace) = support::shared().map(|of| of.join("traces/ftrace/block-net")) else {
        support::print_note("skipped: recordings of ftrace, which are not there");
        return;
    };
    let args = ["dump", "--no-cache", "--format=json", "-e", "net_dev_queue || net_dev_xmit"];
    let run = support::run(&support::lttv(), &args, Some(&trace), Duration::from_secs(60));
    let text = String::from_utf8(run.stdout).expect("UTF-8");
    let (mut open, mut expected) = (HashMap::new(), 0_u64);
    for line in text.lines().filter(|line| line.contains("net_dev")) {
        let event: Value = serde_json::from_str(line.trim_end_matches(',')).expect("JSON");
        let text = event.to_string();
        let (_, packet) = text.split_once("\"skbaddr\":").expect("a packet");
        let packet = packet.split([',', '}']).next().expect("a value").to_owned();
        if text.contains("net_dev_queue") {
            *open.entry(packet).or_insert(0) += 1;
        } else {
            expected += open.remove(&packet).unwrap_or(0);
        }
    }
    let found = periods(&["--define=net-transmit"], &trace);
    let count: u64 = found.iter().filter_map(|row| row["count"].as_u64()).sum();
    assert!(expected > 0);
    assert_eq!(count, expected);
    let names = found.iter().all(|row| {
        row["subject"].as_str().is_some_and(|text| text.starts_with("transmit device=lo result="))
    });
    assert!(names, "{found:?}");
}
