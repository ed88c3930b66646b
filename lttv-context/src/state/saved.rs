//! Saved states of extensions of all types.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::identity::ExtensionIdentity;

/// A saved state of an extension.
pub(crate) type Saved = Arc<dyn SavedState>;

/// Operations on saved states of all types.
pub(crate) trait SavedState: Any + Send + Sync {
    /// Returns the identity of the extension, or `None` for plain data.
    fn identity(&self) -> Option<ExtensionIdentity>;

    /// Returns the number of bytes of memory that the state occupies, without those that it shares
    /// with `before`.
    fn bytes(&self, before: Option<&Saved>) -> usize;
}

impl fmt::Debug for dyn SavedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.identity() {
            Some(identity) => write!(f, "state of {identity}"),
            None => f.write_str("plain data"),
        }
    }
}

/// A placeholder for plain data, which is not saved.
pub(super) struct NoState;

impl SavedState for NoState {
    fn identity(&self) -> Option<ExtensionIdentity> {
        None
    }

    fn bytes(&self, _: Option<&Saved>) -> usize {
        0
    }
}
