//! From trees to programs.
//!
//! 1. `leaf`: each comparison is checked against each record type, and becomes
//!    a test of a field, or true, or false.
//! 2. `node`: the tree of tests is simplified for each record type.
//! 3. `reach`: what tree is true for which times and tracefiles at most.
//! 4. `program`: what is left becomes a sequence of tests with jumps.

mod leaf;
mod literal;
mod node;
pub(crate) mod program;
mod reach;
mod test;

use crate::diagnostic::Diagnostic;
use crate::environment::Environment;
use crate::model::Model;
use crate::syntax::{Expr, ExprKind};
use leaf::{Leaf, Leaves};

pub(crate) use node::Node;
pub(crate) use reach::{can_hold, spans};
pub(crate) use test::Test;

/// What came of checking an expression against a model.
#[derive(Debug)]
pub(crate) struct Checked<F> {
    /// The tree for each record type.
    pub(crate) trees: Vec<Node<F>>,
    /// Comparisons that mean nothing for any type; there they are false.
    pub(crate) faults: Vec<Fault>,
}

/// A comparison that means nothing.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    /// Its number among those of the tree.
    pub(crate) leaf: usize,
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
    for (number, node) in tree.walk().filter(|node| node.selector().is_some()).enumerate() {
        if let Err(diagnostic) = leaves.add(node) {
            faults.push(Fault { leaf: number, diagnostic });
        }
    }
    let leaves = leaves.finish();
    let trees = (0..model.types()).map(|record_type| {
        let mut next = 0;
        build(tree, false, record_type, &leaves, &mut next)
    });
    Checked { trees: trees.collect(), faults }
}

/// The tree of tests for a record type. Negations go down to the tests.
fn build<F: Clone>(
    expr: &Expr,
    negated: bool,
    record_type: u32,
    leaves: &[Leaf<F>],
    next: &mut usize,
) -> Node<F> {
    let mut each = |terms: &[Expr], negated| -> Vec<Node<F>> {
        terms.iter().map(|term| build(term, negated, record_type, leaves, next)).collect()
    };
    match &expr.kind {
        ExprKind::Constant(truth) => Node::Constant(*truth != negated),
        ExprKind::Not(inner) => build(inner, !negated, record_type, leaves, next),
        ExprKind::And(terms) if negated => Node::any(each(terms, true)),
        ExprKind::And(terms) => Node::all(each(terms, false)),
        ExprKind::Or(terms) if negated => Node::all(each(terms, true)),
        ExprKind::Or(terms) => Node::any(each(terms, false)),
        ExprKind::Xor(terms) => Node::odd(each(terms, false), negated),
        _ => {
            let leaf = leaves[*next].for_type(record_type);
            *next += 1;
            if negated { leaf.negate() } else { leaf }
        }
    }
}
