//! Metadata that was cut: what is complete is read, and the error has the place of the end.

use std::fs;
use std::path::Path;

use ltt_read::schema::{FieldClass, Format, Schema, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, metadata_text, packetized_metadata, presets};
use ltt_read::{OnFailure, OpenOptions, Opened, Trace, metadata};

/// Returns a schema of four event types.
fn schema(format: Format) -> Schema {
    let mut schema = presets::lttng_kernel(format);
    for name in ["first", "second", "third", "fourth"] {
        schema.add_event_type(StreamClassId(0), name, FieldClass::structure([]));
    }
    schema
}

/// Writes an event of each type, in this order.
fn write(dir: &Path, schema: &Schema) {
    let writer = TraceWriter::create(dir, schema.clone()).unwrap();
    let mut stream = writer.stream(StreamClassId(0), "c_0").unwrap();
    for (time, id) in (1..).zip((0..4).map(ltt_read::schema::EventTypeId)) {
        stream.event(id, time, FieldValue::Auto).unwrap();
    }
    stream.finish().unwrap();
}

/// Returns the number of events before the first error, and the text of the failures.
fn read(dir: &Path) -> (usize, String) {
    let options = OpenOptions::new().on_failure(OnFailure::Continue);
    let Opened { traces, failures, .. } = options.open_all_of([dir]).unwrap();
    let failures = failures.iter().map(|failure| format!("{failure}\n")).collect();
    let events = traces.iter().flat_map(|trace| trace.cursors()).map(|mut cursor| {
        std::iter::from_fn(|| cursor.advance().ok().filter(|more| *more)).count()
    });
    (events.sum(), failures)
}

#[test]
fn declarations_before_a_cut_are_used_and_the_place_is_reported() {
    for format in [Format::Ctf1, Format::Ctf2] {
        let folder = tempfile::tempdir().unwrap();
        let schema = schema(format);
        write(folder.path(), &schema);
        let file = folder.path().join("metadata");
        let text = metadata_text(&schema).unwrap();
        let fourth = text.find("fourth").unwrap();
        let cut = &text[..fourth + 4];
        let line = cut.matches('\n').count() + 1;
        let packets = packetized_metadata(&schema, &text, 200);
        // All but the packets of the last declaration; and a file that ends within one of them.
        let in_packets = &packetized_metadata(&schema, cut, 200);
        let within = &packets[..in_packets.len() + 2];
        let mut nulls = cut.as_bytes().to_vec();
        nulls.resize(cut.len() + 40, 0);
        for (what, bytes) in [
            ("text", cut.as_bytes()),
            ("packets", in_packets),
            ("within a packet", within),
            ("null characters", &nulls),
        ] {
            fs::write(&file, bytes).unwrap();
            let (events, failures) = read(folder.path());
            assert_eq!(events, 3, "{format:?}, {what}: {failures}");
            let place = format!("metadata:{line}:");
            assert!(failures.contains(&place), "{format:?}, {what}: {place} in {failures}");
            assert!(
                Trace::open(folder.path()).is_err(),
                "a single trace has no failures beside it"
            );
            assert!(metadata::parse(bytes).is_err());
        }
        // A cut between two declarations looks like the end.
        let separator = if format == Format::Ctf1 { "\nevent" } else { "\u{1e}" };
        fs::write(&file, &text[..text[..fourth].rfind(separator).unwrap()]).unwrap();
        assert_eq!(read(folder.path()), (3, String::new()));
        // An error before the end is no cut.
        fs::write(&file, text.replacen("third", "th\"ird", 1)).unwrap();
        let (events, failures) = read(folder.path());
        assert!(events == 0 && !failures.is_empty(), "{format:?}: {events}, {failures}");
    }
}

#[test]
fn an_event_without_a_stream_beside_several_stream_classes_is_an_error() {
    let text = |streams: usize, stream_id: &str| {
        let streams: String =
            (0..streams).map(|id| format!("stream {{ id = {id}; }};\n")).collect();
        format!(
            "/* CTF 1.8 */\ntrace {{ major = 1; minor = 8; byte_order = le; packet.header := struct \
             {{ integer {{ size = 8; }} stream_id; }}; }};\n{streams}event {{ name = \"e\"; id = 0; \
             {stream_id} }};\n"
        )
    };
    for (streams, stream_id) in [(0, ""), (1, ""), (2, "stream_id = 1;"), (2, "stream_id = 0;")] {
        let parsed = metadata::parse(text(streams, stream_id).as_bytes());
        assert!(parsed.is_ok(), "{streams}, {stream_id}: {parsed:?}");
    }
    let error = metadata::parse(text(2, "").as_bytes()).unwrap_err().to_string();
    assert!(error.contains("`event` needs the attribute `stream_id`"), "{error}");
}
