//! `lttv convert` and the example program of the same name: parts and other formats of traces.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::convert::{
    Random, canonical_text, converted, dump, kernel, run, seconds, span, time,
};
use crate::support::hosts::{self, Machine};
use ltt_read::schema::{
    Array, ByteOrder, FieldClass, FieldKind, Format, Length, Roles, StreamClassId,
};
use ltt_read::writer::{FieldValue, TraceWriter, metadata_text, presets};
use ltt_read::{OpenOptions, Timestamp};
use lttv_context::{Traceset, TracesetContext};
use lttv_state::kernel::KernelState;

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
    let run = run(&["convert", from, "-o", to, "--to", "ctf1.8"]);
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
    let unknown = run(&[&["convert"], &args[..], &["--events", "nothing"]].concat());
    assert_eq!(unknown.status, Some(2), "{unknown:?}");
    let occupied = run(&["convert", args[0], "-o", output.to_str().unwrap()]);
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
    context.state().seek_time(time);
    let mut found = BTreeMap::new();
    for state in context.extensions()[kernel].traces() {
        for (_, process) in state.processes() {
            let Some(tid) = process.tid().filter(|tid| *tid != 0) else { continue };
            let files = process.files().iter();
            let files = files.map(|file| (file.descriptor, state.name(file.name).to_owned()));
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
    let args = ["convert", from, "-o", to, "--begin", &seconds(begin), "--with-statedump"];
    let run = run(&args);
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
    let plain = |lines: Vec<String>| -> Vec<String> {
        lines.iter().map(|line| line.replace("\\\\", "").replace("\\\"", "")).collect()
    };
    let (before, after) = (plain(dump(&kernel(), &[])), plain(dump(&output, &[])));
    assert_eq!(before.len(), after.len());
    // The texts between quotes are others, each the same one everywhere; all else is the same, and so
    // are the labels of enumerations.
    let (mut names, mut given) = (BTreeMap::new(), BTreeMap::new());
    // Addresses are replaced as well, which the next test checks.
    for (before, after) in before.iter().zip(&after) {
        let shown = |line: &'_ String| line.find(" = [ [0] = ").unwrap_or(line.len());
        let (before, after) = (&before[..shown(before)], &after[..shown(after)]);
        let (old, new): (Vec<_>, Vec<_>) =
            (before.split('"').collect(), after.split('"').collect());
        assert_eq!(old.len(), new.len(), "{before}");
        for (number, (text, new)) in old.iter().zip(&new).enumerate() {
            let is_label = number > 0 && old[number - 1].ends_with("( ");
            if number % 2 == 0 || is_label {
                assert_eq!(text.replace("corpushost", "host-1"), *new, "{before}");
            } else if !text.is_empty() {
                assert_ne!(text, new, "{before}");
                // A name can stand for a process, a file and a text.
                let kind = new.trim_end_matches(|c: char| c.is_ascii_digit());
                assert_eq!(names.entry((*text, kind)).or_insert(*new), new, "{before}");
                assert_eq!(given.entry(*new).or_insert(*text), text, "{before}");
            }
        }
    }
    assert!(names.len() > 50 && given.contains_key("process-1") && given.contains_key("/file-1"));
}

#[test]
fn addresses_and_texts_of_all_kinds_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source");
    let order = ByteOrder::Little;
    let byte = || FieldClass::uint(8, order);
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let fields = FieldClass::structure([
        ("saddr", fixed_array(4, byte())),
        ("daddr", FieldClass::uint(32, order)),
        ("saddr_v6", fixed_array(8, FieldClass::uint(16, order))),
        ("length", byte()),
        ("text", presets::text_sequence("length")),
        ("argv", fixed_array(2, FieldClass::string())),
        ("other", fixed_array(2, byte())),
        ("port", FieldClass::uint(16, order)),
    ]);
    let packet = schema.add_event_type(StreamClassId(0), "packet", fields);
    let writer = TraceWriter::create(&source, schema).unwrap();
    let mut stream = writer.stream(StreamClassId(0), "channel0_0").unwrap();
    let array = |parts: &[u64]| FieldValue::Array(parts.iter().map(|n| (*n).into()).collect());
    for (time, last) in [(1, 5), (2, 6), (3, 5)] {
        let payload = FieldValue::fields([
            ("saddr", array(&[192, 168, 0, last])),
            ("daddr", (0xc0a8_0000 + last).into()),
            ("saddr_v6", array(&[0x20, 1, 2, 3, 4, 5, 6, last])),
            ("text", "a long secret".into()),
            ("argv", FieldValue::Array(vec!["secret".into(), "".into()])),
            ("other", array(&[7, last])),
            ("port", 80_u64.into()),
        ]);
        stream.event(packet, time, payload).unwrap();
    }
    stream.finish().unwrap();

    let output = folder.path().join("output");
    let (from, to) = (source.to_str().unwrap(), output.to_str().unwrap());
    let run = run(&["convert", from, "-o", to, "--anonymise"]);
    assert_eq!(run.status, Some(0), "{run:?}");
    let found: Vec<String> = dump(&output, &[]).iter().map(|line| payload(line)).collect();
    let line = |n: u64| {
        format!(
            "{{ saddr = [ [0] = 10, [1] = 0, [2] = 0, [3] = {n} ], daddr = {}, saddr_v6 = [ [0] = 10, \
             [1] = 0, [2] = 0, [3] = 0, [4] = 0, [5] = 0, [6] = 0, [7] = {} ], length = 13, \
             text = \"text-2\", argv = [ [0] = \"text-3\", [1] = \"\" ], \
             other = [ [0] = 0, [1] = 0 ], port = 80 }}",
            (10 << 24) + n + 1,
            n + 2,
        )
    };
    assert_eq!(found, [line(1), line(4), line(1)]);
}

fn fixed_array(length: u64, element: FieldClass) -> FieldClass {
    let (element, length) = (element.into(), Length::Static(length));
    FieldClass::new(FieldKind::Array(Array { element, length, roles: Roles::NONE }), 8)
}

/// Returns the fields after the packet context of a line.
fn payload(line: &str) -> String {
    line.split_once(" }, ").map_or("", |(_, payload)| payload).to_owned()
}

#[test]
fn sessions_become_folders_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces");
    let (kernel, ust) = (traces.join("kernel"), traces.join("ust"));
    let (kernel, ust) = (kernel.to_str().unwrap(), ust.to_str().unwrap());
    let output = folder.path().join("both");
    let run = run(&["convert", kernel, ust, "-o", output.to_str().unwrap()]);
    assert_eq!(run.status, Some(0), "{run:?}");
    let all = |paths: &[&str]| -> Vec<String> {
        let options = OpenOptions::new();
        let opened = options.open_all_of(paths).unwrap();
        opened.traces.iter().flat_map(canonical_text).collect()
    };
    let (mut found, mut expected) = (all(&[output.to_str().unwrap()]), all(&[kernel, ust]));
    found.sort();
    expected.sort();
    assert!(expected.len() > 1000 && found == expected);
    assert!(output.join("kernel/kernel/metadata").is_file() && output.join("ust").is_dir());
}

#[test]
fn corrected_times_are_those_of_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let machine = |name, offset, ppb| Machine { name, offset, ppb };
    let machines = [machine("client", 0, 0), machine("server", 7_000_000_000, 40_000)];
    let source = folder.path().join("source");
    hosts::write(&source, &machines, &hosts::messages(&[(0, 1)], 400));
    for (name, options) in [
        ("sync", &["--sync"][..]),
        ("offset", &["--clock-offset", "server=-1us"]),
        ("window", &["--sync", "--begin", "1600000001.5", "--end", "1600000002.5"]),
    ] {
        let output = folder.path().join(name);
        let (from, to) = (source.to_str().unwrap(), output.to_str().unwrap());
        let run = run(&[&["convert", from, "-o", to], options].concat());
        assert_eq!(run.status, Some(0), "{run:?}");
        let (found, expected) = (dump(&output, &[]), dump(&source, options));
        assert!(expected.len() > 100 && found == expected, "{name}");
        assert_ne!(found, dump(&source, &[]), "{name}");
    }
}

#[test]
fn traces_of_2008_get_the_names_of_today() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/legacy");
    let output = folder.path().join("new");
    let (from, to) = (source.to_str().unwrap(), output.to_str().unwrap());
    let run = run(&["convert", from, "-o", to, "--modern-names"]);
    assert_eq!(run.status, Some(0), "{run:?}");
    let (old, new) = (dump(&source, &[]), dump(&output, &[]));
    assert_eq!(old.len(), new.len());
    let count = |lines: &[String], name: &str| {
        lines.iter().filter(|line| line.contains(&format!(" {name}: "))).count()
    };
    for (before, after, field) in [
        ("sched_schedule", "sched_switch", "prev_tid = "),
        ("sched_try_wakeup", "sched_wakeup", "tid = "),
        ("irq_entry", "irq_handler_entry", "irq = "),
        ("softirq_entry", "irq_softirq_entry", "vec = "),
    ] {
        let (number, named) = (count(&old, before), count(&new, after));
        assert_eq!((number, count(&new, before)), (named, 0), "{before}");
        let mut of_name = new.iter().filter(|line| line.contains(&format!(" {after}: ")));
        assert!(of_name.all(|line| line.contains(field)), "{after}");
    }
    assert!(count(&new, "sched_switch") > 0);
}

#[test]
fn parts_start_with_their_state() {
    let folder = tempfile::tempdir().unwrap();
    let (first, last) = span(&dump(&kernel(), &[]));
    let length = (last - first) / 4 + 1;
    let split = format!("{length}ns");
    let output = converted(folder.path(), "parts", &["--split", &split, "--with-statedump"]);
    for number in 1..4 {
        let part = output.join(format!("{number:04}"));
        let time = Timestamp::from_ns(first + length * number + length / 2);
        let found = threads(&part, time);
        let expected = threads(&kernel(), time);
        assert!(expected.len() > 10);
        for (tid, process) in expected {
            assert_eq!(found.get(&tid), Some(&process), "part {number}, thread {tid}");
        }
    }
}

#[test]
fn files_and_packets_have_the_sizes_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--packet-size", "8K", "--file-size", "32K"];
    let output = converted(folder.path(), "small", &args);
    let trace = &ltt_read::open_all(&output).unwrap()[0];
    let mut packets = 0;
    for (file, mut cursor) in trace.tracefiles().iter().zip(trace.cursors()) {
        assert!(file.parts().all(|(_, bytes)| bytes.len() <= 32 << 10), "{}", file.name());
        while cursor.next_packet().unwrap() {
            assert!(cursor.packet().unwrap().size <= 8 << 10);
            packets += 1;
        }
    }
    assert!(packets > 20);
    assert!(dump(&output, &[]) == dump(&kernel(), &[]));
}
