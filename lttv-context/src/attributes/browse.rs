//! Structures that can be browsed as trees of attributes.

use std::ops::ControlFlow;

use super::key::AttributeId;
use super::name::Name;
use super::tree::Attributes;
use super::value::AttributeValue;

/// A structure that can present its members as attributes.
///
/// Generic code can then [print](super::Indented) it and [merge](Attributes::merge) it into
/// attributes.
///
/// Names should be distinct, and the same at each call as long as the structure has not
/// changed.
///
/// ```
/// use std::ops::ControlFlow;
/// use lttv_context::attributes::{Browse, Entries, Indented};
///
/// struct Disk {
///     name: String,
///     reads: u64,
/// }
///
/// impl Browse for Disk {
///     fn entries(&self, out: &mut Entries<'_>) -> ControlFlow<()> {
///         out.value("name", self.name.as_str())?;
///         out.value("reads", self.reads)
///     }
/// }
///
/// let disks = [Disk { name: "sda".into(), reads: 7 }, Disk { name: "sdb".into(), reads: 0 }];
/// let text = Indented(&disks).to_string();
/// assert_eq!(text, "\
/// [0]
///   name: \"sda\"
///   reads: 7
/// [1]
///   name: \"sdb\"
///   reads: 0
/// ");
/// ```
pub trait Browse {
    /// Passes all members to `out`, in order. An implementation must return as soon as `out`
    /// returns `Break`, which is best done by `?`.
    fn entries(&self, out: &mut Entries<'_>) -> ControlFlow<()>;
}

/// A member of a structure.
#[derive(Clone, Copy)]
pub enum Item<'a> {
    /// A value of an attribute.
    Value(&'a AttributeValue<'a>),
    /// A nested structure with members of its own.
    Tree(&'a dyn Browse),
}

impl std::fmt::Debug for Item<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Item::Value(value) => f.debug_tuple("Value").field(value).finish(),
            Item::Tree(_) => f.write_str("Tree(_)"),
        }
    }
}

/// A receiver of the members of a structure.
pub struct Entries<'r> {
    receiver: &'r mut dyn FnMut(Name<'_>, Item<'_>) -> ControlFlow<()>,
}

impl std::fmt::Debug for Entries<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entries").finish_non_exhaustive()
    }
}

impl<'r> Entries<'r> {
    /// Creates a receiver from a function, which returns `Break` when it needs no further members.
    pub fn new(receiver: &'r mut dyn FnMut(Name<'_>, Item<'_>) -> ControlFlow<()>) -> Self {
        Entries { receiver }
    }

    /// Adds a member that is a value.
    pub fn value<'n, 'v>(
        &mut self,
        name: impl Into<Name<'n>>,
        value: impl Into<AttributeValue<'v>>,
    ) -> ControlFlow<()> {
        (self.receiver)(name.into(), Item::Value(&value.into()))
    }

    /// Adds a member that is a nested structure.
    pub fn subtree<'n>(&mut self, name: impl Into<Name<'n>>, tree: &dyn Browse) -> ControlFlow<()> {
        (self.receiver)(name.into(), Item::Tree(tree))
    }
}

/// Calls a function for each member of a structure, until it fails.
pub(super) fn try_each<E>(
    tree: &dyn Browse,
    mut visit: impl FnMut(Name<'_>, Item<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut result = Ok(());
    let mut receive = |name: Name<'_>, item: Item<'_>| {
        // A structure that ignores `Break` must not hide the error.
        if result.is_ok() {
            result = visit(name, item);
        }
        if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let _ = tree.entries(&mut Entries::new(&mut receive));
    result
}

/// The attributes below an attribute of a tree, as a structure to browse.
#[derive(Clone, Copy)]
pub(super) struct Below<'a> {
    tree: &'a Attributes,
    root: AttributeId,
}

impl Attributes {
    /// Returns the attributes below `root`, as a structure to browse. It is empty if `root` is not
    /// a tree or no longer exists.
    pub fn below(&self, root: AttributeId) -> impl Browse + Copy {
        Below { tree: self, root }
    }
}

impl Browse for Below<'_> {
    fn entries(&self, out: &mut Entries<'_>) -> ControlFlow<()> {
        let Below { tree, root } = *self;
        for id in tree.children(root) {
            let Some(name) = tree.name(id) else { continue };
            match tree.value(id) {
                Some(value) => out.value(name, value.borrowed())?,
                None => out.subtree(name, &Below { tree, root: id })?,
            }
        }
        ControlFlow::Continue(())
    }
}

impl Browse for Attributes {
    fn entries(&self, out: &mut Entries<'_>) -> ControlFlow<()> {
        Below { tree: self, root: AttributeId::ROOT }.entries(out)
    }
}

/// The elements are the members, named by number.
impl<T: Browse> Browse for [T] {
    fn entries(&self, out: &mut Entries<'_>) -> ControlFlow<()> {
        (0..).zip(self).try_for_each(|(index, element)| out.subtree(index, element))
    }
}

/// The elements are the members, named by number.
impl<T: Browse, const N: usize> Browse for [T; N] {
    fn entries(&self, out: &mut Entries<'_>) -> ControlFlow<()> {
        self.as_slice().entries(out)
    }
}

/// The elements are the members, named by number.
impl<T: Browse> Browse for Vec<T> {
    fn entries(&self, out: &mut Entries<'_>) -> ControlFlow<()> {
        self.as_slice().entries(out)
    }
}

impl<T: Browse + ?Sized> Browse for &T {
    fn entries(&self, out: &mut Entries<'_>) -> ControlFlow<()> {
        (**self).entries(out)
    }
}
