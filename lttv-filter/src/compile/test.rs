//! Tests of one field.

use crate::glob::Glob;
use crate::ranges::Ranges;
use crate::syntax::Relation;

/// A test of a field: what it gives if a record has the field depends on the
/// value, and if not, on nothing.
#[derive(Debug, Clone)]
pub(crate) struct Test<F> {
    pub(crate) field: F,
    /// Tests of equal keys are of the same field.
    pub(crate) key: (u32, u32),
    pub(crate) what: What,
    /// What it gives if the record does not have the field.
    pub(crate) absent: bool,
    /// Whether all records have it.
    pub(crate) always: bool,
}

/// What is tested.
#[derive(Debug, Clone)]
pub(crate) enum What {
    /// An integer between `low` and `high` is in a set.
    Integer { set: Ranges, low: i128, high: i128 },
    /// All else can be negated only as it is.
    Other { what: Other, negated: bool },
}

/// What is tested of other than integers.
#[derive(Debug, Clone)]
pub(crate) enum Other {
    /// It is there.
    There,
    Float(Relation, f64),
    FloatOneOf(Vec<f64>),
    Equals(Vec<u8>),
    /// Sorted.
    OneOf(Vec<Vec<u8>>),
    Like(Glob),
}

impl<F> Test<F> {
    /// The test that gives the opposite.
    pub(crate) fn negate(self) -> Self {
        let what = match self.what {
            What::Integer { set, low, high } => {
                What::Integer { set: set.complement(low, high), low, high }
            }
            What::Other { what, negated } => What::Other { what, negated: !negated },
        };
        Test { what, absent: !self.absent, ..self }
    }

    /// What it always gives, if that is so.
    pub(crate) fn constant(&self) -> Option<bool> {
        let of_value = self.what.constant()?;
        (self.always || self.absent == of_value).then_some(of_value)
    }

    /// The range of integers that hold, if it is one: from the first to the second,
    /// around from the greatest to the least if the first is greater.
    pub(crate) fn range(&self) -> Option<(i128, i128)> {
        let What::Integer { set, low, high } = &self.what else { return None };
        match *set.as_slice() {
            [range] => Some(range),
            [(first, end), (begin, last)] if first == *low && last == *high => Some((begin, end)),
            _ => None,
        }
    }

    /// How long it takes, about, in units of the fastest.
    pub(crate) fn cost(&self) -> u32 {
        match &self.what {
            What::Integer { set, .. } => 1 + u32::from(set.as_slice().len() > 1),
            What::Other { what, .. } => match what {
                Other::There | Other::Float(..) => 6,
                Other::FloatOneOf(_) => 7,
                Other::Equals(_) => 8,
                Other::OneOf(_) => 12,
                Other::Like(_) => 20,
            },
        }
    }
}

impl What {
    /// What the test gives for all values, if that is the same.
    pub(crate) fn constant(&self) -> Option<bool> {
        match self {
            What::Integer { set, .. } if set.is_empty() => Some(false),
            What::Integer { set, low, high } if set.covers(*low, *high) => Some(true),
            What::Integer { .. } => None,
            What::Other { what: Other::There, negated } => Some(!negated),
            What::Other { what: Other::FloatOneOf(doubles), negated } if doubles.is_empty() => {
                Some(*negated)
            }
            What::Other { .. } => None,
        }
    }
}

impl Other {
    pub(crate) fn float(&self, value: f64) -> bool {
        match self {
            Other::Float(relation, wanted) => match relation {
                Relation::Eq => value == *wanted,
                Relation::Ne => value != *wanted,
                Relation::Lt => value < *wanted,
                Relation::Le => value <= *wanted,
                Relation::Gt => value > *wanted,
                Relation::Ge => value >= *wanted,
                Relation::Like | Relation::NotLike => false,
            },
            Other::FloatOneOf(wanted) => wanted.contains(&value),
            _ => false,
        }
    }

    pub(crate) fn text(&self, value: &[u8]) -> bool {
        match self {
            Other::Equals(wanted) => value == wanted,
            Other::OneOf(wanted) => wanted.binary_search_by(|w| (**w).cmp(value)).is_ok(),
            Other::Like(glob) => glob.matches(value),
            _ => false,
        }
    }
}
