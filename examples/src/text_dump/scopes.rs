//! What is known of an event type's scopes before any event is read.

use ltt_read::schema::{DisplayBase, EventType, FieldClass, FieldKind, Schema, Scope};

use super::chunk::Chunk;

/// A member of a scope's root structure.
#[derive(Debug)]
pub(super) struct Member {
    /// What comes before its value: separator and name.
    pub(super) lead: Chunk,
    /// It is not for the user to see.
    pub(super) hidden: bool,
    /// It is an integer that is shown in base 10 and has no labels.
    pub(super) plain: bool,
}

/// How the members of a root structure are introduced.
pub(super) trait Leads {
    /// Appends what comes before a member's value; `first` is the first that
    /// is shown.
    fn lead(&self, out: &mut Vec<u8>, first: bool, name: &str);
}

/// The members of a root structure. Those of packet contexts that the reader
/// itself uses are hidden.
pub(super) fn members(class: &FieldClass, scope: Scope, leads: &dyn Leads) -> Vec<Member> {
    let mut first = true;
    let member = |m: &ltt_read::schema::Member| {
        let hidden = scope == Scope::PacketContext && is_internal(&m.class.kind);
        let mut lead = Vec::new();
        leads.lead(&mut lead, first, &m.name);
        first &= hidden;
        Member { lead: Chunk::new(lead), hidden, plain: is_plain(&m.class.kind) }
    };
    class.members().iter().map(member).collect()
}

/// The scopes with something for the user, in the order of printing.
pub(super) fn shown<'s>(
    schema: &'s Schema,
    event_type: &'s EventType,
) -> impl Iterator<Item = (Scope, &'s FieldClass)> {
    let stream = &schema.stream_classes[event_type.stream.index()];
    let shows = |c: &&FieldClass| !c.members().is_empty() && !is_internal(&c.kind);
    [
        (Scope::PacketContext, stream.packet_context.as_deref().filter(shows)),
        (Scope::CommonContext, stream.common_context.as_deref()),
        (Scope::SpecificContext, event_type.specific_context.as_deref()),
        (Scope::Payload, event_type.payload.as_deref()),
    ]
    .into_iter()
    .filter_map(|(scope, class)| class.map(|class| (scope, class)))
}

/// Whether a field of a packet context is only there for the reader: a size,
/// a time, a counter.
pub(super) fn is_internal(kind: &FieldKind) -> bool {
    match kind {
        FieldKind::Integer(_, i) | FieldKind::VarInteger(i) => {
            !i.roles.is_empty() && i.slot.is_none()
        }
        FieldKind::Struct(s) => {
            !s.members.is_empty() && s.members.iter().all(|m| is_internal(&m.class.kind))
        }
        _ => false,
    }
}

fn is_plain(kind: &FieldKind) -> bool {
    match kind {
        FieldKind::Integer(_, i) | FieldKind::VarInteger(i) => {
            i.base == DisplayBase::Decimal && i.mappings.is_none()
        }
        _ => false,
    }
}
