//! Latencies.

use std::collections::BTreeMap;

use lttv::commands::latency::{self, LatencyArgs};

use super::*;

/// Returns the number and the total time in ns of the system calls that end in a window, by name.
fn calls(window: (i64, i64)) -> BTreeMap<String, [i64; 2]> {
    let mut open: BTreeMap<i64, (String, i64)> = BTreeMap::new();
    let mut running: BTreeMap<u32, i64> = BTreeMap::new();
    let mut calls: BTreeMap<String, [i64; 2]> = BTreeMap::new();
    for line in lines() {
        if line.name == "sched_switch" {
            running.insert(line.cpu, line.number("next_tid"));
        }
        let Some(tid) = running.get(&line.cpu) else { continue };
        if let Some(name) = line.name.strip_prefix("syscall_entry_") {
            open.insert(*tid, (name.to_owned(), line.time));
        } else if let Some(name) = line.name.strip_prefix("syscall_exit_")
            && let Some((entered, begin)) = open.remove(tid)
            && name == entered
            && (window.0..=window.1).contains(&line.time)
        {
            let of = calls.entry(entered).or_default();
            *of = [of[0] + 1, of[1] + line.time - begin];
        }
    }
    calls
}

/// Returns the same figures of the program.
fn found(of: &Value) -> BTreeMap<String, [i64; 2]> {
    let row = |row: &Value| {
        let name = row["subject"].as_str().expect("a name").to_owned();
        (name, [ns(row, "count"), ns(row, "total_ns")])
    };
    rows(of, "syscall").iter().map(row).collect()
}

#[test]
fn latency_counts_what_ends_in_the_window() {
    let mut counted = 0;
    for window in windows(12).into_iter().chain([all()]) {
        let args = ["--timerange", &range(window), "--family", "syscall"];
        let found = found(&json::<LatencyArgs>(latency::run, &args));
        assert_eq!(found, calls(window), "{window:?}");
        counted += found.len();
    }
    assert!(counted > 50, "{counted}");
}

#[test]
fn intervals_add_up_to_the_whole() {
    let args = ["--family", "syscall,wake-up,irq"];
    let whole = json::<LatencyArgs>(latency::run, &args);
    let over_time = json::<LatencyArgs>(latency::run, &[&args[..], &["--every", "37ms"]].concat());
    for row in rows(&whole, "families") {
        let of_family =
            rows(&over_time, "intervals").iter().filter(|of| of["family"] == row["family"]);
        let sum = of_family.fold([0, 0], |sum, of| match of["count"].as_i64() {
            Some(0) | None => sum,
            Some(count) => [sum[0] + count, sum[1] + ns(of, "total_ns")],
        });
        assert_eq!(sum, [ns(row, "count"), ns(row, "total_ns")], "{row}");
    }
}

#[test]
fn what_was_not_recorded_is_named_and_not_0() {
    let found = json::<LatencyArgs>(latency::run, &[]);
    let row = rows(&found, "families").iter().find(|row| row["family"] == "vector").unwrap();
    assert_eq!((&row["count"], &row["total_ns"]), (&Value::Null, &Value::Null));
    assert!(row["missing"].as_str().unwrap().contains("x86_irq_vectors"), "{row}");
    let refused = output::<LatencyArgs>(latency::run, &[UST]).unwrap_err().to_string();
    assert!(refused.contains("`latency` needs a kernel trace"), "{refused}");
}

#[test]
fn periods_need_no_kernel_trace() {
    let period = "all : event.name =~ \"*\" : event.name =~ \"*\"";
    let args = ["--period", period, "--format", "json", UST];
    let text = output::<LatencyArgs>(latency::run, &args).unwrap();
    let found: Value = serde_json::from_str(&text).unwrap();
    let row = rows(&found, "families").iter().find(|row| row["family"] == "period").unwrap();
    assert!(ns(row, "count") > 10, "{row}");
    for wrong in ["a : b", "a : no_such_field == 1 : b == 1"] {
        assert!(output::<LatencyArgs>(latency::run, &["--period", wrong, UST]).is_err(), "{wrong}");
    }
}

#[test]
fn the_module_has_the_figures_of_the_command() {
    let (first, last) = all();
    let begin = time(first + (last - first) / 3);
    let window = ["--begin", &*begin];
    let words = [&["-m", "latency", "-t", KERNEL], &window[..]].concat();
    let module = output::<RunArgs>(run::run, &words).unwrap();
    let args = [&window[..], &["--utc", "--table", "families", KERNEL]].concat();
    let command = output::<LatencyArgs>(latency::run, &args).unwrap();
    assert!(command.lines().count() > 10 && module.starts_with(&command), "{module}\n{command}");
}
