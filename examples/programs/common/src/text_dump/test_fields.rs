//! Events for the tests of the formats, written and read back.

use std::sync::Arc;

use ltt_read::schema::{
    Blob, ByteOrder, Dependency, DisplayBase, Encoding, FieldClass, FieldKind, FixedLen, Flag,
    Format, Integer, Length, OptionField, Selector, Str, StreamClassId, Variant, VariantOption,
};
use ltt_read::writer::{FieldValue, MemoryTrace, presets};
use ltt_read::{Event, TracefileIndex};

/// A member of a structure, with its class and value.
pub(super) type Sample = (&'static str, FieldClass, FieldValue);

/// Calls `test` with an event of these payload members, in a packet with `cpu_id` 3.
pub(super) fn with_event(members: Vec<Sample>, test: impl FnOnce(&Event<'_>)) {
    let mut schema = presets::lttng_kernel(Format::Ctf2);
    let values = FieldValue::structure(members.iter().map(|(_, _, value)| value.clone()));
    let classes = members.into_iter().map(|(name, class, _)| (name, class));
    let stream = StreamClassId(0);
    let event_type = schema.add_event_type(stream, "sample", FieldClass::structure(classes));
    let mut trace = MemoryTrace::new(schema);
    let writer = trace.stream(stream, "c_0").expect("a stream class");
    let mut writer = writer.with_packet_context(FieldValue::fields([("cpu_id", 3)]));
    writer.event(event_type, 1_000_000_007, values).expect("values that suit");
    trace.add(writer).expect("room");
    let mut cursor = trace.open().expect("sound metadata").cursor(TracefileIndex(0));
    test(&cursor.next().expect("a sound event").expect("an event"));
}

fn uint(bits: u32) -> FieldClass {
    FieldClass::uint(bits, ByteOrder::Little)
}

/// Returns one field of each kind without parts.
pub(super) fn every_kind() -> Vec<Sample> {
    let kind = |kind| FieldClass::new(kind, 8);
    let fixed =
        |bits| FixedLen { bits, byte_order: ByteOrder::Little, bit_order: Default::default() };
    let shown = |bits, base| {
        FieldClass::integer(bits, ByteOrder::Little, Integer { base, ..Integer::default() })
    };
    let en = presets::enumeration(8, [("RANGE", 2, 5), ("OVERLAP", 4, 6)]);
    let flag = |name: &str, bit| Flag { name: name.into(), ranges: vec![(bit, bit)] };
    let flags = Arc::new([flag("low", 0), flag("one", 1), flag("two", 2)]);
    let text = |encoding| kind(FieldKind::String(Str { encoding, length: None }));
    let blob = Blob { length: Length::Static(2), media_type: None, roles: Default::default() };
    vec![
        ("u", uint(64), u64::MAX.into()),
        ("s", FieldClass::sint(8, ByteOrder::Little), (-7).into()),
        ("x", shown(32, DisplayBase::Hexadecimal), 0xBEEFu32.into()),
        ("xx", shown(64, DisplayBase::Hexadecimal), 0xA_0123_4567u64.into()),
        ("o", shown(16, DisplayBase::Octal), 0o644u16.into()),
        ("en", en.clone(), 4.into()),
        ("un", en, 9.into()),
        ("b", kind(FieldKind::Bool(fixed(8), None)), true.into()),
        ("ba", kind(FieldKind::BitArray(fixed(3))), FieldValue::Bits(6)),
        ("bm", kind(FieldKind::BitMap(fixed(3), flags)), FieldValue::Bits(5)),
        ("f", kind(FieldKind::Float(fixed(32))), 0.1.into()),
        ("d", kind(FieldKind::Float(fixed(64))), 1e300.into()),
        ("nan", kind(FieldKind::Float(fixed(64))), f64::NAN.into()),
        ("str", FieldClass::string(), "a\"\nb".into()),
        ("wide", text(Encoding::Utf16Le), "hé".into()),
        ("blob", kind(FieldKind::Blob(blob)), (&[0u8, 255][..]).into()),
    ]
}

/// Returns one field of each kind with parts.
pub(super) fn nested() -> Vec<Sample> {
    let selector = || Dependency::sibling("one");
    let option = |from: i128| {
        let present = Selector::Ranges(vec![(from, from)]);
        let class = Arc::new(uint(8));
        FieldClass::new(FieldKind::Option(OptionField { selector: selector(), present, class }), 1)
    };
    let choice = |name: &str, value| VariantOption {
        name: Some(name.into()),
        label: None,
        ranges: vec![(value, value)],
        class: Arc::new(uint(8)),
        attributes: None,
    };
    let options = vec![choice("not", 0), choice("this", 1)];
    let variant = Variant { selector: selector(), options };
    let a = |value: u8| FieldValue::structure([value.into()]);
    vec![
        ("one", uint(8), 1.into()),
        ("st", FieldClass::structure([]), FieldValue::structure([])),
        ("two", uint(8), 2.into()),
        (
            "arr",
            presets::sequence("two", FieldClass::structure([("a", uint(8))])),
            FieldValue::array([a(1), a(2)]),
        ),
        ("zero", uint(8), 0.into()),
        ("none", presets::sequence("zero", uint(8)), FieldValue::array::<FieldValue>([])),
        ("var", FieldClass::new(FieldKind::Variant(variant), 1), FieldValue::variant(1, 3)),
        ("opt", option(1), FieldValue::present(4)),
        ("nil", option(2), FieldValue::absent()),
    ]
}
