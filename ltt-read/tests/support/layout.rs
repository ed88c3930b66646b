//! Random packet headers, packet contexts and event headers.

use std::sync::Arc;

use ltt_read::schema::*;
use proptest::prelude::*;

/// The fields of the packets of a stream class, each with its width and its alignment in
/// bits.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    begin: Option<(u32, u32)>,
    end: Option<(u32, u32)>,
    total: Option<(u32, u32)>,
    content: Option<(u32, u32)>,
    sequence: Option<(u32, u32)>,
    discarded: Option<(u32, u32)>,
    /// The number of places by which their order is rotated.
    turned: usize,
    header: Header,
}

/// A form of event headers, as tracers write them or unusual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Header {
    Compact,
    Large,
    Wide,
    /// A time of fewer bits than are necessary without a packet start time.
    Narrow,
    Variable,
    /// No header: one event type, without a clock.
    Absent,
}

pub(crate) fn layout(format: Format) -> impl Strategy<Value = Layout> {
    let mut headers =
        vec![Header::Compact, Header::Large, Header::Wide, Header::Narrow, Header::Absent];
    if format == Format::Ctf2 {
        headers.push(Header::Variable);
    }
    let align = || prop::sample::select(vec![1u32, 4, 8, 8, 64]);
    let field = move |least: u32| (least..=64, align());
    // The greatest width of timestamps and sizes.
    let (time, size) = (|| prop::option::weighted(0.8, field(42)), || field(30));
    let sizes = prop_oneof![
        5 => (size(), size()).prop_map(|(t, c)| (Some(t), Some(c))),
        1 => size().prop_map(|t| (Some(t), None)),
        1 => size().prop_map(|c| (None, Some(c))),
        1 => Just((None, None)),
    ];
    let counters = (prop::option::of(field(1)), prop::option::of(field(5)));
    (prop::sample::select(headers), time(), time(), sizes, counters, 0..6usize).prop_map(
        |(header, begin, end, (total, content), (discarded, sequence), turned)| {
            let clock = header != Header::Absent;
            let header = match begin {
                None if header == Header::Narrow => Header::Wide,
                _ => header,
            };
            let (begin, end) = (begin.filter(|_| clock), end.filter(|_| clock));
            Layout { begin, end, total, content, sequence, discarded, turned, header }
        },
    )
}

impl Layout {
    /// Returns `true` if both sizes are declared, so that content may end within a byte.
    pub(crate) fn is_padded(&self) -> bool {
        self.total.is_some() && self.content.is_some()
    }

    /// Returns `true` if events have an id and a time.
    pub(crate) fn has_header(&self) -> bool {
        self.header != Header::Absent
    }

    pub(crate) fn packet_context(&self, native: ByteOrder) -> FieldClass {
        let fields = [
            ("timestamp_begin", self.begin, Role::ClockTimestamp),
            ("timestamp_end", self.end, Role::PacketEndTimestamp),
            ("content_size", self.content, Role::PacketContentLength),
            ("packet_size", self.total, Role::PacketTotalLength),
            ("packet_seq_num", self.sequence, Role::PacketSequence),
            ("events_discarded", self.discarded, Role::DiscardedEvents),
        ];
        let fields = fields.into_iter().cycle().skip(self.turned).take(6);
        FieldClass::structure(fields.filter_map(|(name, size, role)| {
            let (bits, align) = size?;
            Some((name, with_role(bits, native, align, role)))
        }))
    }

    pub(crate) fn event_header(&self, native: ByteOrder) -> Option<FieldClass> {
        let id = |bits, align| with_role(bits, native, align, Role::EventTypeId);
        let time = |bits, align| with_role(bits, native, align, Role::ClockTimestamp);
        let variable = |role| {
            let integer = Integer { roles: Roles::from(role), ..Integer::default() };
            FieldClass::new(FieldKind::VarInteger(integer), 8)
        };
        Some(match self.header {
            Header::Compact => either_form(5, 27, 1, native),
            Header::Large => either_form(16, 32, 8, native),
            Header::Wide => FieldClass::structure([("id", id(16, 8)), ("timestamp", time(64, 64))]),
            Header::Narrow => FieldClass::structure([("timestamp", time(29, 1)), ("id", id(8, 1))]),
            Header::Variable => FieldClass::structure([
                ("id", variable(Role::EventTypeId)),
                ("timestamp", variable(Role::ClockTimestamp)),
            ]),
            Header::Absent => return None,
        })
    }
}

/// Returns `true` if packets of this class declare their end.
pub(crate) fn is_divided(class: &StreamClass) -> bool {
    let members = class.packet_context.as_deref().map_or(&[][..], FieldClass::members);
    members.iter().any(|m| matches!(&*m.name, "packet_size" | "content_size"))
}

/// Returns a packet header with the fields in the bit set `parts`.
pub(crate) fn packet_header(format: Format, native: ByteOrder, parts: u8) -> FieldClass {
    let (length, roles) = (Length::Static(16), Roles::from(Role::Uuid));
    let uuid = match format {
        Format::Ctf2 => FieldKind::Blob(Blob { length, media_type: None, roles }),
        _ => {
            let element = Arc::new(FieldClass::uint(8, native));
            FieldKind::Array(Array { element, length, roles })
        }
    };
    let fields = [
        (parts & 1 != 0, "magic", with_role(32, native, 32, Role::PacketMagic)),
        (parts & 2 != 0, "uuid", FieldClass::new(uuid, 8)),
        (true, "stream_id", with_role(7, native, 1, Role::StreamClassId)),
        (parts & 4 != 0, "stream_instance_id", with_role(17, native, 1, Role::StreamId)),
    ];
    let fields = fields.into_iter().filter(|(there, ..)| *there);
    FieldClass::structure(fields.map(|(_, name, class)| (name, class)))
}

fn with_role(bits: u32, native: ByteOrder, align: u32, role: Role) -> FieldClass {
    let integer = Integer { roles: Roles::from(role), ..Integer::default() };
    FieldClass { align, ..FieldClass::integer(bits, native, integer) }
}

/// Returns a header in LTTng's form: a compact form, and an extended one for large ids
/// and distances.
fn either_form(id_bits: u32, time_bits: u32, align: u32, native: ByteOrder) -> FieldClass {
    let last = (1 << id_bits) - 2;
    let ranges = [("compact", vec![(0, last)]), ("extended", vec![(last + 1, last + 1)])];
    let mappings = ranges.clone().map(|(l, ranges)| Mapping { label: l.into(), ranges });
    let mut id = with_role(id_bits, native, align, Role::EventTypeId);
    if let FieldKind::Integer(_, integer) = &mut id.kind {
        integer.mappings = Some(mappings.into());
    }
    let time = |bits, align| with_role(bits, native, align, Role::ClockTimestamp);
    let compact = FieldClass::structure([("timestamp", time(time_bits, align))]);
    let long_id = with_role(32, native, 8, Role::EventTypeId);
    let extended = FieldClass::structure([("id", long_id), ("timestamp", time(64, 8))]);
    let options = ranges.into_iter().zip([compact, extended]);
    let options = options.map(|((name, ranges), class)| VariantOption {
        name: Some(name.into()),
        label: Some(name.into()),
        ranges,
        class: Arc::new(class),
        attributes: None,
    });
    let variant = Variant { selector: Dependency::sibling("id"), options: options.collect() };
    let variant = FieldClass::new(FieldKind::Variant(variant), 1);
    let header = FieldClass::structure([("id", id), ("v", variant)]);
    FieldClass::new(header.kind, 8)
}
