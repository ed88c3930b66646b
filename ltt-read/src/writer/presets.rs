//! Schemas like those of LTTng 2.13 and later, without event types.

use std::sync::Arc;

use crate::base::uuid::Uuid;
use crate::schema::{
    Array, BitOrder, Blob, ByteOrder, ClockClass, Dependency, DisplayBase, Encoding, EnvValue,
    FieldClass, FieldKind, FixedLen, Format, Integer, Length, Mapping, Role, Roles, Schema, Str,
    StreamClass, Variant, VariantOption,
};

const LE: ByteOrder = ByteOrder::Little;
const UUID: Uuid = Uuid(*b"LTTV trace uuid.");

/// Creates the schema of a kernel trace. Stream class 0 has compact event headers (5 bits
/// of id, 27 bits of timestamp), `cpu_id` in the packet context, and no event contexts.
pub fn lttng_kernel(format: Format) -> Schema {
    let mut schema = lttng(format, "kernel", "lttng-modules");
    schema.stream_classes.push(stream_class(compact_header()));
    schema
}

/// Creates the schema of a user-space trace with per-user buffers. Stream class 0 has
/// large event headers (16 bits of id, 32 bits of timestamp), `cpu_id` in the packet
/// context, and `vpid` and `vtid` as common context.
pub fn lttng_ust(format: Format) -> Schema {
    let mut schema = lttng(format, "ust", "lttng-ust");
    let mut stream = stream_class(large_header());
    let context = [("vpid", FieldClass::sint(32, LE)), ("vtid", FieldClass::sint(32, LE))];
    stream.common_context = Some(Arc::new(FieldClass::structure(context)));
    schema.stream_classes.push(stream);
    schema
}

/// Creates a class of text in an array of bytes (TSDL: `char name[16]`).
pub fn text_array(bytes: u64) -> FieldClass {
    text(Length::Static(bytes))
}

/// Creates a class of text with its length in bytes in an earlier member.
pub fn text_sequence(length: &str) -> FieldClass {
    text(Length::Dynamic(Dependency::sibling(length)))
}

/// Creates a class of sequences with their length in an earlier member.
pub fn sequence(length: &str, element: FieldClass) -> FieldClass {
    let length = Length::Dynamic(Dependency::sibling(length));
    array(length, element, Roles::NONE)
}

/// Creates a class of double-precision floating-point numbers.
pub fn double() -> FieldClass {
    FieldClass::new(FieldKind::Float(fixed(64)), 8)
}

/// Creates an enumeration of unsigned integers; each label stands for one range.
pub fn enumeration<'a>(
    bits: u32,
    labels: impl IntoIterator<Item = (&'a str, u64, u64)>,
) -> FieldClass {
    enumerated(bits, 8, labels, Roles::NONE)
}

fn text(length: Length) -> FieldClass {
    FieldClass::new(FieldKind::String(Str { encoding: Encoding::Utf8, length: Some(length) }), 8)
}

fn array(length: Length, element: FieldClass, roles: Roles) -> FieldClass {
    FieldClass::new(FieldKind::Array(Array { element: Arc::new(element), length, roles }), 1)
}

fn fixed(bits: u32) -> FixedLen {
    FixedLen { bits, byte_order: LE, bit_order: BitOrder::Natural }
}

fn with_role(bits: u32, align: u32, role: Role) -> FieldClass {
    let integer = Integer { roles: Roles::from(role), ..Integer::default() };
    FieldClass::new(FieldKind::Integer(fixed(bits), integer), align)
}

fn enumerated<'a>(
    bits: u32,
    align: u32,
    labels: impl IntoIterator<Item = (&'a str, u64, u64)>,
    roles: Roles,
) -> FieldClass {
    let labels = labels.into_iter().map(|(label, first, last)| Mapping {
        label: label.into(),
        ranges: vec![(first.into(), last.into())],
    });
    let integer = Integer { mappings: Some(labels.collect()), roles, ..Integer::default() };
    FieldClass::new(FieldKind::Integer(fixed(bits), integer), align)
}

fn lttng(format: Format, domain: &str, tracer: &str) -> Schema {
    let mut schema = Schema::new(format);
    schema.uuid = Some(UUID);
    let text = |s: &str| EnvValue::Str(s.to_owned());
    schema.env = [
        ("hostname", text("testhost")),
        ("domain", text(domain)),
        ("tracer_name", text(tracer)),
        ("tracer_major", EnvValue::Int(2)),
        ("tracer_minor", EnvValue::Int(13)),
        ("trace_name", text("synthetic")),
    ]
    .map(|(key, value)| (key.into(), value))
    .to_vec();
    schema.clocks.push(ClockClass {
        description: Some("Monotonic Clock".into()),
        offset_seconds: 1_600_000_000,
        ..ClockClass::new("monotonic")
    });
    let uuid = match format {
        Format::Ctf1 | Format::Legacy | Format::Ftrace | Format::Perf => {
            array(Length::Static(16), FieldClass::uint(8, LE), Roles::from(Role::Uuid))
        }
        Format::Ctf2 => {
            let (length, roles) = (Length::Static(16), Roles::from(Role::Uuid));
            FieldClass::new(FieldKind::Blob(Blob { length, media_type: None, roles }), 8)
        }
    };
    let mut magic = with_role(32, 8, Role::PacketMagic);
    if let FieldKind::Integer(_, integer) = &mut magic.kind {
        integer.base = DisplayBase::Hexadecimal;
    }
    schema.packet_header = Some(Arc::new(FieldClass::structure([
        ("magic", magic),
        ("uuid", uuid),
        ("stream_id", with_role(32, 8, Role::StreamClassId)),
        ("stream_instance_id", with_role(64, 8, Role::StreamId)),
    ])));
    schema
}

fn stream_class(header: FieldClass) -> StreamClass {
    let context = [
        ("timestamp_begin", Role::ClockTimestamp),
        ("timestamp_end", Role::PacketEndTimestamp),
        ("content_size", Role::PacketContentLength),
        ("packet_size", Role::PacketTotalLength),
        ("packet_seq_num", Role::PacketSequence),
        ("events_discarded", Role::DiscardedEvents),
    ]
    .map(|(name, role)| (name, with_role(64, 8, role)));
    let cpu = [("cpu_id", FieldClass::uint(32, LE))];
    StreamClass {
        default_clock: Some(0),
        packet_context: Some(Arc::new(FieldClass::structure(context.into_iter().chain(cpu)))),
        event_header: Some(Arc::new(header)),
        ..StreamClass::new(0)
    }
}

/// Builds an event header with ids up to 30 in 5 bits and timestamps in 27 bits.
fn compact_header() -> FieldClass {
    let labels = [("compact", 0, 30), ("extended", 31, 31)];
    let id = enumerated(5, 1, labels, Roles::from(Role::EventTypeId));
    header(id, with_role(27, 1, Role::ClockTimestamp), 30)
}

/// Builds an event header with ids up to 65534 in 16 bits and timestamps in 32 bits.
fn large_header() -> FieldClass {
    let labels = [("compact", 0, 65534), ("extended", 65535, 65535)];
    let id = enumerated(16, 8, labels, Roles::from(Role::EventTypeId));
    header(id, with_role(32, 8, Role::ClockTimestamp), 65534)
}

/// Builds an event header whose short form holds ids up to `last`. The id `last + 1`
/// announces the long form.
fn header(id: FieldClass, short_timestamp: FieldClass, last: i128) -> FieldClass {
    let option = |name: &str, range, class| VariantOption {
        name: Some(name.into()),
        label: Some(name.into()),
        ranges: vec![range],
        class: Arc::new(class),
        attributes: None,
    };
    let compact = FieldClass::structure([("timestamp", short_timestamp)]);
    let extended = FieldClass::structure([
        ("id", with_role(32, 8, Role::EventTypeId)),
        ("timestamp", with_role(64, 8, Role::ClockTimestamp)),
    ]);
    let variant = Variant {
        selector: Dependency::sibling("id"),
        options: vec![
            option("compact", (0, last), compact),
            option("extended", (last + 1, last + 1), extended),
        ],
    };
    let variant = FieldClass::new(FieldKind::Variant(variant), 1);
    FieldClass { align: 8, ..FieldClass::structure([("id", id), ("v", variant)]) }
}
