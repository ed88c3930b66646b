//! Values of attributes, and their kinds.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use ltt_read::Timestamp;

use super::key::AttributeType;
use super::seconds;

/// The text of an attribute.
pub type Text = Cow<'static, str>;

/// The kind of an attribute: the type of its value, or a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A boolean: true or false.
    Bool,
    /// A signed integer of 64 bits.
    Int,
    /// An unsigned integer of 64 bits.
    UInt,
    /// A floating-point number of 64 bits.
    Float,
    /// A time, with a resolution of 1 ns.
    Time,
    /// A duration, with a resolution of 1 ns.
    Duration,
    /// A text, which may be empty.
    Text,
    /// A tree of further attributes, without a value.
    Tree,
}

impl Kind {
    /// All kinds, in the order of their declaration.
    pub const ALL: [Kind; 8] = [
        Kind::Bool,
        Kind::Int,
        Kind::UInt,
        Kind::Float,
        Kind::Time,
        Kind::Duration,
        Kind::Text,
        Kind::Tree,
    ];

    /// Returns the name in messages and in files: `uint`, `text`, `tree` and so on.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Bool => "bool",
            Kind::Int => "int",
            Kind::UInt => "uint",
            Kind::Float => "float",
            Kind::Time => "time",
            Kind::Duration => "duration",
            Kind::Text => "text",
            Kind::Tree => "tree",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The value of an attribute.
///
/// Text may be borrowed, so a structure can be [browsed](super::Browse) without copying text.
///
/// ```
/// use std::time::Duration;
/// use lttv_context::attributes::{Kind, AttributeValue};
///
/// let value = AttributeValue::from(Duration::from_millis(1500));
/// assert_eq!(value.kind(), Kind::Duration);
/// assert_eq!(value.to_string(), "1.500000000 s");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum AttributeValue<'a> {
    /// A boolean: true or false.
    Bool(bool),
    /// A signed integer of 64 bits.
    Int(i64),
    /// An unsigned integer of 64 bits.
    UInt(u64),
    /// A floating-point number of 64 bits.
    Float(f64),
    /// A time, with a resolution of 1 ns.
    Time(Timestamp),
    /// A duration, with a resolution of 1 ns.
    Duration(Duration),
    /// A text, which may be borrowed.
    Text(Cow<'a, str>),
}

impl AttributeValue<'_> {
    /// Returns the kind, which is never [`Kind::Tree`].
    pub const fn kind(&self) -> Kind {
        match self {
            AttributeValue::Bool(_) => Kind::Bool,
            AttributeValue::Int(_) => Kind::Int,
            AttributeValue::UInt(_) => Kind::UInt,
            AttributeValue::Float(_) => Kind::Float,
            AttributeValue::Time(_) => Kind::Time,
            AttributeValue::Duration(_) => Kind::Duration,
            AttributeValue::Text(_) => Kind::Text,
        }
    }

    /// Returns a copy of the value that borrows its text from this one.
    pub fn borrowed(&self) -> AttributeValue<'_> {
        match self {
            AttributeValue::Bool(value) => AttributeValue::Bool(*value),
            AttributeValue::Int(value) => AttributeValue::Int(*value),
            AttributeValue::UInt(value) => AttributeValue::UInt(*value),
            AttributeValue::Float(value) => AttributeValue::Float(*value),
            AttributeValue::Time(value) => AttributeValue::Time(*value),
            AttributeValue::Duration(value) => AttributeValue::Duration(*value),
            AttributeValue::Text(text) => AttributeValue::Text(Cow::Borrowed(text)),
        }
    }

    /// Converts the value to one that borrows nothing.
    pub fn into_owned(self) -> AttributeValue<'static> {
        match self {
            AttributeValue::Bool(value) => AttributeValue::Bool(value),
            AttributeValue::Int(value) => AttributeValue::Int(value),
            AttributeValue::UInt(value) => AttributeValue::UInt(value),
            AttributeValue::Float(value) => AttributeValue::Float(value),
            AttributeValue::Time(value) => AttributeValue::Time(value),
            AttributeValue::Duration(value) => AttributeValue::Duration(value),
            AttributeValue::Text(text) => AttributeValue::Text(Cow::Owned(text.into_owned())),
        }
    }

    /// Parses a value that a user typed. Returns `None` if the text is not such a value or out of
    /// its range.
    ///
    /// Integers may be hexadecimal (`0x1f`). Times and durations are seconds with up to nine
    /// decimals (`1.5`). Booleans are `true`, `yes`, `false` or `no`.
    ///
    /// ```
    /// use lttv_context::attributes::{Kind, AttributeValue};
    ///
    /// assert_eq!(AttributeValue::parse(Kind::Int, "-0x10"), Some(AttributeValue::Int(-16)));
    /// assert_eq!(AttributeValue::parse(Kind::UInt, "-1"), None);
    /// assert_eq!(AttributeValue::parse(Kind::Time, "1.5").unwrap().to_string(), "1.500000000");
    /// ```
    pub fn parse(kind: Kind, text: &str) -> Option<AttributeValue<'static>> {
        Some(match kind {
            Kind::Bool => AttributeValue::Bool(match text {
                "true" | "yes" => true,
                "false" | "no" => false,
                _ => return None,
            }),
            Kind::Int => AttributeValue::Int(integer(text)?.try_into().ok()?),
            Kind::UInt => AttributeValue::UInt(integer(text)?.try_into().ok()?),
            Kind::Float => AttributeValue::Float(text.parse().ok()?),
            Kind::Time => {
                AttributeValue::Time(Timestamp::from_ns(seconds::parse_ns(text)?.try_into().ok()?))
            }
            Kind::Duration => {
                AttributeValue::Duration(seconds::duration(seconds::parse_ns(text)?)?)
            }
            Kind::Text => AttributeValue::Text(Cow::Owned(text.to_owned())),
            Kind::Tree => return None,
        })
    }
}

/// Parses a decimal or hexadecimal integer. The result can represent every 64-bit integer.
fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (radix, digits) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => (16, digits),
        None => (10, digits),
    };
    // A sign or prefix must be followed by a digit, and not by another sign.
    let value = digits.chars().next()?.is_digit(radix).then(|| i128::from_str_radix(digits, radix));
    let value = value?.ok()?;
    Some(if negative { -value } else { value })
}

impl fmt::Display for AttributeValue<'_> {
    /// Writes numbers in full, times in seconds, and text in quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttributeValue::Bool(value) => write!(f, "{value}"),
            AttributeValue::Int(value) => write!(f, "{value}"),
            AttributeValue::UInt(value) => write!(f, "{value}"),
            AttributeValue::Float(value) => write!(f, "{value}"),
            AttributeValue::Time(value) => write!(f, "{value}"),
            AttributeValue::Duration(value) => {
                write!(f, "{}.{:09} s", value.as_secs(), value.subsec_nanos())
            }
            AttributeValue::Text(text) => write!(f, "{text:?}"),
        }
    }
}

macro_rules! from {
    ($($from:ty => $variant:ident($convert:expr),)*) => {$(
        impl From<$from> for AttributeValue<'_> {
            fn from(value: $from) -> Self {
                AttributeValue::$variant($convert(value))
            }
        }
    )*};
}

from! {
    i32 => Int(i64::from),
    u32 => UInt(u64::from),
    String => Text(Cow::Owned),
}

impl<'a> From<&'a str> for AttributeValue<'a> {
    fn from(text: &'a str) -> Self {
        AttributeValue::Text(Cow::Borrowed(text))
    }
}

impl<T: AttributeType> From<T> for AttributeValue<'_> {
    fn from(value: T) -> Self {
        value.into_value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_input() {
        let parse = AttributeValue::parse;
        assert_eq!(parse(Kind::Bool, "yes"), Some(AttributeValue::Bool(true)));
        assert_eq!(parse(Kind::Bool, "no"), Some(AttributeValue::Bool(false)));
        assert_eq!(parse(Kind::Bool, ""), None);
        assert_eq!(parse(Kind::Int, "-9223372036854775808"), Some(AttributeValue::Int(i64::MIN)));
        assert_eq!(parse(Kind::Int, "9223372036854775808"), None);
        assert_eq!(parse(Kind::UInt, "0xffffffffffffffff"), Some(AttributeValue::UInt(u64::MAX)));
        for wrong in ["", "-", "--1", "0x", "0x-1", "+1", "1 ", "1_000", "0xfffffffffffffffff"] {
            assert_eq!(parse(Kind::UInt, wrong), None, "{wrong}");
        }
        assert_eq!(parse(Kind::Float, "2.5e3"), Some(AttributeValue::Float(2500.0)));
        assert_eq!(parse(Kind::Duration, "-1"), None);
        assert_eq!(parse(Kind::Duration, "0.25"), Some(Duration::from_millis(250).into()));
        assert_eq!(parse(Kind::Time, "-0.000000001"), Some(Timestamp::from_ns(-1).into()));
        assert_eq!(parse(Kind::Time, "9223372037"), None);
        assert_eq!(parse(Kind::Text, ""), Some("".into()));
        assert_eq!(parse(Kind::Tree, ""), None);
    }

    #[test]
    fn text_is_quoted() {
        assert_eq!(AttributeValue::from("a\n\"b\"").to_string(), r#""a\n\"b\"""#);
    }

    #[test]
    fn values_are_small() {
        assert!(size_of::<AttributeValue<'_>>() <= 24);
    }
}
