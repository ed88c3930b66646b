//! Field classes: the types of fields.

use std::sync::Arc;

use super::{Attributes, Dependency, SlotId};

/// Byte order of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

/// Order of the bits of a fixed-length field within its bytes.
///
/// CTF 2 calls the natural order of a byte order (`first-to-last` for little
/// endian, `last-to-first` for big endian) the default. This type only says
/// whether the field follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BitOrder {
    /// The natural order for the byte order.
    #[default]
    Natural,
    /// The value's bits are reversed.
    Reversed,
}

/// How a person wants an integer to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DisplayBase {
    /// Base 2.
    Binary,
    /// Base 8.
    Octal,
    /// Base 10.
    #[default]
    Decimal,
    /// Base 16.
    Hexadecimal,
}

/// Character encoding of a string.
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
    /// Size of a code unit in bytes: 1, 2 or 4.
    pub fn unit(self) -> u32 {
        match self {
            Encoding::Utf8 => 1,
            Encoding::Utf16Be | Encoding::Utf16Le => 2,
            Encoding::Utf32Be | Encoding::Utf32Le => 4,
        }
    }
}

/// What the reader itself takes from an integer field (CTF 2 "roles"; in
/// CTF 1.8 they follow from reserved names and clock mappings).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Role {
    /// Packet header: the magic number 0xC1FC1FC1.
    PacketMagic,
    /// Packet header: id of the data stream class.
    StreamClassId,
    /// Packet header: id of the data stream within its class.
    StreamId,
    /// Packet context: size of the packet in bits, padding included.
    PacketTotalLength,
    /// Packet context: size of the packet in bits, padding excluded.
    PacketContentLength,
    /// Packet context or event header: updates the default clock.
    ClockTimestamp,
    /// Packet context: clock value at the end of the packet.
    PacketEndTimestamp,
    /// Packet context: running count of discarded event records.
    DiscardedEvents,
    /// Packet context: sequence number of the packet.
    PacketSequence,
    /// Event header: id of the event type.
    EventTypeId,
    /// Packet header, on a blob or an array of bytes: the trace UUID
    /// (CTF 1.8), the metadata stream UUID (CTF 2).
    Uuid,
}

/// A set of [`Role`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Roles(u16);

impl Roles {
    /// No role.
    pub const NONE: Roles = Roles(0);

    /// Just this one.
    pub fn only(role: Role) -> Self {
        Roles(1 << role as u8)
    }

    /// This set with one more.
    #[must_use]
    pub fn with(self, role: Role) -> Self {
        Roles(self.0 | 1 << role as u8)
    }

    /// All roles of both sets.
    #[must_use]
    pub fn union(self, other: Roles) -> Self {
        Roles(self.0 | other.0)
    }

    /// Whether the set holds the role.
    pub fn has(self, role: Role) -> bool {
        self.0 & (1 << role as u8) != 0
    }

    /// Whether the set holds nothing.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// A type of fields, with its alignment.
///
/// Classes are shared by reference count: an alias that a thousand events use
/// exists once.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldClass {
    /// What it is.
    pub kind: FieldKind,
    /// Minimum alignment of the first bit from the start of the packet, in
    /// bits; a power of two. For structures and arrays this already includes
    /// the alignments of what they hold.
    pub align: u32,
    /// User attributes (CTF 2).
    pub attributes: Attributes,
}

/// The kinds of field classes, CTF 2's list; those of CTF 1.8 are a subset.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FieldKind {
    /// Bits without further meaning.
    BitArray(FixedLen),
    /// Bits with named flags.
    BitMap(FixedLen, Arc<[Flag]>),
    /// False if all bits are zero, else true. The slot is set when an option
    /// field depends on it.
    Bool(FixedLen, Option<SlotId>),
    /// A fixed-length integer; with mappings it is an enumeration.
    Integer(FixedLen, Integer),
    /// A variable-length integer (LEB128).
    VarInteger(Integer),
    /// A floating-point number: 16, 32, 64 or 128 bits, IEEE 754.
    Float(FixedLen),
    /// A string.
    String(Str),
    /// Bytes.
    Blob(Blob),
    /// Elements of one class.
    Array(Array),
    /// Named members.
    Struct(Struct),
    /// A field that may be absent.
    Option(OptionField),
    /// One of several fields.
    Variant(Variant),
}

/// Size and orders of a fixed-length field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FixedLen {
    /// Length in bits, at least 1.
    pub bits: u32,
    /// Byte order.
    pub byte_order: ByteOrder,
    /// Bit order.
    pub bit_order: BitOrder,
}

/// Properties of integers of any length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Integer {
    /// Whether negative values exist (two's complement).
    pub signed: bool,
    /// How to show it.
    pub base: DisplayBase,
    /// `Some` makes it an enumeration: labels and the ranges they stand for,
    /// in declaration order.
    pub mappings: Option<Arc<[Mapping]>>,
    /// What the reader takes from it.
    pub roles: Roles,
    /// The slot that its value is kept in, when another field depends on it.
    pub slot: Option<SlotId>,
}

/// A set of integer ranges, both ends included. For signed classes the values
/// are `i64`, for unsigned ones `u64`; `i128` holds both.
pub type RangeSet = Vec<(i128, i128)>;

/// A label of an enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// Label.
    pub label: Arc<str>,
    /// Values that it names.
    pub ranges: RangeSet,
}

/// A flag of a bit map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// Name.
    pub name: Arc<str>,
    /// Bit numbers, 0 = least significant.
    pub ranges: RangeSet,
}

/// The length of a string, blob (bytes) or array (elements).
#[derive(Debug, Clone, PartialEq)]
pub enum Length {
    /// Always the same.
    Static(u64),
    /// The value of an unsigned integer field that came before.
    Dynamic(Dependency),
}

/// A string class.
#[derive(Debug, Clone, PartialEq)]
pub struct Str {
    /// Encoding.
    pub encoding: Encoding,
    /// `None` = ends with a null code unit; otherwise its length in bytes,
    /// of which a null code unit may end the text early.
    pub length: Option<Length>,
}

/// A blob class.
#[derive(Debug, Clone, PartialEq)]
pub struct Blob {
    /// Length in bytes.
    pub length: Length,
    /// IANA media type (CTF 2), default `application/octet-stream`.
    pub media_type: Option<Arc<str>>,
    /// What the reader takes from it (only [`Role::Uuid`]).
    pub roles: Roles,
}

/// An array class.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Class of each element.
    pub element: Arc<FieldClass>,
    /// Number of elements.
    pub length: Length,
    /// What the reader takes from it (only [`Role::Uuid`], CTF 1.8).
    pub roles: Roles,
}

/// A structure class.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Struct {
    /// Members in decoding order.
    pub members: Vec<Member>,
}

/// A member of a structure.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Name, unescaped (TSDL: without the one leading underscore).
    pub name: Arc<str>,
    /// Class.
    pub class: Arc<FieldClass>,
    /// User attributes (CTF 2).
    pub attributes: Attributes,
}

/// What selects an option field.
#[derive(Debug, Clone, PartialEq)]
pub enum Selector {
    /// Present when the boolean is true.
    Bool,
    /// Present when the integer is in one of the ranges.
    Ranges(RangeSet),
}

/// A class of fields that may be absent.
#[derive(Debug, Clone, PartialEq)]
pub struct OptionField {
    /// Where the selector is.
    pub selector: Dependency,
    /// When the field is there.
    pub present: Selector,
    /// Its class then.
    pub class: Arc<FieldClass>,
}

/// A variant class.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// Where the selector (an integer) is.
    pub selector: Dependency,
    /// Options; at most one is selected.
    pub options: Vec<VariantOption>,
}

/// An option of a variant.
#[derive(Debug, Clone, PartialEq)]
pub struct VariantOption {
    /// Name for people; may be absent in CTF 2.
    pub name: Option<Arc<str>>,
    /// CTF 1.8: the label of the selector's enumeration that chooses this
    /// option. The ranges are copied from there when the selector is resolved.
    pub label: Option<Arc<str>>,
    /// Selector values that choose this option.
    pub ranges: RangeSet,
    /// Class of the field when chosen.
    pub class: Arc<FieldClass>,
    /// User attributes (CTF 2).
    pub attributes: Attributes,
}

impl FieldClass {
    /// A class of this kind with an explicit minimum alignment in bits (a
    /// power of two); the alignment that its contents demand is added.
    pub fn new(kind: FieldKind, min_align: u32) -> Self {
        let natural = match &kind {
            FieldKind::Struct(s) => s.members.iter().map(|m| m.class.align).max().unwrap_or(1),
            FieldKind::Array(a) => a.element.align,
            FieldKind::String(_) | FieldKind::Blob(_) | FieldKind::VarInteger(_) => 8,
            _ => 1,
        };
        FieldClass { kind, align: natural.max(min_align), attributes: None }
    }

    /// An unsigned, byte-aligned integer, shown in base 10.
    pub fn uint(bits: u32, byte_order: ByteOrder) -> Self {
        Self::integer(bits, byte_order, Integer::default())
    }

    /// A signed, byte-aligned integer, shown in base 10.
    pub fn sint(bits: u32, byte_order: ByteOrder) -> Self {
        Self::integer(bits, byte_order, Integer { signed: true, ..Integer::default() })
    }

    /// A fixed-length integer; byte-aligned if it is whole bytes long.
    pub fn integer(bits: u32, byte_order: ByteOrder, integer: Integer) -> Self {
        let fixed = FixedLen { bits, byte_order, bit_order: BitOrder::Natural };
        let align = if bits.is_multiple_of(8) { 8 } else { 1 };
        Self::new(FieldKind::Integer(fixed, integer), align)
    }

    /// A null-terminated UTF-8 string.
    pub fn string() -> Self {
        Self::new(FieldKind::String(Str { encoding: Encoding::Utf8, length: None }), 8)
    }

    /// A structure of these members.
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

    /// The members, if this is a structure.
    pub fn members(&self) -> &[Member] {
        match &self.kind {
            FieldKind::Struct(s) => &s.members,
            _ => &[],
        }
    }

    /// The labels, if this is an enumeration.
    pub fn mappings(&self) -> Option<&[Mapping]> {
        match &self.kind {
            FieldKind::Integer(_, i) | FieldKind::VarInteger(i) => i.mappings.as_deref(),
            _ => None,
        }
    }
}
