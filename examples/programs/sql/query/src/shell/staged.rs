//! Files that appear when they are complete.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process;

/// A file that is written under another name, in the same directory. It is removed unless it is published.
#[derive(Debug)]
pub(super) struct StagedFile {
    /// The name while it is written.
    partial: PathBuf,
    path: PathBuf,
}

impl StagedFile {
    /// Creates a file for a path, empty so far.
    ///
    /// # Errors
    ///
    /// If the file cannot be created, or if the path is that of a directory.
    pub(super) fn create(path: &Path) -> io::Result<StagedFile> {
        // What a link refers to is replaced, and not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let is_special = fs::metadata(&path).is_ok_and(|of| !of.is_file() && !of.is_dir());
        if is_special {
            // A device or a pipe is written directly.
            return Ok(StagedFile { partial: path.clone(), path });
        }
        let name = path.file_name().filter(|_| !path.is_dir()).ok_or_else(|| {
            io::Error::new(io::ErrorKind::IsADirectory, format!("{}: no file", path.display()))
        })?;
        let mut partial = OsString::from(".");
        partial.push(name);
        partial.push(format!(".{}.partial", process::id()));
        let staged = StagedFile { partial: path.with_file_name(partial), path };
        File::create(&staged.partial).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", staged.path.display()))
        })?;
        Ok(staged)
    }

    /// Returns the path to write to.
    pub(super) fn partial(&self) -> &Path {
        &self.partial
    }

    /// Gives the file its name, in place of one that has it.
    ///
    /// # Errors
    ///
    /// If the file cannot be renamed.
    pub(super) fn publish(self) -> io::Result<()> {
        match self.partial == self.path {
            true => Ok(()),
            false => fs::rename(&self.partial, &self.path),
        }
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if self.partial != self.path {
            // After it was published, there is none.
            _ = fs::remove_file(&self.partial);
        }
    }
}
