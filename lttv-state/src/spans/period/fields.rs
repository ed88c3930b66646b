//! The fields of events that definitions name.

use ltt_read::schema::{EventTypeId, FieldKind, Scope};
use ltt_read::{Field, Trace};

/// The words for what an event belongs to.
pub(super) const WORDS: [&str; 4] = ["cpu", "tid", "pid", "comm"];
/// The scopes of fields, those in which a name is looked up first.
const SCOPES: [Scope; 4] =
    [Scope::Payload, Scope::SpecificContext, Scope::CommonContext, Scope::PacketContext];

/// Returns the field of the events of a type with a name.
pub(super) fn field_of(trace: &Trace, id: EventTypeId, name: &str) -> Option<Field> {
    SCOPES.iter().find_map(|scope| trace.field(id, *scope, name))
}

/// Returns `true` if events of a type have a field with a name, or if the name is a word that all have.
pub(super) fn has_field(trace: &Trace, id: EventTypeId, name: &str) -> bool {
    WORDS.contains(&name) || field_of(trace, id, name).is_some()
}

/// Returns the names of the fields and contexts of the events of a type, and the words.
pub(super) fn field_names(trace: &Trace, id: EventTypeId) -> Vec<&str> {
    let of = &trace.schema().event_types[id.index()];
    let scopes = [&of.payload, &of.specific_context];
    let mut names: Vec<&str> = WORDS.to_vec();
    for class in scopes.into_iter().flatten() {
        if let FieldKind::Struct(of) = &class.kind {
            names.extend(of.members.iter().map(|member| &*member.name));
        }
    }
    names
}
