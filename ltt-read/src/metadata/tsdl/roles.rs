//! Roles of fields: in CTF 1.8 they follow from reserved names and from
//! mappings to clocks.

use std::sync::Arc;

use hashbrown::HashMap;

use super::parser::{ClockMap, Parser};
use super::scalars::address;
use crate::metadata::Span;
use crate::schema::{Array, FieldClass, FieldKind, Integer, Length, Member, Role, Struct, Variant};

/// Gives the fields of a stream class's packet context and event header their
/// clock roles.
pub(super) struct ClockRoles<'p, 'a> {
    pub(super) maps: &'p HashMap<usize, ClockMap<'a>>,
    /// Name of the stream's default clock.
    pub(super) clock: Option<&'p str>,
}

impl ClockRoles<'_, '_> {
    fn ticks(&self, class: &Arc<FieldClass>) -> bool {
        self.maps.get(&address(class)).is_some_and(|m| Some(m.clock) == self.clock)
    }
}

/// The clock that the first mapped field of a tree is mapped to.
pub(super) fn first_clock<'a>(
    class: &Arc<FieldClass>,
    maps: &HashMap<usize, ClockMap<'a>>,
) -> Option<&'a str> {
    if let Some(map) = maps.get(&address(class)) {
        return Some(map.clock);
    }
    match &class.kind {
        FieldKind::Struct(s) => s.members.iter().find_map(|m| first_clock(&m.class, maps)),
        FieldKind::Variant(v) => v.options.iter().find_map(|o| first_clock(&o.class, maps)),
        FieldKind::Array(a) => first_clock(&a.element, maps),
        _ => None,
    }
}

/// Whether a structure has an unsigned integer member of this name, at any
/// depth.
pub(super) fn has_integer(class: &Arc<FieldClass>, name: &str) -> bool {
    let is = |n: &str, class: &Arc<FieldClass>| {
        (n == name && is_unsigned(class)) || has_integer(class, name)
    };
    match &class.kind {
        FieldKind::Struct(s) => s.members.iter().any(|m| is(&m.name, &m.class)),
        FieldKind::Variant(v) => v.options.iter().any(|o| has_integer(&o.class, name)),
        _ => false,
    }
}

fn is_unsigned(class: &FieldClass) -> bool {
    matches!(&class.kind, FieldKind::Integer(_, i) if !i.signed)
}

impl Parser<'_> {
    /// The packet header with roles.
    pub(super) fn packet_header(&mut self, root: &(Arc<FieldClass>, Span)) -> Arc<FieldClass> {
        self.members_with_roles(root, |name, class| {
            let wanted = match name {
                "magic" => Role::PacketMagic,
                "stream_id" => Role::StreamClassId,
                "stream_instance_id" => Role::StreamId,
                "uuid" => return Some(uuid_array(class)),
                _ => return None,
            };
            Some(match &class.kind {
                FieldKind::Integer(fixed, _) if wanted == Role::PacketMagic && fixed.bits != 32 => {
                    None
                }
                _ => with_role(class, wanted),
            })
        })
    }

    /// The packet context with roles.
    pub(super) fn packet_context(
        &mut self,
        root: &(Arc<FieldClass>, Span),
        clocks: &ClockRoles<'_, '_>,
    ) -> Arc<FieldClass> {
        let has_clock = clocks.clock.is_some();
        self.members_with_roles(root, |name, class| {
            let wanted = match name {
                "packet_size" => Role::PacketTotalLength,
                "content_size" => Role::PacketContentLength,
                "events_discarded" => Role::DiscardedEvents,
                "packet_seq_num" => Role::PacketSequence,
                "timestamp_begin" if has_clock => Role::ClockTimestamp,
                "timestamp_end" if has_clock => Role::PacketEndTimestamp,
                _ => {
                    let ticking = with_clock_roles(class, clocks, &|_| None);
                    return (!Arc::ptr_eq(&ticking, class)).then_some(Some(ticking));
                }
            };
            Some(with_role(class, wanted))
        })
    }

    /// Rebuilds the members of a root structure for which `change` has an
    /// answer. The answer `Some(None)`: the name is reserved, but the class
    /// does not suit it.
    fn members_with_roles(
        &mut self,
        (root, span): &(Arc<FieldClass>, Span),
        mut change: impl FnMut(&str, &Arc<FieldClass>) -> Option<Option<Arc<FieldClass>>>,
    ) -> Arc<FieldClass> {
        let mut members = Vec::with_capacity(root.members().len());
        for member in root.members() {
            let class = match change(&member.name, &member.class) {
                Some(Some(class)) => class,
                Some(None) => {
                    let message = format!(
                        "member `{}` has a reserved name, but not the type that goes with it",
                        member.name
                    );
                    self.warn(*span, message);
                    member.class.clone()
                }
                None => member.class.clone(),
            };
            members.push(Member { class, ..member.clone() });
        }
        Arc::new(FieldClass { kind: FieldKind::Struct(Struct { members }), ..(**root).clone() })
    }
}

/// The event header with roles: event ids and readings of the clock at any
/// depth.
pub(super) fn event_header(
    root: &Arc<FieldClass>,
    clocks: &ClockRoles<'_, '_>,
    implicit: bool,
) -> Arc<FieldClass> {
    with_clock_roles(root, clocks, &|name| match name {
        "id" => Some(Role::EventTypeId),
        "timestamp" if implicit => Some(Role::ClockTimestamp),
        _ => None,
    })
}

/// A class as array of 16 bytes with the UUID's role, if it is one.
fn uuid_array(class: &FieldClass) -> Option<Arc<FieldClass>> {
    match &class.kind {
        FieldKind::Array(array @ Array { length: Length::Static(16), element, .. })
            if element.align <= 8
                && matches!(&element.kind, FieldKind::Integer(f, _) if f.bits == 8) =>
        {
            let array = Array { roles: array.roles.with(Role::Uuid), ..array.clone() };
            Some(Arc::new(FieldClass { kind: FieldKind::Array(array), ..class.clone() }))
        }
        _ => None,
    }
}

/// An unsigned integer class with one more role.
fn with_role(class: &Arc<FieldClass>, role: Role) -> Option<Arc<FieldClass>> {
    match &class.kind {
        FieldKind::Integer(fixed, integer) if !integer.signed => {
            let integer = Integer { roles: integer.roles.with(role), ..integer.clone() };
            let kind = FieldKind::Integer(*fixed, integer);
            Some(Arc::new(FieldClass { kind, ..(**class).clone() }))
        }
        _ => None,
    }
}

/// A tree in which mapped integers update the clock, and integers whose names
/// `by_name` knows have its roles. Trees that do not change stay shared.
fn with_clock_roles(
    class: &Arc<FieldClass>,
    clocks: &ClockRoles<'_, '_>,
    by_name: &dyn Fn(&str) -> Option<Role>,
) -> Arc<FieldClass> {
    let mut changed = false;
    let kind = match &class.kind {
        FieldKind::Integer(..) if clocks.ticks(class) => {
            return with_role(class, Role::ClockTimestamp).unwrap_or_else(|| class.clone());
        }
        FieldKind::Struct(s) => {
            let members = s.members.iter().map(|member| {
                let mut class = with_clock_roles(&member.class, clocks, by_name);
                if let Some(role) = by_name(&member.name) {
                    class = with_role(&class, role).unwrap_or(class);
                }
                changed |= !Arc::ptr_eq(&class, &member.class);
                Member { class, ..member.clone() }
            });
            FieldKind::Struct(Struct { members: members.collect() })
        }
        FieldKind::Variant(v) => {
            let mut variant: Variant = v.clone();
            for option in &mut variant.options {
                let class = with_clock_roles(&option.class, clocks, by_name);
                changed |= !Arc::ptr_eq(&class, &option.class);
                option.class = class;
            }
            FieldKind::Variant(variant)
        }
        _ => return class.clone(),
    };
    match changed {
        true => Arc::new(FieldClass { kind, ..(**class).clone() }),
        false => class.clone(),
    }
}
