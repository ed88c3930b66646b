//! A comparison that is checked against fields.

use super::bounds;
use super::findings::FieldFinding;
use super::literal::{self, Between, Misfit};
use super::node::Node;
use super::predicate::{
    explained, integer_predicate, is_negation, labels_like, other_predicate, other_than_integer,
    with_bits, without_value,
};
use super::slots::Slots;
use super::test::{OtherPredicate, Predicate, Test};
use crate::environment::Environment;
use crate::model::{Constant, ConstantValue, FieldType, IntegerType, Resolution};
use crate::ranges::Ranges;
use crate::syntax::{Expr, ExprKind, Literal, Relation, Selector};

/// A comparison that is checked against one field after another.
pub(super) struct Comparison<'e> {
    pub(super) expr: &'e Expr,
    pub(super) environment: &'e Environment,
    pub(super) slots: Slots,
    pub(super) finding: FieldFinding,
    /// The last type of a field, and the predicate for it: the next field of the name
    /// often has the same type.
    pub(super) last: Option<(FieldType, Option<Predicate>)>,
}

impl Comparison<'_> {
    /// Returns the node for the result of resolving a selector. `None` if no field was
    /// found, or none that can be compared.
    pub(super) fn node<F: Clone>(
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
                    self.finding.add_hint(&readable.field_type, &predicate);
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
            (Predicate::Bits { mask, negated }, ConstantValue::Integer(n)) => {
                (*n as u64 & mask != 0) != negated
            }
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
        if relation == Relation::Bits {
            return with_bits(of, value, self.environment);
        }
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
