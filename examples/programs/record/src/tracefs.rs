//! The files of tracefs.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::RecordError;

/// The greatest size of a file of tracefs or procfs that is read.
const MAX_TEXT: usize = 1 << 28;

/// The creation and removal of ring buffers below `instances`.
///
/// The kernel fills a new folder with files, and removes them with it.
pub trait Instances: Send + Sync {
    /// Creates an instance.
    ///
    /// # Errors
    ///
    /// If the folder cannot be created.
    fn create(&self, path: &Path) -> io::Result<()>;

    /// Removes an instance.
    ///
    /// # Errors
    ///
    /// If the folder cannot be removed: a file in it may be open.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// The instances of the kernel.
#[derive(Debug, Clone, Copy, Default)]
pub struct KernelInstances;

impl Instances for KernelInstances {
    fn create(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }
}

impl fmt::Debug for dyn Instances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Instances")
    }
}

/// Returns the contents of a file, whose size the file system does not tell.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, RecordError> {
    let failed = RecordError::io("read", path);
    let mut file = fs::File::open(path).map_err(&failed)?;
    let mut bytes = Vec::new();
    // Some files of tracefs, such as `header_page`, give only what the first read asks for.
    let mut part = vec![0; 1 << 16];
    loop {
        match file.read(&mut part) {
            Ok(0) => return Ok(bytes),
            Ok(read) => bytes.extend_from_slice(&part[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
        if bytes.len() > MAX_TEXT {
            let reason = "it is too large";
            return Err(RecordError::Content { path: path.to_owned(), reason });
        }
    }
}

/// Returns the contents of a file; nothing if it does not exist or may not be read.
pub(crate) fn read_if_any(path: &Path) -> Vec<u8> {
    read(path).unwrap_or_default()
}

/// Writes a text to a file that exists.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), RecordError> {
    // Files of tracefs are not truncated.
    let file = fs::OpenOptions::new().write(true).open(path);
    let written = file.and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()));
    written.map_err(RecordError::io("write", path))
}

/// Returns the names of all events, `SYSTEM:NAME`.
pub(crate) fn available_events(root: &Path) -> Result<BTreeSet<String>, RecordError> {
    let text = read(&root.join("available_events"))?;
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    Ok(lines.map(|line| String::from_utf8_lossy(line).trim().to_owned()).collect())
}

/// Returns the names of the folders in a folder, sorted.
pub(crate) fn folders(path: &Path) -> Result<Vec<String>, RecordError> {
    let failed = RecordError::io("read", path);
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(&failed)? {
        let entry = entry.map_err(&failed)?;
        if entry.path().is_dir() {
            names.extend(entry.file_name().into_string());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Returns the folder of an event `SYSTEM:NAME` below that of all events.
pub(crate) fn event_folder(events: &Path, event: &str) -> PathBuf {
    let (system, name) = event.split_once(':').unwrap_or(("", event));
    events.join(system).join(name)
}
