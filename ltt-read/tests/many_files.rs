//! Traces of many small files, within limits on open files and on mappings. The limits hold for the
//! whole process, so these tests have one of their own.

use std::fs;
use std::path::Path;

use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};
use ltt_read::{Merge, TracefileIndex};
use rustix::process::{Resource, getrlimit, setrlimit};

/// The number of streams, each with a file and an index file.
const STREAMS: usize = 1_500;
/// The number of events in each stream, each in a packet of its own.
const EVENTS: usize = 3;
/// The size of a packet in bytes, too small for two events.
const PACKET_BYTES: u64 = 128;
/// The limit on open files, below the number of streams.
const OPEN_FILES: u64 = 400;

/// Writes streams in turns. In stream `n`, the events are at `n`, `n + STREAMS` and so on.
fn write(dir: &Path) {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let payload = FieldClass::structure([("name", presets::text_array(32))]);
    let tick = schema.add_event_type(StreamClassId(0), "tick", payload);
    let trace = TraceWriter::create(dir, schema).expect("metadata").with_index();
    let create = |number: usize| {
        let stream = trace.stream(StreamClassId(0), &format!("c_{number}")).expect("a stream");
        stream.with_stream_id(number as u64).with_packet_limit(PACKET_BYTES)
    };
    let mut streams: Vec<_> = (0..STREAMS).map(create).collect();
    for round in 0..EVENTS {
        for (number, stream) in streams.iter_mut().enumerate() {
            let time = 1_000 + (number + round * STREAMS) as u64;
            stream.event(tick, time, FieldValue::Auto).expect("an event");
        }
    }
    streams.into_iter().for_each(|stream| _ = stream.finish().expect("the end of a stream"));
}

#[test]
fn more_files_than_may_be_open_are_written_and_read() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = Some(OPEN_FILES);
    setrlimit(Resource::Nofile, limit).expect("a lower limit");
    let dir = tempfile::tempdir().expect("a directory");
    write(dir.path());

    let traces = ltt_read::open_all(dir.path()).expect("a trace");
    assert_eq!(traces[0].tracefiles().len(), STREAMS);
    // All index files are found, and agree with the packets.
    for number in 0..STREAMS {
        let index = traces[0].packet_index(TracefileIndex(number));
        assert_eq!((index.entries().len(), index.notices()), (EVENTS, &[][..]));
    }
    let mut merge = Merge::new(&traces);
    let mut times = Vec::new();
    while let Some(event) = merge.next() {
        times.push(event.timestamp().map(|time| time.as_ns()));
    }
    merge.finish().expect("no damage");
    assert_eq!(times.len(), STREAMS * EVENTS);
    let first = times[0].expect("a time");
    assert!(times.iter().zip(first..).all(|(time, expected)| *time == Some(expected)));
}

/// The number of streams of another trace, above the most files that are mapped.
const MANY_STREAMS: usize = 33_000;

/// The most mappings of the process: files, and about a thousand others.
const MAPPINGS: usize = (1 << 15) + 1000;

#[test]
fn more_files_than_may_be_mapped_are_read() {
    if !Path::new("/proc/self/maps").exists() {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let payload = FieldClass::structure([("n", FieldClass::uint(8, ByteOrder::Little))]);
    let tick = schema.add_event_type(StreamClassId(0), "tick", payload);
    let trace = TraceWriter::create(dir.path(), schema).expect("metadata");
    for number in 0..MANY_STREAMS {
        let stream = trace.stream(StreamClassId(0), &format!("c_{number}")).expect("a stream");
        let mut stream = stream.with_stream_id(number as u64);
        stream.event(tick, 1_000, FieldValue::Auto).expect("an event");
        stream.finish().expect("the end of a stream");
    }
    let traces = ltt_read::open_all(dir.path()).expect("a trace");
    let mappings = fs::read_to_string("/proc/self/maps").expect("the mappings").lines().count();
    assert!(mappings < MAPPINGS, "{mappings} mappings");
    let mut merge = Merge::new(&traces);
    assert_eq!(std::iter::from_fn(|| merge.next().map(drop)).count(), MANY_STREAMS);
    merge.finish().expect("no damage");
}
