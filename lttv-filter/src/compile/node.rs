//! Trees of tests, kept simple: constants disappear, tests of one integer
//! become one, what is cheap stands first.

use std::collections::HashMap;

use ltt_read::choice::Verdict;

use super::test::{Test, What};
use crate::ranges::Ranges;

/// A tree of tests without negations: those are in the tests.
#[derive(Debug, Clone)]
pub(crate) enum Node<F> {
    Constant(bool),
    Test(Box<Test<F>>),
    /// All hold. Two or more.
    All(Vec<Node<F>>),
    /// One holds. Two or more.
    Any(Vec<Node<F>>),
    /// An odd number of them holds; or an even one, if `even`. Two or more.
    Odd {
        terms: Vec<Node<F>>,
        even: bool,
    },
}

impl<F: Clone> Node<F> {
    pub(crate) fn test(test: Test<F>) -> Self {
        match test.constant() {
            Some(truth) => Node::Constant(truth),
            None => Node::Test(Box::new(test)),
        }
    }

    pub(crate) fn all(terms: Vec<Node<F>>) -> Self {
        Self::joined(terms, true)
    }

    pub(crate) fn any(terms: Vec<Node<F>>) -> Self {
        Self::joined(terms, false)
    }

    /// All of the terms, or any of them.
    fn joined(terms: Vec<Node<F>>, all: bool) -> Self {
        let mut flat = Vec::with_capacity(terms.len());
        for term in terms {
            match term {
                Node::Constant(truth) if truth == all => {}
                Node::Constant(_) => return Node::Constant(!all),
                Node::All(inner) if all => flat.extend(inner),
                Node::Any(inner) if !all => flat.extend(inner),
                term => flat.push(term),
            }
        }
        let mut flat = merge_integers(flat, all);
        // A merged test may be constant.
        if flat.iter().any(|n| matches!(n, Node::Constant(truth) if *truth != all)) {
            return Node::Constant(!all);
        }
        flat.retain(|n| !matches!(n, Node::Constant(_)));
        flat.sort_by_cached_key(Node::cost);
        match flat.len() {
            0 => Node::Constant(all),
            1 => flat.remove(0),
            _ if all => Node::All(flat),
            _ => Node::Any(flat),
        }
    }

    pub(crate) fn odd(terms: Vec<Node<F>>, mut even: bool) -> Self {
        let mut flat = Vec::with_capacity(terms.len());
        for term in terms {
            match term {
                Node::Constant(truth) => even ^= truth,
                Node::Odd { terms, even: inner } => {
                    flat.extend(terms);
                    even ^= inner;
                }
                term => flat.push(term),
            }
        }
        match flat.len() {
            0 => Node::Constant(even),
            1 if even => flat.remove(0).negate(),
            1 => flat.remove(0),
            _ => Node::Odd { terms: flat, even },
        }
    }

    pub(crate) fn negate(self) -> Self {
        match self {
            Node::Constant(truth) => Node::Constant(!truth),
            Node::Test(test) => Node::test(test.negate()),
            Node::All(terms) => Node::any(terms.into_iter().map(Node::negate).collect()),
            Node::Any(terms) => Node::all(terms.into_iter().map(Node::negate).collect()),
            Node::Odd { terms, even } => Node::Odd { terms, even: !even },
        }
    }

    /// What is known of it without looking at a record.
    pub(crate) fn verdict(&self) -> Verdict {
        match self {
            Node::Constant(true) => Verdict::Always,
            Node::Constant(false) => Verdict::Never,
            _ => Verdict::Depends,
        }
    }

    fn cost(&self) -> u32 {
        match self {
            Node::Constant(_) => 0,
            Node::Test(test) => test.cost(),
            Node::All(terms) | Node::Any(terms) | Node::Odd { terms, .. } => {
                terms.iter().map(Node::cost).fold(0, u32::saturating_add)
            }
        }
    }
}

/// Makes one test of all those of one integer field.
fn merge_integers<F: Clone>(terms: Vec<Node<F>>, all: bool) -> Vec<Node<F>> {
    let key = |term: &Node<F>| match term {
        Node::Test(test) if matches!(test.what, What::Integer { .. }) => Some(test.key),
        _ => None,
    };
    let mut groups: HashMap<(u32, u32), Vec<Test<F>>> = HashMap::new();
    let mut order = Vec::with_capacity(terms.len());
    for term in terms {
        match (key(&term), term) {
            (Some(key), Node::Test(test)) => {
                let group = groups.entry(key).or_default();
                if group.is_empty() {
                    order.push(Err(key));
                }
                group.push(*test);
            }
            (_, term) => order.push(Ok(term)),
        }
    }
    let one = |place| match place {
        Ok(term) => Some(term),
        Err(key) => groups.remove(&key).and_then(|group| merged(group, all)),
    };
    order.into_iter().filter_map(one).collect()
}

/// One test for several of one integer field; `None` if there is none.
fn merged<F: Clone>(group: Vec<Test<F>>, all: bool) -> Option<Node<F>> {
    let mut group = group.into_iter();
    let first = group.next()?;
    let What::Integer { low, high, .. } = first.what else { return None };
    let mut absent = first.absent;
    // All hold where none fails: so either way it is a union.
    let part = |test: &Test<F>| match &test.what {
        What::Integer { set, .. } if all => set.complement(low, high),
        What::Integer { set, .. } => set.clone(),
        What::Other { .. } => Ranges::none(),
    };
    let mut ranges = part(&first).as_slice().to_vec();
    for test in group {
        ranges.extend_from_slice(part(&test).as_slice());
        absent = if all { absent & test.absent } else { absent | test.absent };
    }
    let set = Ranges::union_of(ranges);
    let set = if all { set.complement(low, high) } else { set };
    Some(Node::test(Test { what: What::Integer { set, low, high }, absent, ..first }))
}
