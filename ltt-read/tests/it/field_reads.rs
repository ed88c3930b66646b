//! Comparison of the fast ways to read fields with the general ones.

use crate::support::config::cases;
use ltt_read::schema::{EventTypeId, FieldKind, Scope};
use ltt_read::tuning::KeyFields;
use ltt_read::{Field, Trace, TracefileIndex, Value};
use proptest::prelude::*;

#[test]
fn fast_reads_agree_with_general_ones() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
    let trace = Trace::open(path).expect("a trace");
    let fields = |id: EventTypeId| -> Vec<Field> {
        let payload = trace.event_type(id).payload.as_ref();
        let Some(FieldKind::Struct(payload)) = payload.map(|payload| &payload.kind) else {
            return Vec::new();
        };
        let names = payload.members.iter().map(|member| &member.name);
        names.filter_map(|name| trace.field(id, Scope::Payload, name)).collect()
    };
    let types = (0..trace.schema().event_types.len() as u32).map(EventTypeId);
    let fields: Vec<_> = types.map(fields).collect();
    let (mut integers, mut words, mut texts) = (0, 0, 0);
    for number in 0..trace.tracefiles().len() {
        let mut cursor = trace.cursor(TracefileIndex(number));
        while let Some(event) = cursor.next().expect("sound data") {
            for field in &fields[event.type_id().index()] {
                let value = event.get(field).expect("its type has it");
                match value {
                    Value::Uint(_) | Value::Sint(_) if field.is_plain_integer() => {
                        let expected = match value {
                            Value::Uint(value) => value,
                            _ => value.as_i64().expect("an integer") as u64,
                        };
                        assert_eq!(event.integer(field), Some(expected), "{field:?}");
                        integers += 1;
                        words += u32::from(expected > u64::MAX >> 7);
                    }
                    Value::Str(text) => {
                        let Some(bytes) = event.bytes(field) else { continue };
                        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
                        assert_eq!(&bytes[..end], text.bytes, "{field:?}");
                        let read = event.text(field);
                        assert_eq!(read.is_some(), field.is_plain_text(), "{field:?}");
                        assert!(read.is_none_or(|read| read == text.bytes), "{field:?}");
                        texts += 1;
                    }
                    _ => assert_eq!(event.bytes(field), None, "{field:?}"),
                }
            }
        }
    }
    assert!(integers > 1000 && words > 100 && texts > 100, "{integers} {words} {texts}");
}

/// Integers of all kinds, also in a variant, whose events have 29 bytes each.
const INTEGERS: &str = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
    typealias integer { size = 8; align = 8; signed = false; } := u8;
    typealias integer { size = 16; align = 8; signed = false; byte_order = be; } := n16;
    typealias integer { size = 32; align = 8; signed = false; byte_order = be; } := n32;
    typealias integer { size = 64; align = 8; signed = false; byte_order = be; } := n64;
    typealias integer { size = 32; align = 8; signed = true; } := s32;
    typealias integer { size = 16; align = 8; signed = true; byte_order = be; } := sn16;
    typealias integer { size = 4; align = 1; signed = false; byte_order = be; } := n4;
    typealias integer { size = 12; align = 1; signed = false; byte_order = be; } := n12;
    stream { };
    event { name = \"integers\"; fields := struct {
        u8 a; n16 b; u8 address[3];
        enum : u8 { _first = 0 ... 127, _second = 128 ... 255 } choice;
        variant <choice> {
            struct { n32 x; n32 y; } _first;
            struct { s32 z; n4 p; n12 q; sn16 r; } _second;
        } of;
        u8 text[4]; n64 long; sn16 last; }; };";
const PATHS: [&str; 16] = [
    "a",
    "b",
    "address[0]",
    "address[1]",
    "address[2]",
    "of.first.x",
    "of.first.y",
    "of.second.z",
    "of.second.p",
    "of.second.q",
    "of.second.r",
    "text[0]",
    "text[1]",
    "text[3]",
    "long",
    "last",
];

proptest! {
    #![proptest_config(cases(300))]

    /// A key consists of the values of its fields, and exists if all of them do.
    #[test]
    fn keys_contain_the_values(
        events in prop::collection::vec(prop::collection::vec(any::<u8>(), 29), 1..20),
        wanted in prop::collection::vec((0..PATHS.len(), 1..=8_usize), 0..12),
        in_order: bool,
    ) {
        let data = events.concat();
        let trace = Trace::from_memory(INTEGERS.as_bytes(), [("stream".to_owned(), data)]).unwrap();
        let mut wanted = wanted;
        if in_order {
            wanted.sort_unstable();
        }
        let field = |path: &str| trace.field(EventTypeId(0), Scope::Payload, path).expect(path);
        let fields: Vec<_> = wanted.iter().map(|(path, bytes)| (field(PATHS[*path]), *bytes)).collect();
        let keys = KeyFields::new(fields.iter().map(|(field, bytes)| (field, *bytes))).unwrap();
        let mut cursor = trace.cursor(TracefileIndex(0));
        let mut count = 0;
        while let Some(event) = cursor.next().expect("sound data") {
            let mut expected = vec![1];
            let add = |(field, bytes): &(Field, usize)| {
                expected.extend_from_slice(&event.integer(field)?.to_be_bytes()[8 - bytes..]);
                Some(())
            };
            let is_there = fields.iter().map(add).collect::<Option<()>>().is_some();
            let mut key = vec![1];
            prop_assert_eq!(event.key(&keys, &mut key), is_there);
            prop_assert_eq!(key, if is_there { expected } else { vec![1] });
            count += 1;
        }
        prop_assert_eq!(count, events.len());
    }
}

#[test]
fn keys_consist_of_integers_of_one_type() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
    let trace = Trace::open(path).expect("a trace");
    let field = |name, path| {
        let id = trace.event_types_named(name).next().expect("an event type");
        trace.field(id, Scope::Payload, path).expect("a field")
    };
    let (tid, text) = (field("sched_switch", "prev_tid"), field("sched_switch", "prev_comm"));
    let other = field("sched_waking", "tid");
    assert!(KeyFields::new([(&tid, 4), (&tid, 8)]).is_some());
    for fields in
        [[(&tid, 4), (&text, 4)], [(&tid, 4), (&other, 4)], [(&tid, 4), (&tid, 0)], [(&tid, 9); 2]]
    {
        assert!(KeyFields::new(fields).is_none());
    }
    let header = trace.field(tid.event_type(), Scope::EventHeader, "id").expect("a field");
    assert!(KeyFields::new([(&header, 4)]).is_none());
}
