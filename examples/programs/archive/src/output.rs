//! The files that are written, within the limits.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{ArchiveError, Refusal};
use crate::limits::Limits;
use crate::names;

/// The folder into which an archive is unpacked.
#[derive(Debug)]
pub(crate) struct Output<'a> {
    archive: &'a Path,
    folder: PathBuf,
    entries: u64,
    /// The number of bytes that may still be written.
    bytes: u64,
    buffer: Vec<u8>,
}

impl<'a> Output<'a> {
    /// Creates the folder, which must not exist.
    pub(crate) fn create(
        archive: &'a Path,
        folder: &Path,
        limits: &Limits,
    ) -> Result<Output<'a>, ArchiveError> {
        let size = fs::metadata(archive).map_err(ArchiveError::io(archive))?.len();
        fs::create_dir_all(folder).map_err(ArchiveError::io(folder))?;
        let (entries, bytes) = (limits.entries, limits.bytes_of(size));
        Ok(Output { archive, folder: folder.to_owned(), entries, bytes, buffer: vec![0; 1 << 16] })
    }

    /// Returns the error for an entry.
    pub(crate) fn refused(&self, entry: &[u8], refusal: Refusal) -> ArchiveError {
        ArchiveError::refused(self.archive, entry, refusal)
    }

    /// Returns the path of an entry, which is counted; `None` for the folder itself.
    fn path(&mut self, name: &[u8]) -> Result<Option<PathBuf>, ArchiveError> {
        let Some(left) = self.entries.checked_sub(1) else {
            return Err(self.refused(&[], Refusal::Entries));
        };
        self.entries = left;
        let relative = names::relative(name).map_err(|refusal| self.refused(name, refusal))?;
        Ok(relative.map(|path| self.folder.join(path)))
    }

    /// Creates a folder, if it does not exist yet.
    pub(crate) fn folder(&mut self, name: &[u8]) -> Result<(), ArchiveError> {
        match self.path(name)? {
            Some(path) => self.create_folders(&path, name),
            None => Ok(()),
        }
    }

    fn create_folders(&self, path: &Path, name: &[u8]) -> Result<(), ArchiveError> {
        fs::create_dir_all(path).map_err(|error| match error.kind() {
            // A file has the name of a folder.
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
                self.refused(name, Refusal::Twice)
            }
            _ => ArchiveError::io(path)(error),
        })
    }

    /// Writes a file with all that an input contains.
    pub(crate) fn file(&mut self, name: &[u8], mut input: impl Read) -> Result<(), ArchiveError> {
        let Some(path) = self.path(name)? else { return Err(self.refused(name, Refusal::Name)) };
        if let Some(folder) = path.parent() {
            self.create_folders(folder, name)?;
        }
        let mut file = File::create_new(&path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => self.refused(name, Refusal::Twice),
            _ => ArchiveError::io(&path)(error),
        })?;
        loop {
            let read = match input.read(&mut self.buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.unreadable(name, error)),
            };
            let Some(left) = self.bytes.checked_sub(read as u64) else {
                return Err(self.refused(name, Refusal::Size));
            };
            self.bytes = left;
            file.write_all(&self.buffer[..read]).map_err(ArchiveError::io(&path))?;
        }
    }

    /// Returns the error of reading the archive.
    pub(crate) fn unreadable(&self, entry: &[u8], error: io::Error) -> ArchiveError {
        ArchiveError::of_contents(self.archive, entry, error)
    }
}
