//! Values of fields, before encoding.

use std::borrow::Cow;

/// The value of a field.
///
/// An integer has to be in the range of its class, but can differ in signedness, so
/// `Value::from(3)` serves for all classes. Lengths, selectors and fields with a role can
/// be left as [`FieldValue::Auto`].
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum FieldValue {
    /// A value that follows from the others: a length, a selector, an id, a size, a
    /// timestamp. Zero or empty for all other fields.
    #[default]
    Auto,
    /// An unsigned integer.
    Uint(u64),
    /// A signed integer.
    Sint(i64),
    /// An unsigned variable-length integer, padded to a number of bytes.
    Leb128 {
        /// The integer to encode.
        value: u64,
        /// The encoded size in bytes, 1 to 10.
        bytes: u8,
    },
    /// A boolean value.
    Bool(bool),
    /// The bits of a bit array or bit map.
    Bits(u64),
    /// A floating-point number; it is rounded to the size of the field.
    Float(f64),
    /// Text; it is encoded as the string class declares. Static-length strings are padded
    /// with null code units.
    Str(String),
    /// The bytes of a blob, or of an already encoded string.
    Bytes(Vec<u8>),
    /// The elements of an array.
    Array(Vec<FieldValue>),
    /// All members of a structure, in order.
    Struct(Vec<FieldValue>),
    /// Some members of a structure, by name; all others are [`FieldValue::Auto`].
    Fields(Vec<(Cow<'static, str>, FieldValue)>),
    /// The content of an option field; `None` for an absent one.
    Option(Option<Box<FieldValue>>),
    /// The selected option of a variant.
    Variant {
        /// The index of the option, from 0.
        option: usize,
        /// The value of the option.
        value: Box<FieldValue>,
    },
}

impl FieldValue {
    /// Creates a structure from all its members, in order.
    pub fn structure(members: impl IntoIterator<Item = FieldValue>) -> Self {
        FieldValue::Struct(members.into_iter().collect())
    }

    /// Creates a structure from some of its members, by name.
    pub fn fields<N, V>(members: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<Cow<'static, str>>,
        V: Into<FieldValue>,
    {
        FieldValue::Fields(members.into_iter().map(|(n, v)| (n.into(), v.into())).collect())
    }

    /// Creates an array from its elements.
    pub fn array<V: Into<FieldValue>>(elements: impl IntoIterator<Item = V>) -> Self {
        FieldValue::Array(elements.into_iter().map(Into::into).collect())
    }

    /// Creates the content of a variant from the index of the option (from 0) and its
    /// value.
    pub fn variant(option: usize, value: impl Into<FieldValue>) -> Self {
        FieldValue::Variant { option, value: Box::new(value.into()) }
    }

    /// Creates the content of an option field that is present.
    pub fn present(value: impl Into<FieldValue>) -> Self {
        FieldValue::Option(Some(Box::new(value.into())))
    }

    /// Creates an option field that is absent.
    pub fn absent() -> Self {
        FieldValue::Option(None)
    }

    /// Returns the number if the value is an integer, a boolean or bits.
    pub(super) fn number(&self) -> Option<i128> {
        match *self {
            FieldValue::Uint(n) | FieldValue::Bits(n) | FieldValue::Leb128 { value: n, .. } => {
                Some(n.into())
            }
            FieldValue::Sint(n) => Some(n.into()),
            FieldValue::Bool(b) => Some(b.into()),
            _ => None,
        }
    }

    /// Returns a member or element by index, or as index 0 the content of an option or
    /// variant.
    pub(super) fn part(&self, index: usize) -> Option<&FieldValue> {
        match self {
            FieldValue::Struct(parts) | FieldValue::Array(parts) => parts.get(index),
            FieldValue::Option(content) => content.as_deref(),
            FieldValue::Variant { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Returns a mutable reference to a member, element or content; see [`Value::part`].
    pub(super) fn part_mut(&mut self, index: usize) -> Option<&mut FieldValue> {
        match self {
            FieldValue::Struct(parts) | FieldValue::Array(parts) => parts.get_mut(index),
            FieldValue::Option(content) => content.as_deref_mut(),
            FieldValue::Variant { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Returns the kind of the value, for error messages.
    pub(crate) fn kind_name(&self) -> &'static str {
        match self {
            FieldValue::Auto => "an automatic value",
            FieldValue::Uint(_) => "an unsigned integer",
            FieldValue::Sint(_) => "a signed integer",
            FieldValue::Leb128 { .. } => "a padded variable-length integer",
            FieldValue::Bool(_) => "a boolean",
            FieldValue::Bits(_) => "bits",
            FieldValue::Float(_) => "a floating-point number",
            FieldValue::Str(_) => "text",
            FieldValue::Bytes(_) => "bytes",
            FieldValue::Array(_) => "an array",
            FieldValue::Struct(_) | FieldValue::Fields(_) => "a structure",
            FieldValue::Option(_) => "an option",
            FieldValue::Variant { .. } => "a variant",
        }
    }
}

macro_rules! from_number {
    ($($from:ty => $variant:ident),*) => {$(
        impl From<$from> for FieldValue {
            fn from(number: $from) -> Self {
                FieldValue::$variant(number.into())
            }
        }
    )*};
}

from_number!(u8 => Uint, u16 => Uint, u32 => Uint, u64 => Uint);
from_number!(i8 => Sint, i16 => Sint, i32 => Sint, i64 => Sint);
from_number!(f32 => Float, f64 => Float, bool => Bool, String => Str);

impl From<&str> for FieldValue {
    fn from(text: &str) -> Self {
        FieldValue::Str(text.to_owned())
    }
}

impl From<&[u8]> for FieldValue {
    fn from(bytes: &[u8]) -> Self {
        FieldValue::Bytes(bytes.to_vec())
    }
}
