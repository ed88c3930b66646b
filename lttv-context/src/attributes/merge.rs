//! Adding one structure to another, level by level.

use super::browse::{Browse, Item, try_each};
use super::error::AttributeError;
use super::key::AttributeId;
use super::path::{MAX_DEPTH, Path};
use super::tree::Attributes;
use super::value::{Kind, Value};

/// What becomes of a value that both sides of a merge have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeRule {
    /// Numbers and durations become their sum. What has no sum (truths, points
    /// in time, text) stays as it is.
    Sum,
    /// The new value replaces the old one.
    Replace,
    /// The old value stays.
    Keep,
}

impl Attributes {
    /// Merges a structure into the attributes of a tree: what is not there is
    /// copied, what is there on both sides follows the rule.
    ///
    /// The structure may be anything that can be browsed, such as a part of
    /// another tree of attributes ([`below`](Attributes::below)).
    ///
    /// # Errors
    ///
    /// [`WrongKind`](AttributeError::WrongKind) if an attribute is of one kind
    /// here and of another there, [`Overflow`](AttributeError::Overflow) if a
    /// sum is beyond the range of its kind, and those of
    /// [`entry`](Attributes::entry). Nothing has changed then (if the structure
    /// keeps to what [`Browse`] asks: names are distinct).
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

    /// Whether `from` can be merged into the tree at `path`; `into` is `None` if
    /// that is yet to be made.
    fn check(
        &self,
        into: Option<AttributeId>,
        path: &mut Path,
        from: &dyn Browse,
        rule: MergeRule,
    ) -> Result<(), AttributeError> {
        try_each(from, |name, item| {
            if path.names().len() == MAX_DEPTH {
                return Err(AttributeError::TooDeep { path: path.clone() });
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

    /// Does what was checked.
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

    /// What an attribute's value becomes; `None` if it stays.
    fn merged<'v>(
        &self,
        here: AttributeId,
        new: &'v Value<'_>,
        rule: MergeRule,
    ) -> Result<Option<Value<'v>>, AttributeError> {
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

/// A sum is beyond the range of its kind.
struct Overflow;

/// The sum of two values of one kind; `None` if that kind has no sums.
fn sum(old: &Value<'_>, new: &Value<'_>) -> Result<Option<Value<'static>>, Overflow> {
    Ok(Some(match (old, new) {
        (Value::Int(a), Value::Int(b)) => Value::Int(a.checked_add(*b).ok_or(Overflow)?),
        (Value::UInt(a), Value::UInt(b)) => Value::UInt(a.checked_add(*b).ok_or(Overflow)?),
        (Value::Float(a), Value::Float(b)) => Value::Float(a + b),
        (Value::Duration(a), Value::Duration(b)) => {
            Value::Duration(a.checked_add(*b).ok_or(Overflow)?)
        }
        _ => return Ok(None),
    }))
}
