//! Headers of CTF for the formats before it.

use std::sync::Arc;

use crate::schema::{
    ByteOrder, ClockClass, EventType, FieldClass, FieldKind, Integer, Member, Role, Roles, Schema,
    Struct,
};

/// Returns a schema with the headers of another one, which is in CTF, and a clock of nanoseconds.
/// Payloads are packed; each has the fields of the source in the same order.
pub(crate) fn with_headers(source: &Schema, headers: &Schema) -> Schema {
    let preset = &headers.stream_classes[0];
    let order = source.native_byte_order;
    let in_order = |class: &Option<Arc<FieldClass>>| {
        class.as_deref().map(|class| Arc::new(with_order(class, order)))
    };
    let mut schema = source.clone();
    schema.packet_header = in_order(&headers.packet_header);
    schema.clocks = match source.clocks.first() {
        Some(clock) => vec![ClockClass {
            description: Some("Nanoseconds of the recorded time".into()),
            origin: clock.origin.clone(),
            ..ClockClass::new(&clock.name)
        }],
        None => Vec::new(),
    };
    for (number, stream) in (0..).zip(&mut schema.stream_classes) {
        // The format of 2003 has one unnumbered channel, later ones may repeat a number.
        stream.id = number;
        stream.packet_context = in_order(&preset.packet_context);
        stream.event_header = in_order(&preset.event_header);
        stream.default_clock = stream.default_clock.map(|_| 0);
        if stream.default_clock.is_none() {
            stream.packet_context = stream.packet_context.as_deref().map(without_times);
            stream.event_header = Some(Arc::new(id_alone(order)));
        }
    }
    for event in &mut schema.event_types {
        pack(event);
    }
    schema
}

/// Returns a structure without the members that contain times.
fn without_times(class: &FieldClass) -> Arc<FieldClass> {
    let is_time = |member: &&Member| match &member.class.kind {
        FieldKind::Integer(_, integer) => {
            integer.roles.has(Role::ClockTimestamp) || integer.roles.has(Role::PacketEndTimestamp)
        }
        _ => false,
    };
    let members = class.members().iter().filter(|member| !is_time(member)).cloned().collect();
    let kind = FieldKind::Struct(Struct { members });
    let attributes = class.attributes.clone();
    Arc::new(FieldClass { attributes, ..FieldClass::new(kind, class.align) })
}

/// Returns the header of events without a time.
fn id_alone(order: ByteOrder) -> FieldClass {
    let roles = Roles::from(Role::EventTypeId);
    let id = FieldClass::integer(32, order, Integer { roles, ..Integer::default() });
    FieldClass::structure([("id", id)])
}

/// Removes the alignment of a payload, which the formats count from other places.
fn pack(event: &mut EventType) {
    for class in [&mut event.specific_context, &mut event.payload].into_iter().flatten() {
        *class = packed(class);
    }
}

fn packed(class: &Arc<FieldClass>) -> Arc<FieldClass> {
    let mut kind = class.kind.clone();
    match &mut kind {
        FieldKind::Struct(Struct { members }) => {
            members.iter_mut().for_each(|member| member.class = packed(&member.class));
        }
        FieldKind::Array(array) => array.element = packed(&array.element),
        FieldKind::Option(option) => option.class = packed(&option.class),
        FieldKind::Variant(variant) => {
            variant.options.iter_mut().for_each(|option| option.class = packed(&option.class));
        }
        _ => {}
    }
    let align = class.align.min(8);
    Arc::new(FieldClass { attributes: class.attributes.clone(), ..FieldClass::new(kind, align) })
}

/// Returns a class with another byte order.
fn with_order(class: &FieldClass, order: ByteOrder) -> FieldClass {
    let mut class = class.clone();
    match &mut class.kind {
        FieldKind::Integer(field, _) => field.byte_order = order,
        FieldKind::Struct(Struct { members }) => {
            for member in members {
                member.class = Arc::new(with_order(&member.class, order));
            }
        }
        FieldKind::Array(array) => array.element = Arc::new(with_order(&array.element, order)),
        FieldKind::Variant(variant) => {
            for option in &mut variant.options {
                option.class = Arc::new(with_order(&option.class, order));
            }
        }
        _ => {}
    }
    class
}
