//! Directories that appear whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::WriteError;
use super::metadata::packed_metadata;
use super::open_streams::OpenStreams;
use super::trace::TraceWriter;
use crate::schema::Schema;

/// The name of a metadata file until its directory is published. Without a file named
/// `metadata`, no reader takes an unfinished directory for a trace.
const UNFINISHED_METADATA: &str = "metadata.unfinished";

/// A directory of traces that appears under its name only when it is complete.
///
/// The traces are written to a temporary directory beside it, whose name starts with a
/// dot. [`publish`](Self::publish) writes everything to the disk and then renames the
/// directory, in one step. If the directory is dropped before, because of an error or a
/// panic, the temporary directory is removed. After a sudden end of the process it
/// remains, but its metadata files have other names, so that no reader opens it.
///
/// ```
/// use ltt_read::schema::{FieldClass, Format, StreamClassId};
/// use ltt_read::writer::{FieldValue, StagedDirectory, presets};
///
/// # let folder = std::env::temp_dir().join(format!("ltt-read-stage-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let target = folder.join("session");
/// let mut schema = presets::lttng_kernel(Format::Ctf1);
/// let tick = schema.add_event_type(StreamClassId(0), "tick", FieldClass::structure([]));
///
/// let session = StagedDirectory::create(&target)?;
/// let kernel = session.trace("kernel", schema)?.with_index();
/// let mut cpu0 = kernel.stream(StreamClassId(0), "channel0_0")?;
/// cpu0.event(tick, 1_000, FieldValue::Auto)?;
/// cpu0.finish()?;
/// assert!(!target.exists());
/// session.publish()?;
/// assert!(target.join("kernel").join("metadata").exists());
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "the directory appears only when it is published"]
pub struct StagedDirectory {
    target: PathBuf,
    temporary: PathBuf,
    published: bool,
    streams: OpenStreams,
}

impl StagedDirectory {
    /// Creates the temporary directory beside `target`. Directories that contain it are
    /// created if they do not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if `target` exists and is not an empty directory, or if the
    /// temporary directory cannot be created.
    pub fn create(target: impl AsRef<Path>) -> Result<Self, WriteError> {
        let target = target.as_ref();
        let failed = || WriteError::io(target.display().to_string());
        let target = std::path::absolute(target).map_err(failed())?;
        let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
            return Err(failed()(ErrorKind::InvalidInput.into()));
        };
        refuse_occupied(&target).map_err(failed())?;
        fs::create_dir_all(parent).map_err(failed())?;
        let temporary = create_temporary(parent, name).map_err(failed())?;
        Ok(StagedDirectory { target, temporary, published: false, streams: OpenStreams::default() })
    }

    /// Returns the path that the directory will have.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Returns the temporary directory, in which other files can be created as well.
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// Creates a trace in the directory `name`, a relative path; an empty one stands for
    /// the directory itself. The metadata is printed from the schema, in packets as LTTng
    /// writes it.
    ///
    /// # Errors
    ///
    /// Returns an error if the format cannot express the schema, if the path leads out of
    /// the directory, or if a file cannot be written.
    pub fn trace(
        &self,
        name: impl AsRef<Path>,
        schema: impl Into<Arc<Schema>>,
    ) -> Result<TraceWriter, WriteError> {
        let schema = schema.into();
        let metadata = packed_metadata(&schema)?;
        self.trace_with_metadata(name, schema, &metadata)
    }

    /// Creates a trace like [`trace`](Self::trace), with the bytes of a metadata file that
    /// exists: of one from which the schema was read.
    ///
    /// # Errors
    ///
    /// Returns an error if the path leads out of the directory, or if a file cannot be
    /// written.
    pub fn trace_with_metadata(
        &self,
        name: impl AsRef<Path>,
        schema: impl Into<Arc<Schema>>,
        metadata: &[u8],
    ) -> Result<TraceWriter, WriteError> {
        let name = name.as_ref();
        let inside = name.components().all(|part| matches!(part, Component::Normal(_)));
        let dir = self.temporary.join(name);
        if !inside {
            return Err(WriteError::io(name.display().to_string())(ErrorKind::InvalidInput.into()));
        }
        let streams = self.streams.clone();
        TraceWriter::with_metadata(&dir, schema.into(), UNFINISHED_METADATA, metadata, streams)
    }

    /// Writes all files to the disk, gives the metadata files their names, and renames the
    /// directory. All streams have to be finished or dropped before.
    ///
    /// # Errors
    ///
    /// Returns [`WriteError::OpenStreams`] if there are streams that are not, the error of a
    /// stream that was dropped and could not end its last packet, and an error if a file cannot be written to the disk, or if another directory
    /// of this name has appeared meanwhile. The temporary directory is then removed.
    pub fn publish(mut self) -> Result<(), WriteError> {
        let failed = || WriteError::io(self.target.display().to_string());
        self.streams.check()?;
        synchronize(&self.temporary).map_err(failed())?;
        name_metadata(&self.temporary).map_err(failed())?;
        fs::rename(&self.temporary, &self.target).map_err(failed())?;
        // The traces are there, so a failure from here on is no reason to remove them.
        self.published = true;
        match self.target.parent() {
            Some(parent) => synchronize_entry(parent).map_err(failed()),
            None => Ok(()),
        }
    }
}

impl Drop for StagedDirectory {
    fn drop(&mut self) {
        if !self.published {
            // Nobody can be told of a failure, and the rest is no trace.
            _ = fs::remove_dir_all(&self.temporary);
        }
    }
}

/// Refuses a path at which there is something else than an empty directory.
fn refuse_occupied(target: &Path) -> io::Result<()> {
    match fs::read_dir(target) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(ErrorKind::DirectoryNotEmpty.into()),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Creates a directory with a name that no other process and no other call uses.
fn create_temporary(parent: &Path, name: &std::ffi::OsStr) -> io::Result<PathBuf> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mut temporary = OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".unfinished-{}-{number}", std::process::id()));
        let path = parent.join(temporary);
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            // Left by an earlier process with the same number.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Writes the contents of a directory to the disk.
fn synchronize(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => synchronize(&entry.path())?,
            false => File::open(entry.path())?.sync_all()?,
        }
    }
    synchronize_entry(dir)
}

/// Gives the metadata files their names, once the data of all traces is on the disk.
fn name_metadata(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            name_metadata(&entry.path())?;
        } else if entry.file_name() == UNFINISHED_METADATA {
            fs::rename(entry.path(), dir.join("metadata"))?;
            synchronize_entry(dir)?;
        }
    }
    Ok(())
}

/// Writes the entries of a directory to the disk, where the system allows it.
fn synchronize_entry(dir: &Path) -> io::Result<()> {
    match cfg!(unix) {
        true => File::open(dir)?.sync_all(),
        false => Ok(()),
    }
}
