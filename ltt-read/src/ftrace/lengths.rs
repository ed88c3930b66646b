//! Length fields of CTF for arrays whose length is in their record.

use std::sync::Arc;

use crate::schema::{
    Array, Blob, EventType, FieldClass, FieldKind, Length, LocationOrigin, Member, PathStep,
    Schema, Struct,
};

/// The size of length fields in bits.
const LENGTH_BITS: u32 = 32;

/// Adds a length field before each member of event types whose length is no field of its own.
pub(crate) fn add_lengths(schema: &mut Schema) {
    let order = schema.native_byte_order;
    fn parts(event: &mut EventType) -> [&mut Option<Arc<FieldClass>>; 2] {
        [&mut event.specific_context, &mut event.payload]
    }
    for class in schema.event_types.iter_mut().flat_map(parts).flatten() {
        if !class.members().iter().any(|member| has_own_length(&member.class)) {
            continue;
        }
        let mut members = Vec::new();
        for member in class.members() {
            if let Some(name) = name_of_length(&member.class) {
                let class = Arc::new(FieldClass::uint(LENGTH_BITS, order));
                members.push(Member { name, class, attributes: None });
            }
            members.push(member.clone());
        }
        let kind = FieldKind::Struct(Struct { members });
        let attributes = class.attributes.clone();
        *class = Arc::new(FieldClass { attributes, ..FieldClass::new(kind, class.align) });
    }
}

/// Returns `true` if the length of fields of a class is neither constant nor in another field.
pub(crate) fn has_own_length(class: &FieldClass) -> bool {
    name_of_length(class).is_some()
}

/// Returns the name of the length field that fields of a class would need.
fn name_of_length(class: &FieldClass) -> Option<Arc<str>> {
    let (FieldKind::Array(Array { length, .. }) | FieldKind::Blob(Blob { length, .. })) =
        &class.kind
    else {
        return None;
    };
    match length {
        Length::Dynamic(of) if of.slot.is_none() && of.origin == LocationOrigin::Enclosing => {
            match &of.path[..] {
                [PathStep::Name(name)] => Some(name.clone()),
                _ => None,
            }
        }
        _ => None,
    }
}
