use super::*;
use crate::schema::{ByteOrder, ClockOrigin, EnvValue};

#[test]
fn trace_and_late_byte_order() {
    let schema = schema(
        "/* CTF 1.8 */\r\n typealias integer { size = 16; } := u16;\r\n\
         event { name = e; fields := struct { u16 a; }; };\r\n\
         trace { minor = 8; major = 1; uuid = \"2a6422d0-6cee-11e0-8c08-cb07d7b3a564\";\r\n\
         byte_order = be; }; // end",
    );
    assert_eq!(schema.native_byte_order, ByteOrder::Big);
    assert_eq!(schema.uuid.unwrap().to_string(), "2a6422d0-6cee-11e0-8c08-cb07d7b3a564");
    let payload = schema.event_types[0].payload.as_ref().unwrap();
    assert_eq!(*payload.members()[0].class, FieldClass::uint(16, ByteOrder::Big));
}

#[test]
fn environment() {
    let (schema, warnings) = accept(&format!(
        r#"{TRACE}env {{ a = -9223372036854775808; b = 0xFFFFFFFFFFFFFFFF; c = "x\ty"; event = 1;
        a = 2; d = word; }};"#
    ));
    assert_eq!(schema.env("b"), Some(&EnvValue::Int(u64::MAX.into())));
    assert_eq!(schema.env_str("c"), Some("x\ty"));
    assert_eq!((schema.env_int("event"), schema.env_int("a")), (Some(1), Some(2)));
    assert_eq!(schema.env_str("d"), Some("word"));
    assert_eq!(warnings.len(), 2);
}

#[test]
fn clocks() {
    let schema = schema(&format!(
        r#"{TRACE}clock {{ name = "c"; uuid = "2a6422d0-6cee-11e0-8c08-cb07d7b3a564";
        description = "d"; freq = 1000; precision = 5; offset_s = -23; offset = 7;
        absolute = FALSE; }}; clock {{ name = d; }}; clock {{ name = e; absolute = true; }};
        clock {{ name = f; freq = 10; offset = 18446744073709551615; }};"#
    ));
    let [c, d, e, f] = schema.clocks.as_slice() else { panic!() };
    assert_eq!((&*c.name, c.frequency, c.precision), ("c", 1000, Some(5)));
    assert_eq!((c.offset_seconds, c.offset_cycles), (-23, 7));
    assert_eq!(c.origin, ClockOrigin::UnixEpoch, "an offset counts from the epoch");
    assert!(c.uuid.is_some() && c.description.as_deref() == Some("d"));
    assert_eq!((d.frequency, &d.origin), (1_000_000_000, &ClockOrigin::Unknown));
    assert_eq!(e.origin, ClockOrigin::UnixEpoch);
    assert_eq!((f.offset_seconds, f.offset_cycles), (1_844_674_407_370_955_161, 5));
}

#[test]
fn events_find_their_streams() {
    let schema = schema(&format!(
        r#"{TRACE}
        event {{ name = "a"; id = 3; stream_id = 1; loglevel = -2; model.emf.uri = "u";
                 context := struct {{ string x; }}; }};
        stream {{ id = 1; }}; stream {{ id = 0; event.context := struct {{ string y; }}; }};
        event {{ name = b; stream_id = 0; }}; event {{ name = c; id = 1; stream_id = 0; }};
        event {{ name = stream; id = 3; stream_id = 0; }};
        callsite {{ name = "a"; func = "f"; file = "f.c"; line = 3; ip = 0x40; }};"#
    ));
    let events = schema.event_types.iter().map(|e| (e.name(), e.id, e.stream.index()));
    let events: Vec<_> = events.collect();
    assert_eq!(events, [("a", 3, 0), ("b", 0, 1), ("c", 1, 1), ("stream", 3, 1)]);
    let a = &schema.event_types[0];
    assert_eq!((a.log_level, a.emf_uri.as_deref()), (Some(-2), Some("u")));
    assert!(a.specific_context.is_some() && a.payload.is_none());
    assert!(schema.stream_classes[1].common_context.is_some());
}

#[test]
fn a_single_stream_needs_no_block_or_id() {
    let event = "event { name = e; fields := struct { string s; }; };";
    assert_eq!(schema(&format!("{TRACE}{event}")).stream_classes[0].id, 0);
    let only = schema(&format!("{TRACE}stream {{ id = 5; }}; {event}"));
    assert_eq!(only.event_types[0].stream.index(), 0);
    assert!(schema(TRACE).stream_classes.is_empty());
}

#[test]
fn unknown_attributes_cause_warnings() {
    let (_, warnings) = accept(
        r#"trace { major = 1; minor = 8; byte_order = le; x = "y"; };
        clock { name = c; x = 1; }; stream { x.y = 1; };
        event { name = e; z := struct { string a; }; fields := struct {
            integer { size = 8; x = y; } a; string { x = 1; } b; }; };"#,
    );
    assert_eq!(
        warnings,
        [
            "unknown attribute `x` of `trace`: ignored",
            "unknown attribute `x` of `clock`: ignored",
            "unknown attribute `x.y` of `stream`: ignored",
            "unknown attribute `z` of `event`: ignored",
            "unknown attribute `x` of `integer`: ignored",
            "unknown attribute `x` of `string`: ignored",
        ]
    );
}

#[test]
fn types_declared_in_blocks() {
    let schema = schema(
        ";trace { typealias string := s; major = 1;; minor = 8; byte_order = le;
           packet.header := struct { s a; }; };;
         event { name = e; struct t { string x; }; fields := struct { struct t b; }; };",
    );
    assert_eq!(names(schema.packet_header.as_ref().unwrap()), ["a"]);
    assert_eq!(names(schema.event_types[0].payload.as_ref().unwrap()), ["b"]);
}
