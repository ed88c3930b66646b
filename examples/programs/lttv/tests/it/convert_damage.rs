//! `lttv convert` of traces that cannot be read as a whole, or not expressed: what is missing in the
//! result is told, with its number.

use std::fs;
use std::path::{Path, PathBuf};

use ltt_read::Trace;
use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};

use crate::support::convert::run;

const HEADERS: usize = 32 + 52;

/// Writes a trace of packets with four events each: a length and as many bytes.
fn write(dir: &Path, packets: u64) {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let fields = FieldClass::structure([
        ("length", FieldClass::uint(32, ByteOrder::Little)),
        ("text", presets::text_sequence("length")),
    ]);
    let event = schema.add_event_type(StreamClassId(0), "e", fields);
    let writer = TraceWriter::create(dir, schema).unwrap();
    let mut stream = writer.stream(StreamClassId(0), "c_0").unwrap();
    for packet in 0..packets {
        for number in 0..4 {
            let payload = FieldValue::fields([("text", "four")]);
            stream.event(event, 1 + packet * 10 + number, payload).unwrap();
        }
        stream.end_packet(packet * 10 + 9).unwrap();
    }
    stream.finish().unwrap();
}

/// Damages the third event of the second packet: its text has no end.
fn damage(dir: &Path) {
    let file = dir.join("c_0");
    let mut bytes = fs::read(&file).unwrap();
    let size = bytes.len() / 3;
    let event = (size - HEADERS) / 4;
    let length = size + HEADERS + 2 * event + 4;
    bytes[length..length + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    fs::write(file, bytes).unwrap();
}

fn events(dir: &Path) -> usize {
    let of = |mut cursor: ltt_read::Cursor| (0..).take_while(|_| cursor.advance().unwrap()).count();
    Trace::open(dir).unwrap().cursors().map(of).sum()
}

fn source(folder: &Path) -> PathBuf {
    let dir = folder.join("source");
    write(&dir, 3);
    damage(&dir);
    dir
}

#[test]
fn damage_within_packets_is_reported_and_not_copied() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path());
    for (number, args) in [&[][..], &["--filter", "event.name == \"e\""], &["--packet-size", "1M"]]
        .into_iter()
        .enumerate()
    {
        let output = folder.path().join(format!("out{number}"));
        let paths = ["convert", source.to_str().unwrap(), "-o", output.to_str().unwrap()];
        let done = run(&[&paths, args].concat());
        assert_eq!(done.status, Some(1), "{args:?}: {done:?}");
        assert!(done.stderr.contains("error: ") && done.stderr.contains("c_0"), "{done:?}");
        assert_eq!(events(&output), 4 + 2 + 4, "{args:?}: the result is sound");
    }
}

#[test]
fn events_that_the_tracer_lost_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("source");
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let event = schema.add_event_type(StreamClassId(0), "e", FieldClass::structure([]));
    let writer = TraceWriter::create(&dir, schema).unwrap();
    let mut stream = writer.stream(StreamClassId(0), "c_0").unwrap();
    for packet in 0..3 {
        stream.set_discarded(packet * 7);
        stream.event(event, 1 + packet * 10, FieldValue::Auto).unwrap();
        stream.end_packet(packet * 10 + 9).unwrap();
    }
    stream.finish().unwrap();
    for name in ["out", "out.json"] {
        let output = folder.path().join(name);
        let done = run(&["convert", dir.to_str().unwrap(), "-o", output.to_str().unwrap()]);
        assert_eq!(done.status, Some(0), "{done:?}");
        assert!(done.stderr.contains("14 "), "{name}: {done:?}");
    }
}

#[test]
fn events_of_which_nothing_can_be_expressed_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("source");
    fs::create_dir_all(&dir).unwrap();
    // Without event headers, an event is its payload alone.
    // A text of two bytes for each character whose length is in another field cannot be expressed, nor
    // can the structure that it is in.
    let class = "{\"type\":\"structure\",\"member-classes\":[{\"name\":\"n\",\"field-class\":\
                 {\"type\":\"fixed-length-unsigned-integer\",\"length\":8,\"byte-order\":\
                 \"little-endian\"}},{\"name\":\"t\",\"field-class\":\
                 {\"type\":\"dynamic-length-string\",\"length-field-location\":\
                 {\"origin\":\"event-record-payload\",\"path\":[\"n\"]},\
                 \"encoding\":\"utf-16le\"}}]}";
    let fragments = [
        "{\"type\":\"preamble\",\"version\":2}".to_owned(),
        "{\"type\":\"trace-class\"}".to_owned(),
        "{\"type\":\"data-stream-class\"}".to_owned(),
        format!(
            "{{\"type\":\"event-record-class\",\"name\":\"wide\",\"payload-field-class\":{class}}}"
        ),
    ];
    let metadata: String = fragments.iter().map(|text| format!("\u{1e}{text}\n")).collect();
    fs::write(dir.join("metadata"), metadata).unwrap();
    fs::write(dir.join("c"), b"\x02a\0\x02b\0\x02c\0").unwrap();
    let output = folder.path().join("out");
    let to = ["--to", "ctf1.8"];
    let paths = ["convert", dir.to_str().unwrap(), "-o", output.to_str().unwrap()];
    let done = run(&[&paths[..], &to].concat());
    assert!(done.stderr.contains("wide: 3 events left out"), "{done:?}");
}
