//! `lttv counters` and `lttv chart counters`: compared with sums over `lttv dump`, and with `lttv usage`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support;
use serde_json::Value;

fn bundled() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/kernel")
}

fn run(args: &[&str], trace: &Path) -> support::Run {
    support::run(&support::lttv(), args, Some(trace), Duration::from_secs(60))
}

fn rows(args: &[&str], trace: &Path, table: &str) -> Vec<Value> {
    let options = ["counters", "--no-cache", "--format=json"];
    let run = run(&[&options[..], args].concat(), trace);
    assert_eq!(run.status, Some(0), "{args:?}: {run:?}");
    let tables: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    tables[table].as_array().unwrap_or_else(|| panic!("no table {table}")).clone()
}

/// Returns the times of events in ns, each with a field and the CPU.
fn dump(filter: &str, field: &str, trace: &Path) -> Vec<(i64, i64, i64)> {
    let run = run(&["dump", "--no-cache", "--format=json", "-e", filter], trace);
    let text = String::from_utf8(run.stdout).expect("UTF-8");
    let event = |line: &str| {
        let event: Value = serde_json::from_str(line.trim_end_matches(',')).ok()?;
        let time = event["time"].as_i64().or_else(|| event["timestamp"].as_i64())?;
        Some((time, event["fields"][field].as_i64()?, event["cpu"].as_i64()?))
    };
    text.lines().filter_map(event).collect()
}

#[test]
fn bytes_that_threads_wrote_add_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("counters.toml");
    let text = "[[counter]]\nname = \"written\"\nevent = \"syscall_exit_write && ret > 0\"\n\
                value = \"ret\"\ndelta = true\nkey = [\"on=cpu\"]\nunit = \"B\"\n";
    fs::write(&file, text).expect("a file");
    let define = format!("--define={}", file.display());
    let mut expected: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for (_, ret, cpu) in dump("syscall_exit_write && ret > 0", "ret", &bundled()) {
        let (count, sum) = expected.entry(format!("on={cpu}")).or_default();
        (*count, *sum) = (*count + 1, *sum + ret);
    }
    assert!(expected.len() > 2, "{expected:?}");
    for threads in ["--threads=1", "--threads=2", "--threads=3"] {
        let found = rows(&[&define, threads], &bundled(), "counters");
        let found: BTreeMap<String, (i64, i64)> = found
            .iter()
            .map(|row| {
                assert_eq!((&row["counter"], &row["unit"]), (&"written".into(), &"B".into()));
                let number = |name: &str| row[name].as_i64().expect("a number");
                assert_eq!(number("last"), number("greatest"), "{row}");
                let key = row["key"].as_str().expect("a key").to_owned();
                (key, (number("count"), number("last")))
            })
            .collect();
        assert_eq!(found, expected, "{threads}");
    }
    // The events of the intervals are those of the whole.
    let intervals = rows(&[&define, "--every=10ms"], &bundled(), "intervals");
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for row in &intervals {
        let key = row["key"].as_str().expect("a key").to_owned();
        *counts.entry(key).or_default() += row["count"].as_i64().expect("a number");
    }
    let expected: BTreeMap<String, i64> =
        expected.into_iter().map(|(key, (count, _))| (key, count)).collect();
    assert_eq!(counts, expected);
}

#[test]
fn wrong_definitions_are_refused_with_their_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("counters.toml");
    let counter = "[[counter]]\nname = \"a\"\nevent = \"syscall_exit_write\"\n";
    for (text, part) in [
        (format!("{counter}value = \"rett\"\n"), ":4: no event of the counter `a` has a field"),
        (format!("{counter}value = \"ret\"\nkey = [\"x\"]\n"), ":5: no event of the counter"),
        (counter.to_owned(), ":2: a [[counter]] needs one of `value` and `marker`"),
        ("x = 1\n".to_owned(), "unknown field `x`"),
        (String::new(), "neither a [[span]] nor a [[counter]]"),
        ("[[span]]\nname = \"a\"\nbegin = \"b\"\nend = \"c\"\n".to_owned(), "lttv spans"),
    ] {
        fs::write(&file, &text).expect("a file");
        let define = format!("--define={}", file.display());
        let run = run(&["counters", "--no-cache", &define], &bundled());
        assert_eq!(run.status, Some(2), "{text}: {run:?}");
        assert!(run.stderr.contains(part), "{text}: {}", run.stderr);
    }
    let refused = run(&["spans", "--no-cache", "--define=cpu-frequency"], &bundled());
    assert_eq!(refused.status, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("lttv counters"), "{refused:?}");
}

/// The frequencies of a recording: time-weighted means from `lttv dump`, and those of `lttv usage`.
#[test]
fn frequencies_are_those_of_other_commands() {
    let trace = support::shared().map(|of| of.join("traces/ctf/tc-uneven-streams"));
    let Some(trace) = trace.filter(|trace| trace.exists()) else {
        support::print_note("skipped: a recording with frequencies, which is not there");
        return;
    };
    let events = dump("power_cpu_frequency", "state", &trace);
    assert!(events.len() > 50);
    let found = rows(&["--define=cpu-frequency"], &trace, "counters");
    let [row] = &found[..] else { panic!("{found:?}") };
    let number = |name: &str| row[name].as_i64().expect("a number");
    assert_eq!(number("count"), events.len() as i64);
    assert_eq!(number("first"), events[0].1);
    assert_eq!(number("last"), events[events.len() - 1].1);
    assert_eq!(Some(number("least")), events.iter().map(|of| of.1).min());
    assert_eq!(Some(number("greatest")), events.iter().map(|of| of.1).max());
    let time = number("time_ns");
    let end = events[0].0 + time;
    let ends = events.iter().skip(1).map(|of| of.0).chain([end]);
    let area: i128 = events
        .iter()
        .zip(ends)
        .map(|((begin, value, _), end)| i128::from(*value) * i128::from(end - begin))
        .sum();
    let mean = row["mean"].as_f64().expect("a number");
    assert!((mean - area as f64 / time as f64).abs() < 1e-6 * mean, "{mean}");
    let usage = run(&["usage", "--no-cache", "--format=json", "--table=cpus"], &trace);
    let usage: Value = serde_json::from_slice(&usage.stdout).expect("JSON");
    let cpus = usage["cpus"].as_array().expect("a table");
    let cpu = cpus.iter().find(|cpu| row["key"] == format!("cpu={}", cpu["cpu"]));
    let of_usage = cpu.expect("the CPU")["frequency_mhz"].as_f64().expect("a number");
    assert!((of_usage * 1e3 - mean).abs() < 1e-3 * mean, "{of_usage} {mean}");
}

#[test]
fn markers_are_counters() {
    let Some(trace) = support::shared().map(|of| of.join("traces/ftrace/marker")) else {
        support::print_note("skipped: a recording with markers, which is not there");
        return;
    };
    let found = rows(&["--define=markers"], &trace, "counters");
    let [row] = &found[..] else { panic!("{found:?}") };
    assert_eq!(row["key"], "pid=1234 name=counter");
    assert_eq!((&row["count"], &row["last"]), (&1.into(), &42.into()));
}

#[test]
fn charts_have_a_curve_for_each_series() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("counters.toml");
    let text = "[[counter]]\nname = \"a <b>\"\nevent = \"sched_switch\"\nvalue = \"next_prio\"\n\
                key = [\"cpu\"]\nunit = \"x\"\n";
    fs::write(&file, text).expect("a file");
    let define = format!("--define={}", file.display());
    let series = rows(&[&define], &bundled(), "counters").len();
    assert!(series > 3, "{series}");
    let draw = |args: &[&str]| {
        let args = [&["chart", "counters", "--format=svg", &define][..], args].concat();
        let run = run(&args, &bundled());
        assert_eq!(run.status, Some(0), "{run:?}");
        String::from_utf8(run.stdout).expect("UTF-8")
    };
    let svg = draw(&[]);
    let curves = |svg: &str| svg.matches("stroke=\"#6fb7ff\"").count();
    assert_eq!(curves(&svg), series);
    assert!(svg.contains("a &lt;b&gt;, x") && svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    let some = draw(&["--top=2", "--threads=3"]);
    assert_eq!(curves(&some), 2);
    assert!(some.contains(&format!("{} more series", series - 2)));
    assert_eq!(svg, draw(&["--threads=2"]));
}
