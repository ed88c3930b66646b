//! Event types whose records have no bits. A trace may declare but not record them.

use ltt_read::{DecodeError, Error, Merge, Trace};

const TSDL: &str = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
    stream { packet.context := struct { integer { size = 8; } content_size;
                                        integer { size = 8; } packet_size; }; };
    event { name = nothing; fields := struct { struct { } x[5]; }; };";

const CTF2: &str = r#"{"type": "preamble", "version": 2}
    {"type": "data-stream-class", "packet-context-field-class": {"type": "structure",
        "member-classes": [
            {"name": "c", "field-class": {"type": "fixed-length-unsigned-integer", "length": 8,
                "byte-order": "little-endian", "roles": ["packet-content-length"]}},
            {"name": "t", "field-class": {"type": "fixed-length-unsigned-integer", "length": 8,
                "byte-order": "little-endian", "roles": ["packet-total-length"]}}]}}
    {"type": "event-record-class", "name": "nothing",
        "payload-field-class": {"type": "structure"}}"#;

/// Returns the number of events, and all errors.
fn read(metadata: &str, stream: &[u8]) -> (usize, Vec<String>) {
    let metadata = match metadata.strip_prefix('{') {
        Some(_) => metadata
            .replace("{\"type\": \"preamble", "\u{1e}{\"type\": \"preamble")
            .replace("{\"type\": \"data-s", "\u{1e}{\"type\": \"data-s")
            .replace("{\"type\": \"event-", "\u{1e}{\"type\": \"event-"),
        None => metadata.to_owned(),
    };
    let files = [("stream".to_owned(), stream.to_vec())];
    let trace = Trace::from_memory(metadata.as_bytes(), files).expect("a trace");
    let mut merge = Merge::new(&[trace]);
    let mut events = 0;
    while merge.next().is_some() {
        events += 1;
    }
    for error in merge.errors() {
        let Error::Decode { kind: DecodeError::EmptyEvent, .. } = error else { panic!("{error}") };
    }
    (events, merge.errors().iter().map(ToString::to_string).collect())
}

#[test]
fn a_trace_with_an_empty_event_type_opens_and_its_empty_packets_have_no_events() {
    for metadata in [TSDL, CTF2] {
        assert_eq!(read(metadata, &[]), (0, vec![]));
        assert_eq!(read(metadata, &[16, 16, 16, 32, 0, 0]), (0, vec![]));
    }
}

#[test]
fn content_of_a_stream_with_empty_events_only_is_an_error() {
    let error = |packet, byte| {
        format!("stream: packet {packet}, byte {byte}: an event record of this type has no bits")
    };
    for metadata in [TSDL, CTF2] {
        let stream = [16, 16, 24, 24, 0, 16, 16, 32, 32, 1, 2];
        assert_eq!(read(metadata, &stream), (0, vec![error(1, 4), error(3, 9)]));
    }
    let no_context = TSDL
        .replace("packet.context", "event.context")
        .replace("integer { size = 8; } content_size;", "")
        .replace("integer { size = 8; } packet_size;", "");
    assert_eq!(read(&no_context, &[0; 100]), (0, vec![error(0, 0)]));
    // Padding before such records does not count as data.
    let aligned = no_context.replace("struct { } x[5]; }", "struct { } x[5]; } align(32)");
    assert_eq!(read(&aligned, &[0; 100]), (0, vec![error(0, 0)]));
}
