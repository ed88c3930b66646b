//! Files whose symbols cannot be used.

use std::path::PathBuf;

use thiserror::Error;

/// The reason why the symbols of a file cannot be used.
#[derive(Error)]
#[non_exhaustive]
pub enum SymbolError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file is damaged, or is not a binary.
    #[error("{} is not a sound binary: {cause}", path.display())]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        cause: String,
    },
    /// The build id of the file is not that of the binary in the trace, or its checksum is not that of
    /// the debug link: it is another version.
    #[error("{} is not the version that was traced: its build id or checksum differs", path.display())]
    OtherVersion {
        /// The path of the file.
        path: PathBuf,
    },
    /// The table of the kernel's functions has no addresses: the system hides them from users.
    #[error("{} has no addresses: read /proc/kallsyms as root", path.display())]
    NoAddresses {
        /// The path of the file.
        path: PathBuf,
    },
    /// The table of the kernel's functions is that of another kernel, or of another boot.
    #[error("{} is not of the kernel that was traced, or of another boot: its addresses differ", path.display())]
    OtherKernel {
        /// The path of the file.
        path: PathBuf,
    },
    /// The names of the kernel's functions in a trace cannot be read.
    #[error("cannot read the names of the kernel's functions")]
    InTrace {
        /// The cause.
        source: ltt_read::Error,
    },
}

ltt_read::debug_as_chain!(SymbolError);
