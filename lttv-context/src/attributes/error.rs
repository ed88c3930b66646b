//! What attributes refuse.

use super::path::{MAX_DEPTH, Path, PathError};
use super::value::Kind;

/// Why an operation on attributes was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AttributeError {
    /// The text is no path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The attribute is there, but of another kind.
    #[error("attribute {path} has kind {found}, not {wanted}")]
    WrongKind {
        /// The attribute.
        path: Path,
        /// What it is.
        found: Kind,
        /// What it should be.
        wanted: Kind,
    },
    /// Two values have a sum that their kind cannot hold.
    #[error("the sum for attribute {path} is beyond the range of kind {kind}")]
    Overflow {
        /// The attribute that was to hold the sum.
        path: Path,
        /// What it is.
        kind: Kind,
    },
    /// The attribute would lie deeper than attributes may.
    #[error("below {path}, attributes would be nested more than {MAX_DEPTH} deep")]
    TooDeep {
        /// The deepest attribute that could be.
        path: Path,
    },
    /// The attribute was removed, or belongs to another tree.
    #[error("attribute number {index} is not in this tree any more")]
    Gone {
        /// [`AttributeId::index`](super::AttributeId::index) of it.
        index: usize,
    },
    /// There are as many attributes as can be numbered.
    #[error("a tree cannot hold more than 2³² attributes")]
    Full,
}
