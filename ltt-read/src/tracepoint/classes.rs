//! Field classes and places from the descriptions of fields.

use std::sync::Arc;

use super::formats::{Field, Format, Storage};
use super::input::{Fault, Input};
use crate::layout::record::{CountedFrom, FieldPlace};
use crate::schema::{
    Array, Blob, ByteOrder, Dependency, DisplayBase, Encoding, FieldClass, FieldKind, Integer,
    Length, Member, Roles, Str, Struct,
};

/// The properties of the machine that determine the classes of fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine {
    pub(crate) order: ByteOrder,
    /// The size of a `long` of the kernel in bytes.
    pub(crate) long: u32,
}

impl Machine {
    /// Reads the byte order, in which the input continues, and the size of `long`.
    pub(crate) fn read(input: &mut Input<'_>) -> Result<Machine, Fault> {
        let order = match input.u8()? {
            0 => ByteOrder::Little,
            1 => ByteOrder::Big,
            _ => return Err(input.fault("unknown byte order")),
        };
        input.set_order(order);
        let long = match input.u8()? {
            long @ (4 | 8) => long.into(),
            _ => return Err(input.fault("the size of `long` is neither 4 nor 8")),
        };
        Ok(Machine { order, long })
    }
}

/// A member of a structure, with its place in records.
pub(crate) type PlacedMember = (Member, FieldPlace);

impl Machine {
    /// Returns the members for the own fields of an event type.
    pub(crate) fn members(&self, system: &str, format: &Format) -> Vec<PlacedMember> {
        let members = format.fields.iter().map(|field| {
            // The number of addresses is that in another field, whatever is declared.
            let count = match (system, format.name.as_str(), field.name.as_str()) {
                ("ftrace", "kernel_stack", "caller") => {
                    format.fields.iter().find(|other| other.name == "size" && other.size == 4)
                }
                _ => None,
            };
            self.member(field, count)
        });
        members.collect()
    }

    /// Returns the member for a field. `count` is the field with the number of its elements, if it has
    /// one.
    pub(crate) fn member(&self, field: &Field, count: Option<&Field>) -> PlacedMember {
        let (class, place) = match (field.storage, count) {
            (Storage::Array(_), Some(count)) => {
                let place = FieldPlace::Counted { at: field.offset, count: count.offset };
                (self.dynamic(field), place)
            }
            // Very old kernels have 2 bytes here, whose meaning is not documented.
            (Storage::Located, _) if field.size >= 4 => self.located(field, CountedFrom::Record),
            (Storage::LocatedRelative, _) if field.size >= 4 => {
                self.located(field, CountedFrom::Word)
            }
            (Storage::Array(_), _) if field.size == 0 => {
                (self.dynamic(field), FieldPlace::ToEnd(field.offset))
            }
            (Storage::Array(_), _) => (self.array(field), FieldPlace::At(field.offset)),
            _ => (self.value(field), FieldPlace::At(field.offset)),
        };
        let name = field.name.as_str().into();
        (Member { name, class: Arc::new(class), attributes: None }, place)
    }

    fn located(&self, field: &Field, counted_from: CountedFrom) -> (FieldClass, FieldPlace) {
        (self.dynamic(field), FieldPlace::Located { word: field.offset, counted_from })
    }

    /// Returns the class of a single value.
    fn value(&self, field: &Field) -> FieldClass {
        match field.size {
            1 | 2 | 4 | 8 => self.integer(field, field.size),
            size => bytes(Length::Static(size.into())),
        }
    }

    /// Returns the class of an array of constant length.
    fn array(&self, field: &Field) -> FieldClass {
        let size = u64::from(field.size);
        if field.is_text() {
            return text(Some(Length::Static(size)));
        }
        match field.element_size(self.long) {
            Some(element @ (1 | 2 | 4 | 8)) => {
                let length = Length::Static(size / u64::from(element));
                self.numbers(field, element, length)
            }
            _ => bytes(Length::Static(size)),
        }
    }

    /// Returns the class of an array whose length is not constant.
    fn dynamic(&self, field: &Field) -> FieldClass {
        if field.is_text() {
            return text(None);
        }
        let length = dynamic_length(&field.name);
        match field.element_size(self.long) {
            Some(element @ (1 | 2 | 4 | 8)) => self.numbers(field, element, length),
            _ => bytes(length),
        }
    }

    fn numbers(&self, field: &Field, element: u32, length: Length) -> FieldClass {
        let element = Arc::new(self.integer(field, element));
        FieldClass::new(FieldKind::Array(Array { element, length, roles: Roles::NONE }), 8)
    }

    /// Returns the class of an integer of some bytes.
    fn integer(&self, field: &Field, size: u32) -> FieldClass {
        let base = match field.is_pointer() {
            true => DisplayBase::Hexadecimal,
            false => DisplayBase::Decimal,
        };
        let signed = field.is_signed && !field.is_pointer();
        FieldClass::integer(8 * size, self.order, Integer { signed, base, ..Integer::default() })
    }
}

/// Returns the class of a text that a null byte may end early.
pub(crate) fn text(length: Option<Length>) -> FieldClass {
    FieldClass::new(FieldKind::String(Str { encoding: Encoding::Utf8, length }), 8)
}

/// Returns the class of bytes without further meaning.
pub(crate) fn bytes(length: Length) -> FieldClass {
    FieldClass::new(FieldKind::Blob(Blob { length, media_type: None, roles: Roles::NONE }), 8)
}

/// Returns the length of a field that a record gives in another way than by a field of its own.
pub(crate) fn dynamic_length(name: &str) -> Length {
    Length::Dynamic(Dependency::sibling(&format!("{name}_length")))
}

/// Returns the class of a structure and the places of its members.
pub(crate) fn structure(members: Vec<PlacedMember>) -> (FieldClass, Vec<FieldPlace>) {
    let (members, places) = members.into_iter().unzip();
    (FieldClass::new(FieldKind::Struct(Struct { members }), 1), places)
}
