//! Bounds on satisfiability: the times and values of one field for which a tree can hold.

use super::node::Node;
use super::test::{Predicate, Test};
use crate::ranges::Ranges;

/// Returns a superset of the values from `low` to `high` of an integer field for which a
/// tree can hold, and whether it can hold without the field. The function `is` recognizes
/// the field.
pub(crate) fn spans<F>(
    tree: &Node<F>,
    is: &impl Fn(&F) -> bool,
    low: i128,
    high: i128,
) -> (Ranges, bool) {
    let everything = || (Ranges::of(low, high), true);
    match tree {
        Node::Constant(true) => everything(),
        Node::Constant(false) => (Ranges::none(), false),
        Node::Test(test) => match &**test {
            Test { field, predicate: Predicate::Integer { set, .. }, absent, .. } if is(field) => {
                (set.clone(), *absent)
            }
            _ => everything(),
        },
        Node::All(terms) => terms.iter().fold(everything(), |(set, without), term| {
            let (other, other_without) = spans(term, is, low, high);
            (set.intersection(&other), without && other_without)
        }),
        Node::Any(terms) => terms.iter().fold((Ranges::none(), false), |(set, without), term| {
            let (other, other_without) = spans(term, is, low, high);
            (set.union(&other), without || other_without)
        }),
        Node::Odd { .. } => everything(),
    }
}

/// Returns `true` if a tree can hold when an integer field, recognized by `is`, has a
/// value.
pub(crate) fn can_hold<F>(tree: &Node<F>, is: &impl Fn(&F) -> bool, value: i128) -> bool {
    possible(tree, is, value).0
}

/// Returns whether a tree can hold, and whether it can fail.
fn possible<F>(tree: &Node<F>, is: &impl Fn(&F) -> bool, value: i128) -> (bool, bool) {
    match tree {
        Node::Constant(truth) => (*truth, !truth),
        Node::Test(test) => match &**test {
            Test { field, predicate: Predicate::Integer { set, .. }, .. } if is(field) => {
                let holds = set.contains(value);
                (holds, !holds)
            }
            _ => (true, true),
        },
        Node::All(terms) => terms.iter().fold((true, false), |(holds, fails), term| {
            let (h, f) = possible(term, is, value);
            (holds && h, fails || f)
        }),
        Node::Any(terms) => terms.iter().fold((false, true), |(holds, fails), term| {
            let (h, f) = possible(term, is, value);
            (holds || h, fails && f)
        }),
        Node::Odd { terms, even } => {
            let start = (*even, !*even);
            terms.iter().fold(start, |(holds, fails), term| match possible(term, is, value) {
                (true, true) => (true, true),
                (true, false) => (fails, holds),
                _ => (holds, fails),
            })
        }
    }
}
