//! Comparisons, checked against each record type.

use std::collections::HashMap;

use crate::suggestion::nearest;

use super::Fault;
use super::comparison::Comparison;
use super::findings::FieldFinding;
use super::node::Node;
use super::predicate::is_negation;
use super::slots::Slots;
use crate::environment::Environment;
use crate::model::{ConstantValue, Model, Resolution};
use crate::syntax::{Expr, ExprKind, Literal, LiteralKind, Relation, Selector};

/// A comparison, resolved for each record type.
#[derive(Debug)]
pub(super) struct Leaf<F> {
    /// The nodes by record type. Other types do not have the field, and the comparison is
    /// false for them.
    types: HashMap<u32, Node<F>>,
    /// The findings for records that have the field.
    pub(super) finding: FieldFinding,
}

impl<F: Clone> Leaf<F> {
    pub(super) fn for_type(&self, record_type: u32) -> Node<F> {
        self.types.get(&record_type).cloned().unwrap_or(Node::Constant(false))
    }

    /// Returns `true` if records of a type can have the field.
    pub(super) fn is_in(&self, record_type: u32) -> bool {
        self.types.contains_key(&record_type)
    }
}

/// The comparisons of an expression, in the order of [`walk`](crate::Expr::walk).
#[derive(Debug)]
pub(super) struct Leaves<'a, M: Model> {
    model: &'a M,
    environment: &'a Environment,
    /// A number for each distinct selector, to recognize tests of the same field.
    selectors: HashMap<String, u32>,
    leaves: Vec<Leaf<M::Field>>,
    /// The number of comparisons for which a suggestion has been searched.
    searched: usize,
}

/// The maximum number of comparisons for which a suggestion is searched.
const MAX_SEARCHED: usize = 20;

impl<'a, M: Model> Leaves<'a, M> {
    pub(super) fn new(model: &'a M, environment: &'a Environment) -> Self {
        Leaves { model, environment, selectors: HashMap::new(), leaves: Vec::new(), searched: 0 }
    }

    pub(super) fn finish(self) -> Vec<Leaf<M::Field>> {
        self.leaves
    }

    /// Adds a comparison, which is false for the types for which it is invalid. Returns
    /// the faults of literals that are invalid for all types.
    pub(super) fn add(&mut self, expr: &Expr) -> Vec<Fault> {
        let leaf = self.leaves.len();
        let mut comparison = Comparison {
            expr,
            environment: self.environment,
            slots: Slots::of(expr),
            finding: FieldFinding::default(),
            last: None,
        };
        let mut types = HashMap::new();
        let mut valid_steps = u32::MAX;
        if let Some(selector) = expr.selector() {
            match self.model.check(selector) {
                Ok(()) => {
                    let count = self.selectors.len() as u32;
                    let key = *self.selectors.entry(selector.to_string()).or_insert(count);
                    for record_type in 0..self.model.types() {
                        let found = self.model.find(record_type, selector);
                        // A type whose field cannot be compared differs from one without
                        // the field, for the notes.
                        let is_present = !matches!(found, Resolution::Nothing);
                        let mut node = comparison.node(selector, found, (key, 0));
                        if has_sign(expr, '.') {
                            let longer = self.model.find_qualified(record_type, selector);
                            let longer = comparison.node(selector, longer, (key, QUALIFIED));
                            node = both_forms(expr, node, longer);
                        }
                        if !has_sign(expr, ':') {
                            let shorter = self.model.find_short(record_type, selector);
                            let shorter = comparison.node(selector, shorter, (key, SHORT));
                            node = both_forms(expr, node, shorter);
                        }
                        let absent = is_present.then_some(Node::Constant(false));
                        if let Some(node) = node.or(absent) {
                            types.insert(record_type, node);
                        }
                    }
                    if comparison.finding.is_never() {
                        comparison.finding.near = self.near(expr, selector);
                    }
                }
                Err(problem) => {
                    valid_steps = problem.valid_steps;
                    comparison.slots.fault_all(&problem.diagnostic);
                }
            }
        }
        self.leaves.push(Leaf { types, finding: comparison.finding });
        let fault = |(slot, diagnostic)| Fault { leaf, slot, valid_steps, diagnostic };
        comparison.slots.misfits().map(fault).collect()
    }

    /// Finds the text nearest to the literal among those that the field is known to have.
    fn near(&mut self, expr: &Expr, selector: &Selector) -> Option<String> {
        let ExprKind::Compare { relation, value, .. } = &expr.kind else { return None };
        let LiteralKind::Text(text) = &value.kind else { return None };
        let wanted = match relation {
            Relation::Eq => &**text,
            Relation::Matches => start_of_pattern(text)?,
            _ => return None,
        };
        let is_pattern = *relation == Relation::Matches;
        if self.searched == MAX_SEARCHED {
            return None;
        }
        self.searched += 1;
        let (mut plain, mut qualified) = (Vec::new(), Vec::new());
        for record_type in 0..self.model.types() {
            add_texts(&self.model.find(record_type, selector), &mut plain);
            if !has_sign(expr, ':') {
                add_texts(&self.model.find_short(record_type, selector), &mut plain);
            }
            if has_sign(expr, '.') {
                add_texts(&self.model.find_qualified(record_type, selector), &mut qualified);
            }
        }
        let near = |wanted: &str, texts: &mut Vec<String>| {
            texts.sort_unstable();
            texts.dedup();
            let texts = texts.iter().map(|text| &**text);
            match is_pattern {
                true => nearest(wanted, texts.flat_map(starts)).map(|start| format!("{start}*")),
                false => nearest(wanted, texts).map(str::to_owned),
            }
        };
        // With another channel than the event has, the event alone is suggested.
        let event = wanted.split_once('.').filter(|_| !qualified.is_empty());
        near(wanted, &mut qualified)
            .or_else(|| near(wanted, &mut plain))
            .or_else(|| event.and_then(|(_, event)| near(event, &mut plain)))
    }
}

/// The number of the first test of a name's longer form, in the keys of tests.
const QUALIFIED: u32 = 1 << 31;

/// The number of the first test of a name's shorter form, in the keys of tests.
const SHORT: u32 = 1 << 30;

/// Returns `true` if a comparison has text with a sign.
fn has_sign(expr: &Expr, sign: char) -> bool {
    let has = |value: &Literal| match &value.kind {
        LiteralKind::Text(text) => text.contains(sign),
        _ => false,
    };
    match &expr.kind {
        ExprKind::Compare { value, .. } => has(value),
        ExprKind::In { values, .. } => values.iter().any(has),
        _ => false,
    }
}

/// Joins the nodes for both forms of a name: one has to be equal, or both have to differ.
fn both_forms<F: Clone>(
    expr: &Expr,
    plain: Option<Node<F>>,
    longer: Option<Node<F>>,
) -> Option<Node<F>> {
    let negated = match &expr.kind {
        ExprKind::Compare { relation, .. } => is_negation(*relation),
        ExprKind::In { negated, .. } => *negated,
        _ => false,
    };
    match (plain, longer) {
        (Some(plain), Some(longer)) if negated => Some(Node::all(vec![plain, longer])),
        (Some(plain), Some(longer)) => Some(Node::any(vec![plain, longer])),
        (plain, longer) => plain.or(longer),
    }
}

/// Returns the text before the `*` of a pattern that has no other special signs.
fn start_of_pattern(pattern: &str) -> Option<&str> {
    let start = pattern.strip_suffix('*')?;
    (!start.contains(['*', '?', '[', '\\'])).then_some(start)
}

/// Iterates over the starts of a name that end with a separator.
fn starts(name: &str) -> impl Iterator<Item = &str> {
    let separators = name.match_indices(['_', ':', '.', '-', '/']);
    separators.map(|(at, _)| &name[..at + 1])
}

/// Adds the texts that are known in advance.
fn add_texts<F>(found: &Resolution<F>, texts: &mut Vec<String>) {
    let constants = match found {
        Resolution::Constant(constant) => std::slice::from_ref(constant).iter().collect(),
        Resolution::OneOf(_, values) => values.iter().flatten().collect(),
        _ => Vec::new(),
    };
    texts.extend(constants.into_iter().filter_map(|constant| match &constant.value {
        ConstantValue::Text(text) => Some(text.clone()),
        ConstantValue::Integer(_) => None,
    }));
}
