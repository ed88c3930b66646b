//! An attribute and those below it that are stored together.

use super::field::Field;
use crate::history::{Builder, Error};
use crate::tree::Quark;

/// Where the fields of something are stored, and what was stored there last.
#[derive(Debug)]
pub(super) struct Node<const N: usize> {
    base: Quark,
    /// The first is the attribute itself, the others are below it. Attributes are
    /// added when they first have a value.
    quarks: [Option<Quark>; N],
    fields: [Field; N],
}

impl<const N: usize> Node<N> {
    /// With what was stored there before: by others that are gone, or when the history
    /// was built so far.
    pub(super) fn of(builder: &mut Builder, base: Quark, names: &[&str; N]) -> Result<Self, Error> {
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

    /// The first of its attributes.
    pub(super) fn base(&self) -> Quark {
        self.base
    }

    /// Stores the fields that changed, by the names of their attributes.
    #[inline]
    pub(super) fn set(
        &mut self,
        builder: &mut Builder,
        t: i64,
        names: &[&str; N],
        fields: [Field; N],
    ) -> Result<(), Error> {
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
                Field::Null => builder.set(quark, t, crate::value::Value::Null),
                Field::I32(number) => builder.set(quark, t, number),
                Field::I64(number) => builder.set(quark, t, number),
                Field::U64(number) => builder.set(quark, t, number),
                Field::Text(text) => builder.set_text(quark, t, text),
            }?;
        }
        Ok(())
    }

    /// All its fields are null from now on.
    pub(super) fn clear(
        &mut self,
        builder: &mut Builder,
        t: i64,
        names: &[&str; N],
    ) -> Result<(), Error> {
        self.set(builder, t, names, [Field::Null; N])
    }
}
