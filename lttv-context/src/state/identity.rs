//! The identities of extensions.

use std::fmt;

/// The identity of the checkpoints of an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExtensionIdentity {
    /// The name of the extension.
    pub name: &'static str,
    /// A version that increases whenever different states are saved from the same trace.
    pub version: u32,
    /// A hash of the options, or any number that identifies them.
    pub options: u64,
}

impl fmt::Display for ExtensionIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (version {}, options {:x})", self.name, self.version, self.options)
    }
}
