//! Values of attributes.

/// The value of an attribute.
///
/// Two values are equal if they are of the same kind and have the same bits. An
/// [`I32`](Value::I32) is never equal to an [`I64`](Value::I64). For floating-point
/// numbers, a NaN is equal to the same NaN, and `0.0` is not equal to `-0.0`. A value that
/// is set again is thus always recognised as unchanged.
#[derive(Debug, Clone, Copy, Default)]
pub enum Value<'a> {
    /// No value: it is unknown, or does not exist.
    #[default]
    Null,
    /// A signed 32-bit integer.
    I32(i32),
    /// A signed 64-bit integer.
    I64(i64),
    /// An unsigned 64-bit integer.
    U64(u64),
    /// A double-precision floating-point number.
    F64(f64),
    /// A text.
    Str(&'a str),
    /// A string of bytes, which only the application interprets.
    Blob(&'a [u8]),
}

impl<'a> Value<'a> {
    /// Returns `true` if this is [`Null`](Value::Null).
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Returns an integer of any kind as an `i64`. `None` for other kinds, and if it does
    /// not fit.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Value::I32(v) => Some(v.into()),
            Value::I64(v) => Some(v),
            Value::U64(v) => v.try_into().ok(),
            _ => None,
        }
    }

    /// Returns a number of any kind as an `f64`, rounded if it has more than 53 significant
    /// bits. `None` for other kinds.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Value::I32(v) => Some(v.into()),
            Value::I64(v) => Some(v as f64),
            Value::U64(v) => Some(v as f64),
            Value::F64(v) => Some(v),
            _ => None,
        }
    }

    /// Returns the text of a [`Str`](Value::Str). `None` for other kinds.
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

/// Converts `None` to [`Value::Null`].
impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}
