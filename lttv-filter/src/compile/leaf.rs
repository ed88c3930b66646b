//! Comparisons, checked against each record type.

use std::collections::HashMap;

use crate::suggestion::nearest;

use super::findings::FieldFinding;
use super::literal::{self, Between, Misfit};
use super::node::Node;
use super::slots::Slots;
use super::test::{OtherPredicate, Predicate, Test};
use super::{Fault, bounds};
use crate::diagnostic::Diagnostic;
use crate::environment::Environment;
use crate::glob::Glob;
use crate::model::{
    Constant, ConstantValue, FieldType, IntegerKind, IntegerType, Model, Resolution,
};
use crate::ranges::Ranges;
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
                        if has_point(expr) {
                            let longer = self.model.find_qualified(record_type, selector);
                            let longer = comparison.node(selector, longer, (key, QUALIFIED));
                            node = both_forms(expr, node, longer);
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
        let ExprKind::Compare { relation: Relation::Eq, value, .. } = &expr.kind else {
            return None;
        };
        let LiteralKind::Text(wanted) = &value.kind else { return None };
        if self.searched == MAX_SEARCHED {
            return None;
        }
        self.searched += 1;
        let (mut plain, mut qualified) = (Vec::new(), Vec::new());
        for record_type in 0..self.model.types() {
            add_texts(&self.model.find(record_type, selector), &mut plain);
            if has_point(expr) {
                add_texts(&self.model.find_qualified(record_type, selector), &mut qualified);
            }
        }
        let near = |wanted: &str, texts: &mut Vec<String>| {
            texts.sort_unstable();
            texts.dedup();
            nearest(wanted, texts.iter().map(|text| &**text)).map(str::to_owned)
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

/// Returns `true` if a comparison has text with a point.
fn has_point(expr: &Expr) -> bool {
    let has = |value: &Literal| match &value.kind {
        LiteralKind::Text(text) => text.contains('.'),
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

/// A comparison that is checked against one field after another.
struct Comparison<'e> {
    expr: &'e Expr,
    environment: &'e Environment,
    slots: Slots,
    finding: FieldFinding,
    /// The last type of a field, and the predicate for it: the next field of the name
    /// often has the same type.
    last: Option<(FieldType, Option<Predicate>)>,
}

impl Comparison<'_> {
    /// Returns the node for the result of resolving a selector. `None` if no field was
    /// found, or none that can be compared.
    fn node<F: Clone>(
        &mut self,
        selector: &Selector,
        found: Resolution<F>,
        (key, first): (u32, u32),
    ) -> Option<Node<F>> {
        match found {
            Resolution::Nothing => None,
            Resolution::Constant(constant) => {
                self.holds(selector, &constant).map(|truth| Node::Constant(truth))
            }
            Resolution::OneOf(field, values) => {
                let mut fits = false;
                let mut set = Vec::new();
                for (index, value) in (0..).zip(&*values) {
                    let holds = value.as_ref().and_then(|value| self.holds(selector, value));
                    fits |= holds.is_some();
                    if holds == Some(true) {
                        set.push((index, index));
                    }
                }
                if !fits {
                    return None;
                }
                let high = values.len() as i128 - 1;
                let predicate = Predicate::Integer { set: Ranges::union_of(set), low: 0, high };
                let (key, absent, always) = ((key, first), false, true);
                Some(Node::test(Test { field, key, predicate, absent, always }))
            }
            Resolution::Fields(fields) => {
                let mut nodes = Vec::new();
                for (number, readable) in (first..).zip(fields) {
                    self.finding.add_type(&readable.field_type);
                    let Some(predicate) = self.predicate(selector, &readable.field_type) else {
                        self.finding.add(false, true);
                        continue;
                    };
                    let constant = predicate.constant();
                    self.finding.add(constant != Some(false), constant != Some(true));
                    let (field, always) = (readable.field, readable.always);
                    let (key, absent) = ((key, number), false);
                    nodes.push(Node::test(Test { field, key, predicate, absent, always }));
                }
                (!nodes.is_empty()).then(|| Node::any(nodes))
            }
        }
    }

    /// Returns the result of the comparison for a constant. `None` if the comparison is
    /// invalid.
    fn holds(&mut self, selector: &Selector, constant: &Constant) -> Option<bool> {
        let predicate = self.predicate(selector, &constant.field_type);
        let holds = predicate.map(|predicate| match (predicate, &constant.value) {
            (Predicate::Integer { set, .. }, ConstantValue::Integer(n)) => set.contains(*n),
            (Predicate::Other { predicate: OtherPredicate::Present, negated }, _) => !negated,
            (Predicate::Other { predicate, negated }, ConstantValue::Text(text)) => {
                predicate.text(text.as_bytes()) != negated
            }
            _ => false,
        });
        self.finding.add(holds == Some(true), holds != Some(true));
        match &constant.value {
            ConstantValue::Integer(n) => self.finding.add_number(*n),
            ConstantValue::Text(_) => self.finding.add_text(),
        }
        holds
    }

    /// Returns the predicate for a type of fields. `None` if the comparison is invalid
    /// for the type.
    fn predicate(&mut self, selector: &Selector, of: &FieldType) -> Option<Predicate> {
        if let Some((known, predicate)) = &self.last
            && known == of
        {
            return predicate.clone();
        }
        let predicate = self.resolve_predicate(selector, of);
        self.last = Some((of.clone(), predicate.clone()));
        predicate
    }

    fn resolve_predicate(&mut self, selector: &Selector, of: &FieldType) -> Option<Predicate> {
        let expr = self.expr;
        let predicate = match (&expr.kind, of) {
            (ExprKind::In { negated, values, .. }, of) if !matches!(of, FieldType::Opaque(_)) => {
                return self.one_of(selector, of, values, *negated);
            }
            (ExprKind::Compare { relation, value, .. }, FieldType::Integer(i)) => {
                self.integer(i, *relation, value, selector)
            }
            (ExprKind::Compare { relation, value, .. }, of) => {
                other_than_integer(of, *relation, value, selector).map_err(Misfit::Type)
            }
            _ => without_value(expr, selector, of).map_err(Misfit::Type),
        };
        match predicate {
            Ok(predicate) => {
                self.slots.all_fit();
                Some(predicate)
            }
            Err(Misfit::Type(fault)) => {
                self.slots.fault_all(&explained(fault, selector, of));
                None
            }
            Err(Misfit::Label(fault)) => {
                self.slots.fault_all(&explained(fault, selector, of));
                let FieldType::Integer(of) = of else { return None };
                let ExprKind::Compare { relation, .. } = &expr.kind else { return None };
                Some(integer_predicate(of, Ranges::none(), is_negation(*relation)))
            }
        }
    }

    /// Returns the predicate for a set. Members that do not fit the type of the field are
    /// ignored.
    fn one_of(
        &mut self,
        selector: &Selector,
        of: &FieldType,
        values: &[Literal],
        negated: bool,
    ) -> Option<Predicate> {
        // Whether the field can be compared with any of the values.
        let mut can = false;
        let (mut ranges, mut doubles, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        for (slot, value) in values.iter().enumerate() {
            let fit = match of {
                FieldType::Integer(i) => literal::numbers(i, value, self.environment)
                    .map(|numbers| ranges.extend_from_slice(numbers.as_slice())),
                FieldType::Float => literal::doubles(value)
                    .map(|(below, above)| doubles.extend((below == above).then_some(below)))
                    .map_err(Misfit::Type),
                _ => literal::text(value)
                    .map(|text| texts.extend(literal::texts_of(of, text)))
                    .map_err(Misfit::Type),
            };
            can |= !matches!(fit, Err(Misfit::Type(_)));
            match fit {
                Ok(()) => self.slots.fits(slot),
                Err(Misfit::Type(fault) | Misfit::Label(fault)) => {
                    self.slots.fault(slot, explained(fault, selector, of));
                }
            }
        }
        can.then(|| match of {
            FieldType::Integer(i) => integer_predicate(i, Ranges::union_of(ranges), negated),
            FieldType::Float => other_predicate(OtherPredicate::FloatOneOf(doubles), negated),
            _ => {
                texts.sort_unstable();
                texts.dedup();
                other_predicate(OtherPredicate::OneOf(texts), negated)
            }
        })
    }

    fn integer(
        &self,
        of: &IntegerType,
        relation: Relation,
        value: &Literal,
        selector: &Selector,
    ) -> Result<Predicate, Misfit> {
        let negated = is_negation(relation);
        if matches!(relation, Relation::Matches | Relation::NotMatches) {
            return Ok(integer_predicate(of, labels_like(of, value, selector)?, negated));
        }
        if matches!(relation, Relation::Eq | Relation::Ne) {
            return Ok(integer_predicate(
                of,
                literal::numbers(of, value, self.environment)?,
                negated,
            ));
        }
        let Between { floor, ceil } =
            literal::number(of, value, self.environment).map_err(Misfit::Type)?;
        let (low, high) = bounds(of);
        let (first, last) = match relation {
            Relation::Lt => (low, ceil - 1),
            Relation::Le => (low, floor),
            Relation::Gt => (floor + 1, high),
            _ => (ceil, high),
        };
        Ok(integer_predicate(of, Ranges::of(first.max(low), last.min(high)), false))
    }
}

/// Adds the type of the field as a label, unless there is a label.
fn explained(fault: Diagnostic, selector: &Selector, of: &FieldType) -> Diagnostic {
    match &*fault.label {
        "" => fault.label(format!("`{selector}` is {}", of.describe())),
        _ => fault,
    }
}

fn is_negation(relation: Relation) -> bool {
    matches!(relation, Relation::Ne | Relation::NotMatches)
}

/// Returns the predicate of an expression without a value, or a fault if the type does
/// not allow it.
fn without_value(
    expr: &Expr,
    selector: &Selector,
    of: &FieldType,
) -> Result<Predicate, Diagnostic> {
    match (&expr.kind, of) {
        (ExprKind::Exists(_), FieldType::Integer(i)) => {
            Ok(integer_predicate(i, all_integers(i), false))
        }
        (ExprKind::Exists(_), _) => Ok(other_predicate(OtherPredicate::Present, false)),
        (ExprKind::Is(_), FieldType::Integer(i)) if i.kind == IntegerKind::Truth => {
            Ok(integer_predicate(i, Ranges::of(1, 1), false))
        }
        (ExprKind::Is(_), _) => {
            let message = format!("{} alone is neither true nor false", of.describe());
            let error = Diagnostic::new(selector.span, message);
            Err(error.help(match of {
                FieldType::Opaque(_) => "use `exists(…)` to test whether the field is present",
                _ => "compare it with a value, or use `exists(…)` to test whether it is present",
            }))
        }
        _ => Err(not_compared(of, selector)),
    }
}

/// Creates the fault for a type that cannot be compared.
fn not_compared(of: &FieldType, selector: &Selector) -> Diagnostic {
    let message = format!("{} cannot be compared", of.describe());
    let error = Diagnostic::new(selector.span, message);
    match of {
        FieldType::Opaque("an array") => error.help("an element can, as in `field[0]`"),
        FieldType::Opaque("a structure") => error.help("a member can, as in `field.member`"),
        _ => error,
    }
}

fn other_than_integer(
    of: &FieldType,
    relation: Relation,
    value: &Literal,
    selector: &Selector,
) -> Result<Predicate, Diagnostic> {
    let negated = is_negation(relation);
    let equality = matches!(relation, Relation::Eq | Relation::Ne);
    let likeness = matches!(relation, Relation::Matches | Relation::NotMatches);
    match of {
        FieldType::Opaque(_) => Err(not_compared(of, selector)),
        FieldType::Float if likeness => Err(no_pattern(of, selector)),
        FieldType::Float => {
            let (below, above) = literal::doubles(value)?;
            Ok(match relation {
                _ if below == above => {
                    other_predicate(OtherPredicate::Float(relation, below), false)
                }
                // No double is equal to the value.
                Relation::Eq | Relation::Ne => {
                    other_predicate(OtherPredicate::FloatOneOf(Vec::new()), negated)
                }
                Relation::Lt | Relation::Le => {
                    other_predicate(OtherPredicate::Float(Relation::Le, below), false)
                }
                _ => other_predicate(OtherPredicate::Float(Relation::Ge, above), false),
            })
        }
        _ if equality => {
            let texts = literal::texts_of(of, literal::text(value)?);
            Ok(other_predicate(equal_to(texts), negated))
        }
        _ if likeness => {
            let glob = pattern(value)?;
            let texts = || literal::spelled(of, |also| glob.matches(also.as_bytes()));
            let mut more: Vec<_> = texts().filter(|text| !glob.matches(text)).collect();
            more.sort_unstable();
            let predicate = match glob.plain() {
                Some(text) => {
                    more.push(text.to_vec());
                    more.sort_unstable();
                    equal_to(more)
                }
                None if more.is_empty() => OtherPredicate::Like(glob),
                None => OtherPredicate::LikeOrOneOf(glob, more),
            };
            Ok(other_predicate(predicate, negated))
        }
        _ => {
            literal::text(value)?;
            let sign = relation.symbol();
            let error = Diagnostic::new(selector.span, format!("text has no order for `{sign}`"));
            Err(error.help("text is compared by `==`, `!=`, `in` and `=~`"))
        }
    }
}

/// Returns the numbers whose labels match a pattern.
fn labels_like(of: &IntegerType, value: &Literal, selector: &Selector) -> Result<Ranges, Misfit> {
    if of.labels.is_empty() {
        return Err(Misfit::Type(no_pattern(&FieldType::Integer(of.clone()), selector)));
    }
    let glob = pattern(value).map_err(Misfit::Type)?;
    let labels = of.labels.iter().filter(|label| glob.matches(label.name.as_bytes()));
    let ranges: Vec<_> = labels.flat_map(|label| label.ranges.iter().copied()).collect();
    if ranges.is_empty() {
        return Err(Misfit::Label(Diagnostic::new(value.span, "no label matches this pattern")));
    }
    Ok(Ranges::union_of(ranges).intersection(&all_integers(of)))
}

fn all_integers(of: &IntegerType) -> Ranges {
    let (low, high) = bounds(of);
    Ranges::of(low, high)
}

/// Returns the predicate for integers that are in a set, or not in it.
fn integer_predicate(of: &IntegerType, set: Ranges, negated: bool) -> Predicate {
    let (low, high) = bounds(of);
    Predicate::Integer { set: if negated { set.complement(low, high) } else { set }, low, high }
}

fn other_predicate(predicate: OtherPredicate, negated: bool) -> Predicate {
    Predicate::Other { predicate, negated }
}

/// Returns the predicate that a text is one of these, which are sorted.
fn equal_to(mut texts: Vec<Vec<u8>>) -> OtherPredicate {
    match texts.len() {
        1 => OtherPredicate::Equals(texts.remove(0)),
        _ => OtherPredicate::OneOf(texts),
    }
}

fn pattern(value: &Literal) -> Result<Glob, Diagnostic> {
    Glob::new(literal::text(value)?)
        .map_err(|error| Diagnostic::new(value.span, "invalid pattern").label(error.to_string()))
}

fn no_pattern(of: &FieldType, selector: &Selector) -> Diagnostic {
    let message = format!("{} cannot be compared with a pattern", of.describe());
    Diagnostic::new(selector.span, message).help("patterns are for text and labels")
}
