//! The fit of a comparison's literals.

use crate::diagnostic::Diagnostic;
use crate::syntax::{Expr, ExprKind};

/// The literals of a comparison, each of which has to fit the field in at least one
/// record type. A comparison without literals counts as one.
#[derive(Debug)]
pub(super) struct Slots {
    slots: Vec<Slot>,
}

#[derive(Debug, Clone, Default)]
struct Slot {
    fits: bool,
    /// The fault for the first field that the literal does not fit.
    fault: Option<Diagnostic>,
}

impl Slots {
    pub(super) fn of(expr: &Expr) -> Self {
        let count = match &expr.kind {
            ExprKind::In { values, .. } => values.len(),
            _ => 1,
        };
        Slots { slots: vec![Slot::default(); count.max(1)] }
    }

    /// Records that a literal fits a field.
    pub(super) fn fits(&mut self, slot: usize) {
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.fits = true;
        }
    }

    /// Records that all literals fit a field.
    pub(super) fn all_fit(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.fits = true);
    }

    /// Records that a literal does not fit a field.
    pub(super) fn fault(&mut self, slot: usize, fault: Diagnostic) {
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.fault.get_or_insert(fault);
        }
    }

    /// Records that the comparison is invalid for a field, whatever its literals are.
    pub(super) fn fault_all(&mut self, fault: &Diagnostic) {
        (0..self.slots.len()).for_each(|slot| self.fault(slot, fault.clone()));
    }

    /// Iterates over the literals that fit no field, with their faults.
    pub(super) fn misfits(self) -> impl Iterator<Item = (usize, Diagnostic)> {
        let slots = self.slots.into_iter().enumerate();
        slots.filter_map(|(number, slot)| Some((number, slot.fault.filter(|_| !slot.fits)?)))
    }
}
