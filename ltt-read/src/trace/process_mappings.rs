//! The memory of processes in a recording.

use std::sync::Arc;

/// A range of the memory of a process in which a file is mapped, as it was when recording ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessMapping {
    /// The id of the process.
    pub process: u32,
    /// The first address, at which the file begins.
    pub start: u64,
    /// The address after the last byte.
    pub end: u64,
    /// The path of the file.
    pub path: Arc<str>,
}
