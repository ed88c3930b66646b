//! A tree with a value at every attribute.

use super::{Quark, Tree, TreeError};
use crate::value::Value;

/// What a [`Value`] is without borrowing.
#[derive(Debug, Clone, Default)]
enum Owned {
    #[default]
    Null,
    I32(i32),
    I64(i64),
    U64(u64),
    F64(f64),
    Str(Box<str>),
    Blob(Box<[u8]>),
}

/// Attributes with their present values, and no past.
///
/// For states that change without a history;
/// [`Builder`](crate::history::Builder) is the same with one.
///
/// ```
/// use lttv_state::tree::{Attributes, Quark};
/// use lttv_state::value::Value;
///
/// let mut attributes = Attributes::new();
/// let disk = attributes.set(Quark::ROOT, "disks/sda/reads", 7u64)?;
/// assert_eq!(attributes.get(disk), Value::U64(7));
/// let disks = attributes.tree().find(Quark::ROOT, "disks")?.unwrap();
/// attributes.remove(disks);
/// assert_eq!(attributes.get(disk), Value::Null);
/// # Ok::<(), lttv_state::tree::TreeError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Attributes {
    tree: Tree,
    /// By quark; those behind the end are null.
    values: Vec<Owned>,
}

impl Attributes {
    /// No attributes.
    pub fn new() -> Attributes {
        Attributes::default()
    }

    /// The names.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The attribute at `path` below `base`, added with value null if it is not
    /// there.
    ///
    /// # Errors
    ///
    /// As [`Tree::add`].
    pub fn add(&mut self, base: Quark, path: &str) -> Result<Quark, TreeError> {
        self.tree.add(base, path)
    }

    /// Gives the attribute at `path` below `base` a value, and adds it if it is
    /// not there. An empty path is `base` itself.
    ///
    /// # Errors
    ///
    /// As [`Tree::add`]; and the root has no value.
    pub fn set<'v>(
        &mut self,
        base: Quark,
        path: &str,
        value: impl Into<Value<'v>>,
    ) -> Result<Quark, TreeError> {
        let quark = self.tree.add(base, path)?;
        if quark == Quark::ROOT {
            return Err(TreeError::UnknownQuark { quark });
        }
        if self.values.len() <= quark.index() {
            self.values.resize_with(self.tree.len(), Owned::default);
        }
        self.values[quark.index()] = match value.into() {
            Value::Null => Owned::Null,
            Value::I32(v) => Owned::I32(v),
            Value::I64(v) => Owned::I64(v),
            Value::U64(v) => Owned::U64(v),
            Value::F64(v) => Owned::F64(v),
            Value::Str(v) => Owned::Str(v.into()),
            Value::Blob(v) => Owned::Blob(v.into()),
        };
        Ok(quark)
    }

    /// The value of an attribute; null if it is unknown.
    pub fn get(&self, quark: Quark) -> Value<'_> {
        match self.values.get(quark.index()) {
            None | Some(Owned::Null) => Value::Null,
            Some(Owned::I32(v)) => Value::I32(*v),
            Some(Owned::I64(v)) => Value::I64(*v),
            Some(Owned::U64(v)) => Value::U64(*v),
            Some(Owned::F64(v)) => Value::F64(*v),
            Some(Owned::Str(v)) => Value::Str(v),
            Some(Owned::Blob(v)) => Value::Blob(v),
        }
    }

    /// Removes the value of an attribute and of all below it. The attributes
    /// stay, with value null, and keep their numbers.
    pub fn remove(&mut self, quark: Quark) {
        for quark in std::iter::once(quark).chain(self.tree.descendants(quark)) {
            if let Some(value) = self.values.get_mut(quark.index()) {
                *value = Owned::Null;
            }
        }
    }
}
