//! Schemas of CTF 2 as those of CTF 1.8: what the other format can express is kept.

use std::path::Path;
use std::sync::Arc;

use ltt_read::schema::{Format, Scope};
use ltt_read::writer::{
    FieldValue, MemoryTrace, Record, Retargeted, StreamCopier, Transfer, metadata_text,
};
use ltt_read::{Event, Trace, TracefileIndex, metadata};

/// Returns the metadata of a trace with one stream class and one event type `e`.
fn parsed(trace: &str, stream: &str, event: &str) -> metadata::Parsed {
    let text = [
        r#"{"type": "preamble", "version": 2}"#,
        &format!(r#"{{"type": "trace-class"{trace}}}"#),
        &format!(r#"{{"type": "data-stream-class"{stream}}}"#),
        &format!(r#"{{"type": "event-record-class", "name": "e"{event}}}"#),
    ]
    .map(|fragment| format!("\u{1e}{fragment}"))
    .concat();
    metadata::parse(text.as_bytes()).unwrap()
}

/// Writes one record in CTF 2, and converts it.
fn converted(schema: ltt_read::schema::Schema, record: Record) -> (Arc<Trace>, Vec<String>) {
    let Retargeted { schema: target, changes, .. } = Retargeted::new(&schema, Format::Ctf1);
    metadata_text(&target).unwrap();
    let mut source = MemoryTrace::new(schema);
    let mut stream = source.stream(ltt_read::schema::StreamClassId(0), "stream").unwrap();
    stream.record(record).unwrap();
    source.add(stream).unwrap();
    let source = source.open().unwrap();

    let transfer = Arc::new(Transfer::new(&source, target));
    let mut target = MemoryTrace::new(transfer.target().clone());
    let stream = target.stream(ltt_read::schema::StreamClassId(0), "stream").unwrap();
    let mut copier = StreamCopier::new(&transfer, ltt_read::schema::StreamClassId(0), stream);
    let mut cursor = source.cursor(TracefileIndex(0));
    while let Some(event) = cursor.next().unwrap() {
        assert!(copier.event(&event).unwrap());
    }
    target.add(copier.into_stream().unwrap()).unwrap();
    (target.open().unwrap(), changes)
}

const INTEGER: &str = r#""type": "fixed-length-unsigned-integer", "length": 8, "alignment": 8,
    "byte-order": "little-endian""#;

#[test]
fn a_variant_has_its_selector_in_another_scope() {
    let context = format!(
        r#", "event-record-common-context-field-class": {{"type": "structure", "member-classes": [
            {{"name": "tag", "field-class": {{{INTEGER},
                "mappings": {{"number": [[1, 1]], "text": [[2, 9]]}}}}}}]}}"#
    );
    let payload = format!(
        r#", "payload-field-class": {{"type": "structure", "member-classes": [
            {{"name": "v", "field-class": {{"type": "variant",
                "selector-field-location":
                    {{"origin": "event-record-common-context", "path": ["tag"]}},
                "options": [
                    {{"name": "number", "selector-field-ranges": [[1, 1]],
                        "field-class": {{{INTEGER}}}}},
                    {{"name": "text", "selector-field-ranges": [[2, 9]],
                        "field-class": {{"type": "null-terminated-string"}}}}]}}}}]}}"#
    );
    let schema = parsed("", &context, &payload).schema;
    let record = Record {
        common_context: FieldValue::fields([("tag", 7)]),
        payload: FieldValue::fields([("v", FieldValue::variant(1, "seven"))]),
        ..Record::new(ltt_read::schema::EventTypeId(0), 0)
    };
    let (trace, changes) = converted(schema, record);
    assert!(changes.is_empty(), "{changes:?}");
    let mut cursor = trace.cursor(TracefileIndex(0));
    let event = cursor.next().unwrap().unwrap();
    let text = event.field("v").and_then(|value| value.as_str()?.to_str()).unwrap();
    assert_eq!(text, "seven");
}

#[test]
fn a_role_in_a_nested_structure_is_dropped() {
    let header = format!(
        r#", "packet-header-field-class": {{"type": "structure", "member-classes": [
            {{"name": "stream_id", "field-class": {{{INTEGER},
                "roles": ["data-stream-class-id"]}}}},
            {{"name": "s", "field-class": {{"type": "structure", "member-classes": [
                {{"name": "stream_id", "field-class": {{{INTEGER},
                    "roles": ["data-stream-class-id"]}}}}]}}}}]}}"#
    );
    let payload = format!(
        r#", "payload-field-class": {{"type": "structure", "member-classes": [
            {{"name": "x", "field-class": {{{INTEGER}}}}}]}}"#
    );
    let schema = parsed(&header, "", &payload).schema;
    let record = Record {
        payload: FieldValue::fields([("x", 5)]),
        ..Record::new(ltt_read::schema::EventTypeId(0), 0)
    };
    let (trace, changes) = converted(schema, record);
    assert_eq!(changes, ["packet header.s.stream_id: role dropped"]);
    let mut cursor = trace.cursor(TracefileIndex(0));
    let event = cursor.next().unwrap().unwrap();
    assert_eq!(event.field("x").unwrap().as_u64(), Some(5));
}

/// Returns the description of a payload of a selector and a field that depends on it.
fn with_selector(selector: &str, dependent: &str) -> String {
    format!(
        r#", "payload-field-class": {{"type": "structure", "member-classes": [
            {{"name": "sel", "field-class": {{{selector}}}}},
            {{"name": "f", "field-class": {{{dependent},
                "selector-field-location": {{"path": ["sel"]}}}}}},
            {{"name": "after", "field-class": {{{INTEGER}}}}}]}}"#
    )
}

/// Returns the value of an enumeration and its label.
fn labelled(event: &Event<'_>, name: &str) -> (i128, String) {
    let value = event.field(name).unwrap();
    let value = value.as_u64().map_or_else(|| value.as_i64().unwrap().into(), i128::from);
    let field = event.trace().field(event.type_id(), Scope::Payload, name).unwrap();
    let label = field.info().labels(value).next().expect("a label");
    (value, label.to_owned())
}

#[test]
fn a_selector_becomes_an_enumeration() {
    // Options whose names are no identifiers, are equal as such, and are missing.
    let variant = format!(
        r#""type": "variant", "options": [
            {{"name": "a b", "selector-field-ranges": [[1, 1], [5, 6]], "field-class": {{{INTEGER}}}}},
            {{"name": "a_b", "selector-field-ranges": [[2, 3]], "field-class": {{"type": "structure"}}}},
            {{"selector-field-ranges": [[7, 255]],
                "field-class": {{"type": "null-terminated-string"}}}}]"#
    );
    let schema = parsed("", "", &with_selector(INTEGER, &variant)).schema;
    for (selector, option, label, content) in [
        (6_u64, 0, "a_b", FieldValue::from(9)),
        (2, 1, "option_1", FieldValue::Struct(Vec::new())),
        (255, 2, "option_2", FieldValue::from("text")),
    ] {
        let fields = [
            ("sel", FieldValue::from(selector)),
            ("f", FieldValue::variant(option, content)),
            ("after", FieldValue::from(77)),
        ];
        let payload = FieldValue::fields(fields);
        let record = Record { payload, ..Record::new(ltt_read::schema::EventTypeId(0), 0) };
        let (trace, changes) = converted(schema.clone(), record);
        assert_eq!(
            changes,
            ["e.sel: integer becomes an enumeration, since other fields depend on it"]
        );
        let mut cursor = trace.cursor(TracefileIndex(0));
        let event = cursor.next().unwrap().unwrap();
        assert_eq!(labelled(&event, "sel"), (selector.into(), label.to_owned()));
        match option {
            0 => assert_eq!(event.field("f").unwrap().as_u64(), Some(9)),
            2 => assert_eq!(event.field("f").unwrap().as_str().unwrap().to_str(), Some("text")),
            _ => {}
        }
        assert_eq!(event.field("after").unwrap().as_u64(), Some(77));
    }
}

#[test]
fn an_option_that_depends_on_an_integer_becomes_a_variant() {
    const SIGNED: &str = r#""type": "fixed-length-signed-integer", "length": 16, "alignment": 8,
        "byte-order": "big-endian""#;
    const VARIABLE: &str = r#""type": "variable-length-unsigned-integer""#;
    let option = |ranges: &[[i64; 2]]| {
        format!(
            r#""type": "optional", "field-class": {{{INTEGER}}}, "selector-field-ranges": {ranges:?}"#
        )
    };
    for (selector, ranges, values) in [
        (INTEGER, [[1, 1], [4, 255]].as_slice(), [0, 1, 2, 3, 4, 255].as_slice()),
        (INTEGER, &[[0, 255]], &[0, 255]),
        (SIGNED, &[[-5, 3], [2, 9]], &[-32768, -6, -5, 2, 9, 10, 32767]),
        (SIGNED, &[[-32768, -1]], &[-32768, -1, 0, 32767]),
        (VARIABLE, &[[0, 7]], &[0, 7, 8, i64::MAX]),
    ] {
        let schema = parsed("", "", &with_selector(selector, &option(ranges))).schema;
        for value in values {
            let is_present = ranges.iter().any(|[from, to]| (from..=to).contains(&value));
            let content = is_present.then(|| Box::new(FieldValue::from(9)));
            let fields = [
                ("sel", FieldValue::from(*value)),
                ("f", FieldValue::Option(content)),
                ("after", FieldValue::from(77)),
            ];
            let payload = FieldValue::fields(fields);
            let record = Record { payload, ..Record::new(ltt_read::schema::EventTypeId(0), 0) };
            let (trace, changes) = converted(schema.clone(), record);
            assert!(
                changes.iter().any(|line| line == "e.f: option becomes a variant"),
                "{changes:?}"
            );
            let mut cursor = trace.cursor(TracefileIndex(0));
            let event = cursor.next().unwrap().unwrap();
            let expected = if is_present { "present" } else { "absent" };
            assert_eq!(labelled(&event, "sel"), ((*value).into(), expected.to_owned()));
            assert_eq!(event.field("f").and_then(|f| f.as_u64()), is_present.then_some(9));
            assert_eq!(event.field("after").unwrap().as_u64(), Some(77));
        }
    }
}

#[test]
fn what_follows_a_dropped_scope_stays() {
    let context = format!(
        r#", "event-record-common-context-field-class": {{"type": "structure", "member-classes": [
            {{"name": "len", "field-class": {{{INTEGER}}}}},
            {{"name": "s", "field-class": {{"type": "dynamic-length-string", "encoding": "utf-16le",
                "length-field-location":
                    {{"origin": "event-record-common-context", "path": ["len"]}}}}}}]}}"#
    );
    let payload = format!(
        r#", "payload-field-class": {{"type": "structure", "member-classes": [
            {{"name": "x", "field-class": {{{INTEGER}}}}}]}}"#
    );
    let schema = parsed("", &context, &payload).schema;
    let record = Record {
        common_context: FieldValue::fields([
            ("len", FieldValue::from(2)),
            ("s", FieldValue::Bytes(b"a\0".to_vec())),
        ]),
        payload: FieldValue::fields([("x", 5)]),
        ..Record::new(ltt_read::schema::EventTypeId(0), 0)
    };
    let (trace, changes) = converted(schema, record);
    assert_eq!(changes.len(), 1, "{changes:?}");
    let mut cursor = trace.cursor(TracefileIndex(0));
    let event = cursor.next().unwrap().unwrap();
    assert_eq!(event.field("x").unwrap().as_u64(), Some(5));
}

#[test]
fn shared_traces_lose_nothing_else_than_told() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces/ctf");
    if !shared.is_dir() {
        return eprintln!("SKIPPED: there is no ../shared/traces/ctf");
    }
    for (name, expected) in [
        ("yac2a-pass-all-basic-features-be", &["unique id", "name", "unique id"][..]),
        ("yac2a-pass-multiple-dst-id-fl-ints", &["role"]),
    ] {
        let trace = Trace::open(shared.join(name)).unwrap();
        let Retargeted { schema, changes, .. } = Retargeted::new(trace.schema(), Format::Ctf1);
        metadata_text(&schema).unwrap();
        let told: Vec<_> = changes
            .iter()
            .filter_map(|line| line.split(": ").last()?.strip_suffix(" dropped"))
            .collect();
        assert_eq!(told, expected, "{changes:?}");
    }
}
