//! What decides most events of a type: integers in ranges, tested before the
//! program, and more often than not instead of it.

use ltt_read::choice::Verdict;
use ltt_read::{Event, RangeTests};

use crate::compile::{Node, Test};
use crate::trace::TraceField;

/// Tests, and what is known if all of them hold, and if not.
#[derive(Debug, Clone)]
pub(crate) struct Quick {
    tests: RangeTests,
    /// Whether events pass for which not all hold, and for which all do, unless that
    /// is open.
    passes: [bool; 2],
    /// Whether the rest decides if all hold.
    is_open: bool,
}

impl Quick {
    /// Splits a tree into tests and a rest, which decides where they do not.
    pub(crate) fn split(tree: Node<TraceField>) -> (Quick, Node<TraceField>) {
        let quick = |test: &Test<TraceField>| {
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
                Node::Test(test) if is_any => quick(&Test::clone(test).negate()),
                Node::Test(test) => quick(test),
                _ => None,
            };
            match ready {
                Some(test) => tests.push(test),
                None => rest.push(term),
            }
        }
        let rest = if is_any { Node::any(rest) } else { Node::all(rest) };
        let all = rest.verdict();
        let quick = Quick {
            tests: tests.into_iter().collect(),
            passes: [is_any, all == Verdict::Always],
            is_open: all == Verdict::Depends,
        };
        (quick, rest)
    }

    /// Whether an event passes, where `rest` decides what the tests leave open.
    #[inline(always)]
    pub(crate) fn passes(&self, event: &Event<'_>, rest: impl FnOnce() -> bool) -> bool {
        let hold = event.all_in_range(&self.tests);
        // Whether they hold is hard to predict: no branch on that if it is all.
        if self.is_open & hold { rest() } else { self.passes[usize::from(hold)] }
    }
}
