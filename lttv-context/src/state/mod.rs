//! The extensions and data attached to a context, and their saved states.
//!
//! The types of extensions are not known here: a [`Cell`] contains an [`AnyExtension`], which each
//! [`Extension`](crate::Extension) is.

mod cell;
mod checkpoints;
mod extensions;
mod handle;
mod identity;
mod mismatch;
mod policy;
mod saved;

pub(crate) use cell::{AnyCodec, AnyExtension, Cell};
pub use checkpoints::{Checkpoint, Checkpoints};
pub use extensions::Extensions;
pub use handle::Handle;
pub use identity::ExtensionIdentity;
pub use mismatch::CheckpointMismatch;
pub use policy::CheckpointPolicy;
pub(crate) use saved::{Saved, SavedState};
