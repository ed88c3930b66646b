//! Roles of fields, which follow from reserved names and from clock mappings in CTF 1.8.

use std::sync::Arc;

use hashbrown::HashMap;

use super::error::Error;
use super::lexer::Lexer;
use super::parser::{ClockMap, Parser, unescape};
use super::scalars::address;
use super::token::TokenKind;
use crate::metadata::Span;
use crate::schema::{Array, FieldClass, FieldKind, Integer, Length, Member, Role, Struct, Variant};

/// A rebuilder of root structures that adds roles to integers. Integers that are mapped
/// to the stream's clock update it; integers with reserved names have the roles of these
/// names.
pub(super) struct Rebuild<'p, 'a> {
    maps: &'p HashMap<usize, ClockMap<'a>>,
    /// The name of the stream's default clock.
    clock: Option<&'p str>,
    by_name: fn(&str) -> Option<Role>,
    /// The rebuilt compound classes by address, so that shared classes stay shared.
    done: HashMap<usize, Arc<FieldClass>>,
}

impl<'p, 'a> Rebuild<'p, 'a> {
    /// Creates a rebuilder for a packet context.
    pub(super) fn context(maps: &'p HashMap<usize, ClockMap<'a>>, clock: Option<&'p str>) -> Self {
        Rebuild { maps, clock, by_name: |_| None, done: HashMap::new() }
    }

    /// Creates a rebuilder for an event header. Event ids are recognized at any depth,
    /// and with `by_name`, timestamps too.
    pub(super) fn header(
        maps: &'p HashMap<usize, ClockMap<'a>>,
        clock: Option<&'p str>,
        by_name: bool,
    ) -> Self {
        let id = |name: &str| (name == "id").then_some(Role::EventTypeId);
        let id_or_time = |name: &str| match name {
            "id" => Some(Role::EventTypeId),
            "timestamp" => Some(Role::ClockTimestamp),
            _ => None,
        };
        let by_name: fn(&str) -> Option<Role> = if by_name { id_or_time } else { id };
        Rebuild { by_name, ..Self::context(maps, clock) }
    }

    /// Returns the tree with its roles, or the same tree if it has none.
    pub(super) fn tree(&mut self, class: &Arc<FieldClass>) -> Arc<FieldClass> {
        let kind = match &class.kind {
            FieldKind::Integer(..) => {
                let map = self.maps.get(&address(class));
                let ticks = map.is_some_and(|m| Some(m.clock) == self.clock);
                let ticking = if ticks { with_role(class, Role::ClockTimestamp) } else { None };
                return ticking.unwrap_or_else(|| class.clone());
            }
            FieldKind::Struct(_) | FieldKind::Variant(_) => {
                if let Some(done) = self.done.get(&address(class)) {
                    return done.clone();
                }
                self.compound(&class.kind)
            }
            _ => return class.clone(),
        };
        let rebuilt = match kind {
            Some(kind) => Arc::new(FieldClass { kind, ..(**class).clone() }),
            None => class.clone(),
        };
        self.done.insert(address(class), rebuilt.clone());
        rebuilt
    }

    /// Returns a compound class with changed parts, or `None` if there are no changes.
    fn compound(&mut self, kind: &FieldKind) -> Option<FieldKind> {
        let mut changed = false;
        let kind = match kind {
            FieldKind::Struct(s) => {
                let mut members = s.members.clone();
                for member in &mut members {
                    let mut class = self.tree(&member.class);
                    if let Some(role) = (self.by_name)(&member.name) {
                        class = with_role(&class, role).unwrap_or(class);
                    }
                    changed |= !Arc::ptr_eq(&class, &member.class);
                    member.class = class;
                }
                FieldKind::Struct(Struct { members })
            }
            FieldKind::Variant(v) => {
                let mut variant: Variant = v.clone();
                for option in &mut variant.options {
                    let class = self.tree(&option.class);
                    changed |= !Arc::ptr_eq(&class, &option.class);
                    option.class = class;
                }
                FieldKind::Variant(variant)
            }
            _ => return None,
        };
        changed.then_some(kind)
    }
}

/// Returns the clock of the first mapped field of a tree.
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

/// Returns `true` if a structure has an unsigned integer member of this name, at any
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
    /// Returns the packet header with roles. A `magic` member that is not an unsigned
    /// integer of 32 bits is an error.
    pub(super) fn packet_header(&mut self, root: &(Arc<FieldClass>, Span)) -> Arc<FieldClass> {
        let is_magic = |class: &FieldClass| {
            is_unsigned(class) && matches!(&class.kind, FieldKind::Integer(f, _) if f.bits == 32)
        };
        let magic = root.0.members().iter().find(|member| &*member.name == "magic");
        if magic.is_some_and(|magic| !is_magic(&magic.class)) {
            let span = self.member_span(root.1, "magic").unwrap_or(root.1);
            let message = "the packet's `magic` must be an unsigned integer of 32 bits";
            self.record(*Error::new(span, message));
        }
        self.members_with_roles(root, |name, class| {
            let wanted = match name {
                "magic" if !is_magic(class) => return None,
                "magic" => Role::PacketMagic,
                "stream_id" => Role::StreamClassId,
                "stream_instance_id" => Role::StreamId,
                "uuid" => return Some(uuid_array(class)),
                _ => return None,
            };
            Some(with_role(class, wanted))
        })
    }

    /// Returns the position of a member's name in a structure type that is written out at
    /// a position.
    fn member_span(&self, root: Span, name: &str) -> Option<Span> {
        let mut lexer = Lexer::new(self.text.get(..root.end as usize)?);
        lexer.seek(root.start as usize);
        let mut depth = 0u32;
        loop {
            let token = lexer.next();
            match token.kind {
                TokenKind::LeftBrace => depth += 1,
                TokenKind::RightBrace => depth = depth.saturating_sub(1),
                TokenKind::Identifier if depth == 1 && unescape(self.slice(token.span)) == name => {
                    return Some(token.span);
                }
                TokenKind::End | TokenKind::Bad(_) => return None,
                _ => {}
            }
        }
    }

    /// Returns the packet context with roles.
    pub(super) fn packet_context(
        &mut self,
        root: &(Arc<FieldClass>, Span),
        mut rebuild: Rebuild<'_, '_>,
    ) -> Arc<FieldClass> {
        let has_clock = rebuild.clock.is_some();
        self.members_with_roles(root, |name, class| {
            let wanted = match name {
                "packet_size" => Role::PacketTotalLength,
                "content_size" => Role::PacketContentLength,
                "events_discarded" => Role::DiscardedEvents,
                "packet_seq_num" => Role::PacketSequence,
                "timestamp_begin" if has_clock => Role::ClockTimestamp,
                "timestamp_end" if has_clock => Role::PacketEndTimestamp,
                _ => {
                    let rebuilt = rebuild.tree(class);
                    return (!Arc::ptr_eq(&rebuilt, class)).then_some(Some(rebuilt));
                }
            };
            Some(with_role(class, wanted))
        })
    }

    /// Rebuilds the members of a root structure for which `change` returns `Some`.
    /// `Some(None)` means that the name is reserved, but the class is unsuitable.
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
                        "member `{}` has a reserved name, but not the required type",
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

/// Adds the UUID role to an array of 16 bytes. Returns `None` for other classes.
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

/// Adds a role to an unsigned integer class. Returns `None` for other classes.
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
