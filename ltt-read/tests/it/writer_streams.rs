//! The ends of streams: no event that was accepted is lost without an error.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use ltt_read::Trace;
use ltt_read::schema::{EventTypeId, FieldClass, Format, Schema, StreamClassId};
use ltt_read::writer::{
    FieldValue, MemoryTrace, MemoryTraceError, StagedDirectory, StreamCopier, StreamWriter,
    TraceWriter, Transfer, WriteError, metadata_text, presets,
};

const CLASS: StreamClassId = StreamClassId(0);

fn ticks() -> (Arc<Schema>, EventTypeId) {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let tick = schema.add_event_type(CLASS, "tick", FieldClass::structure([]));
    (Arc::new(schema), tick)
}

fn events(dir: &Path) -> usize {
    let trace = Trace::open(dir).unwrap();
    let of = |mut cursor: ltt_read::Cursor| (0..).take_while(|_| cursor.advance().unwrap()).count();
    trace.cursors().map(of).sum()
}

#[test]
fn a_dropped_stream_ends_its_last_packet() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("t");
    let (schema, tick) = ticks();
    let writer = TraceWriter::create(&dir, schema.clone()).unwrap().with_index();
    let mut stream = writer.stream(CLASS, "c_0").unwrap();
    for n in 0..1000 {
        stream.event(tick, n, FieldValue::Auto).unwrap();
    }
    drop(stream);
    assert_eq!(events(&dir), 1000);
    assert_eq!(fs::metadata(dir.join("index/c_0.idx")).unwrap().len(), 16 + 72);

    // A copier and a stream to an output of one's own end in the same way.
    let trace = Trace::open(&dir).unwrap();
    let transfer = Arc::new(Transfer::new(&trace, schema.clone()));
    let mut copier = StreamCopier::new(&transfer, CLASS, writer.stream(CLASS, "c_1").unwrap());
    let mut cursor = trace.cursors().next().unwrap();
    assert!(cursor.advance().unwrap() && copier.event(&cursor.event()).unwrap());
    drop(copier);
    assert_eq!(events(&dir), 1001);
    let mut bytes = Vec::new();
    let mut stream = StreamWriter::new(schema, CLASS, "memory", &mut bytes).unwrap();
    stream.event(tick, 1, FieldValue::Auto).unwrap();
    drop(stream);
    assert!(!bytes.is_empty());
}

#[test]
fn a_name_in_use_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (schema, tick) = ticks();
    let plain = TraceWriter::create(folder.path(), schema).unwrap();
    let writer = plain.clone().with_index();
    let mut stream = writer.stream(CLASS, "x_0").unwrap();
    stream.event(tick, 1, FieldValue::Auto).unwrap();
    stream.finish().unwrap();
    let limited = writer.clone().with_file_limit(1);
    for (writer, name) in
        [(&writer, "x_0"), (&writer, "metadata"), (&limited, "x"), (&plain, "index/x_0.idx")]
    {
        let error = writer.stream(CLASS, name).unwrap_err();
        assert!(matches!(error, WriteError::NameInUse { .. }), "{name}: {error}");
    }
    for name in ["../x", "/x", "./x_0"] {
        assert!(writer.stream(CLASS, name).is_err(), "{name}");
    }
    assert_eq!(events(folder.path()), 1);

    // A later file of a stream has a name that another stream uses.
    let mut stream = limited.stream(CLASS, "y").unwrap().with_packet_limit(96);
    let mut other = writer.stream(CLASS, "y_1").unwrap();
    other.event(tick, 1, FieldValue::Auto).unwrap();
    other.finish().unwrap();
    let refused = (0..100).find_map(|n| stream.event(tick, n, FieldValue::Auto).err());
    assert!(matches!(refused, Some(WriteError::NameInUse { .. })), "{refused:?}");
}

#[test]
fn publishing_refuses_open_streams() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("t");
    let (schema, tick) = ticks();
    let staged = StagedDirectory::create(&target).unwrap();
    let writer = staged.trace("", schema.clone()).unwrap();
    let mut stream = writer.stream(CLASS, "c_0").unwrap();
    stream.event(tick, 1, FieldValue::Auto).unwrap();
    let error = staged.publish().unwrap_err();
    assert!(matches!(&error, WriteError::OpenStreams { streams } if streams.len() == 1), "{error}");
    assert!(error.to_string().contains("c_0") && !target.exists());
    drop(stream);

    let staged = StagedDirectory::create(&target).unwrap();
    let writer = staged.trace("", schema.clone()).unwrap();
    for (name, time) in [("c_0", 1), ("c_1", 2)] {
        writer.stream(CLASS, name).unwrap().event(tick, time, FieldValue::Auto).unwrap();
    }
    staged.publish().unwrap();
    assert_eq!(events(&target), 2);

    let memory = MemoryTrace::new(schema);
    memory.stream(CLASS, "c_0").unwrap().event(tick, 1, FieldValue::Auto).unwrap();
    let error = memory.open().unwrap_err();
    assert!(
        matches!(error, MemoryTraceError::Write(WriteError::OpenStreams { .. })),
        "the events of a stream that was dropped are not in the trace: {error}"
    );
}

#[test]
fn publishing_returns_the_error_of_a_dropped_stream() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("t");
    let (schema, tick) = ticks();
    let staged = StagedDirectory::create(&target).unwrap();
    let limited = staged.trace("", schema.clone()).unwrap().with_file_limit(1);
    let mut stream = limited.stream(CLASS, "y").unwrap();
    stream.event(tick, 1, FieldValue::Auto).unwrap();
    stream.end_packet(1).unwrap();
    let other = limited.stream(CLASS, "y_1").unwrap();
    other.finish().unwrap();
    stream.event(tick, 2, FieldValue::Auto).unwrap();
    // The second file cannot be created, because there is a directory of its name.
    fs::create_dir(staged.path().join("y_1")).unwrap();
    drop(stream);
    let error = staged.publish().unwrap_err();
    assert!(matches!(error, WriteError::Io { .. }), "{error}");
    assert!(!target.exists());
}

#[test]
fn finishing_returns_the_error_of_the_output() {
    /// An output that takes nothing.
    #[derive(Debug)]
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (schema, tick) = ticks();
    let mut stream = StreamWriter::new(schema, CLASS, "full", Full).unwrap();
    stream.event(tick, 1, FieldValue::Auto).unwrap();
    assert!(matches!(stream.finish(), Err(WriteError::Io { .. })));
}

#[test]
fn timestamps_without_a_default_clock_are_refused_in_both_formats() {
    for format in [Format::Ctf1, Format::Ctf2] {
        for (header, context) in [(true, false), (false, true)] {
            let mut schema = presets::lttng_kernel(format);
            let class = &mut schema.stream_classes[0];
            class.default_clock = None;
            class.event_header.take_if(|_| !header);
            class.packet_context.take_if(|_| !context);
            let error = metadata_text(&schema).unwrap_err();
            assert!(error.to_string().contains("without a default clock"), "{format:?}: {error}");
        }
    }
}
