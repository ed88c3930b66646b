//! Programs: tests that say where to go on.

use super::node::Node;
use super::test::{Other, Test, What};
use crate::model::Record;

/// Where an evaluation is, or how it ended.
type Place = u32;

/// The end: true.
pub(crate) const ACCEPT: Place = u32::MAX;
/// The end: false.
pub(crate) const REJECT: Place = u32::MAX - 1;

/// The programs for all record types.
#[derive(Debug)]
pub(crate) struct Programs<F> {
    /// Where the one of each type begins; or its result, if that is always the
    /// same.
    entries: Box<[Place]>,
    ops: Box<[Op<F>]>,
}

/// A test, and where to go on.
#[derive(Debug)]
struct Op<F> {
    test: Kind<F>,
    yes: Place,
    no: Place,
}

#[derive(Debug)]
enum Kind<F> {
    /// An integer from a number up to another, maybe around: both sorts of
    /// integers compare right if the first is subtracted.
    Range {
        field: F,
        low: u64,
        size: u64,
        absent: bool,
    },
    /// An integer in one of these ranges, which are sorted. `flip` makes signed
    /// integers compare as unsigned ones.
    Ranges {
        field: F,
        flip: u64,
        ranges: Box<[(u64, u64)]>,
        absent: bool,
    },
    Float {
        field: F,
        what: Other,
        negated: bool,
        absent: bool,
    },
    Text {
        field: F,
        what: Box<Other>,
        negated: bool,
        absent: bool,
    },
    There {
        field: F,
        negated: bool,
    },
    /// An odd (or even) number of programs gives true.
    Odd {
        entries: Box<[Place]>,
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
    /// Where the program of a record type begins. What is not known is false.
    #[inline(always)]
    pub(crate) fn entry(&self, record_type: u32) -> Place {
        self.entries.get(record_type as usize).copied().unwrap_or(REJECT)
    }

    /// Whether a record passes.
    #[inline(always)]
    pub(crate) fn matches<R: Record<F>>(&self, record: &R) -> bool {
        let entry = self.entry(record.record_type());
        if entry >= REJECT { entry == ACCEPT } else { self.run(entry, record) }
    }

    #[inline]
    fn run<R: Record<F>>(&self, mut at: Place, record: &R) -> bool {
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
            Kind::Range { .. } => false, // see above
            Kind::Ranges { field, flip, ranges, absent } => {
                let Some(value) = record.integer(field) else { return *absent };
                let value = value ^ flip;
                let at = ranges.partition_point(|range| range.1 < value);
                ranges.get(at).is_some_and(|range| range.0 <= value)
            }
            Kind::Float { field, what, negated, absent } => {
                let value = record.float(field);
                value.map_or(*absent, |value| what.float(value) != *negated)
            }
            Kind::Text { field, what, negated, absent } => {
                let value = record.text(field);
                value.map_or(*absent, |value| what.text(&value) != *negated)
            }
            Kind::There { field, negated } => record.has(field) != *negated,
            Kind::Odd { entries, even } => {
                let run = |odd, entry: &Place| {
                    odd ^ if *entry >= REJECT { *entry == ACCEPT } else { self.run(*entry, record) }
                };
                entries.iter().fold(*even, run)
            }
        }
    }
}

/// Appends the program of a tree, the last test first; gives the place of the
/// first.
fn emit<F: Clone>(tree: &Node<F>, yes: Place, no: Place, ops: &mut Vec<Op<F>>) -> Place {
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
    (ops.len() - 1) as Place
}

fn kind<F: Clone>(test: &Test<F>) -> Kind<F> {
    let (field, absent) = (test.field.clone(), test.absent);
    match &test.what {
        What::Integer { set, low, .. } => match test.range() {
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
        What::Other { what, negated } => {
            let (what, negated) = (what.clone(), *negated);
            match what {
                Other::There => Kind::There { field, negated },
                Other::Float(..) | Other::FloatOneOf(_) => {
                    Kind::Float { field, what, negated, absent }
                }
                _ => Kind::Text { field, what: Box::new(what), negated, absent },
            }
        }
    }
}
