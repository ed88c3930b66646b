//! Values of attributes.

/// The value of an attribute.
///
/// Two values are equal if they are of the same kind and have the same bits. An
/// [`I32`](StateValue::I32) is never equal to an [`I64`](StateValue::I64). For floating-point
/// numbers, a NaN is equal to the same NaN, and `0.0` is not equal to `-0.0`. A value that
/// is set again is thus always recognised as unchanged.
#[derive(Debug, Clone, Copy, Default)]
pub enum StateValue<'a> {
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

impl<'a> StateValue<'a> {
    /// Returns `true` if this is [`Null`](StateValue::Null).
    pub fn is_null(&self) -> bool {
        matches!(self, StateValue::Null)
    }

    /// Returns an integer of any kind as an `i64`. `None` for other kinds, and if it does
    /// not fit.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            StateValue::I32(v) => Some(v.into()),
            StateValue::I64(v) => Some(v),
            StateValue::U64(v) => v.try_into().ok(),
            _ => None,
        }
    }

    /// Returns a number of any kind as an `f64`, rounded if it has more than 53 significant
    /// bits. `None` for other kinds.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            StateValue::I32(v) => Some(v.into()),
            StateValue::I64(v) => Some(v as f64),
            StateValue::U64(v) => Some(v as f64),
            StateValue::F64(v) => Some(v),
            _ => None,
        }
    }

    /// Returns the text of a [`Str`](StateValue::Str). `None` for other kinds.
    pub fn as_str(&self) -> Option<&'a str> {
        match *self {
            StateValue::Str(v) => Some(v),
            _ => None,
        }
    }
}

impl PartialEq for StateValue<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (StateValue::Null, StateValue::Null) => true,
            (StateValue::I32(a), StateValue::I32(b)) => a == b,
            (StateValue::I64(a), StateValue::I64(b)) => a == b,
            (StateValue::U64(a), StateValue::U64(b)) => a == b,
            (StateValue::F64(a), StateValue::F64(b)) => a.to_bits() == b.to_bits(),
            (StateValue::Str(a), StateValue::Str(b)) => a == b,
            (StateValue::Blob(a), StateValue::Blob(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for StateValue<'_> {}

impl std::fmt::Display for StateValue<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StateValue::Null => f.write_str("null"),
            StateValue::I32(v) => v.fmt(f),
            StateValue::I64(v) => v.fmt(f),
            StateValue::U64(v) => v.fmt(f),
            StateValue::F64(v) => v.fmt(f),
            StateValue::Str(v) => write!(f, "{v:?}"),
            StateValue::Blob(v) => v.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

macro_rules! from {
    ($($kind:ident: $of:ty),*) => {$(
        impl<'a> From<$of> for StateValue<'a> {
            fn from(value: $of) -> Self {
                StateValue::$kind(value)
            }
        }
    )*};
}

from!(I32: i32, I64: i64, U64: u64, F64: f64, Str: &'a str, Blob: &'a [u8]);

/// Converts `None` to [`StateValue::Null`].
impl<'a, T: Into<StateValue<'a>>> From<Option<T>> for StateValue<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(StateValue::Null, Into::into)
    }
}
