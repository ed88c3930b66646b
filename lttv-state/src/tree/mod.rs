//! Trees of named attributes, each with a small dense number.
//!
//! A [`Tree`] assigns a [`Quark`] to each attribute, from 0 on, in the order in which they
//! are added. A quark never changes and is never that of another attribute, so an array can
//! be indexed by it. An attribute that is removed and added again has the same quark.
//!
//! # Paths
//!
//! A path names an attribute below another one, or below the root, by the names on the way,
//! separated by `/`. A name is any text that is not empty. A `/` or `\` in a name is
//! preceded by a `\` in a path. [`Tree::path`] writes such paths, and [`Tree::find`] reads
//! them. A path that starts with `/` is absolute: it is resolved from the root, whichever
//! attribute it is used with. One `/` at the end of a path is ignored.
//!
//! In a pattern, `*` matches any one name, and `**` any number of names, including none. A
//! name that is itself `*` or `**` is written `\*` or `\**`.
//!
//! ```
//! use lttv_state::tree::{Quark, Tree};
//!
//! let mut tree = Tree::new();
//! let status = tree.add(Quark::ROOT, "CPUs/0/Status")?;
//! tree.add(Quark::ROOT, "CPUs/1/Status")?;
//! let irq = tree.add(Quark::ROOT, r"CPUs/1/IRQs/19\/ahci")?;
//!
//! assert_eq!(tree.find(Quark::ROOT, "CPUs/0/Status")?, Some(status));
//! assert_eq!(tree.name(irq), Some("19/ahci"));
//! assert_eq!(tree.matching(Quark::ROOT, "CPUs/*/Status")?.len(), 2);
//! assert_eq!(tree.matching(Quark::ROOT, "**/19\\/ahci")?, [irq]);
//!
//! let cpu = tree.find(Quark::ROOT, "CPUs/1")?.expect("added above");
//! assert_eq!(tree.find(cpu, "IRQs/19\\/ahci")?, Some(irq));
//! assert_eq!(tree.find(cpu, "/CPUs/0/Status")?, Some(status));
//! # Ok::<(), lttv_state::tree::TreeError>(())
//! ```
//!
//! # Arrays
//!
//! An array is an attribute whose children are named by numbers: see [`Tree::add_index`].

mod nodes;
mod path;
mod pattern;

pub use nodes::Tree;

/// The number of an attribute in its [`Tree`].
///
/// Attributes are numbered from 0 in the order in which they were added, so that the number
/// of an attribute is greater than that of its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quark(pub(crate) u32);

impl Quark {
    /// The root, above all attributes. It has no name and no value.
    pub const ROOT: Quark = Quark(u32::MAX);

    /// Creates the quark with a number. `u32::MAX` is the number of the root.
    ///
    /// A tree need not have an attribute with this number: each method that takes a quark
    /// checks that.
    pub fn from_index(index: u32) -> Quark {
        Quark(index)
    }

    /// Returns the number, for use as an index. That of the root is greater than all
    /// others.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An error from a path, a name or a quark.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// A path with nothing between two slashes, or an empty name.
    #[error("path {path:?} has an empty name at byte {offset}")]
    EmptyName {
        /// The malformed path; empty for an empty name.
        path: String,
        /// The offset of the empty name in the path, in bytes.
        offset: usize,
    },
    /// A path that ends within an escape.
    #[error("path {0:?} ends with a single backslash")]
    Escape(String),
    /// A quark that the tree does not have.
    #[error("unknown attribute {}", .0.index())]
    UnknownQuark(Quark),
    /// The tree, with a number of attributes, has the greatest possible number of them or of
    /// bytes in names: what 32 bits can number.
    #[error("tree is full: it has {0} attributes")]
    Full(usize),
}

ltt_read::debug_as_chain!(TreeError);
