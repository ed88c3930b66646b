//! The memory for the files of traces.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ltt_read::Access;

/// Memory that the files of all open traces share.
///
/// Files are read into it, so that another process may truncate them, as tracers do that record into a
/// fixed number of files. Those of traces for which there is no room left are mapped: if such a file is
/// truncated, the system ends the server.
#[derive(Debug, Clone)]
pub struct FileMemory(Arc<AtomicU64>);

/// The part of the memory that the files of a trace take, until it is dropped. `None` if they are mapped.
#[derive(Debug)]
pub(super) struct FilesInMemory(Option<(FileMemory, u64)>);

impl FileMemory {
    /// The usual size in MiB.
    pub const USUAL: u64 = 1024;

    /// Creates memory of a size in bytes.
    pub fn new(bytes: u64) -> Self {
        FileMemory(Arc::new(AtomicU64::new(bytes)))
    }

    /// Takes memory for all files at and below a path, if there is room for them.
    pub(super) fn take_for(&self, path: &Path) -> FilesInMemory {
        let wanted = size_of(path);
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(wanted));
        FilesInMemory(taken.is_ok().then(|| (self.clone(), wanted)))
    }
}

impl FilesInMemory {
    /// Returns the way in which the files are accessed.
    pub(super) fn access(&self) -> Access {
        if self.0.is_some() { Access::Read } else { Access::Map }
    }
}

impl Drop for FilesInMemory {
    fn drop(&mut self) {
        if let Some((memory, bytes)) = &self.0 {
            memory.0.fetch_add(*bytes, Ordering::Relaxed);
        }
    }
}

/// Returns the size in bytes of all files at and below a path, whose number has been checked.
fn size_of(path: &Path) -> u64 {
    let Ok(found) = fs::metadata(path) else { return 0 };
    if !found.is_dir() {
        return found.len();
    }
    let Ok(entries) = fs::read_dir(path) else { return 0 };
    let sizes = entries.filter_map(Result::ok).map(|entry| match entry.file_type() {
        // Links between directories may form a circle.
        Ok(kind) if kind.is_symlink() => fs::metadata(entry.path()).map_or(0, |of| of.len()),
        _ => size_of(&entry.path()),
    });
    sizes.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_mapped_only_while_there_is_no_room_for_them() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("a")).unwrap();
        fs::write(directory.path().join("a/one"), [0; 600]).unwrap();
        fs::write(directory.path().join("two"), [0; 100]).unwrap();
        let memory = FileMemory::new(1000);
        let first = memory.take_for(directory.path());
        assert_eq!(first.access(), Access::Read);
        assert_eq!(memory.take_for(directory.path()).access(), Access::Map);
        assert_eq!(memory.take_for(&directory.path().join("two")).access(), Access::Read);
        drop(first);
        assert_eq!(memory.take_for(directory.path()).access(), Access::Read);
    }
}
