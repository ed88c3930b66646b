//! Damaged traces, by truncation at every byte and a flip of every bit. Nothing may panic
//! or hang, every error has a place, and sound events before the damage are still read. A
//! damaged index costs time but never events.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::support::read_all::{Seen, read_all, read_tracefile, visit_event};
use ltt_read::schema::{ByteOrder, EventTypeId, FieldClass, Format, Schema, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};
use ltt_read::{Merge, Timestamp, Trace, TracefileIndex};

const LTTNG: &[u8] = include_bytes!("../../fuzz/metadata/lttng.tsdl");
const DYNAMIC: &[u8] = include_bytes!("../../fuzz/metadata/dynamic.tsdl");
const CTF2: &[u8] = include_bytes!("../../fuzz/metadata/all-classes.ctf2");

fn trace(metadata: &[u8], stream: &[u8]) -> Arc<Trace> {
    Trace::from_memory(metadata, [("stream_0".to_owned(), stream.to_vec())]).unwrap()
}

/// Reads the events of a stream up to its first error.
fn events(metadata: &[u8], stream: &[u8]) -> Seen {
    let trace = trace(metadata, stream);
    let mut seen = Seen::default();
    if !trace.tracefiles().is_empty() {
        read_tracefile(&mut trace.cursor(TracefileIndex(0)), &mut seen, visit_event);
    }
    seen
}

/// Writes two packets of LTTng's form with four events each.
fn lttng_stream() -> Vec<u8> {
    let mut stream = Vec::new();
    for packet in 0..2u64 {
        let mut p = Vec::new();
        p.extend(0xc1fc_1fc1u32.to_le_bytes());
        p.extend(0u32.to_le_bytes());
        p.extend((packet * 1000 + 10).to_le_bytes());
        p.extend((packet * 1000 + 500).to_le_bytes());
        let sizes_at = p.len();
        p.extend([0; 4]);
        p.extend([packet as u8, 0, 3]);
        let mut event = |id: u32, time: u32, body: &[u8]| {
            p.extend((time << 5 | id).to_le_bytes());
            p.extend(7u32.to_le_bytes());
            p.extend(body);
        };
        let base = packet as u32 * 1000;
        event(0, base + 20, &[1, 2, 0]);
        event(1, base + 30, b"text\0\x02\x01\x00\x02\x00comm");
        event(0, base + 30, &[9, 9, 9]);
        event(1, base + 40, b"\0\0cmd\0");
        let content = p.len() * 8;
        p.extend([0; 5]);
        let total = p.len() * 8;
        p[sizes_at..sizes_at + 2].copy_from_slice(&(content as u16).to_le_bytes());
        p[sizes_at + 2..sizes_at + 4].copy_from_slice(&(total as u16).to_le_bytes());
        stream.extend(p);
    }
    stream
}

/// Writes a stream without packet headers, which has one packet that ends with the file.
fn dynamic_stream() -> Vec<u8> {
    let pad = |s: &mut Vec<u8>| s.resize(s.len().next_multiple_of(4), 0);
    let mut s = vec![0u8]; // nested; its fields are aligned to 4 bytes
    pad(&mut s);
    s.extend([2, 1]); // n, m
    for _ in 0..2 {
        pad(&mut s);
        s.extend(b"\x02ab\0c\0"); // k, names
        pad(&mut s);
        s.extend([0xe0, 0, 0, 0, 1, 2, 0, 0, 0x40, 0, 0, 0, 3, 4]); // pairs
    }
    pad(&mut s);
    s.extend([0x20, 0, 0, 0, 5, 6]); // flat
    s.extend([1, 2, 77]); // chosen: A
    s.extend([77, 0, 1, 2, 3, 4, 5, 6]); // odd and wide, bit-packed
    s
}

fn ctf2_stream() -> Vec<u8> {
    let mut s = vec![0, 5]; // scalars, time 5
    s.extend([0x20, 0xff, 0x0f]);
    s.extend([0u8; 8]);
    s.extend([0xff, 0x7f]);
    s.extend(1.5f64.to_le_bytes());
    s.extend([1, 0x80, 0x01, 0x00]); // dynamic, time 128
    s.extend([2]);
    s.extend(b"h\0i\0\0\0\0x\0y\0\0dsSBSdb");
    s.extend([1, 0xff, 0x0f, 2, 1, 2, 3]);
    s.extend(b"opt\0");
    s.push(5);
    s
}

#[test]
fn sound_streams_are_read_completely() {
    let seen = events(LTTNG, &lttng_stream());
    assert_eq!((seen.events, seen.errors.as_slice()), (8, [].as_slice()));
    let seen = events(DYNAMIC, &dynamic_stream());
    assert_eq!((seen.events, seen.errors.len()), (2, 0), "{:?}", seen.errors);
    let seen = events(CTF2, &ctf2_stream());
    assert_eq!((seen.events, seen.errors.len()), (2, 0), "{:?}", seen.errors);
}

#[test]
fn truncation_at_every_byte_keeps_the_events_before() {
    let whole = lttng_stream();
    let mut last = 0;
    for cut in 0..whole.len() {
        let seen = events(LTTNG, &whole[..cut]);
        assert!(seen.events >= last, "cut at {cut} lost an event");
        last = seen.events;
        // Truncation between packets is no damage. Anywhere else it is reported.
        let at_edge = cut == 0 || cut == whole.len() / 2;
        assert_eq!(seen.errors.is_empty(), at_edge, "cut at {cut}: {:?}", seen.errors);
        assert!(
            seen.errors.iter().all(|e| e.starts_with("stream_0: packet ")),
            "{:?}",
            seen.errors
        );
        read_all(&trace(LTTNG, &whole[..cut]));
    }
    for (metadata, whole) in [(DYNAMIC, dynamic_stream()), (CTF2, ctf2_stream())] {
        for cut in 0..whole.len() {
            assert!(events(metadata, &whole[..cut]).events <= 2);
            read_all(&trace(metadata, &whole[..cut]));
        }
    }
}

#[test]
fn a_flip_of_every_bit_is_survived() {
    for (metadata, whole) in
        [(LTTNG, lttng_stream()), (DYNAMIC, dynamic_stream()), (CTF2, ctf2_stream())]
    {
        for bit in 0..whole.len() * 8 {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            read_all(&trace(metadata, &damaged));
        }
    }
}

#[test]
fn a_flip_of_every_bit_of_metadata_is_survived() {
    for (metadata, stream) in
        [(LTTNG, lttng_stream()), (DYNAMIC, dynamic_stream()), (CTF2, ctf2_stream())]
    {
        for bit in 0..metadata.len() * 8 {
            let mut damaged = metadata.to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let files = [("stream_0".to_owned(), stream.clone())];
            match Trace::from_memory(&damaged, files) {
                Ok(trace) => drop(read_all(&trace)),
                Err(error) => assert!(error.to_string().contains("metadata"), "{error}"),
            }
        }
    }
}

/// Returns the schemas that tracers write, with an event type of fixed size and one of
/// dynamic size.
fn presets() -> impl Iterator<Item = Schema> {
    let formats = [Format::Ctf1, Format::Ctf2];
    formats.into_iter().flat_map(|f| [presets::lttng_kernel(f), presets::lttng_ust(f)]).map(
        |mut schema| {
            let uint = |bits| FieldClass::uint(bits, ByteOrder::Little);
            let fixed = [("a", uint(32)), ("comm", presets::text_array(4))];
            let bytes = presets::sequence("len", uint(16));
            let dynamic = [("text", FieldClass::string()), ("len", uint(8)), ("bytes", bytes)];
            schema.add_event_type(StreamClassId(0), "fixed", FieldClass::structure(fixed));
            schema.add_event_type(StreamClassId(0), "dynamic", FieldClass::structure(dynamic));
            schema
        },
    )
}

/// Writes three packets of four events each, padded, and their index.
fn write(dir: &Path, schema: Schema) {
    let trace = TraceWriter::create(dir, schema).expect("a directory").with_index();
    let stream = trace.stream(StreamClassId(0), "channel0_0").expect("a stream");
    let mut stream = stream.with_packet_limit(192).with_padding();
    for packet in 0..3 {
        let begin = 1_000_000 + packet * 1000;
        stream.begin_packet(begin).expect("a packet");
        for n in 0..2 {
            let time = begin + 10 * n;
            let fixed = FieldValue::fields([("a", n.into()), ("comm", FieldValue::from("cmd"))]);
            stream.event(EventTypeId(0), time, fixed).expect("an event");
            let bytes = ("bytes", FieldValue::array([1u64, 2]));
            let dynamic = FieldValue::fields([("text", "text".into()), bytes]);
            stream.event(EventTypeId(1), time + 5, dynamic).expect("an event");
        }
        stream.end_packet(begin + 500).expect("the end of a packet");
    }
    stream.finish().expect("a stream");
}

#[test]
fn damaged_streams_of_tracers_are_survived() {
    for schema in presets() {
        let dir = tempfile::tempdir().expect("a directory");
        write(dir.path(), schema);
        let read = |name| fs::read(dir.path().join(name)).expect("a file");
        let (metadata, whole) = (read("metadata"), read("channel0_0"));
        assert_eq!(events(&metadata, &whole).events, 12);
        let mut last = 0;
        for cut in 0..whole.len() {
            let seen = events(&metadata, &whole[..cut]);
            assert!(seen.events >= last, "cut at {cut} lost an event");
            assert_eq!(seen.errors.is_empty(), cut % 192 == 0, "cut at {cut}: {:?}", seen.errors);
            last = seen.events;
        }
        // The damage is in the first packet, which also determines the properties of the
        // stream.
        for bit in 0..192 * 8 {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            read_all(&trace(&metadata, &damaged));
        }
    }
}

#[test]
fn damaged_indexes_cost_no_events() {
    let dir = tempfile::tempdir().expect("a directory");
    write(dir.path(), presets().next().expect("a preset"));
    let path = dir.path().join("index/channel0_0.idx");
    let whole = fs::read(&path).expect("an index");
    let times = |trace: &Arc<Trace>, from: u64| {
        let mut merge = Merge::new(std::slice::from_ref(trace));
        merge.seek(trace.schema().clocks[0].timestamp(from).expect("a time"));
        let mut times: Vec<Option<Timestamp>> = Vec::new();
        while let Some(event) = merge.next() {
            times.push(event.timestamp());
        }
        times
    };
    // Seeks times in the middle of each packet, and between packets.
    let cuts = [1_000_010, 1_000_100, 1_001_010, 1_002_010, 1_002_100];
    let read = || {
        let trace = Trace::open(dir.path()).expect("a trace");
        cuts.map(|from| times(&trace, from).len())
    };
    assert_eq!(read(), [10, 8, 6, 2, 0]);
    let damages = (0..whole.len() * 8).map(|bit| {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        damaged
    });
    for damaged in damages.chain((0..whole.len()).map(|cut| whole[..cut].to_vec())) {
        fs::write(&path, damaged).expect("it can be written");
        assert_eq!(read(), [10, 8, 6, 2, 0]);
    }
}

const TINY: &[u8] = b"/* CTF 1.8 */
typealias integer { size = 8; } := uint8_t;
typealias integer { size = 32; } := uint32_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; }; };
stream {
    packet.context := struct { uint32_t content_size; uint32_t packet_size; };
    event.header := struct { uint8_t id; };
};
event { name = only; id = 0; fields := struct { uint8_t value; }; };
";

/// Writes packets that contain an event with an unknown type each.
fn damaged_packets(count: u32) -> Vec<u8> {
    let mut stream = Vec::new();
    for _ in 0..count {
        stream.extend(0xc1fc_1fc1u32.to_le_bytes());
        stream.extend(112u32.to_le_bytes());
        stream.extend(112u32.to_le_bytes());
        stream.extend([9, 0]);
    }
    stream
}

#[test]
fn errors_and_notices_beyond_the_limits_are_counted() {
    let read = |packets| {
        let trace = trace(TINY, &damaged_packets(packets));
        let mut merge = Merge::new(&[trace]);
        assert!(merge.next().is_none());
        let errors = (merge.errors().len(), merge.errors_omitted());
        let omitted = merge.notices_omitted();
        (errors, (merge.take_notices().len(), omitted))
    };
    assert_eq!(read(1000), ((1000, 0), (1000, 0)));
    assert_eq!(read(1024), ((1024, 0), (1024, 0)));
    assert_eq!(read(4096), ((4096, 0), (1024, 3072)));
    assert_eq!(read(4097), ((4096, 1), (1024, 3073)));
    assert_eq!(read(5000), ((4096, 904), (1024, 3976)));
}

#[test]
fn the_end_of_a_damaged_read_is_an_error() {
    let mut merge = Merge::new(&[trace(TINY, &damaged_packets(3))]);
    assert!(merge.next().is_none());
    let first = merge.errors()[0].to_string();
    assert_eq!(merge.finish().map_err(|error| error.to_string()), Err(first));
    let mut merge = Merge::new(&[trace(TINY, &damaged_packets(3))]);
    assert!(merge.next().is_none());
    merge.take_errors();
    assert!(merge.finish().is_ok());
    assert!(Merge::new(&[trace(TINY, &damaged_packets(0))]).finish().is_ok());
}

#[test]
fn known_errors_are_not_counted_again() {
    let mut merge = Merge::new(&[trace(TINY, &damaged_packets(10))]);
    assert!(merge.next().is_none());
    merge.seek(Timestamp::MIN);
    assert!(merge.next().is_none());
    assert_eq!((merge.errors().len(), merge.errors_omitted()), (10, 0));
    // Drained errors make room for others. The number of omitted errors remains.
    let mut merge = Merge::new(&[trace(TINY, &damaged_packets(5000))]);
    assert!(merge.next().is_none());
    assert_eq!(merge.take_errors().len(), 4096);
    assert_eq!((merge.errors().len(), merge.errors_omitted()), (0, 904));
}
