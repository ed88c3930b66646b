//! Merging one structure into another, level by level.

use super::browse::{Browse, Item, try_each};
use super::error::AttributeError;
use super::key::AttributeId;
use super::path::{MAX_DEPTH, Path};
use super::tree::Attributes;
use super::value::{AttributeValue, Kind};

/// A rule for values that exist on both sides of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeRule {
    /// Numbers and durations are added. Values without sums (booleans, times, text) stay.
    Sum,
    /// The new value replaces the old one.
    Replace,
    /// The old value stays.
    Keep,
}

impl Attributes {
    /// Adds a structure to the attributes of the tree `into`. Attributes that do not exist yet are
    /// copied, and for values on both sides the rule applies.
    ///
    /// The structure may be anything that implements [`Browse`], such as a part of another tree of
    /// attributes ([`below`](Attributes::below)).
    ///
    /// # Errors
    ///
    /// Returns [`WrongKind`](AttributeError::WrongKind) if an attribute has different kinds on both
    /// sides, [`Overflow`](AttributeError::Overflow) if a sum exceeds the range of its kind, and
    /// the errors of [`entry`](Attributes::entry). Nothing has changed then, provided that the
    /// names in the structure are distinct, as [`Browse`] requires.
    ///
    /// ```
    /// use lttv_context::attributes::{AttributeId, Attributes, MergeRule};
    ///
    /// let mut trace = Attributes::new();
    /// trace.set_at("sched_switch/events", 7_u64)?;
    ///
    /// let mut all = Attributes::new();
    /// all.set_at("sched_switch/events", 5_u64)?;
    /// all.merge(AttributeId::ROOT, &trace, MergeRule::Sum)?;
    /// assert_eq!(all.to_string(), "sched_switch\n  events: 12\n");
    /// # Ok::<(), lttv_context::attributes::AttributeError>(())
    /// ```
    pub fn merge(
        &mut self,
        into: AttributeId,
        from: &dyn Browse,
        rule: MergeRule,
    ) -> Result<(), AttributeError> {
        self.expect(into, Kind::Tree)?;
        let mut path = self.path(into).unwrap_or_default();
        self.check(Some(into), &mut path, from, rule)?;
        self.apply(into, from, rule)
    }

    /// Checks that `from` can be merged into the tree at `path`. `into` is `None` if that tree does
    /// not exist yet.
    fn check(
        &self,
        into: Option<AttributeId>,
        path: &mut Path,
        from: &dyn Browse,
        rule: MergeRule,
    ) -> Result<(), AttributeError> {
        try_each(from, |name, item| {
            if path.names().len() == MAX_DEPTH {
                return Err(AttributeError::TooDeep(path.clone()));
            }
            let here = into.and_then(|tree| self.child(tree, name));
            path.push(name);
            match (item, here) {
                (Item::Value(_), None) => {}
                (Item::Value(new), Some(here)) => {
                    self.expect(here, new.kind())?;
                    self.merged(here, new, rule)?;
                }
                (Item::Tree(from), here) => {
                    here.map(|here| self.expect(here, Kind::Tree)).transpose()?;
                    self.check(here, path, from, rule)?;
                }
            }
            path.pop();
            Ok(())
        })
    }

    /// Performs a merge that was checked.
    fn apply(
        &mut self,
        into: AttributeId,
        from: &dyn Browse,
        rule: MergeRule,
    ) -> Result<(), AttributeError> {
        try_each(from, |name, item| match item {
            Item::Tree(from) => {
                let tree = self.subtree(into, name)?;
                self.apply(tree, from, rule)
            }
            Item::Value(new) => {
                let Some(here) = self.child(into, name) else {
                    return self.set(into, name, new.borrowed()).map(|_| ());
                };
                self.expect(here, new.kind())?;
                if let Some(value) = self.merged(here, new, rule)? {
                    self.assign(here, value);
                }
                Ok(())
            }
        })
    }

    /// Computes the new value of an attribute, or `None` if it stays.
    fn merged<'v>(
        &self,
        here: AttributeId,
        new: &'v AttributeValue<'_>,
        rule: MergeRule,
    ) -> Result<Option<AttributeValue<'v>>, AttributeError> {
        match (rule, self.value(here)) {
            (MergeRule::Replace, _) => Ok(Some(new.borrowed())),
            (MergeRule::Keep, _) | (_, None) => Ok(None),
            (MergeRule::Sum, Some(old)) => sum(old, new).map_err(|Overflow| {
                let path = self.path(here).unwrap_or_default();
                AttributeError::Overflow { path, kind: new.kind() }
            }),
        }
    }
}

/// A sum exceeds the range of its kind.
struct Overflow;

/// Computes the sum of two values of one kind, or `None` if the kind has no sums.
fn sum(
    old: &AttributeValue<'_>,
    new: &AttributeValue<'_>,
) -> Result<Option<AttributeValue<'static>>, Overflow> {
    Ok(Some(match (old, new) {
        (AttributeValue::Int(a), AttributeValue::Int(b)) => {
            AttributeValue::Int(a.checked_add(*b).ok_or(Overflow)?)
        }
        (AttributeValue::UInt(a), AttributeValue::UInt(b)) => {
            AttributeValue::UInt(a.checked_add(*b).ok_or(Overflow)?)
        }
        (AttributeValue::Float(a), AttributeValue::Float(b)) => AttributeValue::Float(a + b),
        (AttributeValue::Duration(a), AttributeValue::Duration(b)) => {
            AttributeValue::Duration(a.checked_add(*b).ok_or(Overflow)?)
        }
        _ => return Ok(None),
    }))
}
