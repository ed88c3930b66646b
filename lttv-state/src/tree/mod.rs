//! Attributes: a tree of names, each with a small dense number.
//!
//! A [`Tree`] gives every attribute a [`Quark`], in the order in which they are
//! added, from 0. A quark never changes and is never used again, so tables of
//! attributes are plain arrays.
//!
//! # Paths
//!
//! A path names an attribute below another one, or below the root: the names on
//! the way, with `/` between them. A name is any text that is not empty. Where
//! it holds a `/` or a `\`, a path has a `\` before that: [`Tree::path`] writes
//! it, [`Tree::find`] reads it. Slashes at the ends of a path are skipped.
//!
//! In a pattern, `*` stands for any one name and `**` for any number of names,
//! even none. A name that *is* `*` or `**` is written `\*`, `\**`.
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
//! # Ok::<(), lttv_state::tree::TreeError>(())
//! ```
//!
//! # Arrays
//!
//! An array is an attribute whose children are named by numbers: see
//! [`Tree::add_index`].

mod attributes;
mod names;
mod path;
mod pattern;

pub use attributes::Attributes;
pub use names::{Children, Descendants, Tree};

/// An attribute: its number in its [`Tree`].
///
/// Numbers count from 0, in the order in which the attributes were added; an
/// attribute's number is greater than its parent's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quark(pub(crate) u32);

impl Quark {
    /// Above all attributes. It has no name and no value.
    pub const ROOT: Quark = Quark(u32::MAX);

    /// The quark with this number; not the root.
    ///
    /// Whether a tree has it is another question: every method that takes a
    /// quark answers it.
    pub fn from_index(index: u32) -> Quark {
        Quark(index)
    }

    /// The number, for use as an index. The root's is greater than all others.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Why a path or a name is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// A path with nothing between two slashes, or an empty name.
    #[error("path {path:?} has an empty name at byte {offset}")]
    EmptyName {
        /// The path.
        path: String,
        /// Where in it, in bytes.
        offset: usize,
    },
    /// A path that ends in the middle of an escape.
    #[error("path {path:?} ends with a single backslash")]
    Escape {
        /// The path.
        path: String,
    },
    /// A quark that this tree did not give.
    #[error("no attribute has the number {}", quark.index())]
    UnknownQuark {
        /// The quark.
        quark: Quark,
    },
    /// More attributes, or more bytes of names, than 32 bits can number.
    #[error("too many attributes: there are {attributes} already")]
    Full {
        /// How many there are.
        attributes: usize,
    },
}
