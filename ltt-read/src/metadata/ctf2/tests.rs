//! Tests of fragments, and of the errors of invalid ones.

use std::sync::Arc;

use super::{is_ctf2, parse};
use crate::metadata::Diagnostic;
use crate::schema::{
    BitOrder, ByteOrder, ClockOrigin, DisplayBase, Encoding, EnvValue, FieldClass, FieldKind,
    Length, LocationOrigin, PathStep, Role, Schema, Scope, Selector,
};

const PREAMBLE: &str = r#"{"type": "preamble", "version": 2}"#;
const STREAM: &str = r#"{"type": "data-stream-class"}"#;

fn text(fragments: &[&str]) -> String {
    fragments.iter().map(|f| format!("\u{1e}{f}\n")).collect()
}

fn schema(fragments: &[&str]) -> (Schema, Vec<Diagnostic>) {
    let mut warnings = Vec::new();
    let text = text(fragments);
    match parse(&text, &mut warnings) {
        Ok(schema) => (schema, warnings),
        Err(errors) => panic!("{errors:#?}"),
    }
}

/// Returns the error of a text and the part of the text at its span.
fn error(fragments: &[&str]) -> (Diagnostic, String) {
    let text = text(fragments);
    let error = parse(&text, &mut Vec::new()).unwrap_err().remove(0);
    let place = text[error.span.start as usize..error.span.end as usize].to_owned();
    (error, place)
}

/// Returns the class of the only payload member.
fn class(json: &str) -> FieldClass {
    let (mut schema, warnings) = schema(&[PREAMBLE, STREAM, &event_of(json)]);
    assert_eq!(warnings, []);
    let payload = schema.event_types.remove(0).payload.expect("a payload");
    FieldClass::clone(&payload.members()[0].class)
}

fn event_of(json: &str) -> String {
    format!(
        r#"{{"type": "event-record-class", "payload-field-class": {{"type": "structure",
            "member-classes": [{{"name": "m", "field-class": {json}}}]}}}}"#
    )
}

#[track_caller]
fn class_error(json: &str, place: &str, message: &str) {
    let (e, at) = error(&[PREAMBLE, STREAM, &event_of(json)]);
    assert!(e.message.contains(message), "{:?} lacks {message:?}", e.message);
    assert!(at.starts_with(place), "{at:?} does not begin with {place:?}");
}

#[test]
fn languages_are_detected() {
    assert!(is_ctf2("\u{1e}{}"));
    assert!(is_ctf2(" \n\u{1e}{}"));
    assert!(is_ctf2("{\"type\""), "so that the error tells of the missing separator");
    assert!(!is_ctf2("/* CTF 1.8 */"));
    assert!(!is_ctf2(""));
}

#[test]
fn trace_clock_and_streams() {
    let (schema, _) = schema(&[
        r#"{"type": "preamble", "version": 2,
            "uuid": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255]}"#,
        r#"{"type": "trace-class", "namespace": "n", "name": "t", "uid": "u",
            "environment": {"host": "h\u00e9", "low": -9223372036854775808,
                            "high": 18446744073709551615},
            "attributes": {"x": [1, {"y": null}]}}"#,
        r#"{"type": "clock-class", "id": "c", "frequency": 1000, "precision": 3, "accuracy": 4,
            "uid": "00010203-0405-0607-0809-0a0b0c0d0e0f", "origin": "unix-epoch",
            "offset-from-origin": {"seconds": -5, "cycles": 999}, "description": "d"}"#,
        r#"{"type": "clock-class", "id": "k", "frequency": 1,
            "origin": {"namespace": "a", "name": "b", "uid": "c"}}"#,
        r#"{"type": "clock-class", "id": "l", "frequency": 1}"#,
        r#"{"type": "data-stream-class", "id": 18446744073709551615, "name": "s",
            "default-clock-class-id": "k"}"#,
        r#"{"type": "event-record-class", "name": "e",
            "data-stream-class-id": 18446744073709551615, "id": 7,
            "attributes": {"lttng.org,2009": {"log-level": "debug:line", "emf-uri": "x:y"}}}"#,
    ]);
    assert_eq!(schema.uuid.unwrap().to_string(), "01020304-0506-0708-090a-0b0c0d0e0fff");
    assert_eq!(schema.identity.uid.as_deref(), Some("u"));
    assert_eq!(schema.env_str("host"), Some("hé"));
    assert_eq!(schema.env_int("low"), Some(i64::MIN));
    assert_eq!(schema.env("high"), Some(&EnvValue::Int(u64::MAX.into())));
    assert_eq!(schema.attributes.as_deref(), Some(r#"{"x": [1, {"y": null}]}"#));
    let [c, k, l] = &schema.clocks[..] else { panic!() };
    assert_eq!((c.offset_seconds, c.offset_cycles, c.frequency), (-5, 999, 1000));
    assert_eq!(
        (c.precision, c.accuracy, c.origin.clone()),
        (Some(3), Some(4), ClockOrigin::UnixEpoch)
    );
    assert_eq!(c.uuid.unwrap().to_string(), "00010203-0405-0607-0809-0a0b0c0d0e0f");
    assert!(matches!(&k.origin, ClockOrigin::Custom(i) if i.name.as_deref() == Some("b")));
    assert_eq!(l.origin, ClockOrigin::Unknown);
    let [stream] = &schema.stream_classes[..] else { panic!() };
    assert_eq!((stream.id, stream.default_clock), (u64::MAX, Some(1)));
    let [event] = &schema.event_types[..] else { panic!() };
    assert_eq!((event.id, event.name(), event.log_level), (7, "e", Some(13)));
    assert_eq!(event.emf_uri.as_deref(), Some("x:y"));
}

#[test]
fn fixed_length_classes() {
    let fixed = |bits: u32, order: &str, more: &str| {
        format!(r#""length": {bits}, "byte-order": "{order}-endian"{more}"#)
    };
    let le = fixed(13, "little", "");
    let FieldKind::BitArray(f) =
        class(&format!(r#"{{"type": "fixed-length-bit-array", {le}}}"#)).kind
    else {
        panic!()
    };
    assert_eq!((f.bits, f.byte_order, f.bit_order), (13, ByteOrder::Little, BitOrder::Natural));

    for (order, bits, expected) in [
        ("little", "first-to-last", BitOrder::Natural),
        ("little", "last-to-first", BitOrder::Reversed),
        ("big", "last-to-first", BitOrder::Natural),
        ("big", "first-to-last", BitOrder::Reversed),
    ] {
        let more = format!(r#", "bit-order": "{bits}", "alignment": 32"#);
        let json = format!(r#"{{"type": "fixed-length-boolean", {}}}"#, fixed(8, order, &more));
        let class = class(&json);
        let FieldKind::Bool(f, None) = class.kind else { panic!() };
        assert_eq!((f.bit_order, class.align), (expected, 32), "{json}");
    }

    let flags = fixed(8, "big", r#", "flags": {"a": [[0, 1], [7, 7]], "b": [[2, 2]]}"#);
    let FieldKind::BitMap(_, flags) =
        class(&format!(r#"{{"type": "fixed-length-bit-map", {flags}}}"#)).kind
    else {
        panic!()
    };
    assert_eq!((&*flags[0].name, &flags[0].ranges[..]), ("a", &[(0, 1), (7, 7)][..]));

    let more = r#", "preferred-display-base": 16, "roles": ["packet-magic-number", "data-stream-id"],
        "mappings": {"x": [[0, 18446744073709551615]]}"#;
    let json =
        format!(r#"{{"type": "fixed-length-unsigned-integer", {}}}"#, fixed(64, "big", more));
    let FieldKind::Integer(_, i) = class(&json).kind else { panic!() };
    assert!(!i.signed && i.roles.has(Role::PacketMagic) && i.roles.has(Role::StreamId));
    assert_eq!(i.base, DisplayBase::Hexadecimal);
    assert_eq!(i.mappings.unwrap()[0].ranges, [(0, u64::MAX.into())]);

    let mappings = r#", "mappings": {"x": [[-9223372036854775808, -1]]}"#;
    let json =
        format!(r#"{{"type": "fixed-length-signed-integer", {}}}"#, fixed(64, "big", mappings));
    let FieldKind::Integer(_, i) = class(&json).kind else { panic!() };
    assert!(i.signed);
    assert_eq!(i.mappings.unwrap()[0].ranges, [(i64::MIN.into(), -1)]);
}

#[test]
fn strings_blobs_and_arrays() {
    let FieldKind::String(s) =
        class(r#"{"type": "null-terminated-string", "encoding": "utf-16le"}"#).kind
    else {
        panic!()
    };
    assert_eq!((s.encoding, s.length), (Encoding::Utf16Le, None));
    let FieldKind::String(s) = class(r#"{"type": "static-length-string", "length": 0}"#).kind
    else {
        panic!()
    };
    assert_eq!(s.length, Some(Length::Static(0)));
    let FieldKind::Blob(b) =
        class(r#"{"type": "static-length-blob", "length": 16, "roles": ["metadata-stream-uuid"]}"#)
            .kind
    else {
        panic!()
    };
    assert!(b.roles.has(Role::Uuid) && b.media_type.is_none());

    let string = r#"{"type": "null-terminated-string"}"#;
    let array = class(&format!(
        r#"{{"type": "dynamic-length-array", "element-field-class": {string}, "minimum-alignment": 64,
             "length-field-location": {{"origin": "packet-context", "path": [null, "a", "b"]}}}}"#
    ));
    assert_eq!(array.align, 64);
    let FieldKind::Array(a) = array.kind else { panic!() };
    let Length::Dynamic(d) = a.length else { panic!() };
    assert_eq!(d.origin, LocationOrigin::Scope(Scope::PacketContext));
    assert_eq!(d.path[0], PathStep::Parent);
    assert_eq!(d.path[2], PathStep::Name("b".into()));
    assert_eq!(a.element.align, 8, "a string is byte-aligned");
}

#[test]
fn options_and_variants() {
    let string = r#"{"type": "null-terminated-string"}"#;
    let location = r#""selector-field-location": {"path": ["a"]}"#;
    let option = |more: &str| {
        format!(r#"{{"type": "optional", "field-class": {string}, {location}{more}}}"#)
    };
    let FieldKind::Option(o) = class(&option("")).kind else { panic!() };
    assert_eq!((o.present, o.selector.origin), (Selector::Bool, LocationOrigin::Parent));
    let FieldKind::Option(o) = class(&option(r#", "selector-field-ranges": [[-1, 5]]"#)).kind
    else {
        panic!()
    };
    assert_eq!(o.present, Selector::Ranges(vec![(-1, 5)]));
    let FieldKind::Variant(v) = class(&format!(
        r#"{{"type": "variant", {location}, "options": [
            {{"field-class": {string}, "selector-field-ranges": [[0, 0]]}},
            {{"name": "b", "field-class": {string}, "selector-field-ranges": [[1, 2], [4, 4]]}}]}}"#
    ))
    .kind
    else {
        panic!()
    };
    assert_eq!((v.options[0].name.as_deref(), v.options[1].name.as_deref()), (None, Some("b")));
    assert_eq!(v.options[1].ranges, [(1, 2), (4, 4)]);
}

#[test]
fn an_alias_is_one_class() {
    let alias = r#"{"type": "field-class-alias", "name": "s",
        "field-class": {"type": "null-terminated-string"}}"#;
    let event = event_of(r#""s""#).replace("}]", r#"}, {"name": "n", "field-class": "s"}]"#);
    let (schema, _) = schema(&[PREAMBLE, STREAM, alias, &event]);
    let payload = schema.event_types[0].payload.as_ref().unwrap();
    assert!(Arc::ptr_eq(&payload.members()[0].class, &payload.members()[1].class));
}

#[test]
fn unknown_roles_and_log_levels_are_warnings() {
    let role =
        event_of(r#"{"type": "variable-length-unsigned-integer", "roles": ["packet-magic"]}"#);
    let level = r#"{"type": "event-record-class", "id": 1,
        "attributes": {"babeltrace.org,2020": {"log-level": "loud"}}}"#;
    let header = r#"{"type": "data-stream-class", "event-record-header-field-class": {
        "type": "structure", "member-classes": [{"name": "id", "field-class": {
            "type": "variable-length-unsigned-integer", "roles": ["event-record-class-id"]}}]}}"#;
    let (_, warnings) = schema(&[PREAMBLE, header, &role, level]);
    let messages: Vec<_> = warnings.iter().map(|w| &w.message[..25]).collect();
    assert_eq!(
        messages,
        ["role ignored: expected `pa", "attribute ignored: expect"].map(|m| &m[..25])
    );
}

#[test]
fn spellings_of_drafts_are_accepted() {
    let (schema, _) = schema(&[
        PREAMBLE,
        r#"{"type": "trace-class", "uuid": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]}"#,
        r#"{"type": "clock-class", "name": "mono", "frequency": 1}"#,
        r#"{"type": "data-stream-class", "default-clock-class-name": "mono",
            "event-record-header-field-class": {"type": "structure", "member-classes": [
                {"name": "id", "field-class": {"type": "fixed-length-unsigned-enumeration",
                    "length": 8, "byte-order": "big-endian", "mappings": {"a": [[0, 1]]}}},
                {"name": "s", "field-class": {"type": "dynamic-length-string",
                    "length-field-location": ["event-record-header", "id"]}}]}}"#,
        r#"{"type": "event-record-class",
            "user-attributes": {"babeltrace.org,2020": {"log-level": "critical"}}}"#,
    ]);
    assert!(schema.uuid.is_some());
    let stream = &schema.stream_classes[0];
    assert_eq!(stream.default_clock, Some(0));
    let header = stream.event_header.as_ref().unwrap().members();
    assert_eq!(header[0].class.mappings().unwrap().len(), 1);
    let FieldKind::String(s) = &header[1].class.kind else { panic!() };
    let Some(Length::Dynamic(d)) = &s.length else { panic!() };
    assert_eq!(d.origin, LocationOrigin::Scope(Scope::EventHeader));
    assert_eq!(schema.event_types[0].log_level, Some(2));
}

#[test]
fn errors_in_classes_point_at_their_cause() {
    class_error("23", "23", "expected a field class");
    class_error("{}", "{}", "missing property `type`");
    class_error(r#""nope""#, "\"nope\"", "no earlier field class alias `nope`");
    class_error(r#"{"type": "structur"}"#, "\"structur\"", "found \"structur\"");
    let (e, _) = error(&[PREAMBLE, STREAM, &event_of(r#"{"type": "structur"}"#)]);
    assert_eq!(e.help.as_deref(), Some("did you mean `structure`?"));
    let contexts: Vec<_> = e.context.iter().map(|c| &*c.what).collect();
    assert_eq!(
        contexts,
        [
            "in `event-record-class` fragment",
            "in property `payload-field-class`",
            "in `structure` field class",
            "in member `m`",
            "in property `field-class`",
            "in property `type`"
        ]
    );
    let uint = |more: &str| {
        format!(
            r#"{{"type": "fixed-length-unsigned-integer", "byte-order": "little-endian"{more}}}"#
        )
    };
    class_error(&uint(""), "{", "missing property `length`");
    class_error(&uint(r#", "length": 65"#), "65", "1 to 64 bits");
    class_error(&uint(r#", "length": 8.0"#), "8.0", "unsigned 64-bit integer, found 8.0");
    class_error(&uint(r#", "length": 18446744073709551616"#), "18446744073709551616", "64-bit");
    class_error(
        &uint(r#", "length": 8, "length": 8"#),
        "\"length\"",
        "duplicate property `length`",
    );
    class_error(&uint(r#", "length": 8, "role": []"#), "\"role\"", "has no property `role`");
    class_error(&uint(r#", "length": 8, "alignment": 12"#), "12", "power of two");
    class_error(&uint(r#", "length": 8, "mappings": {"x": [[2, 1]]}"#), "[2, 1]", "2 is greater");
    class_error(&uint(r#", "length": 8, "mappings": {"x": [[-2, 1]]}"#), "-2", "unsigned");
    class_error(&uint(r#", "length": 8, "extensions": {"a": {}}"#), "{\"a\"", "extension `a`");
    let float = r#"{"type": "fixed-length-floating-point-number", "byte-order": "big-endian", "length": 33}"#;
    class_error(float, "33", "16, 32, 64 or 128");
    let twice = r#"{"type": "structure", "member-classes": [
        {"name": "a", "field-class": "x"}, {"name": "a", "field-class": "x"}]}"#;
    class_error(
        &twice.replace("\"x\"", r#"{"type": "structure"}"#),
        "\"a\"",
        "duplicate member `a`",
    );
}

#[test]
fn errors_in_fragments_point_at_their_cause() {
    let check = |fragments: &[&str], message: &str| {
        let (e, _) = error(fragments);
        assert!(e.message.contains(message), "{:?} lacks {message:?}", e.message);
    };
    check(&[], "missing preamble");
    check(&[STREAM], "must be the preamble");
    check(&[PREAMBLE], "missing `data-stream-class`");
    check(&[PREAMBLE, PREAMBLE], "duplicate preamble");
    check(&[r#"{"type": "preamble", "version": 3}"#], "expected version 2, found 3");
    check(&[r#"{"type": "preamble", "version": 2, "extensions": {"x": {}}}"#], "extension `x`");
    check(&[PREAMBLE, STREAM, STREAM], "duplicate data stream class id 0");
    check(
        &[PREAMBLE, r#"{"type": "data-stream-class", "default-clock-class-id": "c"}"#],
        "no earlier clock class",
    );
    check(
        &[PREAMBLE, r#"{"type": "event-record-class"}"#],
        "no earlier data stream class has the id 0",
    );
    let event = r#"{"type": "event-record-class"}"#;
    check(&[PREAMBLE, STREAM, event, event], "duplicate event record class id 0");
    check(
        &[PREAMBLE, STREAM, event, r#"{"type": "event-record-class", "id": 1}"#],
        "with the role `event-record-class-id`",
    );
    check(
        &[PREAMBLE, STREAM, r#"{"type": "data-stream-class", "id": 1}"#],
        "with the role `data-stream-class-id`",
    );
    check(&[PREAMBLE, r#"{"type": "clock-class", "id": "c", "frequency": 0}"#], "above 0");
    check(&[PREAMBLE, r#"{"type": "data-stream"}"#], "found \"data-stream\"");
    check(&[PREAMBLE, "[1, 2"], "not JSON");
    let no_separator = parse("{}\u{1e}{}", &mut Vec::new()).unwrap_err();
    assert!(no_separator[0].message.contains("record separator"));
}

#[test]
fn every_bad_event_record_class_is_reported() {
    let bad = |id: u32| format!(r#"{{"type": "event-record-class", "id": {id}, "x": 1}}"#);
    let text = text(&[PREAMBLE, STREAM, &bad(1), &bad(2), &bad(3)]);
    assert_eq!(parse(&text, &mut Vec::new()).unwrap_err().len(), 3);
}

#[test]
fn sizes_of_aliases_are_limited() {
    // Each alias contains the previous one, once or ten times.
    let nest = |i: usize, times: usize| {
        let member =
            |m: usize| format!(r#"{{"name": "m{m}", "field-class": "a{}"}}"#, i.wrapping_sub(1));
        let members: Vec<_> = (0..if i == 0 { 0 } else { times }).map(member).collect();
        format!(
            r#"{{"type": "field-class-alias", "name": "a{i}", "field-class": {{"type": "structure",
                "member-classes": [{}]}}}}"#,
            members.join(",")
        )
    };
    for (times, message) in [(1, "nested deeper"), (10, "parts")] {
        let fragments: Vec<_> = (0..10_000).map(|i| nest(i, times)).collect();
        let mut all = vec![PREAMBLE];
        all.extend(fragments.iter().map(|f| f.as_str()));
        let (e, _) = error(&all);
        assert!(e.message.contains(message), "{}", e.message);
    }
}

#[test]
fn a_text_with_everything_is_accepted() {
    let text = include_bytes!("../../../tests/data/everything.ctf2");
    let parsed = crate::metadata::parse(text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(parsed.warnings, []);
    assert!(parsed.schema.event_types.iter().any(|event| event.slots.0 > 4));
}
