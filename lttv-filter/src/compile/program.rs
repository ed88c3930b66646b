//! Programs: sequences of tests with jumps.

use super::node::Node;
use super::record::Record;
use super::test::{OtherPredicate, Predicate, Test};

/// The index of the next op, or a result.
type Target = u32;

/// The result that a record passes.
pub(crate) const ACCEPT: Target = u32::MAX;
/// The result that a record does not pass.
pub(crate) const REJECT: Target = u32::MAX - 1;

/// The programs for all record types.
#[derive(Debug)]
pub(crate) struct Programs<F> {
    /// The first op by record type, or the result if it is constant.
    entries: Box<[Target]>,
    ops: Box<[Op<F>]>,
}

/// A test, with the next op for each result.
#[derive(Debug)]
struct Op<F> {
    test: Kind<F>,
    yes: Target,
    no: Target,
}

#[derive(Debug)]
enum Kind<F> {
    /// An integer in one range, which may wrap around. Subtracting the lower end makes
    /// unsigned comparison correct for signed and unsigned integers.
    Range {
        field: F,
        low: u64,
        size: u64,
        absent: bool,
    },
    /// An integer in one of several sorted ranges. `flip` makes signed integers compare
    /// as unsigned ones.
    Ranges {
        field: F,
        flip: u64,
        ranges: Box<[(u64, u64)]>,
        absent: bool,
    },
    /// An integer with one of some bits.
    Bits {
        field: F,
        mask: u64,
        negated: bool,
        absent: bool,
    },
    Float {
        field: F,
        predicate: OtherPredicate,
        negated: bool,
        absent: bool,
    },
    Text {
        field: F,
        predicate: Box<OtherPredicate>,
        negated: bool,
        absent: bool,
    },
    Present {
        field: F,
        negated: bool,
    },
    /// A parity of the results of several programs.
    Odd {
        entries: Box<[Target]>,
        even: bool,
    },
}

impl<F: Clone> Programs<F> {
    pub(crate) fn new(trees: &[Node<F>]) -> Self {
        let mut ops = Vec::new();
        let entries = trees.iter().map(|tree| emit(tree, ACCEPT, REJECT, &mut ops)).collect();
        Programs { entries, ops: ops.into() }
    }
}

impl<F> Programs<F> {
    /// Returns the first op of a record type's program. Unknown types do not pass.
    #[inline(always)]
    pub(crate) fn entry(&self, record_type: u32) -> Target {
        self.entries.get(record_type as usize).copied().unwrap_or(REJECT)
    }

    /// Returns `true` if a record passes.
    #[inline(always)]
    pub(crate) fn matches<R: Record<F>>(&self, record: &R) -> bool {
        let entry = self.entry(record.record_type());
        if entry >= REJECT { entry == ACCEPT } else { self.run(entry, record) }
    }

    #[inline]
    fn run<R: Record<F>>(&self, mut at: Target, record: &R) -> bool {
        loop {
            let op = &self.ops[at as usize];
            at = if self.test(&op.test, record) { op.yes } else { op.no };
            if at >= REJECT {
                return at == ACCEPT;
            }
        }
    }

    #[inline(always)]
    fn test<R: Record<F>>(&self, test: &Kind<F>, record: &R) -> bool {
        match test {
            Kind::Range { field, low, size, absent } => {
                let value = record.integer(field);
                value.map_or(*absent, |value| value.wrapping_sub(*low) <= *size)
            }
            test => self.slow_test(test, record),
        }
    }

    #[inline(never)]
    fn slow_test<R: Record<F>>(&self, test: &Kind<F>, record: &R) -> bool {
        match test {
            Kind::Range { .. } => false, // handled by `test`
            Kind::Ranges { field, flip, ranges, absent } => {
                let Some(value) = record.integer(field) else { return *absent };
                let value = value ^ flip;
                let at = ranges.partition_point(|range| range.1 < value);
                ranges.get(at).is_some_and(|range| range.0 <= value)
            }
            Kind::Bits { field, mask, negated, absent } => {
                let value = record.integer(field);
                value.map_or(*absent, |value| (value & mask != 0) != *negated)
            }
            Kind::Float { field, predicate, negated, absent } => {
                let value = record.float(field);
                value.map_or(*absent, |value| predicate.float(value) != *negated)
            }
            Kind::Text { field, predicate, negated, absent } => {
                let value = record.text(field);
                value.map_or(*absent, |value| predicate.text(&value) != *negated)
            }
            Kind::Present { field, negated } => record.has(field) != *negated,
            Kind::Odd { entries, even } => {
                let run = |odd, entry: &Target| {
                    odd ^ if *entry >= REJECT { *entry == ACCEPT } else { self.run(*entry, record) }
                };
                entries.iter().fold(*even, run)
            }
        }
    }
}

/// Appends the program of a tree, last test first. Returns the index of the first op.
fn emit<F: Clone>(tree: &Node<F>, yes: Target, no: Target, ops: &mut Vec<Op<F>>) -> Target {
    let test = match tree {
        Node::Constant(truth) => return if *truth { yes } else { no },
        Node::All(terms) => {
            return terms.iter().rev().fold(yes, |next, term| emit(term, next, no, ops));
        }
        Node::Any(terms) => {
            return terms.iter().rev().fold(no, |next, term| emit(term, yes, next, ops));
        }
        Node::Odd { terms, even } => {
            let entries = terms.iter().map(|term| emit(term, ACCEPT, REJECT, ops)).collect();
            Kind::Odd { entries, even: *even }
        }
        Node::Test(test) => kind(test),
    };
    ops.push(Op { test, yes, no });
    (ops.len() - 1) as Target
}

fn kind<F: Clone>(test: &Test<F>) -> Kind<F> {
    let (field, absent) = (test.field.clone(), test.absent);
    match &test.predicate {
        Predicate::Integer { set, low, .. } => match test.range() {
            Some((first, last)) => {
                Kind::Range { field, low: first as u64, size: (last - first) as u64, absent }
            }
            None => {
                let flip = if *low < 0 { 1 << 63 } else { 0 };
                let range = |(l, h): &(i128, i128)| (*l as u64 ^ flip, *h as u64 ^ flip);
                let ranges = set.as_slice().iter().map(range).collect();
                Kind::Ranges { field, flip, ranges, absent }
            }
        },
        Predicate::Bits { mask, negated } => {
            Kind::Bits { field, mask: *mask, negated: *negated, absent }
        }
        Predicate::Other { predicate, negated } => {
            let (predicate, negated) = (predicate.clone(), *negated);
            match predicate {
                OtherPredicate::Present => Kind::Present { field, negated },
                OtherPredicate::Float(..) | OtherPredicate::FloatOneOf(_) => {
                    Kind::Float { field, predicate, negated, absent }
                }
                _ => Kind::Text { field, predicate: Box::new(predicate), negated, absent },
            }
        }
    }
}
