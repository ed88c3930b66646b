//! Trees of tests, simplified on construction: constants disappear, tests of one integer
//! field are merged, and cheap tests come first.

use std::collections::HashMap;

use crate::verdict::Verdict;

use super::test::{Predicate, Test};
use crate::ranges::Ranges;

/// A tree of tests without negations, which are part of the tests.
#[derive(Debug, Clone)]
pub(crate) enum Node<F> {
    Constant(bool),
    Test(Box<Test<F>>),
    /// A conjunction of two or more terms.
    All(Vec<Node<F>>),
    /// A disjunction of two or more terms.
    Any(Vec<Node<F>>),
    /// A parity of two or more terms: true if an odd number of terms is true, or an even
    /// number if `even` is set.
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

    /// Joins terms to a conjunction or disjunction.
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

    /// Returns the result as far as it does not depend on the record.
    pub(crate) fn verdict(&self) -> Verdict {
        match self {
            Node::Constant(true) => Verdict::Always,
            Node::Constant(false) => Verdict::Never,
            _ => Verdict::Depends,
        }
    }

    /// Returns `true` if a test of the tree reads a field that `is` accepts.
    pub(crate) fn reads(&self, is: &impl Fn(&F) -> bool) -> bool {
        match self {
            Node::Constant(_) => false,
            Node::Test(test) => is(&test.field),
            Node::All(terms) | Node::Any(terms) | Node::Odd { terms, .. } => {
                terms.iter().any(|term| term.reads(is))
            }
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

/// Merges the tests of each integer field into one.
fn merge_integers<F: Clone>(terms: Vec<Node<F>>, all: bool) -> Vec<Node<F>> {
    let key = |term: &Node<F>| match term {
        Node::Test(test) if matches!(test.predicate, Predicate::Integer { .. }) => Some(test.key),
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

/// Merges tests of one integer field. `None` if there are none.
fn merged<F: Clone>(group: Vec<Test<F>>, all: bool) -> Option<Node<F>> {
    let mut group = group.into_iter();
    let first = group.next()?;
    let Predicate::Integer { low, high, .. } = first.predicate else { return None };
    let mut absent = first.absent;
    // By De Morgan's laws, a conjunction is the complement of a union.
    let part = |test: &Test<F>| match &test.predicate {
        Predicate::Integer { set, .. } if all => set.complement(low, high),
        Predicate::Integer { set, .. } => set.clone(),
        Predicate::Bits { .. } | Predicate::Other { .. } => Ranges::none(),
    };
    let mut ranges = part(&first).as_slice().to_vec();
    for test in group {
        ranges.extend_from_slice(part(&test).as_slice());
        absent = if all { absent & test.absent } else { absent | test.absent };
    }
    let set = Ranges::union_of(ranges);
    let set = if all { set.complement(low, high) } else { set };
    Some(Node::test(Test { predicate: Predicate::Integer { set, low, high }, absent, ..first }))
}
