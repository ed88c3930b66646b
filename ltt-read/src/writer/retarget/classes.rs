//! Field classes for another format.

use std::sync::Arc;

use super::Changes;
use super::names::identifier_like;
use super::selectors::Labels;
use crate::schema::{
    Array, BitOrder, Blob, ByteOrder, Dependency, DisplayBase, Encoding, FieldClass, FieldKind,
    FixedLen, Format, Integer, Length, LocationOrigin, Mapping, Member, OptionField, PathStep,
    RangeSet, Role, Roles, Scope, Selector, Str, Struct, Variant, VariantOption,
};

/// The size of the integers that take the place of those of variable length, in bits.
const WIDE: u32 = 64;

/// The scopes of an event that are known so far, in the order of [`Scope::ALL`].
#[derive(Debug, Default, Clone)]
pub(super) struct Scopes([ScopeNames; 6]);

/// The classes and names of a scope.
#[derive(Debug, Default, Clone)]
struct ScopeNames {
    /// The root before its conversion.
    root: Option<Arc<FieldClass>>,
    /// The direct members of the root whose name follows from their role: name before and after.
    renamed: Vec<(Arc<str>, Arc<str>)>,
}

/// A converter of the field classes of one scope.
pub(super) struct Classes<'c> {
    pub(super) format: Format,
    pub(super) scope: Scope,
    /// The byte order of classes that are made up.
    pub(super) order: ByteOrder,
    /// The number of structures around the current field.
    pub(super) depth: u32,
    /// The scopes that lengths and selectors may be in.
    pub(super) scopes: &'c mut Scopes,
    /// The labels that integers of this scope get.
    pub(super) labels: Labels,
    pub(super) changes: &'c mut Changes,
}

impl Classes<'_> {
    /// Converts the root of a scope. Returns `None` if nothing of it can be expressed.
    pub(super) fn root(&mut self, place: &str, class: &Arc<FieldClass>) -> Option<Arc<FieldClass>> {
        let names = ScopeNames { root: Some(class.clone()), renamed: Vec::new() };
        self.scopes.0[self.scope as usize] = names;
        if self.format == Format::Ctf1 {
            self.labels = Labels::of(class);
        }
        match self.class(place, class) {
            Ok(converted) => Some(converted),
            Err(what) => {
                self.changes.note(format!("{place}: dropped, since {what} cannot be expressed"));
                None
            }
        }
    }

    /// Converts a class. Returns the class itself if nothing changes.
    fn class(&mut self, place: &str, class: &Arc<FieldClass>) -> Result<Arc<FieldClass>, String> {
        let converted = match self.format {
            Format::Ctf1 => self.for_ctf1(place, class)?,
            _ => self.for_ctf2(place, class)?,
        };
        Ok(match converted == **class {
            true => class.clone(),
            false => Arc::new(converted),
        })
    }

    fn note(&mut self, place: &str, change: &str) {
        self.changes.note(format!("{place}: {change}"));
    }

    fn for_ctf2(&mut self, place: &str, class: &FieldClass) -> Result<FieldClass, String> {
        let kind = match &class.kind {
            // CTF 2 has UUIDs in packet headers only as blobs.
            FieldKind::Array(array) if array.roles.has(Role::Uuid) => {
                let (length, roles) = (array.length.clone(), array.roles);
                FieldKind::Blob(Blob { length, media_type: None, roles })
            }
            other => self.parts(place, other)?,
        };
        Ok(FieldClass { kind, ..class.clone() })
    }

    fn for_ctf1(&mut self, place: &str, class: &FieldClass) -> Result<FieldClass, String> {
        let order = self.order;
        let unsigned = |bits| fixed(bits, order);
        if class.attributes.is_some() {
            self.note(place, "user attributes dropped");
        }
        let mut align = class.align;
        let kind = match &class.kind {
            FieldKind::Bool(field, slot) => {
                self.note(place, "boolean becomes an integer");
                let integer = Integer { slot: *slot, ..Integer::default() };
                FieldKind::Integer(self.plain(place, *field), integer)
            }
            FieldKind::BitArray(field) => {
                self.note(place, "bit array becomes an integer");
                FieldKind::Integer(self.plain(place, *field), hexadecimal())
            }
            FieldKind::BitMap(field, _) => {
                self.note(place, "bit map becomes an integer");
                FieldKind::Integer(self.plain(place, *field), hexadecimal())
            }
            FieldKind::VarInteger(integer) => {
                self.note(place, "integer of variable length becomes one of 64 bits");
                FieldKind::Integer(unsigned(WIDE), self.integer(place, integer))
            }
            FieldKind::Integer(field, integer) => {
                FieldKind::Integer(self.plain(place, *field), self.integer(place, integer))
            }
            FieldKind::Float(field) => FieldKind::Float(self.plain(place, *field)),
            FieldKind::String(string) => FieldKind::String(self.string(place, string)?),
            FieldKind::Blob(blob) => {
                let is_uuid = blob.roles.has(Role::Uuid) && self.scope == Scope::PacketHeader;
                if !is_uuid {
                    self.note(place, "blob becomes an array of bytes");
                }
                let base = if is_uuid { DisplayBase::Decimal } else { DisplayBase::Hexadecimal };
                let element = Integer { base, ..Integer::default() };
                let element = FieldClass::integer(8, order, element);
                let (length, roles) = (blob.length.clone(), blob.roles);
                FieldKind::Array(Array { element: Arc::new(element), length, roles })
            }
            FieldKind::Option(option) => self.option(place, option)?,
            other => self.parts(place, other)?,
        };
        if matches!(kind, FieldKind::Variant(_)) {
            align = 1;
        }
        Ok(FieldClass { attributes: None, ..FieldClass::new(kind, align) })
    }

    /// Returns an option as a sequence of none or one element, whose length is the selector, or as
    /// a variant if the selector is an integer.
    fn option(&mut self, place: &str, option: &OptionField) -> Result<FieldKind, String> {
        if option.present != Selector::Bool {
            return self.option_by_integer(place, option);
        }
        self.note(place, "option becomes a sequence of none or one element");
        let element = self.class(place, &option.class)?;
        let length = Length::Dynamic(self.dependency(&option.selector)?);
        Ok(FieldKind::Array(Array { element, length, roles: Roles::NONE }))
    }

    fn option_by_integer(
        &mut self,
        place: &str,
        option: &OptionField,
    ) -> Result<FieldKind, String> {
        let what = || "an option whose selector has labels or is in another scope".to_owned();
        let labels = self.labels.of_option_field(option).ok_or_else(what)?.to_vec();
        self.note(place, "option becomes a variant");
        let present = self.class(place, &option.class)?;
        let last = labels.len() - 1;
        let options = labels.into_iter().enumerate().map(|(number, Mapping { label, ranges })| {
            let class = match number == last {
                true => present.clone(),
                false => Arc::new(FieldClass::structure([])),
            };
            let (name, label) = (Some(label.clone()), Some(label));
            VariantOption { name, label, ranges, class, attributes: None }
        });
        let options = options.collect();
        Ok(FieldKind::Variant(Variant { selector: self.dependency(&option.selector)?, options }))
    }

    /// Converts the parts of a class.
    fn parts(&mut self, place: &str, kind: &FieldKind) -> Result<FieldKind, String> {
        Ok(match kind {
            FieldKind::Struct(class) => {
                self.depth += 1;
                let mut members: Vec<Member> = Vec::with_capacity(class.members.len());
                for member in &class.members {
                    let inner = format!("{place}.{}", member.name);
                    let class = self.class(&inner, &member.class)?;
                    let name = self.member_name(&inner, &member.name, &class, &members);
                    let mut attributes = member.attributes.clone();
                    if self.format == Format::Ctf1 && attributes.take().is_some() {
                        self.note(&inner, "user attributes dropped");
                    }
                    members.push(Member { name, class, attributes });
                }
                self.depth -= 1;
                FieldKind::Struct(Struct { members })
            }
            FieldKind::Array(array) => FieldKind::Array(Array {
                element: self.class(place, &array.element)?,
                length: self.length(&array.length)?,
                // A UUID elsewhere than in a packet header has no role.
                roles: match self.scope {
                    Scope::PacketHeader => array.roles,
                    _ => Roles::NONE,
                },
            }),
            FieldKind::Variant(variant) => {
                let mut options = Vec::with_capacity(variant.options.len());
                for number in 0..variant.options.len() {
                    options.push(self.variant_option(place, variant, number)?);
                }
                FieldKind::Variant(Variant {
                    selector: self.dependency(&variant.selector)?,
                    options,
                })
            }
            FieldKind::Option(option) => FieldKind::Option(OptionField {
                class: self.class(place, &option.class)?,
                ..option.clone()
            }),
            other => other.clone(),
        })
    }

    fn variant_option(
        &mut self,
        place: &str,
        variant: &Variant,
        number: usize,
    ) -> Result<VariantOption, String> {
        let option = &variant.options[number];
        let inner = format!("{place}.{}", option.name.as_deref().unwrap_or("?"));
        let class = self.class(&inner, &option.class)?;
        if self.format != Format::Ctf1 {
            return Ok(VariantOption { class, ..option.clone() });
        }
        // In CTF 1.8, the labels of the selector are the names of the options, but for an
        // underscore at the start.
        let known = match (&option.label, &option.name) {
            (Some(label), _) => Some(label.clone()),
            (None, Some(name)) => self.label(&variant.selector, name, &option.ranges),
            (None, None) => None,
        };
        if let Some(label) = known {
            return Ok(VariantOption {
                class,
                label: Some(label),
                attributes: None,
                ..option.clone()
            });
        }
        let what = || "a variant whose selector has other labels or is in another scope".to_owned();
        let label = self.labels.of_option(variant, number).ok_or_else(what)?;
        let (name, ranges) = (Some(label.clone()), option.ranges.clone());
        Ok(VariantOption { name, label: Some(label), ranges, class, attributes: None })
    }

    /// Returns the label of a selector that stands for just these values and gives an option a
    /// name.
    fn label(&self, selector: &Dependency, name: &str, ranges: &RangeSet) -> Option<Arc<str>> {
        let Some(PathStep::Name(field)) = selector.path.last() else { return None };
        let root = self.scopes.0[self.scope_of(selector) as usize].root.as_deref()?;
        find_label(root, field, name, ranges)
    }

    /// Returns the scope that a length or selector is in.
    fn scope_of(&self, at: &Dependency) -> Scope {
        match at.origin {
            LocationOrigin::Scope(scope) => scope,
            _ => self.scope,
        }
    }

    fn member_name(
        &mut self,
        place: &str,
        name: &Arc<str>,
        class: &FieldClass,
        earlier: &[Member],
    ) -> Arc<str> {
        if self.format != Format::Ctf1 {
            return name.clone();
        }
        let is_uuid = matches!(&class.kind, FieldKind::Array(a) if a.roles.has(Role::Uuid));
        let role = match &class.kind {
            _ if is_uuid && self.scope == Scope::PacketHeader => Some("uuid"),
            FieldKind::Integer(_, integer) => role_name(self.scope, integer.roles),
            _ => None,
        };
        // Any timestamp maps to its clock; only the first one needs the name.
        let role = role.filter(|role| earlier.iter().all(|member| &*member.name != *role));
        let changed = match role {
            Some(role) => role.to_owned(),
            // Readers would take a field of this name for another one.
            None if self.depth == 1 && is_reserved(self.scope, name) => format!("{name}_field"),
            None => identifier_like(name),
        };
        if *changed != **name {
            self.note(place, &format!("name becomes {changed:?}"));
            let changed: Arc<str> = changed.into();
            if self.depth == 1 {
                let renamed = &mut self.scopes.0[self.scope as usize].renamed;
                renamed.push((name.clone(), changed.clone()));
            }
            return changed;
        }
        name.clone()
    }

    fn string(&mut self, place: &str, string: &Str) -> Result<Str, String> {
        let mut converted = Str { encoding: Encoding::Utf8, length: string.length.clone() };
        if string.encoding != Encoding::Utf8 {
            if matches!(string.length, Some(Length::Dynamic(_))) {
                return Err("text of UTF-16 or UTF-32 with a length".to_owned());
            }
            self.note(place, "text becomes UTF-8 with a terminator");
            converted.length = None;
        }
        converted.length = converted.length.map(|length| self.length(&length)).transpose()?;
        Ok(converted)
    }

    fn integer(&mut self, place: &str, integer: &Integer) -> Integer {
        let mut converted = integer.clone();
        if let Some(labels) = self.labels.of_integer(integer) {
            self.note(place, "integer becomes an enumeration, since other fields depend on it");
            converted.mappings = Some(labels.into());
        }
        // In CTF 1.8, only direct members of packet headers and contexts have roles.
        let is_of_packet = matches!(self.scope, Scope::PacketHeader | Scope::PacketContext);
        if is_of_packet && self.depth > 1 && !integer.roles.is_empty() {
            self.note(place, "role dropped");
            converted.roles = Roles::NONE;
        }
        if integer.mappings.as_deref().is_some_and(|mappings| {
            mappings.is_empty() || mappings.iter().any(|mapping| mapping.ranges.is_empty())
        }) {
            self.note(place, "labels without values dropped");
            let mappings = integer.mappings.iter().flat_map(|mappings| mappings.iter());
            let rest: Vec<_> = mappings.filter(|m| !m.ranges.is_empty()).cloned().collect();
            converted.mappings = Some(rest).filter(|rest| !rest.is_empty()).map(Into::into);
        }
        converted
    }

    fn plain(&mut self, place: &str, field: FixedLen) -> FixedLen {
        if field.bit_order == BitOrder::Reversed {
            self.note(place, "bits in reversed order are turned");
        }
        FixedLen { bit_order: BitOrder::Natural, ..field }
    }

    fn length(&mut self, length: &Length) -> Result<Length, String> {
        Ok(match length {
            Length::Static(size) => Length::Static(*size),
            Length::Dynamic(at) => Length::Dynamic(self.dependency(at)?),
        })
    }

    fn dependency(&mut self, at: &Dependency) -> Result<Dependency, String> {
        if self.format != Format::Ctf1 {
            return Ok(at.clone());
        }
        let mut converted = at.clone();
        let is_absolute = matches!(at.origin, LocationOrigin::Scope(_));
        let renamed = &self.scopes.0[self.scope_of(at) as usize].renamed;
        for (number, step) in converted.path.iter_mut().enumerate() {
            let PathStep::Name(name) = step else { continue };
            let mut renamed = renamed.iter().filter(|_| is_absolute && number == 0);
            *name = match renamed.find(|(old, _)| old == name) {
                Some((_, new)) => new.clone(),
                None => identifier_like(name).into(),
            };
        }
        Ok(converted)
    }
}

/// Finds the label of an enumeration of the name `field` that stands for just these values and
/// gives an option the name `option`.
fn find_label(
    class: &FieldClass,
    field: &str,
    option: &str,
    ranges: &RangeSet,
) -> Option<Arc<str>> {
    let within = |class| find_label(class, field, option, ranges);
    match &class.kind {
        FieldKind::Struct(class) => class.members.iter().find_map(|member| {
            let mappings = member.class.mappings().filter(|_| &*member.name == field);
            let named = |label: &str| label.strip_prefix('_').unwrap_or(label) == option;
            let mut found = mappings.unwrap_or_default().iter();
            let found = found.find(|m| m.ranges == *ranges && named(&m.label));
            found.map(|mapping| mapping.label.clone()).or_else(|| within(&member.class))
        }),
        FieldKind::Array(array) => within(&array.element),
        FieldKind::Option(option) => within(&option.class),
        FieldKind::Variant(variant) => variant.options.iter().find_map(|o| within(&o.class)),
        _ => None,
    }
}

fn fixed(bits: u32, byte_order: ByteOrder) -> FixedLen {
    FixedLen { bits, byte_order, bit_order: BitOrder::Natural }
}

fn hexadecimal() -> Integer {
    Integer { base: DisplayBase::Hexadecimal, ..Integer::default() }
}

/// Returns the name by which CTF 1.8 recognizes a role; `None` if a field needs none.
fn role_name(scope: Scope, roles: Roles) -> Option<&'static str> {
    role_names(scope).iter().find(|(role, _)| roles.has(*role)).map(|(_, name)| *name)
}

/// Returns `true` if CTF 1.8 gives the fields of a name in a scope a role.
fn is_reserved(scope: Scope, name: &str) -> bool {
    let is_uuid = scope == Scope::PacketHeader && name == "uuid";
    is_uuid || role_names(scope).iter().any(|(_, reserved)| *reserved == name)
}

fn role_names(scope: Scope) -> &'static [(Role, &'static str)] {
    match scope {
        Scope::PacketHeader => &[
            (Role::PacketMagic, "magic"),
            (Role::StreamClassId, "stream_id"),
            (Role::StreamId, "stream_instance_id"),
        ],
        Scope::PacketContext => &[
            (Role::PacketTotalLength, "packet_size"),
            (Role::PacketContentLength, "content_size"),
            (Role::ClockTimestamp, "timestamp_begin"),
            (Role::PacketEndTimestamp, "timestamp_end"),
            (Role::DiscardedEvents, "events_discarded"),
            (Role::PacketSequence, "packet_seq_num"),
        ],
        Scope::EventHeader => &[(Role::EventTypeId, "id")],
        _ => &[],
    }
}
