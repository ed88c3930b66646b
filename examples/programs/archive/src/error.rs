//! The errors of archives.

use std::io;
use std::path::{Path, PathBuf};

/// An error for an archive that is not unpacked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The archive, or a file from it, cannot be read or written.
    #[error("{}", path.display())]
    Io {
        /// The path of the archive or of the file.
        path: PathBuf,
        /// The reason.
        #[source]
        error: io::Error,
    },
    /// The archive is damaged.
    #[error("{}: the archive is damaged", path.display())]
    Damaged {
        /// The path of the archive.
        path: PathBuf,
        /// The fault.
        #[source]
        error: io::Error,
    },
    /// The archive contains something that is not unpacked.
    #[error("{}: {refusal}{}", path.display(), of_entry(entry))]
    Refused {
        /// The path of the archive.
        path: PathBuf,
        /// The name of the entry, with replacements for what is no text; empty for the whole archive.
        entry: String,
        /// The reason.
        refusal: Refusal,
    },
}

/// A reason for which an archive is not unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A name leads out of the folder: it is absolute, or has a part `..`.
    #[error("a name leads out of the archive")]
    Escape,
    /// A name is empty, too long or too deep.
    #[error("a name is empty or too long")]
    Name,
    /// An entry is a link.
    #[error("links are not unpacked")]
    Link,
    /// An entry is neither a file nor a folder nor a link.
    #[error("devices, pipes and other special files are not unpacked")]
    Special,
    /// Two entries have one name.
    #[error("two entries have the same name")]
    Twice,
    /// There are too many entries.
    #[error("there are too many entries")]
    Entries,
    /// The files are too large, alone or in relation to the archive.
    #[error("the files are too large for an archive of this size")]
    Size,
    /// The descriptions of entries are too large.
    #[error("the description of an entry is too large")]
    Header,
    /// An entry is encrypted.
    #[error("encrypted files are not unpacked")]
    Encrypted,
    /// An entry is packed by a method that is not known.
    #[error("the method of compression is not known")]
    Method,
}

impl ArchiveError {
    /// Returns a function that makes an error of a file.
    pub(crate) fn io(path: &Path) -> impl Fn(io::Error) -> ArchiveError {
        move |error| ArchiveError::Io { path: path.to_owned(), error }
    }

    /// Returns the error of an entry that is refused.
    pub(crate) fn refused(path: &Path, entry: &[u8], refusal: Refusal) -> ArchiveError {
        let entry = String::from_utf8_lossy(&entry[..entry.len().min(200)]).into_owned();
        ArchiveError::Refused { path: path.to_owned(), entry, refusal }
    }

    /// Returns the error of reading the contents of an archive: a limit, or damage.
    pub(crate) fn of_contents(path: &Path, entry: &[u8], error: io::Error) -> ArchiveError {
        match error.get_ref().and_then(|of| of.downcast_ref::<Refusal>()) {
            Some(refusal) => ArchiveError::refused(path, entry, *refusal),
            None => ArchiveError::Damaged { path: path.to_owned(), error },
        }
    }
}

fn of_entry(entry: &str) -> String {
    if entry.is_empty() { String::new() } else { format!(": {entry:?}") }
}
