//! The error for checkpoints that do not fit a context.

use super::identity::ExtensionIdentity;
use crate::traceset::StalePosition;

/// An error for a checkpoint that does not fit a context: its traceset or its extensions.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointMismatch {
    /// The checkpoint belongs to another traceset, or to this one before a change.
    #[error(transparent)]
    Stale(#[from] StalePosition),
    /// The checkpoint contains the state of an extension that differs from the attached one in
    /// name, version, options or type.
    #[error(
        "checkpoint has the state of {} at place {place}, but attached there is {}",
        name(*found),
        name(*attached)
    )]
    Extension {
        /// The index among all extensions and data of the context, from 0.
        place: usize,
        /// The extension in the checkpoint, or `None` for plain data or a missing state.
        found: Option<ExtensionIdentity>,
        /// The attached extension, or `None` for plain data or if nothing is attached.
        attached: Option<ExtensionIdentity>,
    },
}

ltt_read::debug_as_chain!(CheckpointMismatch);

fn name(extension: Option<ExtensionIdentity>) -> String {
    extension.map_or_else(|| "no extension".to_owned(), |identity| identity.to_string())
}
