//! A tree with a current value for each attribute.

use super::{Quark, Tree, TreeError};
use crate::value::Value;

/// A [`Value`] that owns its text or bytes.
#[derive(Debug, Clone, Default)]
enum OwnedValue {
    #[default]
    Null,
    I32(i32),
    I64(i64),
    U64(u64),
    F64(f64),
    Str(Box<str>),
    Blob(Box<[u8]>),
}

/// A tree of attributes with their current values, without a history.
///
/// [`Builder`](crate::history::Builder) stores the history of such values.
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
    /// The values by quark. Attributes past the end are null.
    values: Vec<OwnedValue>,
}

impl Attributes {
    /// Creates an empty tree.
    pub fn new() -> Attributes {
        Attributes::default()
    }

    /// Returns the tree of names.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the attribute at `path` below `base`. If it does not exist, it is added with
    /// value null.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Tree::add`].
    pub fn add(&mut self, base: Quark, path: &str) -> Result<Quark, TreeError> {
        self.tree.add(base, path)
    }

    /// Sets the value of the attribute at `path` below `base`, and returns its quark. The
    /// attribute is added if it does not exist. An empty path means `base` itself.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Tree::add`], and an error for the root, which has no value.
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
            self.values.resize_with(self.tree.len(), OwnedValue::default);
        }
        self.values[quark.index()] = match value.into() {
            Value::Null => OwnedValue::Null,
            Value::I32(v) => OwnedValue::I32(v),
            Value::I64(v) => OwnedValue::I64(v),
            Value::U64(v) => OwnedValue::U64(v),
            Value::F64(v) => OwnedValue::F64(v),
            Value::Str(v) => OwnedValue::Str(v.into()),
            Value::Blob(v) => OwnedValue::Blob(v.into()),
        };
        Ok(quark)
    }

    /// Returns the value of an attribute. It is null if the attribute does not exist.
    pub fn get(&self, quark: Quark) -> Value<'_> {
        match self.values.get(quark.index()) {
            None | Some(OwnedValue::Null) => Value::Null,
            Some(OwnedValue::I32(v)) => Value::I32(*v),
            Some(OwnedValue::I64(v)) => Value::I64(*v),
            Some(OwnedValue::U64(v)) => Value::U64(*v),
            Some(OwnedValue::F64(v)) => Value::F64(*v),
            Some(OwnedValue::Str(v)) => Value::Str(v),
            Some(OwnedValue::Blob(v)) => Value::Blob(v),
        }
    }

    /// Sets an attribute and all below it to null. The attributes remain in the tree and
    /// keep their quarks.
    pub fn remove(&mut self, quark: Quark) {
        for quark in std::iter::once(quark).chain(self.tree.descendants(quark)) {
            if let Some(value) = self.values.get_mut(quark.index()) {
                *value = OwnedValue::Null;
            }
        }
    }
}
