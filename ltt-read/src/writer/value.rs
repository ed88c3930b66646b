//! Values of fields, before they are encoded.

use std::borrow::Cow;

/// The value of a field.
///
/// Integers need not match the signedness of their class, only its range, so
/// `Value::from(3)` serves for all. Lengths, selectors and whatever a reader
/// takes by role can be left as [`Value::Auto`].
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// What the other values require: a length, a selector, an id, a size, a
    /// timestamp; otherwise zero, or empty.
    #[default]
    Auto,
    /// An unsigned integer.
    Uint(u64),
    /// A signed integer.
    Sint(i64),
    /// A variable-length unsigned integer that takes exactly this many bytes,
    /// by padding.
    Leb128 {
        /// The integer.
        value: u64,
        /// Bytes to use, at most 10.
        bytes: u8,
    },
    /// A boolean.
    Bool(bool),
    /// The bits of a bit array or bit map.
    Bits(u64),
    /// A floating-point number, rounded to the size of the field.
    Float(f64),
    /// Text, to be encoded as the string class says. Static-length strings are
    /// padded with null code units.
    Str(String),
    /// A blob, or the bytes of a string as they are.
    Bytes(Vec<u8>),
    /// Elements of an array.
    Array(Vec<Value>),
    /// All members of a structure, in order.
    Struct(Vec<Value>),
    /// Some members of a structure by name; all others are `Auto`.
    Fields(Vec<(Cow<'static, str>, Value)>),
    /// The content of an option field.
    Option(Option<Box<Value>>),
    /// The content of a variant.
    Variant {
        /// The option, counted from 0.
        option: usize,
        /// Its value.
        value: Box<Value>,
    },
}

impl Value {
    /// The members of a structure, in order.
    pub fn structure(members: impl IntoIterator<Item = Value>) -> Self {
        Value::Struct(members.into_iter().collect())
    }

    /// Members of a structure by name.
    pub fn fields<N, V>(members: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<Cow<'static, str>>,
        V: Into<Value>,
    {
        Value::Fields(members.into_iter().map(|(n, v)| (n.into(), v.into())).collect())
    }

    /// The elements of an array.
    pub fn array<V: Into<Value>>(elements: impl IntoIterator<Item = V>) -> Self {
        Value::Array(elements.into_iter().map(Into::into).collect())
    }

    /// An option of a variant, counted from 0.
    pub fn variant(option: usize, value: impl Into<Value>) -> Self {
        Value::Variant { option, value: Box::new(value.into()) }
    }

    /// An option field that is there.
    pub fn present(value: impl Into<Value>) -> Self {
        Value::Option(Some(Box::new(value.into())))
    }

    /// An option field that is not there.
    pub fn absent() -> Self {
        Value::Option(None)
    }

    /// The number, if it is an integer, a boolean or bits.
    pub(super) fn number(&self) -> Option<i128> {
        match *self {
            Value::Uint(n) | Value::Bits(n) | Value::Leb128 { value: n, .. } => Some(n.into()),
            Value::Sint(n) => Some(n.into()),
            Value::Bool(b) => Some(b.into()),
            _ => None,
        }
    }

    /// A part: member, element, or (as part 0) content.
    pub(super) fn part(&self, index: usize) -> Option<&Value> {
        match self {
            Value::Struct(parts) | Value::Array(parts) => parts.get(index),
            Value::Option(content) => content.as_deref(),
            Value::Variant { value, .. } => Some(value),
            _ => None,
        }
    }

    /// As [`Value::part`], to be changed.
    pub(super) fn part_mut(&mut self, index: usize) -> Option<&mut Value> {
        match self {
            Value::Struct(parts) | Value::Array(parts) => parts.get_mut(index),
            Value::Option(content) => content.as_deref_mut(),
            Value::Variant { value, .. } => Some(value),
            _ => None,
        }
    }

    /// What it is, for error messages.
    pub(super) fn kind_name(&self) -> &'static str {
        match self {
            Value::Auto => "an automatic value",
            Value::Uint(_) => "an unsigned integer",
            Value::Sint(_) => "a signed integer",
            Value::Leb128 { .. } => "a padded variable-length integer",
            Value::Bool(_) => "a boolean",
            Value::Bits(_) => "bits",
            Value::Float(_) => "a floating-point number",
            Value::Str(_) => "text",
            Value::Bytes(_) => "bytes",
            Value::Array(_) => "an array",
            Value::Struct(_) | Value::Fields(_) => "a structure",
            Value::Option(_) => "an option",
            Value::Variant { .. } => "a variant",
        }
    }
}

macro_rules! from_number {
    ($($from:ty => $variant:ident),*) => {$(
        impl From<$from> for Value {
            fn from(number: $from) -> Self {
                Value::$variant(number.into())
            }
        }
    )*};
}

from_number!(u8 => Uint, u16 => Uint, u32 => Uint, u64 => Uint);
from_number!(i8 => Sint, i16 => Sint, i32 => Sint, i64 => Sint);
from_number!(f32 => Float, f64 => Float, bool => Bool, String => Str);

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Str(text.to_owned())
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Value::Bytes(bytes.to_vec())
    }
}
