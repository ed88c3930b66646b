//! Shortcuts: tests of integers in ranges that run before the program of an event type,
//! and usually decide without it.

use ltt_read::selection::Shortcut;

use crate::compile::{Node, Test};
use crate::trace::TraceField;

/// Splits a tree into a shortcut, if possible, and the rest, which decides the events
/// that the shortcut leaves open.
pub(crate) fn split(tree: Node<TraceField>) -> (Option<Shortcut>, Node<TraceField>) {
    let range_test = |test: &Test<TraceField>| {
        let (first, last) = test.range()?;
        let TraceField::Plain(field) = &test.field else { return None };
        field.range_test(first as u64, last as u64)
    };
    let (terms, is_any) = match tree {
        Node::Any(terms) => (terms, true),
        Node::All(terms) => (terms, false),
        tree => (vec![tree], false),
    };
    let (mut tests, mut rest) = (Vec::new(), Vec::new());
    for term in terms {
        let ready = match &term {
            // In a disjunction, the program is needed only if all tests fail.
            Node::Test(test) if is_any => range_test(&Test::clone(test).negate()),
            Node::Test(test) => range_test(test),
            _ => None,
        };
        match ready {
            Some(test) => tests.push(test),
            None => rest.push(term),
        }
    }
    let rest = if is_any { Node::any(rest) } else { Node::all(rest) };
    let held = rest.verdict();
    let shortcut = || Shortcut::new(tests.iter().copied().collect(), is_any, held.into());
    ((!tests.is_empty()).then(shortcut), rest)
}
