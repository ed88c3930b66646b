//! Errors of operations on attributes.

use super::path::{MAX_DEPTH, Path, PathError};
use super::value::Kind;

/// An error from an operation on attributes.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AttributeError {
    /// The text is not a path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The attribute exists, but has another kind.
    #[error("attribute {path} has kind {found}, not {wanted}")]
    WrongKind {
        /// The path of the attribute.
        path: Path,
        /// The kind of the attribute.
        found: Kind,
        /// The kind that the operation needs.
        wanted: Kind,
    },
    /// The sum of two values exceeds the range of their kind.
    #[error("sum of attribute {path} exceeds the range of kind {kind}")]
    Overflow {
        /// The path of the attribute for the sum.
        path: Path,
        /// The kind of the attribute.
        kind: Kind,
    },
    /// The new attribute would exceed the maximum depth of a tree, at which the tree of this path
    /// is already.
    #[error("attributes below {0} would be nested more than {MAX_DEPTH} deep")]
    TooDeep(Path),
    /// The attribute with this [`index`](super::AttributeId::index) was removed, or belongs to another
    /// tree.
    #[error("attribute number {0} is no longer in this tree")]
    Gone(usize),
    /// All attribute numbers are in use.
    #[error("a tree cannot contain more than 2³² attributes")]
    Full,
}

ltt_read::debug_as_chain!(AttributeError);
