//! What can go wrong with a file of checkpoints.

use std::path::PathBuf;

/// Why checkpoints were not stored in a file, or those of a file not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointFileError {
    /// Reading or writing failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is something else.
    #[error("{}: not a file of checkpoints", path.display())]
    NotCheckpoints {
        /// The file.
        path: PathBuf,
    },
    /// The file is of another format.
    #[error("{}: checkpoints of format {found}; this is format {known}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The only format that is read here.
        known: u32,
    },
    /// The file's end is missing.
    #[error("{}: truncated at byte {offset}", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// How long it is, in bytes.
        offset: u64,
    },
    /// The file's bytes are not what was written.
    #[error("{}: damaged: {what}, at byte {offset}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
        /// Where what is wrong begins, in bytes.
        offset: u64,
    },
    /// The checkpoints are of other traces, or of these before they changed.
    #[error("{}: checkpoints of other traces, or of these as they were earlier", path.display())]
    Stale {
        /// The file.
        path: PathBuf,
    },
    /// An extension that is attached is not in the file; or in another version, or
    /// with other options.
    #[error("{}: no checkpoints of this version of {extension}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The extension.
        extension: &'static str,
    },
    /// No extension that is attached can be stored.
    #[error("{}: none of the analyses has checkpoints for files", path.display())]
    NothingToStore {
        /// The file.
        path: PathBuf,
    },
}
