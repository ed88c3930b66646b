//! Schemas that grow while the ids of what they declare stay the same.

use crate::format::Decoder;
use crate::layout::program::Slot;
use crate::layout::tables::value_slots;
use crate::report::LayoutError;
use crate::schema::Schema;

/// The number of value slots that are reserved for event types to come. Each length and
/// selector of an event type needs one.
const RESERVED_SLOTS: Slot = 256;

/// The reason why a schema cannot take the place of an earlier one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Refusal {
    /// The schema contradicts the earlier one.
    Changed(&'static str),
    /// No decoder can be compiled from the schema.
    Layout(LayoutError),
}

/// Creates the decoder of a schema to which others may be added.
pub(super) fn decoder(schema: Schema) -> Result<Decoder, LayoutError> {
    match value_slots(&schema) > RESERVED_SLOTS {
        true => Err(LayoutError::TooComplex),
        false => Decoder::of_growing_ctf(schema, RESERVED_SLOTS),
    }
}

/// Creates the decoder of a later schema of the same trace. The declarations of the earlier one
/// are kept, as are its clocks: regenerated metadata measures their offsets again, which would
/// change times that were already delivered. `None` if nothing was added.
pub(super) fn grown(before: &Schema, mut later: Schema) -> Result<Option<Decoder>, Refusal> {
    if before.format != later.format || before.uuid != later.uuid {
        return Err(Refusal::Changed("it belongs to another trace"));
    }
    let (classes, types) = (before.stream_classes.len(), before.event_types.len());
    // While metadata is written anew, only a part of it is there.
    if later.stream_classes.len() < classes || later.event_types.len() < types {
        return Ok(None);
    }
    let mut streams = before.stream_classes.iter().zip(&later.stream_classes);
    let mut events = before.event_types.iter().zip(&later.event_types);
    if !streams.all(|(a, b)| a.id == b.id)
        || !events.all(|(a, b)| (a.stream, a.id, a.name()) == (b.stream, b.id, b.name()))
    {
        return Err(Refusal::Changed("stream classes or event types are declared differently"));
    }
    if later.stream_classes.len() == classes && later.event_types.len() == types {
        return Ok(None);
    }
    later.stream_classes[..classes].clone_from_slice(&before.stream_classes);
    later.event_types[..types].clone_from_slice(&before.event_types);
    for (later, before) in later.clocks.iter_mut().zip(&before.clocks) {
        later.clone_from(before);
    }
    later.packet_header.clone_from(&before.packet_header);
    later.slots = before.slots;
    decoder(later).map(Some).map_err(Refusal::Layout)
}
