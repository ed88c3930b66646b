//! Where the blocks of a growing history go.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::Error;

/// What a file is called until it is finished: with this behind its name.
const PARTIAL: &str = ".partial";

pub(super) fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(PARTIAL);
    name.into()
}

#[derive(Debug)]
pub(super) enum Sink {
    /// Whole frames.
    Memory(Vec<Arc<[u8]>>),
    File(FileSink),
}

#[derive(Debug)]
pub(super) struct FileSink {
    pub(super) file: File,
    path: PathBuf,
    partial: PathBuf,
    pub(super) len: u64,
}

impl FileSink {
    /// A new file beside `path`, that takes its place when it is finished.
    pub(super) fn create(path: &Path, header: &[u8]) -> Result<FileSink, Error> {
        let partial = partial_path(path);
        let file =
            File::options().read(true).write(true).create(true).truncate(true).open(&partial);
        let file = file.map_err(|source| Error::Io { path: partial.clone(), source })?;
        let mut sink = FileSink { file, path: path.to_owned(), partial, len: 0 };
        sink.write(header)?;
        Ok(sink)
    }

    /// Goes on with an unfinished file, behind its first `len` bytes.
    pub(super) fn resume(path: &Path, len: u64) -> Result<FileSink, Error> {
        use std::io::{Seek, SeekFrom};
        let partial = partial_path(path);
        let open = || -> std::io::Result<File> {
            let mut file = File::options().read(true).write(true).open(&partial)?;
            file.set_len(len)?;
            file.seek(SeekFrom::Start(len))?;
            Ok(file)
        };
        let file = open().map_err(|source| Error::Io { path: partial.clone(), source })?;
        Ok(FileSink { file, path: path.to_owned(), partial, len })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.file.write_all(bytes);
        written.map_err(|source| Error::Io { path: self.partial.clone(), source })?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Makes all that was written last, and gives the file its name.
    pub(super) fn finish(self) -> Result<PathBuf, Error> {
        let FileSink { file, path, partial, .. } = self;
        let sync = || -> std::io::Result<()> {
            file.sync_all()?;
            fs::rename(&partial, &path)?;
            // The name too must last. Not all systems can sync directories.
            if let Some(Ok(parent)) = path.parent().map(directory) {
                let _ = parent.sync_all();
            }
            Ok(())
        };
        sync().map_err(|source| Error::Io { path: partial.clone(), source })?;
        Ok(path)
    }

    /// Gives up: the unfinished file goes away.
    pub(super) fn remove(self) -> Result<(), Error> {
        fs::remove_file(&self.partial).map_err(|source| Error::Io { path: self.partial, source })
    }
}

fn directory(path: &Path) -> std::io::Result<File> {
    File::open(if path.as_os_str().is_empty() { Path::new(".") } else { path })
}
