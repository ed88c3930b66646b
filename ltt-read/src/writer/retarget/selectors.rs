//! Labels for selectors: in CTF 1.8, only an enumeration can be one of variants.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::names::identifier_like;
use crate::schema::{
    FieldClass, FieldKind, Integer, Mapping, OptionField, RangeSet, Selector, SlotId, Variant,
};

/// The labels of the selector of an option field.
const ABSENT: &str = "absent";
const PRESENT: &str = "present";

/// The labels that the integers of a scope get because variants and options depend on them.
#[derive(Debug, Default)]
pub(super) struct Labels {
    /// By the slot of the selector.
    of_slots: BTreeMap<SlotId, Vec<Mapping>>,
}

impl Labels {
    /// Finds the integers without labels in a scope that select options, and gives them a label for
    /// each option. If several fields depend on one integer, the first one decides.
    pub(super) fn of(root: &FieldClass) -> Self {
        let mut labels = Labels::default();
        let mut values = BTreeMap::new();
        labels.find(root, &mut values);
        labels
    }

    fn find(&mut self, class: &FieldClass, values: &mut BTreeMap<SlotId, (i128, i128)>) {
        match &class.kind {
            FieldKind::Integer(field, integer) => note(integer, field.bits, values),
            FieldKind::VarInteger(integer) => note(integer, 64, values),
            FieldKind::Struct(class) => {
                class.members.iter().for_each(|member| self.find(&member.class, values));
            }
            FieldKind::Array(array) => self.find(&array.element, values),
            FieldKind::Variant(variant) => {
                let slot = variant.selector.slot.filter(|slot| values.contains_key(slot));
                if let Some(slot) = slot.filter(|_| are_unlabelled(variant)) {
                    self.of_slots.entry(slot).or_insert_with(|| of_variant(variant));
                }
                variant.options.iter().for_each(|option| self.find(&option.class, values));
            }
            FieldKind::Option(option) => {
                if let Selector::Ranges(present) = &option.present
                    && let Some(slot) = option.selector.slot
                    && let Some(range) = values.get(&slot)
                {
                    self.of_slots.entry(slot).or_insert_with(|| of_option(present, *range));
                }
                self.find(&option.class, values);
            }
            _ => {}
        }
    }

    /// Returns the labels that an integer gets; `None` if it stays as it is.
    pub(super) fn of_integer(&self, integer: &Integer) -> Option<Vec<Mapping>> {
        self.of_slots.get(&integer.slot.filter(|_| !has_labels(integer))?).cloned()
    }

    /// Returns the label of an option of a variant.
    pub(super) fn of_option(&self, variant: &Variant, option: usize) -> Option<Arc<str>> {
        let labels = self.of_slots.get(&variant.selector.slot?)?;
        let (label, option) = (labels.get(option)?, variant.options.get(option)?);
        (labels.len() == variant.options.len() && label.ranges == option.ranges)
            .then(|| label.label.clone())
    }

    /// Returns the labels of an option field: [`ABSENT`], unless it is always present, and
    /// [`PRESENT`].
    pub(super) fn of_option_field(&self, option: &OptionField) -> Option<&[Mapping]> {
        let Selector::Ranges(present) = &option.present else { return None };
        let labels = self.of_slots.get(&option.selector.slot?)?;
        let last = labels.last()?;
        (&*last.label == PRESENT && last.ranges == *present).then_some(labels)
    }
}

fn has_labels(integer: &Integer) -> bool {
    integer.mappings.as_deref().is_some_and(|mappings| !mappings.is_empty())
}

/// Notes the range of the values of an integer that may get labels.
fn note(integer: &Integer, bits: u32, values: &mut BTreeMap<SlotId, (i128, i128)>) {
    if let Some(slot) = integer.slot.filter(|_| !has_labels(integer)) {
        let range = match integer.signed {
            true => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
            false => (0, (1_i128 << bits) - 1),
        };
        values.insert(slot, range);
    }
}

fn are_unlabelled(variant: &Variant) -> bool {
    variant.options.iter().all(|option| option.label.is_none())
}

fn of_variant(variant: &Variant) -> Vec<Mapping> {
    let mut labels: Vec<Mapping> = Vec::with_capacity(variant.options.len());
    for (option, number) in variant.options.iter().zip(0..) {
        let name = option.name.as_deref().map(identifier_like);
        let is_new = |name: &String| labels.iter().all(|known| *known.label != **name);
        let label = name.filter(is_new).unwrap_or_else(|| format!("option_{number}"));
        labels.push(Mapping { label: label.into(), ranges: option.ranges.clone() });
    }
    labels
}

fn of_option(present: &RangeSet, (least, greatest): (i128, i128)) -> Vec<Mapping> {
    let mut absent = Vec::new();
    let mut sorted = present.clone();
    sorted.sort_unstable();
    let mut next = least;
    for (from, to) in sorted {
        if from > next {
            absent.push((next, (from - 1).min(greatest)));
        }
        next = next.max(to.saturating_add(1));
    }
    if next <= greatest {
        absent.push((next, greatest));
    }
    let labels = [(ABSENT, absent), (PRESENT, present.clone())].into_iter();
    let labels = labels.filter(|(_, ranges)| !ranges.is_empty());
    labels.map(|(label, ranges)| Mapping { label: label.into(), ranges }).collect()
}
