//! Comparisons, checked against each record type.

use std::collections::HashMap;

use super::literal;
use super::node::Node;
use super::test::{Other, Test, What};
use crate::diagnostic::Diagnostic;
use crate::environment::Environment;
use crate::glob::Glob;
use crate::model::{Constant, ConstantValue, FieldType, Found, IntegerType, Model, Unit};
use crate::ranges::Ranges;
use crate::syntax::{Expr, ExprKind, Literal, Relation, Selector};

/// A comparison: what it is for each record type.
#[derive(Debug)]
pub(super) struct Leaf<F> {
    /// Types that are not here: false.
    types: HashMap<u32, Node<F>>,
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
}

impl<'a, M: Model> Leaves<'a, M> {
    pub(super) fn new(model: &'a M, environment: &'a Environment) -> Self {
        Leaves { model, environment, selectors: HashMap::new(), leaves: Vec::new() }
    }

    pub(super) fn finish(self) -> Vec<Leaf<M::Field>> {
        self.leaves
    }

    /// Adds a comparison. If it means nothing for any type, it is false, and what
    /// is wrong is told.
    pub(super) fn add(&mut self, expr: &Expr) -> Result<(), Diagnostic> {
        let mut types = HashMap::new();
        let checked = self.check(expr, &mut types);
        self.leaves.push(Leaf { types });
        checked
    }

    fn check(
        &mut self,
        expr: &Expr,
        types: &mut HashMap<u32, Node<M::Field>>,
    ) -> Result<(), Diagnostic> {
        let Some(selector) = expr.selector() else { return Ok(()) };
        self.model.check(selector).map_err(|problem| problem.0)?;
        let count = self.selectors.len() as u32;
        let key = *self.selectors.entry(selector.to_string()).or_insert(count);
        let mut first_fault = None;
        for record_type in 0..self.model.types() {
            let found = self.model.find(record_type, selector);
            match self.node(expr, selector, found, key) {
                Ok(Some(node)) => drop(types.insert(record_type, node)),
                Ok(None) => {}
                Err(fault) => first_fault = first_fault.or(Some(fault)),
            }
        }
        match first_fault {
            Some(fault) if types.is_empty() => Err(fault),
            _ => Ok(()),
        }
    }

    /// The comparison, for what a selector was found to mean; `None` if that is
    /// nothing.
    fn node(
        &self,
        expr: &Expr,
        selector: &Selector,
        found: Found<M::Field>,
        key: u32,
    ) -> Result<Option<Node<M::Field>>, Diagnostic> {
        match found {
            Found::Nothing => Ok(None),
            Found::Constant(constant) => {
                Ok(Some(Node::Constant(self.holds(expr, selector, &constant)?)))
            }
            Found::OneOf(field, values) => {
                let mut fault = None;
                let mut fits = false;
                let mut set = Vec::new();
                for (index, value) in (0..).zip(&*values) {
                    match value.as_ref().map(|value| self.holds(expr, selector, value)) {
                        Some(Ok(true)) => set.push((index, index)),
                        Some(Err(e)) => fault = fault.or(Some(e)),
                        _ => {}
                    }
                    fits |= value.is_some();
                }
                if let Some(fault) = fault {
                    return Err(fault);
                }
                if !fits {
                    return Ok(None);
                }
                let high = values.len() as i128 - 1;
                let what = What::Integer { set: Ranges::union_of(set), low: 0, high };
                let (key, absent, always) = ((key, 0), false, true);
                Ok(Some(Node::test(Test { field, key, what, absent, always })))
            }
            Found::Fields(fields) => {
                let mut fault = None;
                let mut nodes = Vec::new();
                for (number, readable) in (0..).zip(fields) {
                    match self.what(expr, selector, &readable.of) {
                        Ok(what) => {
                            let (field, always) = (readable.field, readable.always);
                            let (key, absent) = ((key, number), false);
                            nodes.push(Node::test(Test { field, key, what, absent, always }));
                        }
                        Err(e) => fault = fault.or(Some(e)),
                    }
                }
                match fault {
                    Some(fault) if nodes.is_empty() => Err(fault),
                    _ if nodes.is_empty() => Ok(None),
                    _ => Ok(Some(Node::any(nodes))),
                }
            }
        }
    }

    /// What the comparison gives for a value that is known.
    fn holds(
        &self,
        expr: &Expr,
        selector: &Selector,
        constant: &Constant,
    ) -> Result<bool, Diagnostic> {
        Ok(match (self.what(expr, selector, &constant.of)?, &constant.value) {
            (What::Integer { set, .. }, ConstantValue::Integer(n)) => set.contains(*n),
            (What::Other { what: Other::There, negated }, _) => !negated,
            (What::Other { what, negated }, ConstantValue::Text(text)) => {
                what.text(text.as_bytes()) != negated
            }
            _ => false,
        })
    }

    /// The test that a comparison means for a field of some type.
    fn what(&self, expr: &Expr, selector: &Selector, of: &FieldType) -> Result<What, Diagnostic> {
        self.test_of(expr, selector, of).map_err(|fault| match &*fault.label {
            "" => fault.label(format!("`{selector}` is {}", of.describe())),
            _ => fault,
        })
    }

    fn test_of(
        &self,
        expr: &Expr,
        selector: &Selector,
        of: &FieldType,
    ) -> Result<What, Diagnostic> {
        match (&expr.kind, of) {
            (ExprKind::Exists(_), FieldType::Integer(i)) => Ok(integers(i, everything(i))),
            (ExprKind::Exists(_), _) => Ok(other(Other::There, false)),
            (ExprKind::Is(_), FieldType::Integer(i)) if i.unit == Unit::Truth => {
                Ok(integers(i, Ranges::of(1, 1)))
            }
            (ExprKind::Is(_), _) => {
                let message = format!("{} alone is neither true nor false", of.describe());
                let error = Diagnostic::new(selector.span, message);
                Err(error.help(match of {
                    FieldType::Opaque(_) => "whether it is there, tells `exists(…)`",
                    _ => "compare it with a value, or ask by `exists(…)` whether it is there",
                }))
            }
            (_, FieldType::Opaque(what)) => {
                let error = Diagnostic::new(selector.span, format!("{what} cannot be compared"));
                Err(match *what {
                    "an array" => error.help("an element can, as in `field[0]`"),
                    "a structure" => error.help("a member can, as in `field.member`"),
                    _ => error,
                })
            }
            (ExprKind::In { negated, values, .. }, of) => self.one_of(of, values, *negated),
            (ExprKind::Compare { relation, value, .. }, of) => {
                self.compare(of, *relation, value, selector)
            }
            _ => Ok(other(Other::There, true)),
        }
    }

    fn one_of(
        &self,
        of: &FieldType,
        values: &[Literal],
        negated: bool,
    ) -> Result<What, Diagnostic> {
        match of {
            FieldType::Integer(i) => {
                let mut ranges = Vec::new();
                for value in values {
                    let numbers = literal::numbers(i, value, self.environment)?;
                    ranges.extend_from_slice(numbers.as_slice());
                }
                let set = Ranges::union_of(ranges);
                Ok(integers(i, if negated { set.complement(i.low, i.high) } else { set }))
            }
            FieldType::Float => {
                let wanted = values.iter().map(literal::float).collect::<Result<_, _>>()?;
                Ok(other(Other::FloatOneOf(wanted), negated))
            }
            _ => {
                let texts = values.iter().map(|v| literal::text(v).map(|t| t.as_bytes().to_vec()));
                let mut texts = texts.collect::<Result<Vec<_>, _>>()?;
                texts.sort_unstable();
                texts.dedup();
                Ok(other(Other::OneOf(texts), negated))
            }
        }
    }

    fn compare(
        &self,
        of: &FieldType,
        relation: Relation,
        value: &Literal,
        selector: &Selector,
    ) -> Result<What, Diagnostic> {
        let negated = matches!(relation, Relation::Ne | Relation::NotLike);
        let equality = matches!(relation, Relation::Eq | Relation::Ne);
        let likeness = matches!(relation, Relation::Like | Relation::NotLike);
        match of {
            FieldType::Integer(i) if likeness => {
                let set = self.labels_like(i, value, selector)?;
                Ok(integers(i, if negated { set.complement(i.low, i.high) } else { set }))
            }
            FieldType::Integer(i) if equality => {
                let set = literal::numbers(i, value, self.environment)?;
                Ok(integers(i, if negated { set.complement(i.low, i.high) } else { set }))
            }
            FieldType::Integer(i) => {
                let number = literal::number(i, value, self.environment)?;
                Ok(integers(
                    i,
                    match relation {
                        Relation::Lt => Ranges::of(i.low, number - 1),
                        Relation::Le => Ranges::of(i.low, number),
                        Relation::Gt => Ranges::of(number + 1, i.high),
                        _ => Ranges::of(number, i.high),
                    },
                ))
            }
            FieldType::Float if likeness => Err(no_pattern(of, selector)),
            FieldType::Float => Ok(other(Other::Float(relation, literal::float(value)?), false)),
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
                let error =
                    Diagnostic::new(selector.span, format!("text has no order for `{sign}`"));
                Err(error.help("text is compared by `==`, `!=`, `in` and `=~`"))
            }
        }
    }

    /// The numbers whose labels match a pattern.
    fn labels_like(
        &self,
        of: &IntegerType,
        value: &Literal,
        selector: &Selector,
    ) -> Result<Ranges, Diagnostic> {
        if of.labels.is_empty() {
            return Err(no_pattern(&FieldType::Integer(of.clone()), selector));
        }
        let glob = pattern(value)?;
        let labels = of.labels.iter().filter(|label| glob.matches(label.name.as_bytes()));
        let ranges: Vec<_> = labels.flat_map(|label| label.ranges.iter().copied()).collect();
        if ranges.is_empty() {
            return Err(Diagnostic::new(value.span, "no label matches this pattern"));
        }
        Ok(Ranges::union_of(ranges).intersection(&everything(of)))
    }
}

fn everything(of: &IntegerType) -> Ranges {
    Ranges::of(of.low, of.high)
}

fn integers(of: &IntegerType, set: Ranges) -> What {
    What::Integer { set, low: of.low, high: of.high }
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
