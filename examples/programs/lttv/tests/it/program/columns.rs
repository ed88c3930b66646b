//! Rows with chosen columns.

use std::collections::HashMap;
use std::path::Path;

use ltt_read::schema::Scope;
use ltt_read::{Merge, open_all};

use super::{KERNEL, UST, lttv, text};
use crate::support;

/// Returns the records of comma-separated values, with the heading.
fn records(args: &[&str]) -> Vec<Vec<String>> {
    let printed = text(&lttv(&[&["dump", "--format=csv"], args].concat()));
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(printed.as_bytes());
    let rows = reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect());
    rows.collect()
}

/// Checks all columns that a plain reader can compute: it keeps all events.
fn check(path: &Path) -> usize {
    let names = "time,delta,thread_delta,cpu,tid,pid,channel,name,trace";
    let found = records(&["--columns", names, path.to_str().unwrap()]);
    assert_eq!(found[0].join(","), names);
    let traces = open_all(path).unwrap();
    let mut merge = Merge::new(&traces);
    let mut events = 0;
    let (mut last, mut threads) = (None, HashMap::new());
    while let Some(event) = merge.next() {
        let time = event.timestamp().map(|time| time.as_ns());
        let cpu = event.tracefile().cpu();
        let context = |names: [&str; 2]| {
            let scopes = [Scope::SpecificContext, Scope::CommonContext];
            let mut scopes = scopes.into_iter().filter_map(|scope| event.scope(scope));
            scopes.find_map(|view| names.iter().find_map(|name| view.get(name)?.as_i64()))
        };
        let (tid, pid) = (context(["tid", "vtid"]), context(["pid", "vpid"]));
        let mut delta = None;
        let mut of_thread = None;
        if let Some(time) = time {
            delta = last.replace(time).map(|last| time - last);
            if let Some(tid) = tid {
                let key = (event.trace().path().to_owned(), tid, cpu.filter(|_| tid == 0));
                of_thread = threads.insert(key, time).map(|last: i64| time - last);
            }
        }
        let cell = |value: Option<i64>| value.map_or_else(String::new, |value| value.to_string());
        let row = &found[events + 1];
        events += 1;
        assert_eq!(row[..2], [cell(time), cell(delta)], "row {events}");
        assert_eq!(row[3], cell(cpu.map(i64::from)), "row {events}");
        // Otherwise they are those of the state of a kernel trace.
        if tid.is_some() {
            assert_eq!(row[2], cell(of_thread), "row {events}");
            assert_eq!(row[4], cell(tid), "row {events}");
        }
        if pid.is_some() {
            assert_eq!(row[5], cell(pid), "row {events}");
        }
        assert_eq!(row[6], event.tracefile().channel());
        assert_eq!(row[7], event.event_type().name());
        assert_eq!(row[8], event.trace().path().display().to_string());
    }
    assert_eq!(found.len(), events + 1);
    events
}

#[test]
fn columns_are_those_of_a_plain_reader() {
    assert_eq!(check(Path::new(KERNEL)), 6087);
    check(Path::new(UST));
    check(&Path::new(UST).with_file_name("ust-ctf2"));
    check(&Path::new(UST).with_file_name("legacy"));
}

#[test]
fn recorded_traces() {
    let Some(shared) = support::shared() else {
        support::print_note("SKIPPED: there are no recorded traces in ../shared");
        return;
    };
    let mut checked = 0;
    for name in ["k1-mix", "u1-all", "u1-discard", "u1-vpid"] {
        let path = shared.join("traces/ctf").join(name);
        if path.is_dir() && lttv(&["dump", "--count", path.to_str().unwrap()]).status == Some(0) {
            checked += check(&path);
        }
    }
    support::print_note(&format!("columns: {checked} events of recorded traces compared"));
}

#[test]
fn fields_are_columns_by_their_name() {
    let rows = records(&["--columns=name,next_tid,next_comm,ret,target_cpu", KERNEL]);
    assert_eq!(rows[0], ["name", "next_tid", "next_comm", "ret", "target_cpu"]);
    let mut merge = Merge::new(&open_all(KERNEL).unwrap());
    let mut rows = rows.iter().skip(1);
    while let Some(event) = merge.next() {
        let row = rows.next().unwrap();
        let number = |name| event.field(name).and_then(|value| value.as_i64());
        let number = |name| number(name).map_or_else(String::new, |value| value.to_string());
        let comm = event.field("next_comm");
        let comm = comm.as_ref().and_then(|value| value.as_str());
        let comm = comm.map_or_else(String::new, |text| text.to_str_lossy().into_owned());
        let name = event.event_type().name().to_owned();
        assert_eq!(*row, [name, number("next_tid"), comm, number("ret"), number("target_cpu")]);
    }
    assert_eq!(rows.next(), None);
}

#[test]
fn the_usual_columns_of_csv_are_quoted_where_they_must_be() {
    let rows = records(&[KERNEL]);
    assert_eq!(rows[0].join(","), "time,cpu,tid,pid,comm,channel,name,fields");
    assert_eq!(rows.len(), 1 + 6087);
    assert_eq!(
        rows[1][4..],
        ["swapper/0", "sched", "irq_softirq_raise", "vec = 7, name = 7 [SCHED]"]
    );
    // The word `comm` alone means the command of the thread that runs.
    let has_comm = ["-e", "exists(event.fields.*.comm)"];
    let dump = ["dump", KERNEL, "--format=csv", "--columns=fields"];
    let printed = text(&lttv(&[&dump[..], &has_comm].concat()));
    assert!(printed.lines().nth(1).unwrap().starts_with("\"comm = \"\""), "{printed}");
}

#[test]
fn text_rows_are_aligned() {
    let args = ["dump", KERNEL, "--columns=time,thread_delta,tid,comm,name,prev_tid"];
    let printed = text(&lttv(&[&args[..], &["-e", "exists(prev_tid)"]].concat()));
    let lines: Vec<_> = printed.lines().collect();
    let at = |word| lines[0].find(word).unwrap();
    for line in &lines[1..] {
        assert!(line[at("NAME")..].starts_with("sched_switch "), "{line}");
        assert!(line[..at("NAME")].ends_with("  "), "{line}");
        assert_eq!(line.len(), lines[0].len(), "{line}");
    }
    let dates = ["dump", KERNEL, "--columns=time", "--clock-date", "--end=+0"];
    assert_eq!(text(&lttv(&dates)).lines().nth(1), Some("2026-11-21 03:56:56.237946824"));
}

/// The longest gap of a thread is one command.
#[test]
fn the_longest_gaps_of_threads() {
    let columns = ["--columns=thread_delta,time,tid,name", KERNEL];
    let mut all = records(&columns);
    all.retain(|row| row[0].parse::<i64>().is_ok());
    // The sort is stable: of equal gaps the first comes first.
    all.sort_by_key(|row| std::cmp::Reverse(row[0].parse::<i64>().unwrap()));
    for top in [1, 5, 1000] {
        let found = records(&[&columns[..], &["--top", &top.to_string()]].concat());
        assert_eq!(found[1..], all[..top.min(all.len())], "{top}");
    }
    assert_eq!(records(&[&columns[..], &["--top=0"]].concat()).len(), 1);
    let Some(shared) = support::shared() else {
        support::print_note("SKIPPED: there are no recorded traces in ../shared");
        return;
    };
    let trace = shared.join("traces/ctf/u1-all");
    let args = ["--columns=thread_delta,time,tid,name", "--top=1", trace.to_str().unwrap()];
    support::print_note(&format!("longest gap: {:?}", records(&args)[1..].first()));
}

#[test]
fn columns_that_stay_empty_are_noted() {
    let run = lttv(&["dump", UST, "--columns=tid,name"]);
    assert_eq!(run.status, Some(0), "{run:?}");
    let warning =
        "lttv: warning: the column tid is empty: the traces have no context tid or vtid\n";
    assert_eq!(run.stderr, warning);
}
