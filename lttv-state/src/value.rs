//! The values of attributes.

/// The value of an attribute.
///
/// Two values are equal if they are of the same kind and the same bits: an
/// [`I32`](Value::I32) is never equal to an [`I64`](Value::I64), and of floating
/// point numbers a NaN is equal to itself and `0.0` is not `-0.0`. So a value
/// that is set again is recognised as no change, whatever it is.
#[derive(Debug, Clone, Copy, Default)]
pub enum Value<'a> {
    /// No value: not known, or not there.
    #[default]
    Null,
    /// A small signed integer.
    I32(i32),
    /// A signed integer.
    I64(i64),
    /// An unsigned integer.
    U64(u64),
    /// A floating point number.
    F64(f64),
    /// A text.
    Str(&'a str),
    /// Bytes with a meaning of their own.
    Blob(&'a [u8]),
}

impl<'a> Value<'a> {
    /// Whether this is [`Null`](Value::Null).
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The integer of any of the integer kinds, if it fits.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Value::I32(v) => Some(v.into()),
            Value::I64(v) => Some(v),
            Value::U64(v) => v.try_into().ok(),
            _ => None,
        }
    }

    /// The number of any of the kinds that are numbers; rounded where it has more
    /// than 53 bits.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Value::I32(v) => Some(v.into()),
            Value::I64(v) => Some(v as f64),
            Value::U64(v) => Some(v as f64),
            Value::F64(v) => Some(v),
            _ => None,
        }
    }

    /// The text of a [`Str`](Value::Str).
    pub fn as_str(&self) -> Option<&'a str> {
        match *self {
            Value::Str(v) => Some(v),
            _ => None,
        }
    }
}

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::I32(a), Value::I32(b)) => a == b,
            (Value::I64(a), Value::I64(b)) => a == b,
            (Value::U64(a), Value::U64(b)) => a == b,
            (Value::F64(a), Value::F64(b)) => a.to_bits() == b.to_bits(),
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::Blob(a), Value::Blob(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value<'_> {}

impl std::fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::I32(v) => v.fmt(f),
            Value::I64(v) => v.fmt(f),
            Value::U64(v) => v.fmt(f),
            Value::F64(v) => v.fmt(f),
            Value::Str(v) => write!(f, "{v:?}"),
            Value::Blob(v) => v.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

macro_rules! from {
    ($($kind:ident: $of:ty),*) => {$(
        impl<'a> From<$of> for Value<'a> {
            fn from(value: $of) -> Self {
                Value::$kind(value)
            }
        }
    )*};
}

from!(I32: i32, I64: i64, U64: u64, F64: f64, Str: &'a str, Blob: &'a [u8]);

/// `None` is [`Value::Null`].
impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}
