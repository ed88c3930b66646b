//! Types of fields, reduced to the properties that comparisons need.

use std::sync::Arc;

use crate::syntax::Relation;

/// The type of a field.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FieldType {
    /// An integer, enumeration, truth value or time.
    Integer(IntegerType),
    /// A floating-point number, read as a double.
    Float,
    /// Text: bytes that should be UTF-8.
    Text,
    /// Text, some values of which have a second spelling in filters. Any other text can be
    /// a value, too.
    Spelled(Vec<Spelling>),
    /// A type that cannot be compared, with its name (such as `a structure`) for error
    /// messages. Only the presence of such a field can be tested.
    Opaque(&'static str),
}

/// The integers that a field can have.
#[derive(Debug, Clone, PartialEq)]
pub struct IntegerType {
    /// The lowest value that a field can have.
    pub low: i128,
    /// The highest value that a field can have.
    pub high: i128,
    /// The labels of values, for enumerations, and the flags of bit maps.
    pub labels: Vec<Label>,
    /// The meaning of the values.
    pub kind: IntegerKind,
    /// A note for comparisons that hold for unusual values only.
    pub hint: Option<Hint>,
}

/// A note for comparisons that hold for unusual values of a field only.
#[derive(Debug, Clone, PartialEq)]
pub struct Hint {
    /// The ranges of the unusual values.
    pub ranges: Vec<(i128, i128)>,
    /// The help of the note: another field or value to compare.
    pub help: &'static str,
}

impl IntegerType {
    /// Creates the type of numbers from `low` to `high`, without labels.
    pub fn new(low: i128, high: i128) -> Self {
        IntegerType { low, high, labels: Vec::new(), kind: IntegerKind::Number, hint: None }
    }
}

/// A label of an enumeration.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// The name of the label.
    pub name: Arc<str>,
    /// The ranges of values with this label, or of the bits of this [flag](IntegerKind::Flags).
    pub ranges: Vec<(i128, i128)>,
}

/// A second spelling of a text, which a filter accepts in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spelling {
    /// The text that fields contain.
    pub text: Arc<str>,
    /// The text that a filter may contain in its place.
    pub also: Arc<str>,
}

/// The meaning of integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum IntegerKind {
    /// A number without a unit. It is compared with a duration as a number of ns.
    Number,
    /// The bits of a bit map. The ranges of its labels, which are its flags, are those of the numbers of
    /// bits, from 0 for the lowest.
    Flags,
    /// A truth value: 0 for false, 1 for true.
    Truth,
    /// A point in time, in ns since the origin of a clock.
    Time,
}

impl FieldType {
    /// Creates the type of integers with a number of bits, clamped to 1 to 64.
    pub fn integer(bits: u32, signed: bool) -> Self {
        let bits = bits.clamp(1, 64);
        let (low, high) = match signed {
            true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
            false => (0, (1i128 << bits) - 1),
        };
        FieldType::Integer(IntegerType::new(low, high))
    }

    /// Creates the type of truth values: the integers 0 and 1.
    pub fn truth() -> Self {
        FieldType::Integer(IntegerType { kind: IntegerKind::Truth, ..IntegerType::new(0, 1) })
    }

    /// Creates the type of points in time, in signed ns.
    pub fn time() -> Self {
        let (low, high) = (i64::MIN.into(), i64::MAX.into());
        FieldType::Integer(IntegerType { kind: IntegerKind::Time, ..IntegerType::new(low, high) })
    }

    /// Returns the name of the type, such as `integer` or `enumeration`.
    pub fn name(&self) -> &'static str {
        let name = self.describe();
        ["a ", "an "].iter().find_map(|article| name.strip_prefix(article)).unwrap_or(name)
    }

    /// Returns the relations that a filter can test fields of this type with; none if only
    /// their presence can be tested. Where `==` is among them, `in` and `not in` can be used,
    /// too.
    ///
    /// ```
    /// use lttv_filter::Relation;
    /// use lttv_filter::model::FieldType;
    ///
    /// assert!(FieldType::integer(32, true).relations().contains(&Relation::Lt));
    /// assert!(!FieldType::Text.relations().contains(&Relation::Lt));
    /// ```
    pub fn relations(&self) -> &'static [Relation] {
        use Relation::*;
        match self {
            FieldType::Integer(of) if !of.labels.is_empty() && of.kind == IntegerKind::Number => {
                &[Eq, Ne, Lt, Le, Gt, Ge, Matches, NotMatches]
            }
            FieldType::Integer(_) | FieldType::Float => &[Eq, Ne, Lt, Le, Gt, Ge],
            FieldType::Text | FieldType::Spelled(_) => &[Eq, Ne, Matches, NotMatches],
            FieldType::Opaque(_) => &[],
        }
    }

    /// Returns the name of the type with its article, for error messages.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            FieldType::Integer(i) => match i.kind {
                IntegerKind::Time => "a time",
                IntegerKind::Truth => "a truth value",
                IntegerKind::Flags => "a bit map",
                IntegerKind::Number if !i.labels.is_empty() => "an enumeration",
                IntegerKind::Number => "an integer",
            },
            FieldType::Float => "a floating-point number",
            FieldType::Text | FieldType::Spelled(_) => "text",
            FieldType::Opaque(what) => what,
        }
    }
}
