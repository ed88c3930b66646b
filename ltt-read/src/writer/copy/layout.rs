//! Comparison of the layouts of two schemas.

use std::sync::Arc;

use crate::schema::{ClockClass, FieldClass, FieldKind, Length, Role, Schema, StreamClassId};

/// Returns `true` if the bytes of a packet of a stream class mean the same in both schemas,
/// so that packets can be copied as they are.
pub(super) fn same_packets(source: &Schema, target: &Schema, class: StreamClassId) -> bool {
    let streams =
        (source.stream_classes.get(class.index()), target.stream_classes.get(class.index()));
    let (Some(a), Some(b)) = streams else { return false };
    let clocks = (a.default_clock.map(|n| n as usize), b.default_clock.map(|n| n as usize));
    let events = || {
        let of = |schema: &'_ Schema| {
            schema.event_types.iter().filter(|event| event.stream == class).count()
        };
        let pairs = source.event_types.iter().zip(&target.event_types);
        of(source) <= of(target)
            && pairs.filter(|(a, b)| a.stream == class || b.stream == class).all(|(a, b)| {
                a.stream == b.stream
                    && a.id == b.id
                    && same(a.specific_context.as_deref(), b.specific_context.as_deref())
                    && same(a.payload.as_deref(), b.payload.as_deref())
            })
    };
    a.id == b.id
        && source.uuid == target.uuid
        && source.stream_classes.len() == target.stream_classes.len()
        && match clocks {
            (Some(a), Some(b)) => same_clock(source.clocks.get(a), target.clocks.get(b)),
            (a, b) => a == b,
        }
        && same(source.packet_header.as_deref(), target.packet_header.as_deref())
        && same(a.packet_context.as_deref(), b.packet_context.as_deref())
        && same(a.event_header.as_deref(), b.event_header.as_deref())
        && same(a.common_context.as_deref(), b.common_context.as_deref())
        && events()
}

/// Returns `true` if both clocks have the same time at the same count of cycles.
pub(super) fn same_clock(a: Option<&ClockClass>, b: Option<&ClockClass>) -> bool {
    let key = |clock: &ClockClass| {
        (clock.frequency, clock.offset_seconds, clock.offset_cycles, clock.origin.clone())
    };
    a.map(key) == b.map(key)
}

/// Returns `true` if two optional classes encode every value to the same bytes.
pub(super) fn same(a: Option<&FieldClass>, b: Option<&FieldClass>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => std::ptr::eq(a, b) || same_class(a, b),
        (None, None) => true,
        _ => false,
    }
}

fn same_class(a: &FieldClass, b: &FieldClass) -> bool {
    if a.align != b.align {
        return false;
    }
    match (&a.kind, &b.kind) {
        (FieldKind::Integer(fa, ia), FieldKind::Integer(fb, ib)) => {
            fa == fb && ia.signed == ib.signed && ia.roles == ib.roles
        }
        (FieldKind::VarInteger(a), FieldKind::VarInteger(b)) => {
            a.signed == b.signed && a.roles == b.roles
        }
        (FieldKind::Struct(a), FieldKind::Struct(b)) => {
            let pairs = a.members.iter().zip(&b.members);
            a.members.len() == b.members.len()
                && pairs
                    .into_iter()
                    .all(|(a, b)| a.name == b.name && same_class(&a.class, &b.class))
        }
        (FieldKind::Array(a), FieldKind::Array(b)) => {
            same_length(&a.length, &b.length) && same_class(&a.element, &b.element)
        }
        (FieldKind::Blob(a), FieldKind::Blob(b)) => same_length(&a.length, &b.length),
        // The UUID in packet headers is an array of bytes in CTF 1.8, a blob in CTF 2.
        (FieldKind::Array(a), FieldKind::Blob(b)) | (FieldKind::Blob(b), FieldKind::Array(a)) => {
            let is_byte = match &a.element.kind {
                FieldKind::Integer(field, _) => field.bits == 8 && a.element.align == 8,
                _ => false,
            };
            is_byte
                && a.roles.has(Role::Uuid)
                && b.roles.has(Role::Uuid)
                && same_length(&a.length, &b.length)
        }
        (FieldKind::Variant(a), FieldKind::Variant(b)) => {
            a.selector.path == b.selector.path
                && a.selector.origin == b.selector.origin
                && a.options.len() == b.options.len()
                && (a.options.iter().zip(&b.options))
                    .all(|(a, b)| a.ranges == b.ranges && same_class(&a.class, &b.class))
        }
        (a, b) => a == b,
    }
}

fn same_length(a: &Length, b: &Length) -> bool {
    match (a, b) {
        (Length::Static(a), Length::Static(b)) => a == b,
        (Length::Dynamic(a), Length::Dynamic(b)) => a.origin == b.origin && a.path == b.path,
        _ => false,
    }
}

/// Returns the greatest alignment within a class, in bits.
pub(super) fn greatest_alignment(class: &FieldClass) -> u32 {
    let inner = match &class.kind {
        FieldKind::Struct(s) => {
            s.members.iter().map(|member| greatest_alignment(&member.class)).max()
        }
        FieldKind::Array(a) => Some(greatest_alignment(&a.element)),
        FieldKind::Option(o) => Some(greatest_alignment(&o.class)),
        FieldKind::Variant(v) => {
            v.options.iter().map(|option| greatest_alignment(&option.class)).max()
        }
        _ => None,
    };
    class.align.max(inner.unwrap_or(1))
}

/// Returns `true` if each event header of a class has exactly one timestamp.
pub(super) fn has_one_timestamp(class: &FieldClass) -> bool {
    number_of_timestamps(class) == (1, 1)
}

/// Returns the least and the greatest number of timestamps in the fields of a class.
fn number_of_timestamps(class: &FieldClass) -> (u64, u64) {
    match &class.kind {
        FieldKind::Integer(_, i) | FieldKind::VarInteger(i) => {
            let number = u64::from(i.roles.has(Role::ClockTimestamp));
            (number, number)
        }
        FieldKind::Struct(s) => {
            let each = s.members.iter().map(|m| number_of_timestamps(&m.class));
            each.fold((0, 0), |sum, number| (sum.0 + number.0, sum.1.saturating_add(number.1)))
        }
        // The number of elements may depend on data.
        FieldKind::Array(a) => (0, number_of_timestamps(&a.element).1.saturating_mul(u64::MAX)),
        FieldKind::Option(o) => (0, number_of_timestamps(&o.class).1),
        FieldKind::Variant(v) => {
            let each = || v.options.iter().map(|o| number_of_timestamps(&o.class));
            let least = each().map(|number| number.0).min().unwrap_or(0);
            (least, each().map(|number| number.1).max().unwrap_or(0))
        }
        _ => (0, 0),
    }
}

/// Returns `true` if the times in packets of a stream class do not depend on the packets before:
/// if each packet, or else each event, starts with a timestamp of 64 bits.
pub(super) fn has_own_clock(schema: &Schema, class: StreamClassId) -> bool {
    let Some(stream) = schema.stream_classes.get(class.index()) else { return false };
    let shortest = |class: &Option<Arc<FieldClass>>| class.as_deref().and_then(shortest_timestamp);
    let header = schema.packet_header.as_deref().and_then(shortest_timestamp);
    let of_packet = [header, shortest(&stream.packet_context)].into_iter().flatten().min();
    let of_event = shortest(&stream.event_header);
    stream.default_clock.is_none() || of_packet.or(of_event).is_some_and(|bits| bits >= 64)
}

/// Returns the length in bits of the shortest timestamp of an event header; `None` if it
/// has none.
pub(super) fn shortest_timestamp(class: &FieldClass) -> Option<u32> {
    match &class.kind {
        FieldKind::Integer(field, i) => i.roles.has(Role::ClockTimestamp).then_some(field.bits),
        FieldKind::VarInteger(i) => i.roles.has(Role::ClockTimestamp).then_some(7),
        FieldKind::Struct(s) => s.members.iter().filter_map(|m| shortest_timestamp(&m.class)).min(),
        FieldKind::Array(a) => shortest_timestamp(&a.element),
        FieldKind::Option(o) => shortest_timestamp(&o.class),
        FieldKind::Variant(v) => {
            v.options.iter().filter_map(|o| shortest_timestamp(&o.class)).min()
        }
        _ => None,
    }
}
