//! `lttv why`: parts of the time of spans add up, are those of `lttv wait`, and fit a screen.

use std::path::Path;
use std::time::Duration;

use crate::support::{self, Run, kernel_traces};
use serde_json::Value;

fn lttv(args: &[&str], trace: &Path) -> Run {
    support::run(&support::lttv(), args, Some(trace), Duration::from_secs(60))
}

fn json(args: &[&str], trace: &Path) -> Value {
    let run = lttv(&[args, &["--no-cache", "--format=json"]].concat(), trace);
    assert_eq!(run.status, Some(0), "{args:?} {trace:?}: {run:?}");
    serde_json::from_slice(&run.stdout).expect("JSON")
}

fn ns(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn sum(rows: &Value, is_it: impl Fn(&Value) -> bool) -> u64 {
    let rows = rows.as_array().expect("rows").iter().filter(|row| is_it(row));
    rows.map(|row| ns(&row["time_ns"])).sum()
}

fn time(ns: i64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// Some spans of a trace: the longest of each family, and others.
fn some_spans(trace: &Path) -> Vec<Value> {
    let mut chosen = Vec::new();
    for family in
        ["syscall", "run", "blocked", "wake-up", "preemption", "irq", "softirq", "disk", "read"]
    {
        let family = format!("--family={family}");
        let args = ["spans", "--no-cache", "--format=json", "--sort=duration", &family];
        let run = lttv(&args, trace);
        let text = String::from_utf8(run.stdout).expect("UTF-8");
        let spans = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let all: Vec<Value> = spans.filter(|of| of["completeness"] == "whole").collect();
        let step = (all.len() / 3).max(1);
        chosen.extend(all.into_iter().step_by(step));
    }
    chosen
}

/// Returns the options that choose a span.
fn options(span: &Value) -> Vec<String> {
    let begin = span["begin"].as_i64().expect("a time");
    let family = span["family"].as_str().expect("a text");
    let mut options = vec![
        format!("--at={}", time(begin)),
        format!("--family={family}"),
        format!("--filter=end == {} && begin == {begin}", span["end"]),
    ];
    match span["tid"].as_i64() {
        Some(tid) => options.push(format!("--tid={tid}")),
        None => options.extend(span["cpu"].as_i64().map(|cpu| format!("--cpu={cpu}"))),
    }
    options
}

#[test]
fn parts_add_up_and_are_those_of_wait() {
    let (mut answers, mut compared) = (0, 0);
    for trace in kernel_traces() {
        for span in some_spans(&trace) {
            let options = options(&span);
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            let of = json(&[&["why", "--limit=0"], &options[..]].concat(), &trace);
            let context = format!("{trace:?} {options:?}: {of}");
            assert_eq!(of["span"], span, "{context}");
            answers += 1;
            assert_eq!(of["duration_ns"], span["duration"], "{context}");
            let parts = &of["parts"];
            let of_state = |state: &str| sum(parts, |part| part["state"] == state);
            assert_eq!(sum(parts, |_| true), ns(&span["duration"]), "{context}");
            assert_eq!(sum(&of["interrupts"], |_| true), of_state("interrupted"), "{context}");
            for state in ["preempted", "woken"] {
                let instead = sum(&of["instead"], |row| row["state"] == state);
                assert_eq!(instead, of_state(state), "{context}");
            }
            let waits = of["waits"].as_array().expect("waits");
            assert_eq!(ns(&of["wait_count"]), waits.len() as u64, "{context}");
            let waited: u64 = waits.iter().map(|wait| ns(&wait["duration"])).sum();
            let blocked = sum(parts, |part| {
                part["state"].as_str().is_some_and(|state| state.starts_with("blocked:"))
            });
            assert_eq!(waited, blocked, "{context}");
            let nested = of["nested"].as_array().expect("spans");
            assert_eq!(ns(&of["nested_count"]), nested.len() as u64, "{context}");
            for inner in nested {
                let is_within = |key: &str| span["begin"].as_i64() <= inner[key].as_i64();
                assert!(is_within("begin") && inner["end"].as_i64() <= span["end"].as_i64());
                let handlers = ["irq", "softirq", "vector"].map(Value::from);
                match handlers.contains(&span["family"]) {
                    true => assert_eq!(inner["cpu"], span["cpu"], "{context}"),
                    false => assert_eq!(inner["tid"], span["tid"], "{context}"),
                }
            }
            let chain = of["chain"].as_array().expect("segments");
            let pairs = chain.windows(2);
            assert!(pairs.into_iter().all(|two| two[0]["end"] == two[1]["begin"]), "{context}");
            compared += usize::from(compare_with_wait(&trace, &span, &of));
        }
    }
    support::print_note(&format!("{answers} answers, {compared} compared with `lttv wait`"));
    assert!(answers >= 20 && compared >= 10, "{answers} {compared}");
}

/// Compares the states of the thread of a span with those of `lttv wait` for its time. Returns `true` if they were
/// compared.
fn compare_with_wait(trace: &Path, span: &Value, of: &Value) -> bool {
    let handlers = ["irq", "softirq", "disk"];
    let is_of_thread = !handlers.contains(&span["family"].as_str().expect("a text"));
    let Some(tid) = span["tid"].as_i64().filter(|_| is_of_thread) else { return false };
    let [begin, end] = ["begin", "end"].map(|key| span[key].as_i64().expect("a time"));
    let (tid, window) =
        (format!("--tid={tid}"), format!("--timerange={}..{}", time(begin), time(end)));
    let args = ["wait", "--no-cache", "--format=json", "--table=states", &tid, &window];
    let run = lttv(&args, trace);
    let Ok(tables) = serde_json::from_slice::<Value>(&run.stdout) else { return false };
    let rows = tables["states"].as_array().expect("a table");
    // With several traces, or lives of a thread id, the rows are of others as well.
    let [row] = &rows[..] else { return false };
    if row.get("trace").is_some() {
        return false;
    }
    let part = |states: &[&str]| {
        sum(&of["parts"], |part| states.iter().any(|state| part["state"] == *state))
    };
    let keys = [
        ("running_ns", &["running", "interrupted"][..]),
        ("preempted_ns", &["preempted"]),
        ("woken_ns", &["woken"]),
        ("task_ns", &["blocked:task"]),
        ("timer_ns", &["blocked:timer"]),
        ("block_ns", &["blocked:block"]),
        ("network_ns", &["blocked:network"]),
        ("irq_ns", &["blocked:irq"]),
        ("no_wakeup_ns", &["blocked:unknown"]),
    ];
    for (key, states) in keys {
        assert_eq!(ns(&row[key]), part(states), "{trace:?} {args:?} {key}: {row} {of}");
    }
    true
}

#[test]
fn answers_fit_a_screen() {
    for trace in kernel_traces() {
        for span in some_spans(&trace) {
            let options = options(&span);
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            let run = lttv(&[&["why", "--no-cache", "--utc"], &options[..]].concat(), &trace);
            let text = String::from_utf8(run.stdout).expect("UTF-8");
            assert!(text.lines().count() <= 40, "{options:?}\n{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 100), "{options:?}\n{text}");
            assert!(text.contains("Its time, "), "{options:?}\n{text}");
        }
    }
}

#[test]
fn times_without_one_span_are_refused_with_a_reason() {
    let trace = &kernel_traces()[0];
    let refused = |args: &[&str]| {
        let run = lttv(&[&["why", "--no-cache", "--utc"], args].concat(), trace);
        assert!(run.stdout.is_empty(), "{args:?}: {run:?}");
        (run.status, run.stderr)
    };
    let (status, error) = refused(&["--at=03:56:56.43", "--tid=4000000"]);
    assert_eq!(status, Some(1), "{error}");
    assert!(error.contains("no span that is selected contains that time"), "{error}");
    let (status, error) = refused(&["--at=03:56:56.43"]);
    assert_eq!(status, Some(1), "{error}");
    assert!(error.contains("choose one with --tid") && error.contains("sh/146"), "{error}");
    for wrong in [
        &["--at=2001-01-01", "--tid=210"][..],
        &["--at=03:56:56.43", "--tid=x"],
        &["--at=03:56:56.43", "--comm=a["],
        &["--tid=210"],
        &["--at=03:56:56.43", "--tid=210", "-e", "nothing > 1"],
    ] {
        let (status, error) = refused(wrong);
        assert_eq!(status, Some(2), "{wrong:?}: {error}");
    }
}
