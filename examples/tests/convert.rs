//! `lttv convert` and the example program of the same name: parts and other formats of traces.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use ltt_read::Timestamp;
use ltt_read::writer::metadata_text;
use lttv_context::{Traceset, TracesetContext};
use lttv_state::kernel::KernelState;
use support::convert::{Random, converted, dump, kernel, run, seconds, span, time};

#[test]
fn a_converted_trace_has_the_same_text() {
    let folder = tempfile::tempdir().unwrap();
    let expected = dump(&kernel(), &["--names=all", "--fields=all"]);
    assert!(expected.len() > 1000);
    for (name, args) in [
        ("same", &[][..]),
        ("ctf2", &["--to", "ctf2"]),
        ("ctf1", &["--to", "ctf1.8"]),
        ("filtered", &["--filter", "event.name != \"\""]),
    ] {
        let output = converted(folder.path(), name, args);
        let found = dump(&output, &["--names=all", "--fields=all"]);
        assert!(found == expected, "{name}: {} lines, {} expected", found.len(), expected.len());
    }
    let there = folder.path().join("ctf2");
    let back = folder.path().join("back");
    let (from, to) = (there.to_str().unwrap(), back.to_str().unwrap());
    let run = run("convert", &[from, "-o", to, "--to", "ctf1.8"]);
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(dump(&back, &["--names=all", "--fields=all"]) == expected);
    let small = converted(folder.path(), "small", &["--packet-size", "4K"]);
    assert!(dump(&small, &[]) == dump(&kernel(), &[]));
}

#[test]
fn windows_are_slices_of_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let all = dump(&kernel(), &[]);
    let (first, last) = span(&all);
    let mut random = Random(7);
    for number in 0..25 {
        let begin = first + random.below(last - first);
        let end = begin + random.below(last - begin);
        let (from, to) = (seconds(begin), seconds(end));
        let name = format!("window{number}");
        let output = converted(folder.path(), &name, &["--begin", &from, "--end", &to]);
        let inside = |line: &&String| (begin..=end).contains(&time(line));
        let expected: Vec<_> = all.iter().filter(inside).cloned().collect();
        assert!(dump(&output, &[]) == expected, "{from} to {to}");
    }
}

#[test]
fn parts_are_the_whole_together() {
    let folder = tempfile::tempdir().unwrap();
    let all = dump(&kernel(), &[]);
    for (name, split) in [("time", "50ms"), ("count", "1000"), ("size", "100K")] {
        let output = converted(folder.path(), name, &["--split", split]);
        let mut parts: Vec<_> = fs::read_dir(&output).unwrap().map(|e| e.unwrap().path()).collect();
        parts.sort();
        assert!(parts.len() > 1, "{name}");
        let mut together: Vec<String> = parts.iter().flat_map(|part| dump(part, &[])).collect();
        together.sort();
        assert!(together == all, "{name}: {} of {} lines", together.len(), all.len());
    }
}

#[test]
fn events_and_cpus_are_selected() {
    let folder = tempfile::tempdir().unwrap();
    let output = converted(folder.path(), "out", &["--events", "sched_*", "--cpus", "0-1"]);
    let all = dump(&kernel(), &[]);
    let wanted = |line: &&String| {
        line.contains(" sched_") && (line.contains("cpu_id = 0 }") || line.contains("cpu_id = 1 }"))
    };
    let expected: Vec<_> = all.iter().filter(wanted).cloned().collect();
    assert!(!expected.is_empty() && dump(&output, &[]) == expected);
    let trace = kernel();
    let other = folder.path().join("other");
    let args = [trace.to_str().unwrap(), "-o", other.to_str().unwrap()];
    let unknown = run("convert", &[&args[..], &["--events", "nothing"]].concat());
    assert_eq!(unknown.status, Some(2), "{unknown:?}");
    let occupied = run("convert", &[args[0], "-o", output.to_str().unwrap()]);
    assert_eq!(occupied.status, Some(1), "{occupied:?}");
    let entries = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(entries, 1, "only the result is there");
}

/// The name, the process and the open files of a thread.
type Known = (String, i32, Vec<(i32, String)>);

/// Returns what is known of the threads of a trace at a time.
fn threads(trace: &Path, time: Timestamp) -> BTreeMap<i32, Known> {
    let mut context = TracesetContext::new(Traceset::open(trace).unwrap());
    let kernel = context.attach(KernelState::new());
    context.seek_time_with_state(time);
    let mut found = BTreeMap::new();
    for state in context.extensions()[kernel].traces() {
        for (_, process) in state.processes() {
            let Some(tid) = process.tid().filter(|tid| *tid != 0) else { continue };
            let files = process.files().iter();
            let files = files.map(|(fd, name)| (*fd, state.name(*name).to_owned()));
            let name = state.name(process.name()).to_owned();
            // A state dump shows a thread of an unknown process as its own.
            let pid = process.pid().unwrap_or(tid);
            found.insert(tid, (name, pid, files.collect::<Vec<_>>()));
        }
    }
    found
}

#[test]
fn a_state_dump_keeps_the_names_of_processes() {
    let folder = tempfile::tempdir().unwrap();
    let (first, last) = span(&dump(&kernel(), &[]));
    let middle = first + (last - first) / 2;
    let part = converted(folder.path(), "part", &["--begin", &seconds(middle), "--with-statedump"]);
    let later = Timestamp::from_ns(first + (last - first) / 4 * 3);
    let expected = threads(&kernel(), later);
    assert!(expected.len() > 10);
    let found = threads(&part, later);
    for (tid, process) in expected {
        assert_eq!(found.get(&tid), Some(&process), "thread {tid}");
    }
}

#[test]
fn a_state_dump_needs_no_event_types_of_the_source() {
    let folder = tempfile::tempdir().unwrap();
    let is_dump = |name: &str| name.starts_with("lttng_statedump_");
    let without = "!(event.name =~ \"lttng_statedump_*\")";
    let source = converted(folder.path(), "source", &["--filter", without]);
    let metadata = fs::read(source.join("metadata")).unwrap();
    let mut schema = ltt_read::metadata::parse(&metadata).unwrap().schema;
    schema.event_types.retain(|event| !is_dump(event.name()));
    fs::write(source.join("metadata"), metadata_text(&schema).unwrap()).unwrap();

    // A time at which a process has a file open that it opened while the trace was recorded.
    let (first, last) = span(&dump(&source, &[]));
    let times = (1..200).map(|n| first + (last - first) / 200 * n);
    let mut with_files = times.filter(|time| {
        let known = threads(&source, Timestamp::from_ns(*time));
        known.values().any(|(_, _, files)| !files.is_empty())
    });
    let begin = with_files.next().expect("a file is open at some time");
    let part = folder.path().join("part");
    let (from, to) = (source.to_str().unwrap(), part.to_str().unwrap());
    let args = [from, "-o", to, "--begin", &seconds(begin), "--with-statedump"];
    let run = run("convert", &args);
    assert_eq!((run.status, run.stderr.contains("warning")), (Some(0), false), "{run:?}");
    let later = Timestamp::from_ns(begin + 1);
    let (expected, found) = (threads(&source, later), threads(&part, later));
    assert!(expected.len() > 10);
    for (tid, process) in expected {
        assert_eq!(found.get(&tid), Some(&process), "thread {tid}");
    }
}

#[test]
fn anonymous_traces_have_the_same_events_and_other_names() {
    let folder = tempfile::tempdir().unwrap();
    let output = converted(folder.path(), "out", &["--anonymise"]);
    let (before, after) = (dump(&kernel(), &[]), dump(&output, &[]));
    assert_eq!(before.len(), after.len());
    let text = after.join("\n");
    for name in ["corpushost", "lttng-consumerd", "kworker"] {
        assert!(before.join("\n").contains(name) && !text.contains(name), "{name}");
    }
    assert!(text.contains("\"process-1\"") && text.contains("host-1"));
}

#[test]
fn a_killed_conversion_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let expected = dump(&kernel(), &[]);
    let mut random = Random(3);
    let (mut whole, mut none) = (0, 0);
    for number in 0..20 {
        let output = folder.path().join(format!("out{number}"));
        let mut child = Command::new(support::named("convert"))
            .args([kernel().as_path(), Path::new("-o"), &output])
            .args(["--filter", "event.name != \"\""])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(random.below(60_000) as u64));
        _ = child.kill();
        child.wait().unwrap();
        match output.exists() {
            true => {
                assert!(dump(&output, &[]) == expected);
                fs::remove_dir_all(&output).unwrap();
                whole += 1;
            }
            false => none += 1,
        }
        let found = ltt_read::find_traces(folder.path());
        assert!(found.is_err(), "{found:?} is a part of a trace");
    }
    eprintln!("{whole} whole, {none} without result");
}
