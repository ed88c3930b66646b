//! Copying from traces to traces: events, packets, other formats, whole directories.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
use ltt_read::writer::{
    FieldValue, MemoryTrace, MemoryTraceError, Record, Retargeted, StagedDirectory, StreamCopier,
    Transfer, WriteError, metadata_text, presets,
};
use ltt_read::{OpenOptions, Trace};

use crate::support::text::text;

/// The traces of the repository in formats that can be written, and those beside it if they are there.
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
            let format = trace.schema().format;
            (format.is_ctf() || format == Format::Legacy)
                && trace.tracefiles().iter().map(|file| file.size()).sum::<u64>() < 1 << 20
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
    assert!(file.files().count() > 2 && file.parts().all(|(_, bytes)| bytes.len() <= 8192));
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

/// Copies each tracefile from one of its events on: whole packets as they are where that is possible.
/// Returns `None` if the clock of the copy cannot reach the time of its first event.
fn copy_from(trace: &Arc<Trace>, first: usize) -> Option<Arc<Trace>> {
    let transfer = Arc::new(Transfer::new(trace, trace.schema().clone()));
    let mut target = MemoryTrace::new(transfer.target().clone());
    for mut cursor in trace.cursors() {
        let (name, class) =
            (cursor.tracefile().name().to_owned(), cursor.tracefile().stream_class());
        let stream = target.stream(class?, &name).unwrap();
        let mut copier = StreamCopier::new(&transfer, class?, stream);
        let mut seen = 0;
        while cursor.next_packet().unwrap() {
            let is_whole = seen >= first && copier.packet(&cursor).unwrap();
            while cursor.advance_in_packet().unwrap() {
                if seen >= first && !is_whole {
                    match copier.event(&cursor.event()) {
                        Ok(copied) => assert!(copied),
                        Err(WriteError::ClockGap { .. }) => return None,
                        // Such a stream cannot be divided.
                        Err(WriteError::OnePacket) => return None,
                        Err(error) => panic!("{}: {error}", trace.path().display()),
                    }
                }
                seen += 1;
            }
        }
        target.add(copier.into_stream().ok()?).unwrap();
    }
    Some(target.open().unwrap())
}

fn has_one_class_in_each_file(trace: &Arc<Trace>) -> bool {
    trace.cursors().all(|mut cursor| {
        let class = cursor.tracefile().stream_class();
        while cursor.next_packet().unwrap() {
            if cursor.packet().map(|packet| packet.stream_class) != class {
                return false;
            }
            while cursor.advance_in_packet().unwrap() {}
        }
        true
    })
}

/// Returns the times of the events of each tracefile, from one of its events on.
fn times_from(trace: &Arc<Trace>, first: usize) -> Vec<(String, Vec<Option<i64>>)> {
    let times = |mut cursor: ltt_read::Cursor| {
        let mut times = Vec::new();
        while let Some(event) = cursor.next().unwrap() {
            times.push(event.timestamp().map(|time| time.as_ns()));
        }
        (cursor.tracefile().name().to_owned(), times.split_off(first.min(times.len())))
    };
    let mut all: Vec<_> =
        trace.cursors().map(times).filter(|(_, times)| !times.is_empty()).collect();
    all.sort();
    all
}

/// Narrow timestamps in packets and in events, two of them in each event, so that each time depends
/// on the ones before.
fn narrow_clocks(header_bits: [u32; 2], packet_bits: u32) -> Arc<Trace> {
    let integer =
        |bits: u32| format!("integer {{ size = {bits}; align = 8; map = clock.c.value; }}");
    let metadata = format!(
        "/* CTF 1.8 */ trace {{ major = 1; minor = 8; byte_order = le; }};
        clock {{ name = c; freq = 1000000000; }};
        stream {{
            packet.context := struct {{
                integer {{ size = 16; align = 8; }} packet_size;
                {} timestamp_begin; {} timestamp_end; }};
            event.header := struct {{ {} first; {} second; }}; }};
        event {{ name = tick; fields := struct {{ integer {{ size = 8; align = 8; }} n; }}; }};",
        integer(packet_bits),
        integer(packet_bits),
        integer(header_bits[0]),
        integer(header_bits[1]),
    );
    let mut bytes = Vec::new();
    let mut clock = 0_u64;
    let put = |bytes: &mut Vec<u8>, value: u64, bits: u32| {
        bytes.extend_from_slice(&value.to_le_bytes()[..bits as usize / 8]);
    };
    for packet in 0..6_u64 {
        let begin = clock;
        let mut events = Vec::new();
        for event in 0..4_u64 {
            // The first timestamp is before the time of the event, the second completes it.
            let first = clock + 40 + packet;
            clock = first + 90 + 7 * event;
            put(&mut events, first, header_bits[0]);
            put(&mut events, clock, header_bits[1]);
            events.push(event as u8);
        }
        let size = 2 + 2 * packet_bits as usize / 8 + events.len();
        put(&mut bytes, 8 * size as u64, 16);
        put(&mut bytes, begin, packet_bits);
        put(&mut bytes, clock, packet_bits);
        bytes.extend(events);
        clock += 100;
    }
    Trace::from_memory(metadata.as_bytes(), [("stream".to_owned(), bytes)]).unwrap()
}

#[test]
fn parts_of_traces_keep_their_times() {
    let mut all: Vec<_> = traces().into_iter().filter(is_sound).collect();
    all.retain(|trace| {
        trace.schema().format != Format::Legacy && has_one_class_in_each_file(trace)
    });
    all.retain(|trace| metadata_text(trace.schema()).is_ok());
    for header_bits in [[8, 8], [16, 8], [8, 16], [32, 8], [64, 64]] {
        all.extend([16, 32, 64].map(|packet_bits| narrow_clocks(header_bits, packet_bits)));
    }
    let (mut same, mut impossible) = (0, 0);
    for trace in &all {
        let most = times_from(trace, 0).iter().map(|(_, times)| times.len()).max().unwrap_or(0);
        for first in [0, 1, 2, 3, 4, 5, 9, most / 2, most.saturating_sub(1)] {
            let Some(copy) = copy_from(trace, first) else {
                assert!(first > 0, "{}: the whole is not copied", trace.path().display());
                impossible += 1;
                continue;
            };
            let what = format!("{} from {first}", trace.path().display());
            assert_eq!(times_from(&copy, 0), times_from(trace, first), "{what}");
            same += 1;
        }
    }
    println!("{same} parts have their times, {impossible} cannot be written");
    assert!(same > 150, "{same}");
}
