//! Shortcuts: tests of integers in ranges that run before the program of an event type,
//! and usually decide without it.

use ltt_read::selection::Shortcut;
use ltt_read::tuning::RangeTests;

use crate::compile::{Node, Test};
use crate::trace::TraceField;

/// Splits a tree into a shortcut, if possible, and the rest, which decides the events
/// that the shortcut leaves open.
pub(crate) fn split(tree: Node<TraceField>) -> (Option<Shortcut>, Node<TraceField>) {
    let (terms, is_any) = match tree {
        Node::Any(terms) => (terms, true),
        Node::All(terms) => (terms, false),
        tree => (vec![tree], false),
    };
    let mut tests = RangeTests::default();
    let mut add = |test: &Test<TraceField>| {
        let (Some((first, last)), TraceField::Plain(field)) = (test.range(), &test.field) else {
            return false;
        };
        tests.add(field, first as u64, last as u64)
    };
    let mut rest = terms;
    rest.retain(|term| match term {
        // In a disjunction, the program is needed only if all tests fail.
        Node::Test(test) if is_any => !add(&Test::clone(test).negate()),
        Node::Test(test) => !add(test),
        _ => true,
    });
    let rest = if is_any { Node::any(rest) } else { Node::all(rest) };
    let held = rest.verdict();
    let shortcut = (!tests.is_empty()).then(|| Shortcut::new(tests, is_any, held.into()));
    (shortcut, rest)
}
