//! The values of the six scopes, and the consistency of lengths and selectors with the
//! fields that depend on them.

use std::sync::Arc;

use super::demands::{Demand, Demanded, demands_of};
use super::error::{LocatedProblem, Problem, WriteError};
use super::fit::{fit, integer_of};
use super::value::FieldValue;
use crate::schema::{FieldClass, FieldKind, Scope};

/// A class and a value for each scope.
#[derive(Debug, Default, Clone)]
pub(super) struct Scopes {
    pub(super) classes: [Option<Arc<FieldClass>>; 6],
    pub(super) values: [FieldValue; 6],
}

impl Scopes {
    /// Sets the value of a scope, fitted to its class.
    pub(super) fn set(
        &mut self,
        scope: Scope,
        class: Option<&Arc<FieldClass>>,
        value: FieldValue,
    ) -> Result<(), WriteError> {
        let fitted = match (class, value) {
            (Some(class), value) => fit(class, value),
            (None, FieldValue::Auto) => Ok(FieldValue::Auto),
            (None, FieldValue::Struct(m)) if m.is_empty() => Ok(FieldValue::Auto),
            (None, _) => Err(Problem::NoMember(scope.ctf2_name().to_owned()).into()),
        };
        self.classes[scope as usize] = class.cloned();
        self.values[scope as usize] = fitted.map_err(|e| e.in_scope(scope))?;
        Ok(())
    }

    /// Sets all lengths and selectors of some scopes, then sets all remaining automatic
    /// values to zero.
    pub(super) fn complete(&mut self, scopes: &[Scope]) -> Result<(), WriteError> {
        let classes = self.classes.clone();
        let mut demands = Vec::new();
        for &scope in scopes {
            let found = demands_of(&classes, &self.values, scope);
            demands.extend(found.map_err(|e| e.in_scope(scope))?);
        }
        // Selectors that only have to avoid some ranges come last, since they adapt to
        // the values of the others.
        demands.sort_by_key(|d| matches!(d.demand, Demand::NotIn(_)));
        for demanded in &demands {
            self.satisfy(demanded).map_err(|problem| {
                let steps = demanded.user.iter().rev();
                let misfit = steps.fold(LocatedProblem::from(problem), |e, step| e.within(step));
                misfit.in_scope(demanded.user_scope)
            })?;
        }
        for &scope in scopes {
            if let Some(class) = &classes[scope as usize] {
                zero_automatic(class, &mut self.values[scope as usize]);
            }
        }
        Ok(())
    }

    /// Sets a length or selector to the demanded value, or checks that it already has it.
    fn satisfy(&mut self, demanded: &Demanded<'_>) -> Result<(), Problem> {
        let Demanded { class, demand, .. } = demanded;
        let unresolved = || Problem::Unresolved(demanded.location_text());
        let mut slot = Some(&mut self.values[demanded.scope as usize]);
        for &index in &demanded.path {
            slot = slot.and_then(|value| value.part_mut(index));
        }
        let slot = slot.ok_or_else(unresolved)?;
        if *slot == FieldValue::Auto {
            *slot = number_for(class, demand.choose(class)).ok_or_else(unresolved)?;
        }
        let found = slot.number().ok_or_else(unresolved)?;
        if demand.allows(found, class) {
            return Ok(());
        }
        let location = demanded.location_text();
        Err(Problem::Contradiction { location, found, wanted: demand.to_string() })
    }
}

/// Converts a number to the value of an integer or boolean class.
fn number_for(class: &FieldClass, number: Option<i128>) -> Option<FieldValue> {
    match &class.kind {
        FieldKind::Integer(f, i) => integer_of(number?, i.signed, f.bits).ok(),
        FieldKind::VarInteger(i) => integer_of(number?, i.signed, 64).ok(),
        FieldKind::Bool(..) => Some(FieldValue::Bool(number? != 0)),
        _ => None,
    }
}

/// Sets every remaining automatic value to zero.
fn zero_automatic(class: &FieldClass, value: &mut FieldValue) {
    match (&class.kind, value) {
        (_, value @ FieldValue::Auto) => {
            if let Some(zero) = number_for(class, Some(0)) {
                *value = zero;
            }
        }
        (FieldKind::Struct(s), FieldValue::Struct(values)) => {
            for (member, value) in s.members.iter().zip(values) {
                zero_automatic(&member.class, value);
            }
        }
        (FieldKind::Array(a), FieldValue::Array(elements)) => {
            for element in elements {
                zero_automatic(&a.element, element);
            }
        }
        (FieldKind::Option(o), FieldValue::Option(Some(content))) => {
            zero_automatic(&o.class, content)
        }
        (FieldKind::Variant(v), FieldValue::Variant { option, value }) => {
            if let Some(chosen) = v.options.get(*option) {
                zero_automatic(&chosen.class, value);
            }
        }
        _ => {}
    }
}
