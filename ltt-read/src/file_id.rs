//! Telling whether two paths lead to the same file or directory.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

/// What makes a file or directory the same, however it is reached: device and
/// inode, or the canonical path where there are none.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum FileId {
    #[cfg_attr(not(unix), allow(dead_code, reason = "there are no inodes"))]
    Inode { device: u64, inode: u64 },
    #[cfg_attr(unix, allow(dead_code, reason = "inodes cost less"))]
    Path(PathBuf),
}

impl FileId {
    /// Identifies what a path leads to. `metadata` is that of the path, links
    /// followed.
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
