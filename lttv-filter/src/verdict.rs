//! Results that are known before a record is read.

// Filters of traces share the type with the reader, which skips by it.
#[cfg(feature = "traces")]
pub use ltt_read::selection::Verdict;

/// The result of a condition for all records of a type.
#[cfg(not(feature = "traces"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// No record of the type passes.
    Never,
    /// The fields of the record decide.
    Depends,
    /// Every record of the type passes.
    Always,
}
