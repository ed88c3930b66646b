//! From trees to programs.
//!
//! 1. `leaf`: each comparison is checked against each record type, and becomes
//!    a test of a field, or true, or false.
//! 2. `node`: the tree of tests is simplified for each record type.
//! 3. `findings`: which parts of the expression are never or always true.
//! 4. `reach`: what tree is true for which times and tracefiles at most.
//! 5. `program`: what is left becomes a sequence of tests with jumps.

mod findings;
mod leaf;
mod literal;
mod node;
pub(crate) mod program;
mod reach;
mod slots;
mod test;

use crate::diagnostic::Diagnostic;
use crate::environment::Environment;
use crate::model::{IntegerType, Model};
use crate::syntax::{Expr, ExprKind};
use findings::Part;
use leaf::{Leaf, Leaves};

pub(crate) use findings::Findings;
pub(crate) use node::Node;
pub(crate) use reach::{can_hold, spans};
pub(crate) use test::Test;

/// What came of checking an expression against a model.
#[derive(Debug)]
pub(crate) struct Checked<F> {
    /// The tree for each record type.
    pub(crate) trees: Vec<Node<F>>,
    /// What makes no sense for any type; there it is false. In the order of the tree.
    pub(crate) faults: Vec<Fault>,
    /// What is known of the parts of the expression.
    pub(crate) findings: Findings,
}

/// A literal that makes no sense in a comparison, for any record type.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    /// The number of the comparison among those of the tree.
    pub(crate) leaf: usize,
    /// The number of the literal in it.
    pub(crate) slot: usize,
    /// How much of the selector is known: all, if that is not what is wrong.
    pub(crate) known: u32,
    pub(crate) diagnostic: Diagnostic,
}

/// Checks a tree against a model, and makes one of tests for each record type.
pub(crate) fn check<M: Model>(
    tree: &Expr,
    model: &M,
    environment: &Environment,
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
        let mut builder = Builder { record_type, leaves: leaves.iter(), parts: parts.iter_mut() };
        builder.build(tree, false)
    });
    Checked { trees: trees.collect(), faults, findings: Findings::new(parts) }
}

/// The integers that a field can have: of those that its type names, the ones that a
/// record can tell.
fn bounds(of: &IntegerType) -> (i128, i128) {
    match of.low < 0 {
        true => (of.low.max(i64::MIN.into()), of.high.min(i64::MAX.into())),
        false => (of.low, of.high.min(u64::MAX.into())),
    }
}

/// Builds the tree of tests for a record type.
struct Builder<'a, F> {
    record_type: u32,
    /// The comparisons that follow.
    leaves: std::slice::Iter<'a, Leaf<F>>,
    /// What is known of the parts that follow.
    parts: std::slice::IterMut<'a, Part>,
}

impl<F: Clone> Builder<'_, F> {
    /// The tree for an expression, or its negation. Negations go down to the tests.
    fn build(&mut self, expr: &Expr, negated: bool) -> Node<F> {
        let part = self.parts.next();
        let node = match &expr.kind {
            ExprKind::Constant(truth) => Node::Constant(*truth != negated),
            ExprKind::Not(inner) => self.build(inner, !negated),
            ExprKind::And(terms) if negated => Node::any(self.each(terms, true)),
            ExprKind::And(terms) => Node::all(self.each(terms, false)),
            ExprKind::Or(terms) if negated => Node::all(self.each(terms, true)),
            ExprKind::Or(terms) => Node::any(self.each(terms, false)),
            ExprKind::Xor(terms) => Node::odd(self.each(terms, false), negated),
            _ => {
                let leaf = self.leaves.next().map(|leaf| leaf.for_type(self.record_type));
                let leaf = leaf.unwrap_or(Node::Constant(false)); // there is one for each
                if negated { leaf.negate() } else { leaf }
            }
        };
        if let Some(part) = part {
            part.add(node.verdict(), negated);
        }
        node
    }

    fn each(&mut self, terms: &[Expr], negated: bool) -> Vec<Node<F>> {
        terms.iter().map(|term| self.build(term, negated)).collect()
    }
}
