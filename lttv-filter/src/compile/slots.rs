//! Which literals of a comparison fit the field that they are compared with.

use crate::diagnostic::Diagnostic;
use crate::syntax::{Expr, ExprKind};

/// The literals of a comparison, each of which has to fit the field in some record
/// type: a comparison without literals counts as one of them.
#[derive(Debug)]
pub(super) struct Slots {
    slots: Vec<Slot>,
}

#[derive(Debug, Clone, Default)]
struct Slot {
    fits: bool,
    /// The first thing that was wrong.
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

    /// A literal fits a field.
    pub(super) fn fits(&mut self, slot: usize) {
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.fits = true;
        }
    }

    /// All literals fit a field.
    pub(super) fn all_fit(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.fits = true);
    }

    /// A literal does not fit a field.
    pub(super) fn fault(&mut self, slot: usize, fault: Diagnostic) {
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.fault.get_or_insert(fault);
        }
    }

    /// The comparison makes no sense for a field, whatever its literals are.
    pub(super) fn fault_all(&mut self, fault: &Diagnostic) {
        (0..self.slots.len()).for_each(|slot| self.fault(slot, fault.clone()));
    }

    /// The literals that fit no field, with what was wrong.
    pub(super) fn misfits(self) -> impl Iterator<Item = (usize, Diagnostic)> {
        let slots = self.slots.into_iter().enumerate();
        slots.filter_map(|(number, slot)| Some((number, slot.fault.filter(|_| !slot.fits)?)))
    }
}
