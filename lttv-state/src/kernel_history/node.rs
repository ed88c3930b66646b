//! A group of attributes that are stored together: one attribute and some of its children.

use ltt_read::Timestamp;

use super::field::Field;
use crate::history::{HistoryError, Store};
use crate::tree::Quark;
use crate::value::StateValue;

/// The attributes for the fields of an object, and the values that were stored last.
#[derive(Debug)]
pub(super) struct Node<const N: usize> {
    base: Quark,
    /// The attribute itself, followed by its children. Children are added with their first
    /// value.
    quarks: [Option<Quark>; N],
    fields: [Field; N],
}

impl<const N: usize> Node<N> {
    /// Creates a node with the values that its attributes have now: from previous objects,
    /// or from a history that is continued.
    pub(super) fn of(
        builder: &mut impl Store,
        base: Quark,
        names: &[&str; N],
    ) -> Result<Self, HistoryError> {
        let mut node = Node { base, quarks: [None; N], fields: [Field::Null; N] };
        node.quarks[0] = Some(base);
        for (quark, name) in node.quarks.iter_mut().zip(names).skip(1) {
            *quark = builder.tree().child(base, name);
        }
        for (quark, field) in node.quarks.iter().zip(&mut node.fields) {
            if let Some(quark) = quark {
                *field = Field::ongoing(builder, *quark)?;
            }
        }
        Ok(node)
    }

    /// Returns the first of its attributes.
    pub(super) fn base(&self) -> Quark {
        self.base
    }

    /// Stores the fields that changed. `names` are the names of the attributes.
    #[inline]
    pub(super) fn set(
        &mut self,
        builder: &mut impl Store,
        t: Timestamp,
        names: &[&str; N],
        fields: &[Field; N],
    ) -> Result<(), HistoryError> {
        for at in 0..N {
            if self.fields[at] == fields[at] {
                continue;
            }
            self.fields[at] = fields[at];
            let quark = match self.quarks[at] {
                Some(quark) => quark,
                None => {
                    let quark = builder.add_child(self.base, names[at])?;
                    *self.quarks[at].insert(quark)
                }
            };
            match fields[at] {
                Field::Null => builder.set(quark, t, StateValue::Null),
                Field::I32(number) => builder.set(quark, t, StateValue::I32(number)),
                Field::I64(number) => builder.set(quark, t, StateValue::I64(number)),
                Field::U64(number) => builder.set(quark, t, StateValue::U64(number)),
                Field::Text(text) => builder.set_text(quark, t, text),
            }?;
        }
        Ok(())
    }

    /// Sets all fields to null.
    pub(super) fn clear(
        &mut self,
        builder: &mut impl Store,
        t: Timestamp,
        names: &[&str; N],
    ) -> Result<(), HistoryError> {
        self.set(builder, t, names, &[Field::Null; N])
    }
}
