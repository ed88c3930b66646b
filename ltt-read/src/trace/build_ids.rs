//! The build ids of files in a recording.

use std::sync::Arc;

/// The build id of a file whose code is in samples.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuildId {
    /// The path of the file; `[kernel.kallsyms]` for the kernel.
    pub path: Arc<str>,
    /// The id, of up to 20 bytes.
    pub id: Arc<[u8]>,
}
