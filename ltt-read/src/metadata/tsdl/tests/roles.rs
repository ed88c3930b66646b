use super::*;
use crate::schema::{FieldKind, Role, Roles};

/// Abridged metadata of LTTng.
const LTTNG: &str = r#"
typealias integer { size = 8; } := uint8_t;
typealias integer { size = 32; } := uint32_t;
typealias integer { size = 64; } := uint64_t;
typealias integer { size = 5; align = 1; } := uint5_t;
trace { major = 1; minor = 8; byte_order = le;
    packet.header := struct {
        uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; uint64_t stream_instance_id;
    };
};
clock { name = "monotonic"; offset = 1; };
typealias integer { size = 27; align = 1; map = clock.monotonic.value; } := clock27_t;
typealias integer { size = 64; map = clock.monotonic.value; } := clock64_t;
struct packet_context {
    clock64_t timestamp_begin; clock64_t timestamp_end; uint64_t content_size;
    uint64_t packet_size; uint64_t packet_seq_num; uint64_t events_discarded; uint32_t cpu_id;
};
struct event_header_compact {
    enum : uint5_t { compact = 0 ... 30, extended = 31 } id;
    variant <id> {
        struct { clock27_t timestamp; } compact;
        struct { uint32_t id; clock64_t timestamp; } extended;
    } v;
} align(8);
stream { id = 0; event.header := struct event_header_compact;
    packet.context := struct packet_context; };
event { name = "e"; stream_id = 0; fields := struct { clock64_t _t; }; };
"#;

/// Returns the integers of a tree that have roles.
fn roles(class: &FieldClass) -> Vec<(String, Roles)> {
    fn visit(class: &FieldClass, path: &str, found: &mut Vec<(String, Roles)>) {
        match &class.kind {
            FieldKind::Integer(_, i) if !i.roles.is_empty() => {
                found.push((path.to_owned(), i.roles));
            }
            FieldKind::Array(a) if !a.roles.is_empty() => found.push((path.to_owned(), a.roles)),
            FieldKind::Struct(s) => {
                for m in &s.members {
                    visit(&m.class, &format!("{path}.{}", m.name), found);
                }
            }
            FieldKind::Variant(v) => {
                for o in &v.options {
                    visit(&o.class, &format!("{path}/{}", o.name.as_deref().unwrap()), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    visit(class, "", &mut found);
    found
}

fn expect(class: &Option<Arc<FieldClass>>, expected: &[(&str, Role)]) {
    let expected: Vec<_> =
        expected.iter().map(|(path, role)| (path.to_string(), Roles::from(*role))).collect();
    assert_eq!(roles(class.as_ref().unwrap()), expected);
}

#[test]
fn lttng() {
    let schema = schema(LTTNG);
    let stream = &schema.stream_classes[0];
    expect(
        &schema.packet_header,
        &[
            (".magic", Role::PacketMagic),
            (".uuid", Role::Uuid),
            (".stream_id", Role::StreamClassId),
            (".stream_instance_id", Role::StreamId),
        ],
    );
    expect(
        &stream.packet_context,
        &[
            (".timestamp_begin", Role::ClockTimestamp),
            (".timestamp_end", Role::PacketEndTimestamp),
            (".content_size", Role::PacketContentLength),
            (".packet_size", Role::PacketTotalLength),
            (".packet_seq_num", Role::PacketSequence),
            (".events_discarded", Role::DiscardedEvents),
        ],
    );
    expect(
        &stream.event_header,
        &[
            (".id", Role::EventTypeId),
            (".v/compact.timestamp", Role::ClockTimestamp),
            (".v/extended.id", Role::EventTypeId),
            (".v/extended.timestamp", Role::ClockTimestamp),
        ],
    );
    expect(&schema.event_types[0].payload, &[]);
    assert_eq!(stream.default_clock, Some(0));
    assert_eq!(stream.event_header.as_ref().unwrap().align, 8);
}

const UNMAPPED: &str = "stream {
    packet.context := struct { integer { size = 64; } timestamp_begin;
                               integer { size = 64; } timestamp_end; };
    event.header := struct { integer { size = 32; } timestamp; };
};";

#[test]
fn unmapped_timestamps_take_the_only_clock() {
    for (clocks, name) in [("clock { name = c; };", "c"), ("", "default")] {
        let schema = schema(&format!("{TRACE}{UNMAPPED}{clocks}"));
        let stream = &schema.stream_classes[0];
        assert_eq!(&*schema.clocks[stream.default_clock.unwrap() as usize].name, name);
        expect(
            &stream.packet_context,
            &[
                (".timestamp_begin", Role::ClockTimestamp),
                (".timestamp_end", Role::PacketEndTimestamp),
            ],
        );
        expect(&stream.event_header, &[(".timestamp", Role::ClockTimestamp)]);
    }
    let two = format!("{TRACE}{UNMAPPED}clock {{ name = c; }}; clock {{ name = d; }};");
    let (schema, warnings) = accept(&two);
    assert_eq!(schema.stream_classes[0].default_clock, None);
    expect(&schema.stream_classes[0].event_header, &[]);
    assert_eq!(warnings.len(), 1);
}

#[test]
fn enumerations_keep_the_clock_of_their_container() {
    let schema = schema(&format!(
        "{TRACE}clock {{ name = c; }}; clock {{ name = d; }}; stream {{ event.header := struct {{
         enum : integer {{ size = 8; map = clock.d.value; }} {{ A }} t; }}; }};"
    ));
    assert_eq!(schema.stream_classes[0].default_clock, Some(1));
    expect(&schema.stream_classes[0].event_header, &[(".t", Role::ClockTimestamp)]);
}

#[test]
fn a_magic_number_has_to_be_an_unsigned_integer_of_32_bits() {
    for class in ["string", "integer { size = 16; }", "integer { size = 32; signed = true; }"] {
        let text = format!(
            "trace {{ major = 1; minor = 8; byte_order = le;\n packet.header := struct {{
             struct {{ string magic; }} inner; // magic
             {class} _magic; }}; }};"
        );
        let column = 15 + class.len() as u32;
        let message = "the packet's `magic` must be an unsigned integer of 32 bits".to_owned();
        assert_eq!(errors_of(&text), [(4, column, message.clone())]);
        // For a type that is declared elsewhere, the span is that of its use.
        let text = format!(
            "struct header {{ {class} magic; }};\ntrace {{ major = 1; minor = 8; byte_order = le;
             packet.header := struct header; }};"
        );
        assert_eq!(errors_of(&text), [(3, 31, message)]);
    }
}

#[test]
fn members_of_unsuitable_type_have_no_role() {
    let (schema, warnings) = accept(
        "trace { major = 1; minor = 8; byte_order = le; packet.header := struct {
            integer { size = 16; } uuid[16]; integer { size = 8; signed = 1; } stream_id;
            string stream_instance_id; }; };
         stream { packet.context := struct { string packet_size; }; };",
    );
    expect(&schema.packet_header, &[]);
    expect(&schema.stream_classes[0].packet_context, &[]);
    assert_eq!(warnings.len(), 4);
}
