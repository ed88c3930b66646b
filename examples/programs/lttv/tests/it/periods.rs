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
    assert!(refused(&format!("{span}end = \"(\"\n")).contains("spans.toml:4:\n"));
    let unknown = refused(&format!("{span}end = \"nosuchfield == 1\"\n"));
    assert!(
        unknown.contains("nosuchfield") && unknown.contains("spans.toml:2: an expression of `a`"),
        "{unknown}"
    );
    let field = refused(&format!(
        "{span}end = \"sched_waking\"\nkey = [\"cpu\"]\nvalues-at-begin = [\"a=prev_pri\"]\n"
    ));
    assert!(
        field.contains("spans.toml:6: ") && field.contains("did you mean `prev_prio`?"),
        "{field}"
    );
    let twice = format!("{span}end = \"sched_waking\"\nlabels-at-begin = [\"a=cpu\"]\n");
    let twice = refused(&format!("{twice}values-at-end = [\"a=prio\"]\n"));
    assert!(twice.contains("two labels or values `a`"), "{twice}");
}

/// A definition with labels and values.
const WRITES: &str = "[[span]]\nname = \"write\"\nbegin = \"syscall_entry_write\"\n\
    end = \"syscall_exit_write\"\nkey = [\"tid\"]\nlabels-at-begin = [\"file=fd\"]\n\
    values-at-begin = [\"wanted=count\"]\nvalues-at-end = [\"written=ret\"]\n";

/// The periods of calls that write, with their file and values, as a plain pairing of the events of threads tells: the
/// begin, the duration, the file, and the bytes that were wanted and written.
fn writes() -> Vec<[i64; 5]> {
    let filter = "syscall_entry_write || syscall_exit_write";
    let args = ["dump", "--no-cache", "--format=json", "-e", filter];
    let run = support::run(&support::lttv(), &args, Some(&bundled()), Duration::from_secs(60));
    let text = String::from_utf8(run.stdout).expect("UTF-8");
    let (mut open, mut all) = (HashMap::new(), Vec::new());
    for line in text.lines() {
        let Ok(event) = serde_json::from_str::<Value>(line.trim_end_matches(',')) else { continue };
        let tid = event["common_context"]["tid"].as_i64();
        let (Some(time), Some(tid)) = (event["timestamp"].as_i64(), tid) else { continue };
        let field = |name: &str| event["fields"][name].as_i64().expect("a number");
        if event["name"] == "syscall_entry_write" {
            open.insert(tid, [time, field("fd"), field("count")]);
        } else if let Some([begin, file, wanted]) = open.remove(&tid) {
            all.push([begin, time - begin, file, wanted, field("ret")]);
        }
    }
    all.sort_unstable();
    all
}

#[test]
fn spans_have_the_values_of_a_plain_pairing() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("spans.toml");
    fs::write(&file, WRITES).expect("a file");
    let define = format!("--define={}", file.display());
    let expected = writes();
    assert!(expected.len() > 20, "{}", expected.len());
    let run = |args: &[&str]| {
        let options = ["spans", "--no-cache", "--family=period", &define];
        let args = [&options[..], args].concat();
        let run = support::run(&support::lttv(), &args, Some(&bundled()), Duration::from_secs(60));
        assert_eq!(run.status, Some(0), "{args:?}: {run:?}");
        String::from_utf8(run.stdout).expect("UTF-8")
    };
    // JSON and CSV have the values; that of an end is missing before it.
    let mut found = Vec::new();
    for line in run(&["--format=json"]).lines() {
        let span: Value = serde_json::from_str(line).expect("JSON");
        let value = |name: &str| span["values"][name].as_i64();
        assert_eq!(value("written").is_some(), span["completeness"] == "whole", "{line}");
        let Some(written) = value("written") else { continue };
        let number = |name: &str| span[name].as_i64().expect("a number");
        let [file, wanted] = ["file", "wanted"].map(|name| value(name).expect("a number"));
        found.push([number("begin"), number("duration"), file, wanted, written]);
    }
    found.sort_unstable();
    assert_eq!(found, expected);
    let csv = run(&["--format=csv"]);
    let head: Vec<&str> = csv.lines().next().expect("a head").split(',').collect();
    let own = &head[head.len() - 3..];
    assert_eq!(own, ["write.file", "write.wanted", "write.written"]);
    let mut rows: Vec<[i64; 5]> = csv
        .lines()
        .skip(1)
        .filter_map(|line| {
            let (first, last) = (line.split(','), line.rsplit(','));
            let first: Vec<_> = first.take(3).collect();
            let last: Vec<_> = last.take(3).collect();
            let [begin, duration, file, wanted, written] =
                [first[0], first[2], last[2], last[1], last[0]].map(|cell| cell.parse().ok());
            Some([begin?, duration?, file?, wanted?, written?])
        })
        .collect();
    rows.sort_unstable();
    assert_eq!(rows, expected);
    // Lines and filters.
    let large = |of: &&[i64; 5]| of[4] >= 64 && of[3] < 4096;
    let text = run(&["-e", "written >= 64 && write.wanted < 4096 && completeness == whole"]);
    assert_eq!(text.lines().count(), expected.iter().filter(large).count());
    let text = run(&["-e", "written >= 64"]);
    let large: Vec<_> = expected.iter().filter(|of| of[4] >= 64).collect();
    assert_eq!(text.lines().count(), large.len());
    for ([_, _, file, wanted, written], line) in large.into_iter().zip(text.lines()) {
        let part = format!("write file={file} wanted={wanted} written={written}  <");
        assert!(line.contains(&part), "{line}: {part}");
    }
}

#[test]
fn latencies_are_divided_by_labels_and_values() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("spans.toml");
    fs::write(&file, WRITES).expect("a file");
    let define = format!("--define={}", file.display());
    let all = writes();
    let sums = |key: &dyn Fn(&[i64; 5]) -> i64| {
        let mut sums: HashMap<i64, (i64, i64)> = HashMap::new();
        for of in &all {
            let (count, total) = sums.entry(key(of)).or_default();
            (*count, *total) = (*count + 1, *total + of[1]);
        }
        sums
    };
    let rows = |by: &str, column: &str| {
        let rows = periods(&["--family=period", "--top=0", &define, by], &bundled());
        let number = |row: &Value, name: &str| {
            let text = row[name].as_str().and_then(|text| text.parse().ok());
            row[name].as_i64().or(text).unwrap_or_else(|| panic!("{name}: {row}"))
        };
        let row =
            |row: &Value| (number(row, column), (number(row, "count"), number(row, "total_ns")));
        rows.iter().map(row).collect::<HashMap<_, _>>()
    };
    assert_eq!(rows("--by=write.file", "label"), sums(&|of| of[2]));
    // The class of a number begins with its greatest power of two.
    let class = |number: i64| if number == 0 { 0 } else { 1 << number.ilog2() };
    assert!(all.iter().all(|of| of[3] >= 0 && of[4] >= 0));
    assert_eq!(rows("--by=wanted", "value_from"), sums(&|of| class(of[3])));
    assert_eq!(rows("--by=written", "value_from"), sums(&|of| class(of[4])));
    let args = ["latency", "--no-cache", "--by=writen", &define];
    let run = support::run(&support::lttv(), &args, Some(&bundled()), Duration::from_secs(60));
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("did you mean `written`?"), "{run:?}");
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
