//! Errors of checkpoint files.

use std::path::PathBuf;

/// An error from storing checkpoints in a file or loading them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointFileError {
    /// The file could not be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The error from the operating system.
        error: std::io::Error,
    },
    /// The file is not a checkpoint file.
    #[error("{}: not a checkpoint file", path.display())]
    NotCheckpoints {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file has a format that this version does not read.
    #[error("{}: checkpoint file has format {found}, expected format {known}", path.display())]
    Format {
        /// The path of the file.
        path: PathBuf,
        /// The format of the file.
        found: u32,
        /// The only format that is supported.
        known: u32,
    },
    /// The file ends too early.
    #[error("{}: truncated at byte {offset}", path.display())]
    Truncated {
        /// The path of the file.
        path: PathBuf,
        /// The length of the part of the file that could be read, in bytes.
        offset: u64,
    },
    /// The content of the file has changed since it was written.
    #[error("{}: damaged at byte {offset}: {what}", path.display())]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// A description of the damage.
        what: String,
        /// The offset of the damaged part, in bytes.
        offset: u64,
    },
    /// The checkpoints belong to other traces, or to these traces before a change.
    #[error("{}: checkpoints of other traces, or of these before a change", path.display())]
    Stale {
        /// The path of the file.
        path: PathBuf,
    },
    /// An attached extension has no codec, so its states can be in no file.
    #[error("{}: {extension} cannot store checkpoints", path.display())]
    NoCodec {
        /// The path of the file.
        path: PathBuf,
        /// The name of the extension's type.
        extension: &'static str,
    },
    /// The file has no states for an attached extension in its version and with its options.
    #[error("{}: no checkpoints for this version of {extension}", path.display())]
    Missing {
        /// The path of the file.
        path: PathBuf,
        /// The name of the extension.
        extension: &'static str,
    },
    /// No attached extension has a codec.
    #[error("{}: no attached extension can store checkpoints", path.display())]
    NothingToStore {
        /// The path of the file.
        path: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn the_text_is_complete_and_repeats_no_source() {
        let error = std::io::Error::other("disk on fire");
        let error = CheckpointFileError::Io { path: "log.checkpoints".into(), error };
        assert_eq!(error.to_string(), "log.checkpoints: disk on fire");
        assert!(error.source().is_none());
    }
}
