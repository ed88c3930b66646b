//! Comparisons, checked against each record type.

use std::collections::HashMap;

use ltt_read::metadata::nearest;

use super::findings::FieldFinding;
use super::literal::{self, Between, Misfit};
use super::node::Node;
use super::slots::Slots;
use super::test::{Other, Test, What};
use super::{Fault, bounds};
use crate::diagnostic::Diagnostic;
use crate::environment::Environment;
use crate::glob::Glob;
use crate::model::{Constant, ConstantValue, FieldType, Found, IntegerType, Model, Unit};
use crate::ranges::Ranges;
use crate::syntax::{Expr, ExprKind, Literal, LiteralKind, Relation, Selector};

/// A comparison: what it is for each record type.
#[derive(Debug)]
pub(super) struct Leaf<F> {
    /// Types that are not here: false.
    types: HashMap<u32, Node<F>>,
    /// What is known of it for records that have the field.
    pub(super) finding: FieldFinding,
}

impl<F: Clone> Leaf<F> {
    pub(super) fn for_type(&self, record_type: u32) -> Node<F> {
        self.types.get(&record_type).cloned().unwrap_or(Node::Constant(false))
    }
}

/// The comparisons of an expression, in the order of
/// [`walk`](crate::Expr::walk).
#[derive(Debug)]
pub(super) struct Leaves<'a, M: Model> {
    model: &'a M,
    environment: &'a Environment,
    /// A number for each selector: the same selector twice is the same field.
    selectors: HashMap<String, u32>,
    leaves: Vec<Leaf<M::Field>>,
    /// For how many comparisons a text that was probably meant has been sought.
    sought: usize,
}

/// For more comparisons than this, what was probably meant is not sought.
const MAX_SOUGHT: usize = 20;

impl<'a, M: Model> Leaves<'a, M> {
    pub(super) fn new(model: &'a M, environment: &'a Environment) -> Self {
        Leaves { model, environment, selectors: HashMap::new(), leaves: Vec::new(), sought: 0 }
    }

    pub(super) fn finish(self) -> Vec<Leaf<M::Field>> {
        self.leaves
    }

    /// Adds a comparison. Where it makes no sense, it is false. Returns what makes no
    /// sense for any type.
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
        let mut known = u32::MAX;
        if let Some(selector) = expr.selector() {
            match self.model.check(selector) {
                Ok(()) => {
                    let count = self.selectors.len() as u32;
                    let key = *self.selectors.entry(selector.to_string()).or_insert(count);
                    for record_type in 0..self.model.types() {
                        let found = self.model.find(record_type, selector);
                        if let Some(node) = comparison.node(selector, found, key) {
                            types.insert(record_type, node);
                        }
                    }
                    if comparison.finding.is_never() {
                        comparison.finding.near = self.near(expr, selector);
                    }
                }
                Err(problem) => {
                    known = problem.known;
                    comparison.slots.fault_all(&problem.diagnostic);
                }
            }
        }
        self.leaves.push(Leaf { types, finding: comparison.finding });
        let fault = |(slot, diagnostic)| Fault { leaf, slot, known, diagnostic };
        comparison.slots.misfits().map(fault).collect()
    }

    /// A text that is known in advance, like the one that something is compared with.
    fn near(&mut self, expr: &Expr, selector: &Selector) -> Option<String> {
        let ExprKind::Compare { relation: Relation::Eq, value, .. } = &expr.kind else {
            return None;
        };
        let LiteralKind::Text(wanted) = &value.kind else { return None };
        if self.sought == MAX_SOUGHT {
            return None;
        }
        self.sought += 1;
        let mut texts = Vec::new();
        let mut add = |constant: &Constant| {
            if let ConstantValue::Text(text) = &constant.value {
                texts.push(text.clone());
            }
        };
        for record_type in 0..self.model.types() {
            match self.model.find(record_type, selector) {
                Found::Constant(constant) => add(&constant),
                Found::OneOf(_, values) => values.iter().flatten().for_each(&mut add),
                _ => {}
            }
        }
        texts.sort_unstable();
        texts.dedup();
        nearest(wanted, texts.iter().map(|text| &**text)).map(str::to_owned)
    }
}

/// A comparison that is checked against one field after another.
struct Comparison<'e> {
    expr: &'e Expr,
    environment: &'e Environment,
    slots: Slots,
    finding: FieldFinding,
    /// The last type of fields, and what the comparison means for it: the next field of
    /// the name is often of the same type.
    last: Option<(FieldType, Option<What>)>,
}

impl Comparison<'_> {
    /// The comparison, for what a selector was found to mean; `None` if that is
    /// nothing, or nothing to be compared so.
    fn node<F: Clone>(
        &mut self,
        selector: &Selector,
        found: Found<F>,
        key: u32,
    ) -> Option<Node<F>> {
        match found {
            Found::Nothing => None,
            Found::Constant(constant) => {
                self.holds(selector, &constant).map(|truth| Node::Constant(truth))
            }
            Found::OneOf(field, values) => {
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
                let what = What::Integer { set: Ranges::union_of(set), low: 0, high };
                let (key, absent, always) = ((key, 0), false, true);
                Some(Node::test(Test { field, key, what, absent, always }))
            }
            Found::Fields(fields) => {
                let mut nodes = Vec::new();
                for (number, readable) in (0..).zip(fields) {
                    self.finding.add_type(&readable.of);
                    let Some(what) = self.what(selector, &readable.of) else {
                        self.finding.add(false, true);
                        continue;
                    };
                    let constant = what.constant();
                    self.finding.add(constant != Some(false), constant != Some(true));
                    let (field, always) = (readable.field, readable.always);
                    let (key, absent) = ((key, number), false);
                    nodes.push(Node::test(Test { field, key, what, absent, always }));
                }
                (!nodes.is_empty()).then(|| Node::any(nodes))
            }
        }
    }

    /// What the comparison gives for a value that is known; `None` if it makes no
    /// sense.
    fn holds(&mut self, selector: &Selector, constant: &Constant) -> Option<bool> {
        let what = self.what(selector, &constant.of);
        let holds = what.map(|what| match (what, &constant.value) {
            (What::Integer { set, .. }, ConstantValue::Integer(n)) => set.contains(*n),
            (What::Other { what: Other::There, negated }, _) => !negated,
            (What::Other { what, negated }, ConstantValue::Text(text)) => {
                what.text(text.as_bytes()) != negated
            }
            _ => false,
        });
        self.finding.add(holds == Some(true), holds != Some(true));
        if let ConstantValue::Integer(n) = &constant.value {
            self.finding.add_number(*n);
        }
        holds
    }

    /// The test that the comparison means for a field of some type; `None` if it makes
    /// no sense.
    fn what(&mut self, selector: &Selector, of: &FieldType) -> Option<What> {
        if let Some((known, what)) = &self.last
            && known == of
        {
            return what.clone();
        }
        let what = self.what_of(selector, of);
        self.last = Some((of.clone(), what.clone()));
        what
    }

    fn what_of(&mut self, selector: &Selector, of: &FieldType) -> Option<What> {
        let expr = self.expr;
        let what = match (&expr.kind, of) {
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
        match what {
            Ok(what) => {
                self.slots.all_fit();
                Some(what)
            }
            Err(Misfit::Type(fault)) => {
                self.slots.fault_all(&explained(fault, selector, of));
                None
            }
            Err(Misfit::Label(fault)) => {
                self.slots.fault_all(&explained(fault, selector, of));
                let FieldType::Integer(of) = of else { return None };
                let ExprKind::Compare { relation, .. } = &expr.kind else { return None };
                Some(integers(of, Ranges::none(), is_negation(*relation)))
            }
        }
    }

    /// Members of the set that do not fit the field are none of its values.
    fn one_of(
        &mut self,
        selector: &Selector,
        of: &FieldType,
        values: &[Literal],
        negated: bool,
    ) -> Option<What> {
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
                    .map(|text| texts.push(text.as_bytes().to_vec()))
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
            FieldType::Integer(i) => integers(i, Ranges::union_of(ranges), negated),
            FieldType::Float => other(Other::FloatOneOf(doubles), negated),
            _ => {
                texts.sort_unstable();
                texts.dedup();
                other(Other::OneOf(texts), negated)
            }
        })
    }

    fn integer(
        &self,
        of: &IntegerType,
        relation: Relation,
        value: &Literal,
        selector: &Selector,
    ) -> Result<What, Misfit> {
        let negated = is_negation(relation);
        if matches!(relation, Relation::Like | Relation::NotLike) {
            return Ok(integers(of, labels_like(of, value, selector)?, negated));
        }
        if matches!(relation, Relation::Eq | Relation::Ne) {
            return Ok(integers(of, literal::numbers(of, value, self.environment)?, negated));
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
        Ok(integers(of, Ranges::of(first.max(low), last.min(high)), false))
    }
}

/// Adds what kind of field it is, if nothing is said of the place yet.
fn explained(fault: Diagnostic, selector: &Selector, of: &FieldType) -> Diagnostic {
    match &*fault.label {
        "" => fault.label(format!("`{selector}` is {}", of.describe())),
        _ => fault,
    }
}

fn is_negation(relation: Relation) -> bool {
    matches!(relation, Relation::Ne | Relation::NotLike)
}

/// A test that takes no value; or a fault, for a field that cannot be compared.
fn without_value(expr: &Expr, selector: &Selector, of: &FieldType) -> Result<What, Diagnostic> {
    match (&expr.kind, of) {
        (ExprKind::Exists(_), FieldType::Integer(i)) => Ok(integers(i, everything(i), false)),
        (ExprKind::Exists(_), _) => Ok(other(Other::There, false)),
        (ExprKind::Is(_), FieldType::Integer(i)) if i.unit == Unit::Truth => {
            Ok(integers(i, Ranges::of(1, 1), false))
        }
        (ExprKind::Is(_), _) => {
            let message = format!("{} alone is neither true nor false", of.describe());
            let error = Diagnostic::new(selector.span, message);
            Err(error.help(match of {
                FieldType::Opaque(_) => "whether it is there, tells `exists(…)`",
                _ => "compare it with a value, or ask by `exists(…)` whether it is there",
            }))
        }
        _ => Err(not_compared(of, selector)),
    }
}

/// A field of no type that has an order or labels.
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
) -> Result<What, Diagnostic> {
    let negated = is_negation(relation);
    let equality = matches!(relation, Relation::Eq | Relation::Ne);
    let likeness = matches!(relation, Relation::Like | Relation::NotLike);
    match of {
        FieldType::Opaque(_) => Err(not_compared(of, selector)),
        FieldType::Float if likeness => Err(no_pattern(of, selector)),
        FieldType::Float => {
            let (below, above) = literal::doubles(value)?;
            Ok(match relation {
                _ if below == above => other(Other::Float(relation, below), false),
                // No double is equal to it.
                Relation::Eq | Relation::Ne => other(Other::FloatOneOf(Vec::new()), negated),
                Relation::Lt | Relation::Le => other(Other::Float(Relation::Le, below), false),
                _ => other(Other::Float(Relation::Ge, above), false),
            })
        }
        _ if equality => {
            Ok(other(Other::Equals(literal::text(value)?.as_bytes().to_vec()), negated))
        }
        _ if likeness => {
            let glob = pattern(value)?;
            let what = match glob.plain() {
                Some(text) => Other::Equals(text.to_vec()),
                None => Other::Like(glob),
            };
            Ok(other(what, negated))
        }
        _ => {
            literal::text(value)?;
            let sign = relation.symbol();
            let error = Diagnostic::new(selector.span, format!("text has no order for `{sign}`"));
            Err(error.help("text is compared by `==`, `!=`, `in` and `=~`"))
        }
    }
}

/// The numbers whose labels match a pattern.
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
    Ok(Ranges::union_of(ranges).intersection(&everything(of)))
}

fn everything(of: &IntegerType) -> Ranges {
    let (low, high) = bounds(of);
    Ranges::of(low, high)
}

/// A test for integers that are in a set, or are not.
fn integers(of: &IntegerType, set: Ranges, negated: bool) -> What {
    let (low, high) = bounds(of);
    What::Integer { set: if negated { set.complement(low, high) } else { set }, low, high }
}

fn other(what: Other, negated: bool) -> What {
    What::Other { what, negated }
}

fn pattern(value: &Literal) -> Result<Glob, Diagnostic> {
    Glob::new(literal::text(value)?)
        .map_err(|error| Diagnostic::new(value.span, "this is no pattern").label(error.to_string()))
}

fn no_pattern(of: &FieldType, selector: &Selector) -> Diagnostic {
    let message = format!("{} cannot be compared with a pattern", of.describe());
    Diagnostic::new(selector.span, message).help("patterns are for text and labels")
}
