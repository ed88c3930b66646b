//! The scopes of event types and streams that are printed.

use ltt_read::schema::{EventType, FieldClass, FieldKind, Schema, Scope, StreamClass};

/// Iterates over the scopes of an event type's body, in decoding order.
pub(super) fn body<'s>(
    schema: &'s Schema,
    event_type: &'s EventType,
) -> impl Iterator<Item = (Scope, &'s FieldClass)> {
    let stream = &schema.stream_classes[event_type.stream.index()];
    [
        (Scope::CommonContext, &stream.common_context),
        (Scope::SpecificContext, &event_type.specific_context),
        (Scope::Payload, &event_type.payload),
    ]
    .into_iter()
    .filter_map(|(scope, class)| Some((scope, class.as_deref()?)))
}

/// Returns the packet context of a stream class, if it has fields for the user.
pub(super) fn packet_context(stream: &StreamClass) -> Option<&FieldClass> {
    let shows = |c: &&FieldClass| !c.members().is_empty() && !is_internal(c);
    stream.packet_context.as_deref().filter(shows)
}

/// Returns `true` for a field of a packet context that is only for the reader: a size, a
/// time, a counter.
pub(super) fn is_internal(class: &FieldClass) -> bool {
    match &class.kind {
        FieldKind::Integer(_, i) | FieldKind::VarInteger(i) => {
            !i.roles.is_empty() && i.slot.is_none()
        }
        FieldKind::Struct(s) => {
            !s.members.is_empty() && s.members.iter().all(|m| is_internal(&m.class))
        }
        _ => false,
    }
}
