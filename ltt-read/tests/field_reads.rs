//! Comparison of the fast ways to read a field with the general one, for all fields of
//! all events of the bundled trace.

use ltt_read::schema::{EventTypeId, FieldKind, Scope};
use ltt_read::{Field, Trace, TracefileIndex, Value};

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
