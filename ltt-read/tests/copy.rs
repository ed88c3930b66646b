//! Copying from traces to traces: events, packets, other formats, whole directories.

#[path = "support/text.rs"]
mod text;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
use ltt_read::writer::{
    FieldValue, MemoryTrace, MemoryTraceError, Record, Retargeted, StagedDirectory, StreamCopier,
    Transfer, WriteError, presets,
};
use ltt_read::{OpenOptions, Trace};

use text::text;

/// The traces of the repository, and those beside it if they are there.
fn traces() -> Vec<Arc<Trace>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut traces = Vec::new();
    for folder in ["examples/traces", "../shared/traces/ctf", "../shared/traces/legacy"] {
        let path = root.join(folder);
        if !path.exists() {
            eprintln!("skipped: {folder} is not there");
            continue;
        }
        let opened =
            OpenOptions::new().on_failure(ltt_read::OnFailure::Continue).open_all_of([&path]);
        traces.extend(opened.unwrap().traces.into_iter().filter(|trace| {
            trace.tracefiles().iter().map(|file| file.size()).sum::<u64>() < 1 << 20
        }));
    }
    traces
}

/// Returns `true` if a trace can be read without error.
fn is_sound(trace: &Arc<Trace>) -> bool {
    trace.cursors().all(|mut cursor| {
        loop {
            match cursor.advance() {
                Ok(true) => {}
                Ok(false) => return true,
                Err(_) => return false,
            }
        }
    })
}

/// Compares two texts, and shows the first lines that differ.
fn assert_same(copy: &str, expected: &str, what: &str) {
    let differ = copy.lines().zip(expected.lines()).find(|(a, b)| a != b);
    let lines = (copy.lines().count(), expected.lines().count());
    assert!(copy == expected, "{what}: {lines:?} lines, {differ:#?}");
}

fn sorted(text: &str) -> String {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Packets,
    Events,
    SmallPackets,
    Records,
}

/// Copies a trace in one of the ways. Returns `None` if the metadata cannot be printed.
fn copied(
    trace: &Arc<Trace>,
    target: MemoryTrace,
    transfer: &Arc<Transfer>,
    way: Way,
) -> Option<Arc<Trace>> {
    let mut target = target;
    for (number, mut cursor) in trace.cursors().enumerate() {
        let class = cursor.tracefile().stream_class().unwrap_or(StreamClassId(0));
        let stream = target.stream(class, &format!("stream{number:04}")).unwrap();
        let stream = match way {
            Way::SmallPackets => stream.with_packet_limit(4096),
            _ => stream.with_packet_limit(u64::MAX),
        };
        let mut copier = StreamCopier::new(transfer, class, stream);
        while cursor.next_packet().unwrap() {
            if way == Way::Packets && copier.packet(&cursor).unwrap() {
                continue;
            }
            while cursor.advance_in_packet().unwrap() {
                if way == Way::Records {
                    copier.stream().record(Record::of(&cursor.event())).unwrap();
                } else {
                    copier.event(&cursor.event()).unwrap();
                }
            }
        }
        target.add(copier.into_stream().unwrap()).unwrap();
    }
    match target.open() {
        Ok(copy) => Some(copy),
        Err(MemoryTraceError::Write(WriteError::Inexpressible { .. })) => None,
        Err(error) => panic!("{}: {error}", trace.path().display()),
    }
}

/// Tracefiles with packets of several classes need a stream for each.
fn has_one_class_per_file(trace: &Arc<Trace>) -> bool {
    trace.cursors().all(|mut cursor| {
        let class = cursor.tracefile().stream_class();
        while cursor.next_packet().unwrap_or(false) {
            if cursor.packet().map(|packet| packet.stream_class) != class {
                return false;
            }
        }
        true
    })
}

#[test]
fn every_sound_trace_is_the_same_after_copying() {
    let (mut count, mut copies, mut inexpressible) = (0, 0, 0);
    for trace in traces() {
        if !is_sound(&trace) || !has_one_class_per_file(&trace) {
            continue;
        }
        let expected = text(&trace);
        for format in [Format::Ctf1, Format::Ctf2] {
            let retargeted = Retargeted::new(trace.schema(), format);
            if !retargeted.changes.is_empty() {
                continue;
            }
            let transfer = Arc::new(Transfer::new(&trace, retargeted.schema));
            for way in [Way::Packets, Way::Events] {
                let target = MemoryTrace::new(transfer.target().clone());
                let Some(copy) = copied(&trace, target, &transfer, way) else {
                    inexpressible += 1;
                    continue;
                };
                copies += 1;
                let path = trace.path().display();
                let what = format!("{path} as {format:?} {way:?}");
                match trace.schema().format {
                    // Tracefiles have other names and another order.
                    Format::Legacy => assert_same(&sorted(&text(&copy)), &sorted(&expected), &what),
                    _ => assert_same(&text(&copy), &expected, &what),
                }
            }
        }
        count += 1;
    }
    eprintln!("{count} traces, {copies} copies, {inexpressible} without metadata");
    assert!(copies > 20 * inexpressible);
}

#[test]
fn small_packets_and_records_have_the_same_events() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples/traces/kernel/kernel");
    let trace = Trace::open(root).unwrap();
    let expected = text(&trace);
    let transfer = Arc::new(Transfer::new(&trace, trace.schema().clone()));
    for way in [Way::SmallPackets, Way::Records] {
        let target = MemoryTrace::new(transfer.target().clone());
        let copy = text(&copied(&trace, target, &transfer, way).unwrap());
        // Without packet contexts, tracefiles are in another order.
        assert_same(&sorted(&copy), &sorted(&expected), &format!("{way:?}"));
    }
}

#[test]
fn a_staged_directory_is_there_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let entries = || fs::read_dir(folder.path()).unwrap().count();
    let target = folder.path().join("session");
    let write = |session: &StagedDirectory| {
        let mut schema = presets::lttng_kernel(Format::Ctf1);
        let tick = FieldClass::structure([("n", FieldClass::uint(32, ByteOrder::Little))]);
        let tick = schema.add_event_type(StreamClassId(0), "tick", tick);
        let trace = session.trace("kernel", schema).unwrap().with_index().with_file_limit(8192);
        let stream = trace.stream(StreamClassId(0), "channel0_0").unwrap();
        let mut stream = stream.with_packet_limit(4096);
        for n in 0..4000_u32 {
            stream.event(tick, n.into(), FieldValue::fields([("n", n)])).unwrap();
        }
        stream.finish().unwrap();
    };
    let session = StagedDirectory::create(&target).unwrap();
    write(&session);
    let found = ltt_read::find_traces(folder.path());
    assert!(found.is_err(), "{found:?} is unfinished");
    drop(session);
    assert_eq!(entries(), 0);

    let session = StagedDirectory::create(&target).unwrap();
    write(&session);
    session.publish().unwrap();
    assert_eq!(entries(), 1);
    let trace = Trace::open(target.join("kernel")).unwrap();
    assert_eq!(trace.tracefiles().len(), 1);
    let file = &trace.tracefiles()[0];
    assert_eq!((file.channel(), file.cpu(), file.name()), ("channel0", Some(0), "channel0_0_0"));
    assert!(file.files().count() > 2 && file.file_sizes().all(|size| size <= 8192));
    let index = fs::read_dir(target.join("kernel/index")).unwrap().count();
    assert_eq!(index, file.files().count());
    assert_eq!(text(&trace).lines().count(), 4000);

    let occupied = StagedDirectory::create(&target).unwrap_err();
    assert!(occupied.to_string().contains("session"), "{occupied}");
}

#[test]
fn a_staged_directory_refuses_paths_that_lead_out_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let session = StagedDirectory::create(folder.path().join("a")).unwrap();
    let schema = Arc::new(presets::lttng_kernel(Format::Ctf2));
    assert!(session.trace("../b", schema.clone()).is_err());
    assert!(session.trace("/b", schema).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
