//! `lttv convert --to perfetto`: the threads that only the contexts of events tell.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use ltt_read::schema::{ByteOrder, EnvValue, FieldClass, Format, Schema, StreamClassId};
use ltt_read::writer::{FieldValue, Record, TraceWriter, presets};
use serde_json::Value;

use crate::support::convert::run;

const CLASS: StreamClassId = StreamClassId(0);

/// Returns the schema of a tracer whose events have the ids and the name of their thread.
fn schema(domain: &str, [process, thread]: [&str; 2]) -> Schema {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    schema.env = vec![("domain".into(), EnvValue::Str(domain.to_owned()))];
    let int = || FieldClass::sint(32, ByteOrder::Little);
    let context = [(process, int()), (thread, int()), ("procname", presets::text_array(16))];
    schema.stream_classes[0].common_context = Some(Arc::new(FieldClass::structure(context)));
    schema
}

/// Returns the trace events of a file.
fn converted(dir: &Path) -> Vec<Value> {
    let output = dir.with_extension("json");
    let done = run(&["convert", dir.to_str().unwrap(), "-o", output.to_str().unwrap()]);
    assert_eq!(done.status, Some(0), "{done:?}");
    let json: Value = serde_json::from_slice(&fs::read(output).unwrap()).unwrap();
    json["traceEvents"].as_array().unwrap().clone()
}

/// Returns the names that a property gives, with the ids.
fn names(events: &[Value], property: &str) -> Vec<(i64, i64, String)> {
    let of = events.iter().filter(|event| event["name"] == property);
    let mut names: Vec<_> = of
        .map(|event| {
            let name = event["args"]["name"].as_str().unwrap().to_owned();
            (event["pid"].as_i64().unwrap(), event["tid"].as_i64().unwrap(), name)
        })
        .collect();
    names.sort();
    names
}

fn context([process, thread]: [&'static str; 2], pid: i32, tid: i32, name: &str) -> FieldValue {
    FieldValue::fields([
        (process, FieldValue::from(pid)),
        (thread, tid.into()),
        ("procname", name.into()),
    ])
}

#[test]
fn threads_of_user_space_have_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("ust");
    let ids = ["vpid", "vtid"];
    let mut schema = schema("ust", ids);
    let event = schema.add_event_type(CLASS, "e", FieldClass::structure([]));
    let writer = TraceWriter::create(&dir, schema).unwrap();
    let mut stream = writer.stream(CLASS, "c_0").unwrap();
    for (time, tid, name) in
        [(1, 40, "main"), (2, 41, "loader"), (3, 42, "main"), (4, 42, "painter")]
    {
        let common_context = context(ids, 40, tid, name);
        stream.record(Record { common_context, ..Record::new(event, time) }).unwrap();
    }
    stream.finish().unwrap();
    let events = converted(&dir);
    let named = |tid: i64, name: &str| (40, tid, name.to_owned());
    let expected = [named(40, "main"), named(41, "loader"), named(42, "painter")];
    assert_eq!(names(&events, "thread_name"), expected);
    assert_eq!(names(&events, "process_name"), [named(40, "main")]);
}

#[test]
fn system_calls_without_scheduling_events_are_on_the_threads_of_their_contexts() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("kernel");
    let ids = ["pid", "tid"];
    let mut schema = schema("kernel", ids);
    let int = || FieldClass::sint(64, ByteOrder::Little);
    let fields = FieldClass::structure([("fd", int())]);
    let entry = schema.add_event_type(CLASS, "syscall_entry_read", fields);
    let fields = FieldClass::structure([("ret", int())]);
    let exit = schema.add_event_type(CLASS, "syscall_exit_read", fields);
    let writer = TraceWriter::create(&dir, schema).unwrap();
    let mut stream = writer
        .stream(CLASS, "c_0")
        .unwrap()
        .with_packet_context(FieldValue::fields([("cpu_id", 0)]));
    let steps = [
        (entry, 200, "reader"),
        (entry, 300, "writer"),
        (exit, 200, "reader"),
        (exit, 300, "writer"),
    ];
    for (time, (event, tid, name)) in (1_u64..).zip(steps) {
        let common_context = context(ids, tid, tid, name);
        stream.record(Record { common_context, ..Record::new(event, time * 1000) }).unwrap();
    }
    stream.finish().unwrap();
    let events = converted(&dir);
    let of = |kind: &str| -> Vec<i64> {
        let events = events.iter().filter(|event| event["ph"] == kind);
        events.map(|event| event["tid"].as_i64().unwrap()).collect()
    };
    assert_eq!((of("B"), of("E")), (vec![200, 300], vec![200, 300]));
    // Which thread ran between the events is unknown.
    assert!(of("X").is_empty(), "{events:?}");
    let found = names(&events, "thread_name");
    for (tid, name) in [(200, "reader"), (300, "writer")] {
        assert!(found.contains(&(tid, tid, name.to_owned())), "{found:?}");
    }
}
