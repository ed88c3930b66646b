//! Identification of files and directories that several paths lead to.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

/// The identity of a file or directory, independent of its path: device and inode, or the
/// canonical path on systems without inodes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum FileId {
    #[cfg_attr(not(unix), allow(dead_code, reason = "the system has no inodes"))]
    Inode { device: u64, inode: u64 },
    #[cfg_attr(unix, allow(dead_code, reason = "inodes are cheaper"))]
    Path(PathBuf),
}

impl FileId {
    /// Returns the identity of the file or directory at a path. `metadata` is that of the
    /// path, with links followed.
    pub(crate) fn new(path: &Path, metadata: &Metadata) -> io::Result<FileId> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let _ = path;
            Ok(FileId::Inode { device: metadata.dev(), inode: metadata.ino() })
        }
        #[cfg(not(unix))]
        {
            let _ = metadata;
            path.canonicalize().map(FileId::Path)
        }
    }
}
