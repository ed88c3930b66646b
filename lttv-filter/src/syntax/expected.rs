//! The tokens that can stand at the cursor of an expression, which may be incomplete and faulty.

use super::expr::{Expr, Relation};
use super::selector::Selector;

/// The kind of text that can stand at the cursor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Place {
    /// The start of a term.
    Term,
    /// A selector in `exists(…)`.
    Present,
    /// A selector after a value and a relation, such as `5 <`.
    Compared,
    /// The rest of a selector, after this text and a point. The flag states that the field
    /// need only be present.
    Member(String, bool),
    /// A relation after a selector.
    Relation(Selector),
    /// The word `in`, after `not`.
    In,
    /// A value after a relation.
    Value(Selector, Relation),
    /// A value in a set.
    Element(Selector),
    /// The comma or parenthesis after a value in a set.
    AfterElement,
    /// A relation after a value.
    ReversedRelation,
    /// An opening parenthesis.
    Open,
    /// A closing parenthesis.
    Close,
    /// An operator after a term.
    Operator,
    /// Nothing that is known.
    Nothing,
}

/// The tokens that the parser expected where it stopped at the cursor.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) place: Place,
    /// The start of the text that stands at the place so far.
    pub(crate) start: usize,
    /// The terms without faults that have to hold together with the one at the cursor.
    pub(crate) terms: Vec<Expr>,
    /// The number of open groups.
    pub(crate) groups: usize,
}
