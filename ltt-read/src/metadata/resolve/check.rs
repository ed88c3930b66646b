//! Checks of fields that serve as a length or selector.

use hashbrown::HashMap;

use super::Place;
use super::locate::Locator;
use super::needs::{Use, kind};
use crate::schema::{FieldClass, FieldKind, Integer, Mapping, RangeSet, Selector, Variant};

/// Checks the targets of one dependency. For a variant whose options are selected by
/// label, returns the ranges of each option.
pub(super) fn check(
    targets: &[(Place, &FieldClass)],
    needed: Use<'_>,
    locator: &mut Locator<'_>,
) -> Result<Option<Vec<RangeSet>>, String> {
    let mut signed = None;
    for (_, class) in targets {
        let wanted = match needed {
            Use::Length => "an unsigned integer",
            Use::Variant(_) | Use::Option(Selector::Ranges(_)) => "an integer",
            Use::Option(Selector::Bool) => "a boolean",
        };
        let fits = match (needed, integer(class)) {
            (Use::Option(Selector::Bool), _) => matches!(class.kind, FieldKind::Bool(..)),
            (Use::Length, Some(i)) => !i.signed,
            (_, i) => i.is_some(),
        };
        if !fits {
            return Err(format!("must be {wanted}, but leads to {}", kind(class)));
        }
        if let Some(i) = integer(class)
            && *signed.get_or_insert(i.signed) != i.signed
        {
            return Err("is signed in one variant option and unsigned in another".into());
        }
    }
    let signed = signed.unwrap_or(false);
    match needed {
        Use::Length | Use::Option(Selector::Bool) => Ok(None),
        Use::Option(Selector::Ranges(ranges)) => check_ranges(ranges, signed).map(|()| None),
        Use::Variant(variant) if variant.options.iter().any(|o| o.label.is_some()) => {
            let [(_, class)] = targets else {
                return Err("leads to several enumerations, in different variant options".into());
            };
            let Some(mappings) = class.mappings() else {
                return Err(format!("must be an enumeration, but leads to {}", kind(class)));
            };
            ranges_by_label(variant, mappings, locator).map(Some)
        }
        Use::Variant(variant) => {
            variant.options.iter().try_for_each(|o| check_ranges(&o.ranges, signed)).map(|()| None)
        }
    }
}

fn integer(class: &FieldClass) -> Option<&Integer> {
    match &class.kind {
        FieldKind::Integer(_, i) | FieldKind::VarInteger(i) => Some(i),
        _ => None,
    }
}

/// Checks that ranges are within the values of the selector, since the decoder compares
/// 64-bit values.
fn check_ranges(ranges: &RangeSet, signed: bool) -> Result<(), String> {
    let (sign, least, most) = match signed {
        true => ("signed", i128::from(i64::MIN), i128::from(i64::MAX)),
        false => ("unsigned", 0, i128::from(u64::MAX)),
    };
    match ranges.iter().find(|(low, high)| *low < least || *high > most) {
        Some((low, high)) => {
            Err(format!("is {sign}, but is compared with the range {low} to {high}"))
        }
        None => Ok(()),
    }
}

/// Returns the ranges of the mappings that select each option.
///
/// Producers disagree about the underscore that escapes reserved words: some include it
/// in the label, others do not. Labels that differ only in this underscore match if there
/// is no exact match.
fn ranges_by_label(
    variant: &Variant,
    mappings: &[Mapping],
    locator: &mut Locator<'_>,
) -> Result<Vec<RangeSet>, String> {
    let mut by_label: HashMap<&str, Vec<&Mapping>> = HashMap::with_capacity(mappings.len());
    for mapping in mappings {
        by_label.entry(&*mapping.label).or_default().push(mapping);
    }
    let mut sets = Vec::with_capacity(variant.options.len());
    for option in &variant.options {
        let Some(label) = option.label.as_deref() else {
            sets.push(option.ranges.clone());
            continue;
        };
        let chosen = by_label
            .get(label)
            .or_else(|| by_label.get(format!("_{label}").as_str()))
            .or_else(|| by_label.get(label.strip_prefix('_')?));
        let Some(chosen) = chosen else {
            let labels = mappings.iter().map(|m| &*m.label).take(1000);
            let hint = match super::super::nearest::nearest(label, labels) {
                Some(name) => format!("; did you mean `{name}`?"),
                None => String::new(),
            };
            return Err(format!("the enumeration has no label `{label}`{hint}"));
        };
        let ranges: RangeSet = chosen.iter().flat_map(|m| m.ranges.iter().copied()).collect();
        if !locator.try_spend(4 * ranges.len()) {
            return Err("too many ranges".into());
        }
        sets.push(ranges);
    }
    locator.try_spend(mappings.len());
    Ok(sets)
}
