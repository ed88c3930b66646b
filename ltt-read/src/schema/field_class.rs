//! Field classes: the types of fields.

use std::sync::Arc;

use super::{Attributes, Dependency, SlotId};

/// The byte order of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

/// The order of the bits of a fixed-length field within its bytes.
///
/// CTF 2 calls the natural bit order of a byte order the default: `first-to-last` for
/// little endian, `last-to-first` for big endian. This type records only if a field
/// follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BitOrder {
    /// The natural bit order of the byte order.
    #[default]
    Natural,
    /// The reverse of the natural bit order.
    Reversed,
}

/// The base in which to show an integer to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DisplayBase {
    /// Binary, base 2.
    Binary,
    /// Octal, base 8.
    Octal,
    /// Decimal, base 10 (the default).
    #[default]
    Decimal,
    /// Hexadecimal, base 16.
    Hexadecimal,
}

/// The character encoding of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Encoding {
    /// UTF-8 (ASCII is a subset).
    #[default]
    Utf8,
    /// UTF-16, big endian.
    Utf16Be,
    /// UTF-16, little endian.
    Utf16Le,
    /// UTF-32, big endian.
    Utf32Be,
    /// UTF-32, little endian.
    Utf32Le,
}

impl Encoding {
    /// Returns the size of a code unit in bytes: 1, 2 or 4.
    pub fn unit_size(self) -> u32 {
        match self {
            Encoding::Utf8 => 1,
            Encoding::Utf16Be | Encoding::Utf16Le => 2,
            Encoding::Utf32Be | Encoding::Utf32Le => 4,
        }
    }
}

/// The meaning of an integer field to the reader itself (a CTF 2 "role"). In CTF 1.8,
/// roles follow from reserved names and from clock mappings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Role {
    /// Packet header: the magic number 0xC1FC1FC1.
    PacketMagic,
    /// Packet header: the id of the data stream class.
    StreamClassId,
    /// Packet header: the id of the data stream within its class.
    StreamId,
    /// Packet context: the size of the packet in bits, padding included.
    PacketTotalLength,
    /// Packet context: the size of the packet in bits, padding excluded.
    PacketContentLength,
    /// Packet context or event header: a timestamp that updates the default clock.
    ClockTimestamp,
    /// Packet context: the clock value at the end of the packet.
    PacketEndTimestamp,
    /// Packet context: the running count of discarded event records.
    DiscardedEvents,
    /// Packet context: the sequence number of the packet.
    PacketSequence,
    /// Event header: the id of the event type.
    EventTypeId,
    /// Packet header, on a blob or an array of bytes: the trace UUID (CTF 1.8) or the
    /// metadata stream UUID (CTF 2).
    Uuid,
}

/// A set of [`Role`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Roles(u16);

impl Roles {
    /// The set without roles.
    pub const NONE: Roles = Roles(0);

    /// Adds a role to the set.
    #[must_use]
    pub fn with(self, role: Role) -> Self {
        Roles(self.0 | 1 << role as u8)
    }

    /// Returns the roles that are in either set.
    #[must_use]
    pub fn union(self, other: Roles) -> Self {
        Roles(self.0 | other.0)
    }

    /// Returns `true` if the set contains the role.
    pub fn has(self, role: Role) -> bool {
        self.0 & (1 << role as u8) != 0
    }

    /// Returns `true` if the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl From<Role> for Roles {
    /// Creates the set of one role.
    fn from(role: Role) -> Self {
        Roles(1 << role as u8)
    }
}

/// A field class: a type of fields, with its alignment.
///
/// Classes are reference-counted, so a class that a thousand event types share exists
/// once.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldClass {
    /// The kind of the class, with its properties.
    pub kind: FieldKind,
    /// The minimum alignment of the first bit, in bits from the start of the packet; a
    /// power of two. For structures and arrays, it includes the alignments of their
    /// contents.
    pub align: u32,
    /// The user attributes (CTF 2).
    pub attributes: Attributes,
}

/// The kinds of field classes, as in CTF 2. Those of CTF 1.8 are a subset.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FieldKind {
    /// A bit array: bits without further meaning.
    BitArray(FixedLen),
    /// A bit map: bits with named flags.
    BitMap(FixedLen, Arc<[Flag]>),
    /// A boolean: false if all bits are zero, otherwise true. The slot is set if an
    /// option field depends on it.
    Bool(FixedLen, Option<SlotId>),
    /// A fixed-length integer. With mappings, it is an enumeration.
    Integer(FixedLen, Integer),
    /// A variable-length integer (LEB128).
    VarInteger(Integer),
    /// A floating-point number: 16, 32, 64 or 128 bits, IEEE 754.
    Float(FixedLen),
    /// A string, null-terminated or of a declared length.
    String(Str),
    /// A blob: bytes without further meaning.
    Blob(Blob),
    /// An array of elements of one class.
    Array(Array),
    /// A structure of named members.
    Struct(Struct),
    /// A field that may be absent.
    Option(OptionField),
    /// A choice of one of several fields.
    Variant(Variant),
}

/// The size and orders of a fixed-length field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FixedLen {
    /// The length in bits, at least 1.
    pub bits: u32,
    /// The order of the bytes.
    pub byte_order: ByteOrder,
    /// The order of the bits.
    pub bit_order: BitOrder,
}

/// The properties of integers of any length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Integer {
    /// `true` for signed integers, in two's complement.
    pub signed: bool,
    /// The base in which to show the value to people.
    pub base: DisplayBase,
    /// The labels of an enumeration with their ranges, in declaration order. `None` for a
    /// plain integer.
    pub mappings: Option<Arc<[Mapping]>>,
    /// The roles of the field for the reader.
    pub roles: Roles,
    /// The slot that stores the value for a dependent field, if there is one.
    pub slot: Option<SlotId>,
}

/// A set of integer ranges, both ends included. Signed classes have values of `i64`,
/// unsigned classes of `u64`; `i128` holds both.
pub type RangeSet = Vec<(i128, i128)>;

/// A label of an enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// The text of the label.
    pub label: Arc<str>,
    /// The values with this label.
    pub ranges: RangeSet,
}

/// A flag of a bit map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// The name of the flag.
    pub name: Arc<str>,
    /// The bits of the flag; bit 0 is the least significant.
    pub ranges: RangeSet,
}

/// The length of a string (bytes), blob (bytes) or array (elements).
#[derive(Debug, Clone, PartialEq)]
pub enum Length {
    /// A constant length.
    Static(u64),
    /// The value of an unsigned integer field that is decoded earlier.
    Dynamic(Dependency),
}

/// The properties of a string class.
#[derive(Debug, Clone, PartialEq)]
pub struct Str {
    /// The character encoding.
    pub encoding: Encoding,
    /// The length in bytes; a null code unit may end the text early. `None` for a
    /// null-terminated string.
    pub length: Option<Length>,
}

/// The properties of a blob class.
#[derive(Debug, Clone, PartialEq)]
pub struct Blob {
    /// The length in bytes.
    pub length: Length,
    /// The IANA media type (CTF 2). The default is `application/octet-stream`.
    pub media_type: Option<Arc<str>>,
    /// The roles of the field for the reader; only [`Role::Uuid`] occurs.
    pub roles: Roles,
}

/// The properties of an array class.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// The class of each element.
    pub element: Arc<FieldClass>,
    /// The number of elements.
    pub length: Length,
    /// The roles of the field for the reader; only [`Role::Uuid`] occurs (CTF 1.8).
    pub roles: Roles,
}

/// The properties of a structure class.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Struct {
    /// The members, in decoding order.
    pub members: Vec<Member>,
}

/// A member of a structure.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The unescaped name. For TSDL, without the one leading underscore.
    pub name: Arc<str>,
    /// The class of the member.
    pub class: Arc<FieldClass>,
    /// The user attributes (CTF 2).
    pub attributes: Attributes,
}

/// The condition under which an option field is present.
#[derive(Debug, Clone, PartialEq)]
pub enum Selector {
    /// The selector is a boolean and `true`.
    Bool,
    /// The selector is an integer in one of these ranges.
    Ranges(RangeSet),
}

/// A class of fields that may be absent.
#[derive(Debug, Clone, PartialEq)]
pub struct OptionField {
    /// The location of the selector.
    pub selector: Dependency,
    /// The condition under which the field is present.
    pub present: Selector,
    /// The class of the field if it is present.
    pub class: Arc<FieldClass>,
}

/// The properties of a variant class.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// The location of the selector, which is an integer.
    pub selector: Dependency,
    /// The options, of which at most one is selected.
    pub options: Vec<VariantOption>,
}

/// An option of a variant.
#[derive(Debug, Clone, PartialEq)]
pub struct VariantOption {
    /// The name for people; may be absent in CTF 2.
    pub name: Option<Arc<str>>,
    /// The label of the selector's enumeration that selects this option (CTF 1.8). The
    /// ranges are copied from there when the selector is resolved.
    pub label: Option<Arc<str>>,
    /// The selector values that select this option.
    pub ranges: RangeSet,
    /// The class of the field if the option is selected.
    pub class: Arc<FieldClass>,
    /// The user attributes (CTF 2).
    pub attributes: Attributes,
}

impl Integer {
    /// Returns the labels of the bits of a value, in declaration order, if the enumeration is one of
    /// flags: each label stands for one bit, and each bit of the value has a label. `None` otherwise, and
    /// for a value with a label of its own.
    pub fn flags(&self, value: i128) -> Option<Vec<&str>> {
        let mappings = self.mappings.as_deref()?;
        let value = u64::try_from(value).ok().filter(|value| *value != 0)?;
        let mut known = 0;
        let mut names = Vec::new();
        for mapping in mappings {
            let [(low, high)] = *mapping.ranges else { return None };
            let bit = u64::try_from(low).ok().filter(|bit| low == high && bit.is_power_of_two())?;
            known |= bit;
            if value & bit != 0 {
                names.push(&*mapping.label);
            }
        }
        (value & !known == 0 && !value.is_power_of_two()).then_some(names)
    }
}

impl FieldClass {
    /// Returns the names of the bits of a value, in declaration order: the flags of a bit map of which a bit
    /// is set, or [those](Integer::flags) of an enumeration whose labels are bits. `None` for other classes
    /// and values.
    ///
    /// All surfaces that show values as text show these names.
    pub fn flags(&self, value: i128) -> Option<Vec<&str>> {
        match &self.kind {
            FieldKind::Integer(_, integer) | FieldKind::VarInteger(integer) => integer.flags(value),
            FieldKind::BitMap(_, flags) => {
                let is_set = |(low, high): &(i128, i128)| {
                    let mut bits = *low.max(&0)..=*high.min(&63);
                    bits.any(|bit| value >> bit & 1 != 0)
                };
                let set = flags.iter().filter(|flag| flag.ranges.iter().any(is_set));
                Some(set.map(|flag| &*flag.name).collect())
            }
            _ => None,
        }
    }

    /// Creates a class from its kind and an explicit minimum alignment in bits (a power
    /// of two). The alignment is increased to that of the contents.
    pub fn new(kind: FieldKind, min_align: u32) -> Self {
        let natural = match &kind {
            FieldKind::Struct(s) => s.members.iter().map(|m| m.class.align).max().unwrap_or(1),
            FieldKind::Array(a) => a.element.align,
            FieldKind::String(_) | FieldKind::Blob(_) | FieldKind::VarInteger(_) => 8,
            _ => 1,
        };
        FieldClass { kind, align: natural.max(min_align), attributes: None }
    }

    /// Creates a class of unsigned integers, shown in base 10; byte-aligned if they are
    /// whole bytes long.
    pub fn uint(bits: u32, byte_order: ByteOrder) -> Self {
        Self::integer(bits, byte_order, Integer::default())
    }

    /// Creates a class of signed integers, shown in base 10; byte-aligned if they are
    /// whole bytes long.
    pub fn sint(bits: u32, byte_order: ByteOrder) -> Self {
        Self::integer(bits, byte_order, Integer { signed: true, ..Integer::default() })
    }

    /// Creates a class of fixed-length integers; byte-aligned if they are whole bytes
    /// long.
    pub fn integer(bits: u32, byte_order: ByteOrder, integer: Integer) -> Self {
        let fixed = FixedLen { bits, byte_order, bit_order: BitOrder::Natural };
        let align = if bits.is_multiple_of(8) { 8 } else { 1 };
        Self::new(FieldKind::Integer(fixed, integer), align)
    }

    /// Creates a class of null-terminated UTF-8 strings.
    pub fn string() -> Self {
        Self::new(FieldKind::String(Str { encoding: Encoding::Utf8, length: None }), 8)
    }

    /// Creates a structure from the names and classes of its members.
    pub fn structure<'a>(members: impl IntoIterator<Item = (&'a str, FieldClass)>) -> Self {
        let members = members
            .into_iter()
            .map(|(name, class)| Member {
                name: name.into(),
                class: Arc::new(class),
                attributes: None,
            })
            .collect();
        Self::new(FieldKind::Struct(Struct { members }), 1)
    }

    /// Returns the members of a structure. Empty for other classes.
    pub fn members(&self) -> &[Member] {
        match &self.kind {
            FieldKind::Struct(s) => &s.members,
            _ => &[],
        }
    }

    /// Returns the labels of an enumeration, or `None` for other classes.
    pub fn mappings(&self) -> Option<&[Mapping]> {
        match &self.kind {
            FieldKind::Integer(_, i) | FieldKind::VarInteger(i) => i.mappings.as_deref(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enumerations_of_single_bits_have_the_labels_of_all_bits() {
        let of = |labels: &[(&str, i128, i128)]| {
            let mapping = |(label, low, high): &(&str, i128, i128)| Mapping {
                label: (*label).into(),
                ranges: vec![(*low, *high)],
            };
            let mappings = labels.iter().map(mapping).collect();
            let integer = Integer { mappings: Some(mappings), ..Integer::default() };
            FieldClass::new(FieldKind::VarInteger(integer), 8)
        };
        let bits = of(&[("DISCARD", 1, 1), ("WRITE", 2, 2), ("READ", 4, 4)]);
        assert_eq!(bits.flags(6), Some(vec!["WRITE", "READ"]));
        // A label of its own, no bit, bits without a label, and a negative value.
        for value in [0, 4, 8, 12, -1] {
            assert_eq!(bits.flags(value), None, "{value}");
        }
        assert_eq!(of(&[("A", 1, 1), ("B", 2, 3)]).flags(3), None);
    }

    #[test]
    fn flags_of_bit_maps_are_set_by_any_of_their_bits() {
        let flag =
            |name: &str, ranges: &[(i128, i128)]| Flag { name: name.into(), ranges: ranges.into() };
        let flags =
            [flag("low", &[(0, 0)]), flag("ends", &[(1, 1), (3, 90)]), flag("none", &[(-4, -1)])];
        let fixed =
            FixedLen { bits: 8, byte_order: ByteOrder::Little, bit_order: BitOrder::Natural };
        let class = FieldClass::new(FieldKind::BitMap(fixed, flags.into()), 8);
        assert_eq!(class.flags(0), Some(vec![]));
        assert_eq!(class.flags(1), Some(vec!["low"]));
        assert_eq!(class.flags(4), Some(vec![]));
        assert_eq!(class.flags(11), Some(vec!["low", "ends"]));
        assert_eq!(class.flags(i128::from(u64::MAX)), Some(vec!["low", "ends"]));
    }
}
