//! Reading of field classes from JSON.

use std::sync::Arc;

use hashbrown::HashMap;

use super::common::{attributes, refuse_extensions};
use super::draft;
use super::json::{IntKind, Names, Node, Object, Result};
use super::kind::{KINDS, Kind};
use super::location::location;
use super::scalar::{blob, fixed, flags, integer, ranges, text};
use crate::metadata::nearest::nearest;
use crate::metadata::{Diagnostic, limits};
use crate::schema::{
    Array, Blob, ByteOrder, FieldClass, FieldKind, Length, Member, OptionField, Role, Roles,
    Selector, Struct, Variant, VariantOption,
};

/// A field class with totals of its contents.
#[derive(Clone)]
pub(super) struct Built {
    pub(super) class: Arc<FieldClass>,
    /// The nesting depth, 1 for a scalar.
    depth: usize,
    /// The number of classes in the tree, including itself. Shared classes count at each
    /// use.
    parts: usize,
    /// The union of all roles in the tree.
    pub(super) roles: Roles,
}

/// A builder of field classes, with the table of aliases.
#[derive(Default)]
pub(super) struct Classes {
    aliases: HashMap<Arc<str>, Built>,
    /// The first byte order that the metadata declares.
    pub(super) byte_order: Option<ByteOrder>,
    pub(super) warnings: Vec<Diagnostic>,
}

/// The totals of the classes in a compound class.
struct Contents {
    depth: usize,
    parts: usize,
    roles: Roles,
}

impl Contents {
    const NONE: Contents = Contents { depth: 1, parts: 1, roles: Roles::NONE };

    fn add(&mut self, built: &Built) {
        self.depth = self.depth.max(built.depth + 1);
        self.parts = self.parts.saturating_add(built.parts);
        self.roles = self.roles.union(built.roles);
    }
}

/// Lists property names, after those that every class has.
macro_rules! properties {
    ($($name:literal),*) => { &["type", "attributes", "extensions" $(, $name)*] };
}

impl Kind {
    fn properties(self) -> &'static [&'static str] {
        match self {
            Kind::BitArray | Kind::Bool | Kind::Float => {
                properties!["length", "byte-order", "bit-order", "alignment"]
            }
            Kind::BitMap => properties!["length", "byte-order", "bit-order", "alignment", "flags"],
            Kind::Integer { signed: false } => properties![
                "length",
                "byte-order",
                "bit-order",
                "alignment",
                "preferred-display-base",
                "mappings",
                "roles"
            ],
            Kind::Integer { signed: true } => properties![
                "length",
                "byte-order",
                "bit-order",
                "alignment",
                "preferred-display-base",
                "mappings"
            ],
            Kind::VarInteger { signed: false } => {
                properties!["preferred-display-base", "mappings", "roles"]
            }
            Kind::VarInteger { signed: true } => properties!["preferred-display-base", "mappings"],
            Kind::NullTerminated => properties!["encoding"],
            Kind::StaticString => properties!["length", "encoding"],
            Kind::DynamicString => properties!["length-field-location", "encoding"],
            Kind::StaticBlob => properties!["length", "media-type", "roles"],
            Kind::DynamicBlob => properties!["length-field-location", "media-type"],
            Kind::StaticArray => properties!["element-field-class", "length", "minimum-alignment"],
            Kind::DynamicArray => {
                properties!["element-field-class", "length-field-location", "minimum-alignment"]
            }
            Kind::Structure => properties!["member-classes", "minimum-alignment"],
            Kind::Optional => {
                properties!["field-class", "selector-field-location", "selector-field-ranges"]
            }
            Kind::Variant => properties!["selector-field-location", "options"],
        }
    }
}

impl Classes {
    /// Reads a `field-class-alias` fragment.
    pub(super) fn define_alias(&mut self, fragment: Node<'_>) -> Result<()> {
        let known = properties!["name", "field-class"];
        let object = fragment.object("a field class alias", known)?;
        refuse_extensions(&object)?;
        object.read("attributes", attributes)?;
        let name = object.read_required("name", Node::str)?;
        let built = object
            .read_required("field-class", |n| self.class(n))
            .map_err(|d| d.within(fragment.span(), format!("in field class alias `{name}`")))?;
        match self.aliases.insert(name.into(), built) {
            None => Ok(()),
            Some(_) => {
                let name_node = object.required("name")?;
                Err(name_node.error(format!("field class alias `{name}` is already defined")))
            }
        }
    }

    /// Reads a property that contains the structure of a scope.
    pub(super) fn root(&mut self, object: &Object<'_>, name: &str) -> Result<Option<Built>> {
        object.read(name, |node| {
            let built = self.class(node)?;
            match built.class.kind {
                FieldKind::Struct(_) => Ok(built),
                _ => Err(node.error("expected a structure field class")),
            }
        })
    }

    /// Reads a field class: an object, or the name of an alias.
    pub(super) fn class(&mut self, node: Node<'_>) -> Result<Built> {
        if let Some(name) = node.as_str() {
            return self.alias(name).ok_or_else(|| {
                let error = node.error(format!("no earlier field class alias `{name}`"));
                let mut known: Vec<&str> = self.aliases.keys().map(|k| &**k).collect();
                known.sort_unstable();
                match nearest(name, known) {
                    Some(near) => error.with_help(format!("did you mean `{near}`?")),
                    None => error,
                }
            });
        }
        if !node.is_object() {
            return Err(node.unexpected("a field class: an object, or the name of an alias"));
        }
        let Some(type_name) = node.peek("type") else {
            return Err(node.error("missing property `type`"));
        };
        let name = type_name.as_str().unwrap_or_default();
        let kind = match draft::KINDS.iter().find(|(k, _)| *k == name) {
            Some((_, kind)) => *kind,
            None => type_name
                .word(KINDS)
                .map_err(|d| d.within(type_name.span(), "in property `type`"))?,
        };
        let built = self.of_kind(node, kind);
        let built = built.map_err(|d| d.within(node.span(), format!("in `{name}` field class")))?;
        if built.depth > limits::DEPTH {
            let levels = limits::DEPTH;
            return Err(node.error(format!("field classes are nested deeper than {levels} levels")));
        }
        if built.parts > limits::NODES {
            return Err(node.error(format!("the class has more than {} parts", limits::NODES)));
        }
        Ok(built)
    }

    fn alias(&self, name: &str) -> Option<Built> {
        self.aliases.get(name).cloned()
    }

    fn of_kind(&mut self, node: Node<'_>, kind: Kind) -> Result<Built> {
        let object = node.object("a field class of this type", kind.properties())?;
        refuse_extensions(&object)?;
        let mut contents = Contents::NONE;
        let kind = match kind {
            Kind::BitArray => FieldKind::BitArray(self.fixed(&object, 64)?),
            Kind::BitMap => {
                let fixed = self.fixed(&object, 64)?;
                FieldKind::BitMap(fixed, object.read_required("flags", flags)?)
            }
            Kind::Bool => FieldKind::Bool(self.fixed(&object, 64)?, None),
            Kind::Float => {
                let fixed = self.fixed(&object, 128)?;
                if !matches!(fixed.bits, 16 | 32 | 64 | 128) {
                    let error = object.required("length")?.unexpected("16, 32, 64 or 128 bits");
                    return Err(error);
                }
                FieldKind::Float(fixed)
            }
            Kind::Integer { signed } => {
                let fixed = self.fixed(&object, 64)?;
                let roles = self.integer_roles(&object, signed)?;
                contents.roles = roles;
                FieldKind::Integer(fixed, integer(&object, signed, roles)?)
            }
            Kind::VarInteger { signed } => {
                let roles = self.integer_roles(&object, signed)?;
                contents.roles = roles;
                FieldKind::VarInteger(integer(&object, signed, roles)?)
            }
            Kind::NullTerminated => FieldKind::String(text(&object, None)?),
            Kind::StaticString => FieldKind::String(text(&object, Some(static_length(&object)?))?),
            Kind::DynamicString => {
                FieldKind::String(text(&object, Some(dynamic_length(&object)?))?)
            }
            Kind::StaticBlob => {
                let mut blob = blob(&object, static_length(&object)?)?;
                self.blob_roles(&object, &mut blob)?;
                contents.roles = blob.roles;
                FieldKind::Blob(blob)
            }
            Kind::DynamicBlob => FieldKind::Blob(blob(&object, dynamic_length(&object)?)?),
            Kind::StaticArray => self.array(&object, static_length(&object)?, &mut contents)?,
            Kind::DynamicArray => self.array(&object, dynamic_length(&object)?, &mut contents)?,
            Kind::Structure => self.structure(&object, &mut contents)?,
            Kind::Optional => self.optional(&object, &mut contents)?,
            Kind::Variant => self.variant(&object, &mut contents)?,
        };
        let alignment = match &kind {
            FieldKind::Struct(_) | FieldKind::Array(_) => "minimum-alignment",
            FieldKind::BitArray(_)
            | FieldKind::BitMap(..)
            | FieldKind::Bool(..)
            | FieldKind::Integer(..)
            | FieldKind::Float(_) => "alignment",
            _ => "",
        };
        let align = match alignment {
            "" => 1,
            name => object.read(name, alignment_of)?.unwrap_or(1),
        };
        let mut class = FieldClass::new(kind, align);
        class.attributes = object.read("attributes", attributes)?;
        let Contents { depth, parts, roles } = contents;
        Ok(Built { class: Arc::new(class), depth, parts, roles })
    }

    fn fixed(&mut self, object: &Object<'_>, most: u32) -> Result<crate::schema::FixedLen> {
        let fixed = fixed(object, most)?;
        self.byte_order.get_or_insert(fixed.byte_order);
        Ok(fixed)
    }

    fn integer_roles(&mut self, object: &Object<'_>, signed: bool) -> Result<Roles> {
        const ROLES: &[(&str, Role)] = &[
            ("packet-magic-number", Role::PacketMagic),
            ("data-stream-class-id", Role::StreamClassId),
            ("data-stream-id", Role::StreamId),
            ("packet-total-length", Role::PacketTotalLength),
            ("packet-content-length", Role::PacketContentLength),
            ("default-clock-timestamp", Role::ClockTimestamp),
            ("packet-end-default-clock-timestamp", Role::PacketEndTimestamp),
            ("discarded-event-record-counter-snapshot", Role::DiscardedEvents),
            ("packet-sequence-number", Role::PacketSequence),
            ("event-record-class-id", Role::EventTypeId),
        ];
        match signed {
            true => Ok(Roles::NONE),
            false => self.roles(object, ROLES),
        }
    }

    fn blob_roles(&mut self, object: &Object<'_>, blob: &mut Blob) -> Result<()> {
        blob.roles = self.roles(object, &[("metadata-stream-uuid", Role::Uuid)])?;
        if !blob.roles.is_empty() && blob.length != Length::Static(16) {
            let length = object.required("length")?;
            return Err(length.unexpected("16, the size of a UUID (role `metadata-stream-uuid`)"));
        }
        Ok(())
    }

    /// Reads `roles`. Unknown roles are ignored with a warning.
    fn roles(&mut self, object: &Object<'_>, known: &[(&str, Role)]) -> Result<Roles> {
        let roles = object.read("roles", |node| {
            let mut roles = Roles::NONE;
            for role in node.array()?.iter() {
                role.str()?;
                match role.word(known) {
                    Ok(role) => roles = roles.with(role),
                    Err(d) => self.warnings.push(Diagnostic {
                        severity: crate::metadata::Severity::Warning,
                        message: format!("role ignored: {}", d.message),
                        ..d
                    }),
                }
            }
            Ok(roles)
        })?;
        Ok(roles.unwrap_or_default())
    }

    fn array(
        &mut self,
        object: &Object<'_>,
        length: Length,
        contents: &mut Contents,
    ) -> Result<FieldKind> {
        let element = object.read_required("element-field-class", |n| self.class(n))?;
        contents.add(&element);
        Ok(FieldKind::Array(Array { element: element.class, length, roles: Roles::NONE }))
    }

    fn structure(&mut self, object: &Object<'_>, contents: &mut Contents) -> Result<FieldKind> {
        let Some(node) = object.get("member-classes") else {
            return Ok(FieldKind::Struct(Struct::default()));
        };
        let array =
            node.array().map_err(|d| d.within(node.span(), "in property `member-classes`"))?;
        let mut members = Vec::with_capacity(array.len());
        let mut names = Names::default();
        for member in array.iter() {
            let known = &["name", "field-class", "attributes", "extensions"];
            let object = member.object("a structure member class", known)?;
            refuse_extensions(&object)?;
            let name = object.read_required("name", Node::str)?;
            names.add(name).map_err(|()| duplicate_name(&object, name, "member"))?;
            let within = |d: Diagnostic| d.within(member.span(), format!("in member `{name}`"));
            let built = object.read_required("field-class", |n| self.class(n)).map_err(within)?;
            contents.add(&built);
            members.push(Member {
                name: name.into(),
                class: built.class,
                attributes: object.read("attributes", attributes).map_err(within)?,
            });
        }
        Ok(FieldKind::Struct(Struct { members }))
    }

    fn optional(&mut self, object: &Object<'_>, contents: &mut Contents) -> Result<FieldKind> {
        let built = object.read_required("field-class", |n| self.class(n))?;
        contents.add(&built);
        let selector = object.read_required("selector-field-location", location)?;
        // The signedness of the selector is checked when locations are resolved.
        let present = object.read("selector-field-ranges", |n| ranges(n, IntKind::Either))?;
        let present = present.map_or(Selector::Bool, Selector::Ranges);
        Ok(FieldKind::Option(OptionField { selector, present, class: built.class }))
    }

    fn variant(&mut self, object: &Object<'_>, contents: &mut Contents) -> Result<FieldKind> {
        let selector = object.read_required("selector-field-location", location)?;
        let node = object.required("options")?;
        let array = node.array().map_err(|d| d.within(node.span(), "in property `options`"))?;
        if array.len() == 0 {
            return Err(node.error("expected at least one option"));
        }
        let mut options = Vec::with_capacity(array.len());
        let mut names = Names::default();
        for (i, option) in array.iter().enumerate() {
            let known =
                &["name", "field-class", "selector-field-ranges", "attributes", "extensions"];
            let object = option.object("a variant option", known)?;
            refuse_extensions(&object)?;
            let name = object.read("name", Node::str)?;
            if let Some(name) = name {
                names.add(name).map_err(|()| duplicate_name(&object, name, "option"))?;
            }
            let within = |d: Diagnostic| {
                let what = match name {
                    Some(name) => format!("in option `{name}`"),
                    None => format!("in option {i}"),
                };
                d.within(option.span(), what)
            };
            let ranges = object
                .read_required("selector-field-ranges", |n| ranges(n, IntKind::Either))
                .map_err(within)?;
            let built = object.read_required("field-class", |n| self.class(n)).map_err(within)?;
            contents.add(&built);
            options.push(VariantOption {
                name: name.map(Into::into),
                label: None,
                ranges,
                class: built.class,
                attributes: object.read("attributes", attributes).map_err(within)?,
            });
        }
        Ok(FieldKind::Variant(Variant { selector, options }))
    }
}

fn duplicate_name(object: &Object<'_>, name: &str, what: &str) -> Diagnostic {
    let node = object.get("name").unwrap_or(object.node);
    node.error(format!("duplicate {what} `{name}`"))
}

fn static_length(object: &Object<'_>) -> Result<Length> {
    object.read_required("length", Node::uint).map(Length::Static)
}

fn dynamic_length(object: &Object<'_>) -> Result<Length> {
    object.read_required("length-field-location", location).map(Length::Dynamic)
}

fn alignment_of(node: Node<'_>) -> Result<u32> {
    match u32::try_from(node.uint()?) {
        Ok(bits) if bits.is_power_of_two() => Ok(bits),
        _ => Err(node.unexpected("a power of two, at most 2147483648 bits")),
    }
}
