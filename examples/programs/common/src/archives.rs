//! Archives in place of directories with traces: they are unpacked for as long as the program runs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use lttv_archive::{ArchiveError, Folder, Limits, kind};

/// The folder of what is unpacked, and the paths in it by those of the archives.
#[derive(Debug, Default)]
struct Unpacked {
    folder: Option<Folder>,
    paths: HashMap<PathBuf, PathBuf>,
}

impl Unpacked {
    /// Returns the folder, which is created when it is first needed.
    fn folder(&mut self) -> Result<&mut Folder, ArchiveError> {
        match &mut self.folder {
            Some(folder) => Ok(folder),
            none => Ok(none.insert(Folder::create(&std::env::temp_dir())?)),
        }
    }
}

static UNPACKED: Mutex<Option<Unpacked>> = Mutex::new(None);

/// Returns the path of the files of an archive, which is unpacked into a temporary folder; `None` if the path is that of
/// something else. `remove` removes them.
///
/// # Errors
///
/// If the archive cannot be read, or is damaged or refused.
pub fn unpacked(path: &Path) -> Result<Option<PathBuf>, ArchiveError> {
    // The reader of traces tells why something cannot be read.
    if !matches!(kind(path), Ok(Some(_))) {
        return Ok(None);
    }
    let mut unpacked = UNPACKED.lock().unwrap_or_else(PoisonError::into_inner);
    let unpacked = unpacked.get_or_insert_default();
    if let Some(known) = unpacked.paths.get(path) {
        return Ok(Some(known.clone()));
    }
    let into = unpacked.folder()?.unpack(path, &Limits::default())?;
    unpacked.paths.insert(path.to_owned(), into.clone());
    Ok(Some(into))
}

/// Returns the path of the files of an archive in memory, which is unpacked like [`unpacked`].
///
/// # Errors
///
/// If a file cannot be written, or the archive is damaged or refused.
#[cfg(feature = "bundled")]
pub(crate) fn of_bytes(name: &str, archive: &[u8]) -> Result<PathBuf, ArchiveError> {
    let mut unpacked = UNPACKED.lock().unwrap_or_else(PoisonError::into_inner);
    unpacked.get_or_insert_default().folder()?.unpack_bytes(name, archive, &Limits::default())
}

/// Returns paths in which those of archives are replaced by those of their files.
///
/// # Errors
///
/// Returns those of [`unpacked`].
pub fn all_unpacked(paths: Vec<PathBuf>) -> Result<Vec<PathBuf>, ArchiveError> {
    let path = |path: PathBuf| Ok(unpacked(&path)?.unwrap_or(path));
    paths.into_iter().map(path).collect()
}

/// Removes all that was unpacked, at the end of the program.
pub(crate) fn remove() {
    let mut unpacked = UNPACKED.lock().unwrap_or_else(PoisonError::into_inner);
    // The folder is removed when it is dropped.
    *unpacked = None;
}
