//! What decides most events of a type: integers in ranges, tested before the
//! program, and more often than not instead of it.

use ltt_read::choice::Shortcut;

use crate::compile::{Node, Test};
use crate::trace::TraceField;

/// Splits a tree into a shortcut, if it has any, and the rest, which decides what that
/// leaves open.
pub(crate) fn split(tree: Node<TraceField>) -> (Option<Shortcut>, Node<TraceField>) {
    let range_test = |test: &Test<TraceField>| {
        let (first, last) = test.range()?;
        let TraceField::Plain(field) = &test.field else { return None };
        field.in_range(first as u64, last as u64)
    };
    let (terms, is_any) = match tree {
        Node::Any(terms) => (terms, true),
        Node::All(terms) => (terms, false),
        tree => (vec![tree], false),
    };
    let (mut tests, mut rest) = (Vec::new(), Vec::new());
    for term in terms {
        let ready = match &term {
            // One of them holds unless all fail.
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
    let shortcut = || Shortcut::new(tests.iter().copied().collect(), is_any, held);
    ((!tests.is_empty()).then(shortcut), rest)
}
