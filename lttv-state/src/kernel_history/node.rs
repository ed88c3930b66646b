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
    pub(super) fn new(base: Quark) -> Self {
        Node { base, quarks: [None; N], fields: [Field::Null; N] }
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
                None => self.add(builder, at, names[at])?,
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

    #[cold]
    fn add(&mut self, builder: &mut Builder, at: usize, name: &str) -> Result<Quark, Error> {
        let quark = match at {
            0 => self.base,
            _ => builder.add_child(self.base, name)?,
        };
        self.quarks[at] = Some(quark);
        Ok(quark)
    }
}
