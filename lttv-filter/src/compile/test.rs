//! Tests of one field.

use crate::glob::Glob;
use crate::ranges::Ranges;
use crate::syntax::Relation;

/// A test of a field. If a record has the field, the result depends on its value;
/// otherwise it is constant.
#[derive(Debug, Clone)]
pub(crate) struct Test<F> {
    pub(crate) field: F,
    /// A key that is equal for tests of the same field.
    pub(crate) key: (u32, u32),
    pub(crate) predicate: Predicate,
    /// The result if the record does not have the field.
    pub(crate) absent: bool,
    /// `true` if all records have the field.
    pub(crate) always: bool,
}

/// The predicate on a field's value.
#[derive(Debug, Clone)]
pub(crate) enum Predicate {
    /// An integer between `low` and `high` that is in a set.
    Integer { set: Ranges, low: i128, high: i128 },
    /// An integer that has one of the bits of a mask, or none if `negated`. Negative integers have
    /// the bits of their two's complement.
    Bits { mask: u64, negated: bool },
    /// A predicate that is negated by a flag.
    Other { predicate: OtherPredicate, negated: bool },
}

/// A predicate on values other than integers.
#[derive(Debug, Clone)]
pub(crate) enum OtherPredicate {
    /// The field is present.
    Present,
    Float(Relation, f64),
    FloatOneOf(Vec<f64>),
    Equals(Vec<u8>),
    /// The text is one of these, which are sorted.
    OneOf(Vec<Vec<u8>>),
    Like(Glob),
    /// The text matches, or is one of these, which are sorted.
    LikeOrOneOf(Glob, Vec<Vec<u8>>),
}

impl<F> Test<F> {
    /// Returns the negation of the test.
    pub(crate) fn negate(self) -> Self {
        let predicate = match self.predicate {
            Predicate::Integer { set, low, high } => {
                Predicate::Integer { set: set.complement(low, high), low, high }
            }
            Predicate::Bits { mask, negated } => Predicate::Bits { mask, negated: !negated },
            Predicate::Other { predicate, negated } => {
                Predicate::Other { predicate, negated: !negated }
            }
        };
        Test { predicate, absent: !self.absent, ..self }
    }

    /// Returns the result of the test if it is constant.
    pub(crate) fn constant(&self) -> Option<bool> {
        let of_value = self.predicate.constant()?;
        (self.always || self.absent == of_value).then_some(of_value)
    }

    /// Returns the integers for which the test holds, if they are one range. If the first
    /// is greater than the last, the range wraps around from the highest value to the
    /// lowest.
    pub(crate) fn range(&self) -> Option<(i128, i128)> {
        let Predicate::Integer { set, low, high } = &self.predicate else { return None };
        match *set.as_slice() {
            [range] => Some(range),
            [(first, end), (begin, last)] if first == *low && last == *high => Some((begin, end)),
            _ => None,
        }
    }

    /// Returns the approximate cost, in units of the cheapest test.
    pub(crate) fn cost(&self) -> u32 {
        match &self.predicate {
            Predicate::Integer { set, .. } => 1 + u32::from(set.as_slice().len() > 1),
            Predicate::Bits { .. } => 2,
            Predicate::Other { predicate, .. } => match predicate {
                OtherPredicate::Present | OtherPredicate::Float(..) => 6,
                OtherPredicate::FloatOneOf(_) => 7,
                OtherPredicate::Equals(_) => 8,
                OtherPredicate::OneOf(_) => 12,
                OtherPredicate::Like(_) | OtherPredicate::LikeOrOneOf(..) => 20,
            },
        }
    }
}

impl Predicate {
    /// Returns the result of the predicate if it is equal for all values.
    pub(crate) fn constant(&self) -> Option<bool> {
        match self {
            Predicate::Integer { set, .. } if set.is_empty() => Some(false),
            Predicate::Integer { set, low, high } if set.covers(*low, *high) => Some(true),
            Predicate::Integer { .. } | Predicate::Bits { .. } => None,
            Predicate::Other { predicate: OtherPredicate::Present, negated } => Some(!negated),
            Predicate::Other { predicate: OtherPredicate::FloatOneOf(doubles), negated }
                if doubles.is_empty() =>
            {
                Some(*negated)
            }
            Predicate::Other { .. } => None,
        }
    }
}

impl OtherPredicate {
    pub(crate) fn float(&self, value: f64) -> bool {
        match self {
            OtherPredicate::Float(relation, wanted) => match relation {
                Relation::Eq => value == *wanted,
                Relation::Ne => value != *wanted,
                Relation::Lt => value < *wanted,
                Relation::Le => value <= *wanted,
                Relation::Gt => value > *wanted,
                Relation::Ge => value >= *wanted,
                Relation::Matches | Relation::NotMatches | Relation::Bits => false,
            },
            OtherPredicate::FloatOneOf(wanted) => wanted.contains(&value),
            _ => false,
        }
    }

    pub(crate) fn text(&self, value: &[u8]) -> bool {
        match self {
            OtherPredicate::Equals(wanted) => value == wanted,
            OtherPredicate::OneOf(wanted) => is_one_of(value, wanted),
            OtherPredicate::Like(glob) => glob.matches(value),
            OtherPredicate::LikeOrOneOf(glob, wanted) => {
                glob.matches(value) || is_one_of(value, wanted)
            }
            _ => false,
        }
    }
}

/// Returns `true` if a text is one of sorted texts.
fn is_one_of(value: &[u8], texts: &[Vec<u8>]) -> bool {
    texts.binary_search_by(|text| (**text).cmp(value)).is_ok()
}
