//! Comparison of the trace writer with bytes computed by hand.

use std::sync::Arc;

use ltt_read::schema::ByteOrder::{Big, Little};
use ltt_read::schema::*;
use ltt_read::writer::{FieldValue, Record, StreamWriter, WriteError, metadata_text, presets};

const HEADER_BYTES: usize = 32;
const CONTEXT_BYTES: usize = 52;
const EVENTS: usize = HEADER_BYTES + CONTEXT_BYTES;

fn stream(schema: &Arc<Schema>) -> StreamWriter<Vec<u8>> {
    StreamWriter::new(schema.clone(), StreamClassId(0), "memory", Vec::new()).unwrap()
}

fn kernel_with(payload: FieldClass) -> (Arc<Schema>, EventTypeId) {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let event = schema.add_event_type(StreamClassId(0), "event", payload);
    (Arc::new(schema), event)
}

/// Returns a schema of one event type with empty headers.
fn bare(format: Format, payload: FieldClass) -> Arc<Schema> {
    let mut schema = Schema::new(format);
    schema.stream_classes.push(StreamClass::new(0));
    schema.add_event_type(StreamClassId(0), "event", payload);
    Arc::new(schema)
}

fn bare_bytes(schema: &Arc<Schema>, payload: FieldValue) -> Result<Vec<u8>, WriteError> {
    let mut stream = stream(schema);
    stream.event(EventTypeId(0), 0, payload)?;
    stream.finish()
}

fn problem(result: Result<Vec<u8>, WriteError>) -> (String, String) {
    match result {
        Err(WriteError::Value { place, problem }) => (place, problem),
        other => panic!("expected a misfit, found {other:?}"),
    }
}

#[test]
fn a_packet_of_lttng() {
    let (schema, event) = kernel_with(FieldClass::structure([("a", FieldClass::uint(16, Little))]));
    let mut stream =
        stream(&schema).with_stream_id(3).with_packet_context(FieldValue::fields([("cpu_id", 3)]));
    stream.set_discarded(7);
    stream.begin_packet(1000).unwrap();
    stream.event(event, 1001, FieldValue::fields([("a", 0x0102)])).unwrap();
    stream.event(event, 2000, FieldValue::fields([("a", 0x0304)])).unwrap();
    stream.end_packet(3000).unwrap();
    let bytes = stream.finish().unwrap();
    let content = EVENTS + 2 * 6;
    assert_eq!(bytes.len(), content);

    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    assert_eq!(word(0), 0xc1fc_1fc1);
    assert_eq!(bytes[4..20], schema.uuid.unwrap().0);
    assert_eq!((word(20), long(24)), (0, 3));
    let context: Vec<u64> = (0..6).map(|i| long(HEADER_BYTES + i * 8)).collect();
    let bits = content as u64 * 8;
    assert_eq!(context, [1000, 3000, bits, bits, 0, 7]);
    assert_eq!(word(HEADER_BYTES + 48), 3);
    assert_eq!(word(EVENTS), 1001 << 5);
    assert_eq!(bytes[EVENTS + 4..EVENTS + 6], [2, 1]);
    assert_eq!(word(EVENTS + 6), 2000 << 5);
    assert_eq!(bytes[EVENTS + 10..], [4, 3]);
}

#[test]
fn large_ids_and_distances_take_an_extended_header() {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let payload = || FieldClass::structure([("a", FieldClass::uint(8, Little))]);
    let small = schema.add_event_type(StreamClassId(0), "small", payload());
    let great = schema.add_event_type(StreamClassId(0), "great", payload());
    schema.event_types[great.index()].id = 31;
    let mut stream = stream(&Arc::new(schema));
    stream.event(great, 5, FieldValue::Auto).unwrap();
    stream.event(small, 5 + (1 << 27) - 1, FieldValue::Auto).unwrap();
    stream.event(small, 5 + (1 << 28) - 1, FieldValue::Auto).unwrap();
    let bytes = stream.finish().unwrap();
    let extended = |id: u32, timestamp: u64| {
        // The selector is alone in its byte, followed by id and timestamp.
        [&[31][..], &id.to_le_bytes(), &timestamp.to_le_bytes(), &[0]].concat()
    };
    // The low 27 bits of 2^27 + 4 are 4: the fourth timestamp is 4, after a wrap.
    let compact = [&(4u32 << 5).to_le_bytes()[..], &[0]].concat();
    let expected = [extended(31, 5), compact, extended(0, 5 + (1 << 28) - 1)].concat();
    assert_eq!(bytes[EVENTS..], expected);
}

#[test]
fn packets_switch_at_the_limit() {
    let (schema, event) = kernel_with(FieldClass::structure([("a", FieldClass::uint(64, Little))]));
    let mut stream = stream(&schema).with_packet_limit(EVENTS as u64 + 30).with_padding();
    let mut packets = Vec::new();
    for i in 0..5 {
        stream.event(event, 100 + i, FieldValue::fields([("a", i)])).unwrap();
        packets.extend(stream.last_packet().copied());
    }
    stream.end_packet(200).unwrap();
    packets.extend(stream.last_packet().copied());
    packets.dedup();
    assert_eq!(stream.packets(), 3);
    let bytes = stream.finish().unwrap();
    assert_eq!(packets.len(), 3);
    assert_eq!(bytes.len(), 3 * (EVENTS + 30));
    assert_eq!(packets[1].offset, EVENTS as u64 + 30);
    assert_eq!(packets[1].content_bits, (EVENTS as u64 + 24) * 8);
    assert_eq!(packets[2].content_bits, (EVENTS as u64 + 12) * 8);
    assert_eq!(packets[2].total_bits, (EVENTS as u64 + 30) * 8);
    assert_eq!((packets[1].start, packets[1].end), (102, 103));
    assert_eq!((packets[2].sequence, packets[2].end), (2, 200));
}

#[test]
fn an_event_that_does_not_fit_does_not_change_the_stream() {
    let (schema, event) = kernel_with(FieldClass::structure([("s", FieldClass::string())]));
    let mut stream = stream(&schema).with_packet_limit(EVENTS as u64 + 20);
    let long = FieldValue::fields([("s", "a text that is longer than the packet")]);
    assert!(matches!(stream.event(event, 1, long.clone()), Err(WriteError::TooLarge { .. })));
    stream.event(event, 2, FieldValue::fields([("s", "x")])).unwrap();
    assert!(matches!(stream.event(event, 3, long), Err(WriteError::TooLarge { .. })));
    assert!(stream.event(event, 3, FieldValue::fields([("t", "x")])).is_err());
    stream.end_packet(3).unwrap();
    assert_eq!(stream.packets(), 1);
    assert_eq!(stream.finish().unwrap()[EVENTS..], [64, 0, 0, 0, b'x', 0]);
}

#[test]
fn clock_values_that_cannot_be_encoded() {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let role = |role| {
        let integer = Integer { roles: Roles::from(role), ..Integer::default() };
        FieldClass::integer(32, Little, integer)
    };
    let header = [("id", role(Role::EventTypeId)), ("timestamp", role(Role::ClockTimestamp))];
    schema.stream_classes[0].event_header = Some(Arc::new(FieldClass::structure(header)));
    let event = schema.add_event_type(StreamClassId(0), "event", FieldClass::structure([]));
    let mut stream = stream(&Arc::new(schema));
    stream.event(event, 10, FieldValue::Auto).unwrap();
    let back = stream.event(event, 9, FieldValue::Auto);
    assert!(matches!(back, Err(WriteError::ClockGap { from: 10, to: 9 })));
    let far = stream.event(event, 10 + (1 << 32), FieldValue::Auto);
    assert!(matches!(far, Err(WriteError::ClockGap { .. })));
    stream.event(event, 9 + (1 << 32), FieldValue::Auto).unwrap();
}

#[test]
fn variable_length_timestamps_take_as_few_bytes_as_possible() {
    let mut schema = presets::lttng_kernel(Format::Ctf2);
    let roles = Roles::from(Role::ClockTimestamp);
    let time = FieldKind::VarInteger(Integer { roles, ..Integer::default() });
    let header = FieldClass::structure([("t", FieldClass::new(time, 8))]);
    schema.stream_classes[0].event_header = Some(Arc::new(header));
    let event = schema.add_event_type(StreamClassId(0), "event", FieldClass::structure([]));
    let mut stream = stream(&Arc::new(schema));
    stream.begin_packet(1000).unwrap();
    for timestamp in [1000, 1029, 1030, 16383, 16385, 16385 + (1 << 14)] {
        stream.event(event, timestamp, FieldValue::Auto).unwrap();
    }
    let bytes = stream.finish().unwrap();
    // 1000 is 7·128 + 104. The following timestamps contain the changed bits, with
    // leading zeros.
    let last = [0x81, 0x80, 0x02];
    assert_eq!(bytes[EVENTS..EVENTS + 6], [0x68, 5, 6, 0xff, 0x7f, 1]);
    assert_eq!(bytes[EVENTS + 6..], last);
}

#[test]
fn variable_length_integers_can_be_padded() {
    let number = FieldClass::new(FieldKind::VarInteger(Integer::default()), 8);
    let schema = bare(Format::Ctf2, FieldClass::structure([("a", number)]));
    let padded = |value, bytes| {
        bare_bytes(&schema, FieldValue::structure([FieldValue::Leb128 { value, bytes }]))
    };
    assert_eq!(padded(5, 3).unwrap(), [0x85, 0x80, 0]);
    assert_eq!(padded(u64::MAX, 10).unwrap().len(), 10);
    assert!(padded(128, 1).is_err());
    assert!(padded(0, 0).is_err());
    assert!(padded(0, 11).is_err());
}

#[test]
fn lengths_and_selectors_are_filled_or_checked() {
    let byte = || FieldClass::uint(8, Little);
    let payload = FieldClass::structure([
        ("n", byte()),
        ("s", presets::sequence("n", byte())),
        ("m", byte()),
        ("t", presets::text_sequence("m")),
    ]);
    let schema = bare(Format::Ctf1, payload);
    let fields = |n: FieldValue| {
        let s = FieldValue::array([7u8, 8, 9]);
        FieldValue::fields([("n", n), ("s", s), ("t", FieldValue::from("ab"))])
    };
    let expected = [3, 7, 8, 9, 2, b'a', b'b'];
    assert_eq!(bare_bytes(&schema, fields(FieldValue::Auto)).unwrap(), expected);
    assert_eq!(bare_bytes(&schema, fields(3.into())).unwrap(), expected);
    let (place, problem) = problem(bare_bytes(&schema, fields(2.into())));
    assert_eq!(place, "event-record-payload.s");
    assert_eq!(problem, "n is 2, but this value needs 3");
}

#[test]
fn locations_of_all_origins() {
    let byte = || FieldClass::uint(8, Little);
    let on = |origin, path: &[Option<&str>]| {
        let step = |s: &Option<&str>| s.map_or(PathStep::Parent, |n| PathStep::Name(n.into()));
        let path = path.iter().map(step).collect();
        let array = Array {
            element: Arc::new(byte()),
            length: Length::Dynamic(Dependency { origin, path, ..Dependency::sibling("") }),
            roles: Roles::NONE,
        };
        FieldClass::new(FieldKind::Array(array), 1)
    };
    use LocationOrigin::{Enclosing, Parent, Scope as Absolute};
    let payload = FieldClass::structure([
        ("n", byte()),
        ("m", FieldClass::structure([("k", byte())])),
        (
            "inner",
            FieldClass::structure([
                ("o", byte()),
                ("up", on(Parent, &[None, Some("n")])),
                ("own", on(Parent, &[Some("o")])),
                ("out", on(Enclosing, &[Some("m"), Some("k")])),
                ("absolute", on(Absolute(Scope::Payload), &[Some("inner"), Some("o")])),
                ("n", byte()),
            ]),
        ),
    ]);
    let schema = bare(Format::Ctf1, payload);
    let inner = FieldValue::fields([
        ("up", FieldValue::array([1u8])),
        ("own", FieldValue::array([2u8, 2])),
        ("out", FieldValue::array([3u8, 3, 3])),
        ("absolute", FieldValue::array([4u8, 4])),
    ]);
    let bytes = bare_bytes(&schema, FieldValue::fields([("inner", inner)])).unwrap();
    assert_eq!(bytes, [1, 3, 2, 1, 2, 2, 3, 3, 3, 4, 4, 0]);
}

#[test]
fn each_element_has_its_own_length() {
    let element = FieldClass::structure([
        ("n", FieldClass::uint(8, Big)),
        ("s", presets::sequence("n", FieldClass::uint(16, Big))),
    ]);
    let array = Array { element: Arc::new(element), length: Length::Static(2), roles: Roles::NONE };
    let array = FieldClass::new(FieldKind::Array(array), 1);
    let schema = bare(Format::Ctf1, FieldClass::structure([("a", array)]));
    let element =
        |numbers: &[u16]| FieldValue::fields([("s", FieldValue::array(numbers.to_vec()))]);
    let payload = FieldValue::fields([("a", FieldValue::array([element(&[1]), element(&[2, 3])]))]);
    assert_eq!(bare_bytes(&schema, payload).unwrap(), [1, 0, 1, 2, 0, 2, 0, 3]);
}

#[test]
fn options_and_variants_set_their_selectors() {
    let fixed = FixedLen { bits: 8, byte_order: Little, bit_order: BitOrder::Natural };
    let byte = || FieldClass::uint(8, Little);
    let option = |on: &str, present| {
        let (selector, class) = (Dependency::sibling(on), Arc::new(byte()));
        FieldClass::new(FieldKind::Option(OptionField { selector, present, class }), 1)
    };
    let choice = |name: &str, range| VariantOption {
        name: Some(name.into()),
        label: None,
        ranges: vec![range],
        class: Arc::new(byte()),
        attributes: None,
    };
    let variant = Variant {
        selector: Dependency::sibling("which"),
        options: vec![choice("a", (-3, -2)), choice("b", (5, 5))],
    };
    let payload = FieldClass::structure([
        ("there", FieldClass::new(FieldKind::Bool(fixed, None), 8)),
        ("x", option("there", Selector::Bool)),
        ("kind", byte()),
        ("y", option("kind", Selector::Ranges(vec![(0, 3), (9, 9)]))),
        ("which", FieldClass::sint(8, Little)),
        ("z", FieldClass::new(FieldKind::Variant(variant), 1)),
    ]);
    let schema = bare(Format::Ctf2, payload);
    let fields = |x, y, z| bare_bytes(&schema, FieldValue::fields([("x", x), ("y", y), ("z", z)]));
    let (present, absent) = (|n: u8| FieldValue::present(n), FieldValue::absent);
    let first = fields(present(7), absent(), FieldValue::variant(0, 1)).unwrap();
    assert_eq!(first, [1, 7, 4, 0xfd, 1]);
    let second = fields(absent(), present(7), FieldValue::variant(1, 1)).unwrap();
    assert_eq!(second, [0, 0, 7, 5, 1]);
}

#[test]
fn a_length_in_the_event_header() {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let id = Integer { roles: Roles::from(Role::EventTypeId), ..Integer::default() };
    let header = [("id", FieldClass::integer(8, Little, id)), ("n", FieldClass::uint(8, Little))];
    schema.stream_classes[0].event_header = Some(Arc::new(FieldClass::structure(header)));
    schema.stream_classes[0].default_clock = None;
    let array = Array {
        element: Arc::new(FieldClass::uint(8, Little)),
        length: Length::Dynamic(Dependency::absolute(Scope::EventHeader, ["n"])),
        roles: Roles::NONE,
    };
    let payload = [("s", FieldClass::new(FieldKind::Array(array), 1))];
    let event = schema.add_event_type(StreamClassId(0), "e", FieldClass::structure(payload));
    let mut stream = stream(&Arc::new(schema));
    stream.event(event, 0, FieldValue::fields([("s", FieldValue::array([9u8, 9]))])).unwrap();
    let header = FieldValue::fields([("n", 0)]);
    stream.record(Record { header, ..Record::new(event, 0) }).unwrap();
    assert_eq!(stream.finish().unwrap()[EVENTS..], [0, 2, 9, 9, 0, 0]);
}

#[test]
fn encoded_events_equal_written_ones() {
    let (schema, event) = kernel_with(FieldClass::structure([("a", FieldClass::uint(16, Little))]));
    let (mut by_value, mut by_bytes) = (stream(&schema), stream(&schema));
    for i in 0..100u16 {
        let timestamp = u64::from(i) << 23;
        by_value.event(event, timestamp, FieldValue::fields([("a", i)])).unwrap();
        by_bytes.encoded_event(event, timestamp, 8, &i.to_le_bytes()).unwrap();
    }
    assert_eq!(by_value.finish().unwrap(), by_bytes.finish().unwrap());
}

#[test]
fn unreadable_streams_are_rejected() {
    let byte = || FieldClass::structure([("a", FieldClass::uint(8, Little))]);
    let schema = bare(Format::Ctf1, FieldClass::structure([]));
    assert!(matches!(bare_bytes(&schema, FieldValue::Auto), Err(WriteError::Empty { .. })));

    let bits = FieldClass::structure([("a", FieldClass::uint(3, Little))]);
    let unpaddable = bare_bytes(&bare(Format::Ctf1, bits), FieldValue::Auto);
    assert!(matches!(unpaddable, Err(WriteError::Unpaddable)));

    let mut two = Schema::clone(&bare(Format::Ctf1, byte()));
    two.add_event_type(StreamClassId(0), "second", byte());
    let ambiguous = bare_bytes(&Arc::new(two), FieldValue::Auto);
    assert!(matches!(ambiguous, Err(WriteError::NoRoomForId { what: "event type", .. })));

    let mut stream = stream(&bare(Format::Ctf1, byte()));
    stream.event(EventTypeId(0), 0, FieldValue::Auto).unwrap();
    assert!(matches!(stream.begin_packet(1), Err(WriteError::OnePacket)));
    let foreign = stream.event(EventTypeId(9), 0, FieldValue::Auto);
    assert!(matches!(foreign, Err(WriteError::NotInStream { what: "event type", index: 9 })));
}

#[test]
fn deeply_nested_schemas_are_rejected() {
    let mut class = FieldClass::uint(8, Little);
    for _ in 0..2000 {
        class = FieldClass::structure([("a", class)]);
    }
    let schema = bare(Format::Ctf2, class);
    assert!(metadata_text(&schema).is_err());
    let refused = StreamWriter::new(schema, StreamClassId(0), "memory", Vec::new());
    assert!(
        matches!(refused, Err(WriteError::Value { problem, .. }) if problem == "nested too deeply")
    );
}

#[test]
fn schemas_that_tsdl_cannot_express_are_rejected() {
    let fixed = FixedLen { bits: 8, byte_order: Little, bit_order: BitOrder::Natural };
    let boolean = FieldClass::new(FieldKind::Bool(fixed, None), 8);
    let schema = |class: FieldClass| bare(Format::Ctf1, FieldClass::structure([("b", class)]));
    let error = metadata_text(&schema(boolean)).unwrap_err();
    assert_eq!(error.to_string(), "event: event.fields.b: TSDL cannot express booleans");
    assert!(metadata_text(&schema(presets::double())).is_ok());
    let spaced = FieldClass::structure([("no name", FieldClass::string())]);
    assert!(metadata_text(&bare(Format::Ctf1, spaced.clone())).is_err());
    assert!(metadata_text(&bare(Format::Ctf2, spaced)).is_ok());
}

#[test]
fn tsdl_text() {
    let array = |class, n| {
        let (element, length) = (Arc::new(class), Length::Static(n));
        FieldClass::new(FieldKind::Array(Array { element, length, roles: Roles::NONE }), 1)
    };
    let payload = FieldClass::structure([
        ("_n", FieldClass::uint(8, Big)),
        ("event", presets::text_sequence("_n")),
        ("table", array(array(FieldClass::string(), 3), 2)),
    ]);
    let text = metadata_text(&bare(Format::Ctf1, payload)).unwrap();
    let expected = "\
event {
	name = \"event\";
	id = 0;
	fields := struct {
		integer { size = 8; signed = false; align = 8; byte_order = be; } __n;
		integer { size = 8; align = 8; signed = false; encoding = UTF8; } _event[__n];
		string table[2][3];
	};
};

";
    assert_eq!(&text[text.find("event {").unwrap()..], expected);
}

#[test]
fn tsdl_paths_are_relative_where_they_can_be() {
    let sequence = |path: &[&str]| {
        let length = Dependency::absolute(Scope::Payload, path.iter().copied());
        let (element, length) = (FieldClass::uint(8, Big).into(), Length::Dynamic(length));
        FieldClass::new(FieldKind::Array(Array { element, length, roles: Roles::NONE }), 8)
    };
    let number = || FieldClass::uint(8, Big);
    let inner = FieldClass::structure([
        ("a", number()),
        ("of_outer", sequence(&["n"])),
        ("of_inner", sequence(&["inner", "a"])),
        // The name alone would be that of the inner structure.
        ("of_outer_a", sequence(&["a"])),
    ]);
    let payload = FieldClass::structure([("n", number()), ("a", number()), ("inner", inner)]);
    let schema = bare(Format::Ctf1, payload);
    let text = metadata_text(&schema).unwrap();
    for line in ["of_outer[n];", "of_inner[a];", "of_outer_a[event.fields.a];"] {
        assert!(text.contains(line), "{text}");
    }
    let read = ltt_read::Trace::from_memory(text.as_bytes(), []).unwrap();
    let payload = read.schema().event_types[0].payload.as_ref().expect("a payload");
    assert_eq!(payload.members().len(), 3);
}

#[test]
fn ctf_2_text() {
    let payload = FieldClass::structure([
        ("n", FieldClass::uint(8, Big)),
        ("i", FieldClass::structure([("s", presets::text_sequence("n"))])),
    ]);
    let text = metadata_text(&bare(Format::Ctf2, payload)).unwrap();
    let expected = concat!(
        r#"{"type":"event-record-class","id":0,"data-stream-class-id":0,"name":"event","#,
        r#""payload-field-class":{"type":"structure","member-classes":[{"name":"n","#,
        r#""field-class":{"type":"fixed-length-unsigned-integer","length":8,"#,
        r#""byte-order":"big-endian","alignment":8}},{"name":"i","field-class":"#,
        r#"{"type":"structure","member-classes":[{"name":"s","field-class":"#,
        r#"{"type":"dynamic-length-string","length-field-location":{"path":[null,"n"]},"#,
        r#""encoding":"utf-8"}}]}}]}}"#,
    );
    let fragments: Vec<&str> = text.split('\u{1e}').collect();
    assert_eq!(fragments[0], "");
    assert_eq!(fragments[1], "{\"type\":\"preamble\",\"version\":2}\n");
    assert_eq!(fragments.last().unwrap().trim_end(), expected);
}
