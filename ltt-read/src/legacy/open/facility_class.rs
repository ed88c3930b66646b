//! Conversion of the types of a facility to field classes.

use std::sync::Arc;

use super::CHARACTER;
use super::description::{Event, Facility, Field, ScalarKind, Size, Type};
use crate::metadata::limits;
use crate::schema::{
    Array, BitOrder, ByteOrder, Dependency, DisplayBase, FieldClass, FieldKind, FixedLen, Integer,
    Length, Mapping, Member, Roles, Struct,
};

/// The sizes of C types in bytes and the alignment of payloads on the machine on which a
/// facility was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Machine {
    pub(super) order: ByteOrder,
    pub(super) int: u8,
    pub(super) long: u8,
    pub(super) pointer: u8,
    pub(super) size_t: u8,
    /// The alignment in bytes, or 0 if payloads are packed.
    pub(super) alignment: u8,
}

/// The maximum number of fields of an event; references to types multiply them.
const MAX_FIELDS: usize = 1 << 16;

/// Builds the payload class of an event. Returns `None` if its types are nested too
/// deeply, have too many fields, or refer to an unknown type.
pub(super) fn payload(facility: &Facility, event: &Event, machine: &Machine) -> Option<FieldClass> {
    let mut builder = Builder { facility, machine, fields: 0, after_string: false, depth: 0 };
    let fields = match &event.struct_type {
        None => &event.fields,
        Some(name) => match builder.named(name)? {
            Type::Struct { fields, .. } => fields,
            _ => return None,
        },
    };
    builder.structure(fields)
}

struct Builder<'a> {
    facility: &'a Facility,
    machine: &'a Machine,
    fields: usize,
    /// `true` after a string or sequence; the next field is aligned for a pointer.
    after_string: bool,
    depth: usize,
}

impl<'a> Builder<'a> {
    fn named(&self, name: &str) -> Option<&'a Type> {
        self.facility.types.iter().find(|(n, _)| n == name).map(|(_, class)| class)
    }

    fn structure(&mut self, fields: &[Field]) -> Option<FieldClass> {
        let mut members = Vec::new();
        for field in fields {
            self.member(&mut members, &field.name, &field.class)?;
        }
        Some(FieldClass::new(FieldKind::Struct(Struct { members }), 8))
    }

    /// Adds a field. A sequence becomes two members, its length and its elements.
    fn member(&mut self, members: &mut Vec<Member>, name: &str, class: &Type) -> Option<()> {
        self.fields += 1;
        if self.fields > MAX_FIELDS || self.depth > limits::DEPTH {
            return None;
        }
        self.depth += 1;
        let mut push = |name: &str, class: FieldClass| {
            let class = Arc::new(class);
            members.push(Member { name: name.into(), class, attributes: None });
        };
        match class {
            Type::Named(other) => {
                let class = self.named(other)?;
                self.member(members, name, class)?;
            }
            Type::Sequence(length, element) => {
                let mut length_class = self.class(length)?;
                let element = self.class(element)?;
                // A sequence is aligned for its part with the greatest alignment.
                length_class.align = length_class.align.max(element.align);
                // LTTng 2.x uses the same names.
                let length_name = format!("_{name}_length");
                let array = Array {
                    element: Arc::new(element),
                    length: Length::Dynamic(Dependency::sibling(&length_name)),
                    roles: Roles::NONE,
                };
                push(&length_name, length_class);
                push(name, FieldClass::new(FieldKind::Array(array), 8));
                self.after_string = true;
            }
            _ => push(name, self.class(class)?),
        }
        self.depth -= 1;
        Some(())
    }

    /// Returns the class of a field, with the alignment that it needs at its position.
    fn class(&mut self, class: &Type) -> Option<FieldClass> {
        let before = std::mem::take(&mut self.after_string);
        let mut made = match class {
            Type::Scalar(scalar) => {
                let bytes = self.bytes(scalar.size);
                let order = if scalar.network { ByteOrder::Big } else { self.machine.order };
                self.scalar(scalar.kind, bytes, order)
            }
            Type::Enum { size, labels } => self.enumeration(*size, labels),
            Type::String => {
                self.after_string = true;
                FieldClass::string()
            }
            Type::Array(length, element) => {
                let element = Arc::new(self.class(element)?);
                let length = Length::Static(*length);
                let array = Array { element, length, roles: Roles::NONE };
                FieldClass::new(FieldKind::Array(array), 8)
            }
            Type::Struct { fields, .. } => {
                self.depth += 1;
                let class = self.structure(fields)?;
                self.depth -= 1;
                class
            }
            // In an array, a sequence needs a structure for its length.
            Type::Sequence(..) | Type::Named(_) => {
                let mut members = Vec::new();
                self.member(&mut members, "elements", class)?;
                match (&*members, members.first()) {
                    ([_], Some(only)) => (*only.class).clone(),
                    _ => FieldClass::new(FieldKind::Struct(Struct { members }), 8),
                }
            }
        };
        if before {
            made.align = made.align.max(self.align(self.machine.pointer));
        }
        Some(made)
    }

    fn scalar(&self, kind: ScalarKind, bytes: u8, byte_order: ByteOrder) -> FieldClass {
        let bits = 8 * u32::from(bytes);
        let fixed = FixedLen { bits, byte_order, bit_order: BitOrder::Natural };
        let kind = match kind {
            ScalarKind::Float => {
                return FieldClass::new(FieldKind::Float(fixed), self.align(bytes));
            }
            kind => kind,
        };
        let base = match kind {
            ScalarKind::Pointer => DisplayBase::Hexadecimal,
            _ => DisplayBase::Decimal,
        };
        let signed = kind == ScalarKind::Signed;
        let integer = Integer { signed, base, ..Integer::default() };
        let class = FieldClass::new(FieldKind::Integer(fixed, integer), self.align(bytes));
        let character = kind == ScalarKind::Character;
        FieldClass { attributes: character.then(|| CHARACTER.into()), ..class }
    }

    fn enumeration(&self, size: Size, labels: &[(String, i64)]) -> FieldClass {
        let bytes = self.bytes(size);
        let (bits, byte_order) = (8 * u32::from(bytes), self.machine.order);
        let mapping = |(label, value): &(String, i64)| Mapping {
            label: label.as_str().into(),
            ranges: vec![(i128::from(*value), i128::from(*value))],
        };
        let integer = Integer {
            signed: labels.iter().any(|(_, value)| *value < 0),
            mappings: Some(labels.iter().map(mapping).collect()),
            ..Integer::default()
        };
        let fixed = FixedLen { bits, byte_order, bit_order: BitOrder::Natural };
        FieldClass::new(FieldKind::Integer(fixed, integer), self.align(bytes))
    }

    fn bytes(&self, size: Size) -> u8 {
        match size {
            Size::Bytes(bytes) => bytes,
            Size::Int => self.machine.int,
            Size::Long => self.machine.long,
            Size::Pointer => self.machine.pointer,
            Size::SizeT => self.machine.size_t,
        }
    }

    /// Returns the alignment in bits of an object of this many bytes.
    fn align(&self, bytes: u8) -> u32 {
        match bytes.min(self.machine.alignment) {
            align if align.is_power_of_two() => 8 * u32::from(align),
            _ => 8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::description::parse;
    use super::*;

    const MACHINE: Machine =
        Machine { order: ByteOrder::Little, int: 4, long: 8, pointer: 8, size_t: 8, alignment: 8 };

    fn members(fields: &str) -> Option<Vec<(String, u32)>> {
        let text = format!(
            "<facility name=x><event name=e>{fields}</event>
             <type name=t><struct><field name=a><typeref name=t/></field></struct></type>
             <type name=two><struct><field name=a><char/></field></struct></type></facility>"
        );
        let facility = parse(&text).unwrap().remove(0);
        let class = payload(&facility, &facility.events[0], &MACHINE)?;
        Some(class.members().iter().map(|m| (m.name.to_string(), m.class.align)).collect())
    }

    fn field(name: &str, class: &str) -> String {
        format!("<field name={name}>{class}</field>")
    }

    #[test]
    fn fields_after_a_string_are_aligned_for_a_pointer() {
        let fields = [
            field("a", "<char/>"),
            field("s", "<string/>"),
            field("b", "<ushort/>"),
            field("c", "<ushort/>"),
        ];
        let named = |name: &str, align| (name.to_owned(), align);
        let expected = [named("a", 8), named("s", 8), named("b", 64), named("c", 16)];
        assert_eq!(members(&fields.concat()).unwrap(), expected);
    }

    #[test]
    fn sequences_have_a_length_before_them() {
        let fields = field("v", "<sequence><ushort/><ulong/></sequence>");
        let named = |name: &str, align| (name.to_owned(), align);
        assert_eq!(members(&fields).unwrap(), [named("_v_length", 64), named("v", 64)]);
    }

    #[test]
    fn references() {
        assert_eq!(members("<typeref name=two/>").unwrap(), [("a".to_owned(), 8)]);
        assert_eq!(members(&field("f", "<typeref name=t/>")), None);
        assert_eq!(members("<typeref name=none/>"), None);
    }
}
