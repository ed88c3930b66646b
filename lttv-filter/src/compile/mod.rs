//! Compilation of expression trees to programs.
//!
//! 1. `leaf`: each comparison is checked against each record type (`comparison`), and becomes
//!    a test of a field (`predicate`), or a constant.
//! 2. `node`: the tree of tests is simplified for each record type.
//! 3. `findings`: the parts of the expression that are never or always true are
//!    determined.
//! 4. `satisfiable`: the times and tracefiles for which a tree can hold are determined.
//! 5. `program`: the remaining tree becomes a sequence of tests with jumps.

mod comparison;
mod findings;
mod leaf;
mod literal;
mod node;
mod predicate;
pub(crate) mod program;
pub(crate) mod record;
#[cfg(feature = "traces")]
mod satisfiable;
mod slots;
mod test;

use crate::diagnostic::Diagnostic;
use crate::environment::Environment;
use crate::model::{IntegerType, Model};
use crate::syntax::{Expr, ExprKind, Selector};
use findings::Part;
use leaf::{Leaf, Leaves};

pub(crate) use findings::{Findings, WordUse};
pub(crate) use node::Node;
#[cfg(feature = "traces")]
pub(crate) use satisfiable::{can_hold, spans};
#[cfg(feature = "traces")]
pub(crate) use test::Test;

/// The result of checking an expression against a model.
#[derive(Debug)]
pub(crate) struct Checked<F> {
    /// The tree of tests, by record type.
    pub(crate) trees: Vec<Node<F>>,
    /// The literals that are invalid for all types, in the order of the tree. Their
    /// comparisons are false.
    pub(crate) faults: Vec<Fault>,
    /// The results for the parts of the expression.
    pub(crate) findings: Findings,
}

/// A literal that is invalid in a comparison for all record types.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    /// The index of the comparison among those of the tree.
    pub(crate) leaf: usize,
    /// The index of the literal in the comparison.
    pub(crate) slot: usize,
    /// The number of valid steps of the selector; `u32::MAX` if the selector is valid.
    pub(crate) valid_steps: u32,
    pub(crate) diagnostic: Diagnostic,
}

/// Checks a tree against a model, and builds the tree of tests for each record type. The
/// function `word_use` returns how a selector relates to fields of its name, for the notes.
pub(crate) fn check<M: Model>(
    tree: &Expr,
    model: &M,
    environment: &Environment,
    word_use: &dyn Fn(u32, &Selector) -> Option<WordUse>,
) -> Checked<M::Field> {
    let mut leaves = Leaves::new(model, environment);
    let mut faults = Vec::new();
    for node in tree.walk().filter(|node| node.selector().is_some()) {
        faults.extend(leaves.add(node));
    }
    let mut leaves = leaves.finish();
    let mut parts = vec![Part::default(); tree.walk().count()];
    let leaf_parts = tree.walk().zip(&mut parts).filter(|(node, _)| node.selector().is_some());
    for ((_, part), leaf) in leaf_parts.zip(&mut leaves) {
        part.field = std::mem::take(&mut leaf.finding);
    }
    let trees = (0..model.types()).map(|record_type| {
        let (leaves, parts) = (leaves.iter(), &mut *parts);
        let mut builder =
            Builder { record_type, leaves, parts, next: 0, is_in: true, word: None, word_use };
        builder.build(tree, false)
    });
    Checked { trees: trees.collect(), faults, findings: Findings::new(parts) }
}

/// Returns the limits of the integers that a field can have: those of its type, clamped
/// to the 64 bits that [`Model::integer`] can return.
fn bounds(of: &IntegerType) -> (i128, i128) {
    match of.low < 0 {
        true => (of.low.max(i64::MIN.into()), of.high.min(i64::MAX.into())),
        false => (of.low, of.high.min(u64::MAX.into())),
    }
}

/// A builder of the tree of tests for a record type.
struct Builder<'a, F> {
    record_type: u32,
    /// The comparisons that have not been visited yet.
    leaves: std::slice::Iter<'a, Leaf<F>>,
    /// The results for all parts.
    parts: &'a mut [Part],
    /// The index of the next part.
    next: usize,
    /// `false` if records of the type do not have the field of the last comparison.
    is_in: bool,
    /// The use of a word in the last comparison.
    word: Option<WordUse>,
    word_use: &'a dyn Fn(u32, &Selector) -> Option<WordUse>,
}

impl<F: Clone> Builder<'_, F> {
    /// Builds the tree for an expression, or for its negation. Negations are moved down
    /// to the tests.
    fn build(&mut self, expr: &Expr, negated: bool) -> Node<F> {
        let at = self.next;
        self.next += 1;
        let node = match &expr.kind {
            ExprKind::Constant(truth) => Node::Constant(*truth != negated),
            ExprKind::Not(inner) => self.build(inner, !negated),
            ExprKind::And(terms) if negated => Node::any(self.each(terms, true)),
            ExprKind::And(terms) => Node::all(self.conjunction(terms)),
            ExprKind::Or(terms) if negated => Node::all(self.each(terms, true)),
            ExprKind::Or(terms) => Node::any(self.each(terms, false)),
            ExprKind::Xor(terms) => Node::odd(self.each(terms, false), negated),
            _ => {
                let leaf = self.leaves.next();
                let word_use = |selector| (self.word_use)(self.record_type, selector);
                self.word = expr.selector().and_then(word_use);
                if let Some(part) = self.parts.get_mut(at) {
                    part.add_word(self.word);
                }
                self.is_in = leaf.is_some_and(|leaf| leaf.is_in(self.record_type));
                let leaf = leaf.map(|leaf| leaf.for_type(self.record_type));
                let leaf = leaf.unwrap_or(Node::Constant(false)); // there is a leaf for each comparison
                if negated { leaf.negate() } else { leaf }
            }
        };
        if let Some(part) = self.parts.get_mut(at) {
            part.add(node.verdict(), negated);
        }
        node
    }

    /// Builds the terms of a conjunction. Comparisons are told whether the other terms can
    /// hold for the type.
    fn conjunction(&mut self, terms: &[Expr]) -> Vec<Node<F>> {
        let (mut nodes, mut places) = (Vec::with_capacity(terms.len()), Vec::new());
        for term in terms {
            let at = self.next;
            nodes.push(self.build(term, false));
            places.push(term.selector().map(|_| (at, self.is_in, self.word)));
        }
        let is_never = |node: &Node<F>| matches!(node, Node::Constant(false));
        let never = nodes.iter().filter(|node| is_never(node)).count();
        for (node, place) in nodes.iter().zip(places) {
            let Some((at, is_in, word)) = place else { continue };
            if never == usize::from(is_never(node))
                && let Some(part) = self.parts.get_mut(at)
            {
                part.add_fitting(is_in, word);
            }
        }
        nodes
    }

    fn each(&mut self, terms: &[Expr], negated: bool) -> Vec<Node<F>> {
        terms.iter().map(|term| self.build(term, negated)).collect()
    }
}
