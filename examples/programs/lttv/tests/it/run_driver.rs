//! Tests the command line of the program `lttv`: loading modules, options, printing events.

use crate::support;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use crate::support::Run;
use ltt_read::TraceIndex;
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::kernel::KernelState;

const BUNDLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");

fn lttv(args: &[&str]) -> Run {
    let args = [&["run"], args].concat();
    support::run(&support::lttv(), &args, None, Duration::from_secs(120))
}

fn text(run: Run) -> String {
    assert_eq!(run.status, Some(0), "{run:?}");
    String::from_utf8(run.stdout).unwrap()
}

/// Returns the event lines of `lttv dump`.
fn dumped(args: &[&str]) -> Vec<String> {
    let args = [args, &["--format=lttv"]].concat();
    let run = support::dump(&args, Some(Path::new(BUNDLED)), Duration::from_secs(60));
    text(run).lines().map(str::to_owned).collect()
}

/// Returns the lines of `textDump` between its header and its footer.
fn events(text: &str) -> Vec<&str> {
    let lines: Vec<_> = text.lines().collect();
    let ([head, empty, events @ ..], Some(end)) =
        (&lines[..], lines.iter().position(|line| *line == "End trace set"))
    else {
        panic!("{text}");
    };
    assert_eq!((*head, *empty), ("Trace set contains 1 traces", ""));
    events[..end - 2].to_vec()
}

#[test]
fn events_are_those_of_dump() {
    let text = text(lttv(&["-m", "textDump", "-m", "batchAnalysis", "-t", BUNDLED]));
    let expected = dumped(&[]);
    assert_eq!(expected.len(), 6087);
    assert_eq!(events(&text), expected);
}

#[test]
fn filters_choose_events() {
    let filter = "event.name == sched_switch && next_tid != 0";
    let expected = dumped(&["--filter", filter]);
    assert!(expected.len() > 100);
    let base = ["-m", "textDump", "-t", BUNDLED];
    let run = |args: &[&str]| text(lttv(&[&base, args].concat()));
    assert_eq!(events(&run(&["-e", filter])), expected);
    // Two expressions, one of them in a file.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("filter");
    fs::write(&file, "next_tid != 0\n").unwrap();
    let file = file.to_str().unwrap();
    let printed = run(&["-e", "event.name == sched_switch", "-f", file]);
    assert_eq!(events(&printed), expected);
    // Statistics need all events, but only those that pass are printed.
    assert_eq!(events(&run(&["-e", filter, "-m", "statistics"])), expected);
    // Counters use the filter, too.
    let counts = run(&["-n", "-a", "-m", "eventCounts", "-e", filter]);
    let total = format!("/eventCounts/totals/[0]/count: {}\n", expected.len());
    assert!(counts.contains(&total), "{counts}");
}

#[test]
fn a_filter_that_matches_nothing_is_noted() {
    let run = lttv(&["-m", "textDump", "-t", BUNDLED, "-e", "next_tid == 3000000000"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("note: nothing passes this filter\n"), "{}", run.stderr);
}

#[test]
fn a_time_window() {
    let all = dumped(&[]);
    let time = |line: &str| line.split(' ').nth(1).unwrap().to_owned();
    let (begin, end) = (time(&all[1000]), time(&all[2000]));
    let printed = text(lttv(&["-m", "textDump", "-t", BUNDLED, "--begin", &begin, "--end", &end]));
    let within = |line: &&String| (&begin..=&end).contains(&&time(line));
    assert!(events(&printed).into_iter().eq(all.iter().filter(within)));
}

#[test]
fn output_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out");
    let run = lttv(&["-m", "textDump", "-t", BUNDLED, "-o", file.to_str().unwrap()]);
    assert_eq!((run.status, run.stdout.len()), (Some(0), 0), "{run:?}");
    assert_eq!(events(&fs::read_to_string(&file).unwrap()).len(), 6087);
}

#[test]
fn options_come_with_modules() {
    let help = text(lttv(&["--help"]));
    assert!(!help.contains("--expression") && help.contains("textDump"), "{help}");
    let help = text(lttv(&["-m", "rates", "--help"]));
    for text in ["--rate-interval <SECONDS>", "[default: 0.1]", "-e, ", "-t, --trace <DIR>"] {
        assert!(help.contains(text), "{text}");
    }
    assert!(!help.contains("--noevent"), "textDump was not loaded");
    let list = text(lttv(&["--list-modules"]));
    assert!(list.contains("rates: ") && list.contains("requires eventCounts"), "{list}");
}

#[test]
fn wrong_command_lines() {
    for (args, status, message) in [
        (&[][..], 2, "nothing to do"),
        (&["-m", "rates", "--rate-interval=soon"], 2, "invalid value `soon` for --rate-interval"),
        (&["-m", "textDump", "--rate-interval=1"], 2, "--rate-interval"),
        (&["-m", "print", "-o1", "-o2"], 2, "cannot be used multiple times"),
        (&["--module=magic"], 2, "unknown module `magic`"),
        (&["-m", "rates", "--rate-interval=0"], 2, "module `rates` could not start"),
        (&["-m", "core", "--begin=2000-01-01 99"], 2, "--begin: `2000-01-01 99` is not a time"),
        (&["-m", "textDump", "-e", "event.name == "], 2, "invalid filter"),
        (&["-m", "textDump", "-f", "/nowhere/at/all"], 1, "cannot read /nowhere/at/all"),
        (&["-m", "textDump", "-t", "/nowhere/at/all"], 1, "/nowhere/at/all"),
        (&["-m", "print", "-a", "--json"], 2, "cannot be used together"),
        (&["-m", "print", "--types"], 2, "--types is a part of --json"),
    ] {
        let run = lttv(args);
        assert_eq!(run.status, Some(status), "{args:?}: {run:?}");
        assert!(run.stderr.contains(message), "{args:?}: {run:?}");
        assert!(run.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn modules_of_which_none_reads_are_reported() {
    const WARNING: &str = "lttv: warning: no module reads the traces";
    for (args, is_idle) in [
        (&["-m", "core"][..], true),
        (&["-m", "textFilter", "-m", "print"], true),
        (&["-m", "batchAnalysis"], false),
        (&["-m", "statistics"], false),
        (&["-m", "interrupts"], false),
    ] {
        let run = lttv(args);
        assert_eq!(run.status, Some(0), "{args:?}: {run:?}");
        assert_eq!(run.stderr.starts_with(WARNING), is_idle, "{args:?}: {}", run.stderr);
        assert_eq!(run.stdout.is_empty(), is_idle || args == ["-m", "batchAnalysis"], "{args:?}");
    }
}

/// Follows the events with the kernel state, and returns the columns of each line.
fn columns_of_state() -> Vec<String> {
    let mut context = TracesetContext::new(Traceset::open(BUNDLED).unwrap());
    let kernel = context.attach(KernelState::new());
    let lines = Rc::new(RefCell::new(Vec::new()));
    let printed = Rc::clone(&lines);
    context.on_event("*", move |call| {
        let kernel = &call.extensions[kernel];
        let running = kernel.running_at(call).unwrap();
        let state = kernel.trace(TraceIndex(0)).unwrap();
        let id = |id: Option<i32>| id.map_or("?".to_owned(), |id| id.to_string());
        let (name, brand) = (state.name(running.name()), state.name(running.brand()));
        let [tid, pid, parent] = [running.tid(), running.pid(), running.parent()].map(id);
        let (function, mode) = (running.function(), running.mode());
        printed.borrow_mut().push(format!(
            ", {tid}, {pid}, {name}, {brand}, {parent}, {function:#x}, {mode}|{}",
            running.status()
        ));
    });
    let read = context.read(&Bounds::all()).unwrap();
    assert_eq!(read.errors, 0);
    drop(context);
    Rc::into_inner(lines).unwrap().into_inner()
}

#[test]
fn the_running_process_of_every_line_is_that_of_the_kernel_state() {
    let plain = dumped(&[]);
    let expected = columns_of_state();
    let with = |option: &str| {
        let ours = dumped(&[option]);
        let module = text(lttv(&["-m", "textDump", option, "-t", BUNDLED]));
        assert_eq!(events(&module), ours, "{option}");
        ours
    };
    let (process, with_status) = (with("--process"), with("--process-state"));
    assert_eq!((plain.len(), process.len()), (expected.len(), expected.len()));
    let mut names = BTreeSet::new();
    for (at, columns) in expected.iter().enumerate() {
        let (columns, status) = columns.split_once('|').unwrap();
        // The columns are between the place and the contexts.
        let (place, rest) = plain[at].split_once(')').unwrap();
        assert_eq!(process[at], format!("{place}){columns}{rest}"));
        assert_eq!(with_status[at], format!("{place}){columns} {status}{rest}"));
        names.insert(columns.split(", ").nth(3).unwrap().to_owned());
    }
    assert!(names.contains("swapper/0") && names.contains("lttng-consumerd"), "{names:?}");
    // A window starts with the same state.
    let time = |line: &str| line.split(' ').nth(1).unwrap().to_owned();
    let begin = format!("--begin={}", time(&plain[4000]));
    let window = dumped(&["--process", &begin]);
    assert_eq!(window, process[process.len() - window.len()..]);
}

#[test]
fn user_space_traces_have_no_columns_of_the_kernel() {
    let trace = Path::new(BUNDLED).with_file_name("ust");
    let dumped = |args: &[&str]| text(support::dump(args, Some(&trace), Duration::from_secs(60)));
    assert_eq!(dumped(&["--format=lttv", "--process"]), dumped(&["--format=lttv"]));
}
