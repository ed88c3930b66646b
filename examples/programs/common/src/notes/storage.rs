//! Files of notes: where they are, and safe reading and writing.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lttv_context::Traceset;
use tempfile::Builder;

use super::format::{Contents, Refused};
use super::{NotesError, TraceId};
use crate::inputs;

/// The greatest size of a file, in bytes.
const MAX_BYTES: u64 = 16 << 20;
/// The longest time to wait for another process that is writing.
const PATIENCE: Duration = Duration::from_secs(2);

/// Returns the path of the notes of traces in the user's data directory. `variable` returns
/// the value of an environment variable.
pub(super) fn default_path(
    traceset: &Traceset,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<PathBuf, NotesError> {
    // The XDG specification demands that relative paths be ignored.
    let directory = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = directory("XDG_DATA_HOME");
    let data = data.or_else(|| Some(directory("HOME")?.join(".local/share")));
    let data = data.ok_or(NotesError::NoDirectory)?;
    Ok(data.join("lttv/notes").join(format!("{}.json", TraceId::of_all(traceset))))
}

/// Returns the value of an environment variable of this process.
pub(super) fn environment(name: &str) -> Option<OsString> {
    env::var_os(name)
}

/// Refuses a file of a trace, and any file in the directory of a trace.
pub(super) fn refuse_traces(path: &Path, traceset: &Traceset) -> Result<(), NotesError> {
    inputs::refuse(path, traceset.traces(), &[])?;
    // Where the directory does not exist, it is no trace's.
    let Ok(directory) = directory_of(path).canonicalize() else { return Ok(()) };
    let of_traces = traceset.traces().iter().flat_map(|trace| trace.paths());
    let mut of_traces = of_traces.filter_map(|path| path.canonicalize().ok());
    match of_traces.any(|of_trace| directory.starts_with(of_trace)) {
        true => Err(NotesError::InTrace { path: path.to_owned() }),
        false => Ok(()),
    }
}

/// Reads a file. Returns `None` if there is no file.
pub(super) fn read(path: &Path) -> Result<Option<Contents>, NotesError> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        metadata => metadata.map_err(NotesError::io(path))?,
    };
    if !metadata.is_file() {
        // Opening a pipe would wait for a writer.
        return Err(NotesError::io(path)(io::Error::other("not a regular file")));
    }
    let file = File::open(path).map_err(NotesError::io(path))?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(NotesError::io(path))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(NotesError::TooLarge { path: path.to_owned() });
    }
    Contents::parse(&bytes).map(Some).map_err(|refused| match refused {
        Refused::Damaged(reason) => NotesError::Damaged { path: path.to_owned(), reason },
        Refused::NewerVersion(version) => {
            NotesError::NewerVersion { path: path.to_owned(), version }
        }
    })
}

/// Replaces the contents of a file by what `change` makes of them. The file and its directory
/// are created if necessary. Other processes see either the earlier or the new contents, and
/// changes by several processes all take effect, one after the other.
pub(super) fn update(
    path: &Path,
    change: impl FnOnce(Option<Contents>) -> Result<Contents, NotesError>,
) -> Result<(), NotesError> {
    // The file that a link leads to is replaced, not the link.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let directory = directory_of(path);
    fs::create_dir_all(directory).map_err(NotesError::io(directory))?;
    let _lock = lock(directory)?;
    let contents = change(read(path)?)?;
    let mut bytes = Vec::new();
    contents.write(&mut bytes).map_err(NotesError::io(path))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(NotesError::TooLarge { path: path.to_owned() });
    }
    replace(path, &bytes).map_err(NotesError::io(path))
}

/// Locks a directory against other processes that write notes there, until the result is
/// dropped.
fn lock(directory: &Path) -> Result<File, NotesError> {
    let file = File::open(directory).map_err(NotesError::io(directory))?;
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if started.elapsed() < PATIENCE => {
                sleep(Duration::from_millis(5));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(NotesError::Busy { path: directory.to_owned() });
            }
            // Some network file systems have no locks. Files are still replaced as a whole.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                return Ok(file);
            }
            Err(TryLockError::Error(error)) => return Err(NotesError::io(directory)(error)),
        }
    }
}

/// Replaces a file as a whole, and keeps its permissions.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write;

    let mut builder = Builder::new();
    builder.prefix(".notes-");
    #[cfg(unix)]
    let readable_by_umask = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    #[cfg(unix)]
    builder.permissions(readable_by_umask);
    let mut file = builder.tempfile_in(directory_of(path))?;
    file.write_all(bytes)?;
    if let Ok(metadata) = fs::metadata(path) {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_directory_is_that_of_the_xdg_specification() {
        let path = |data: Option<&str>, home: Option<&str>| {
            let value = |name: &str| match name {
                "XDG_DATA_HOME" => data.map(OsString::from),
                "HOME" => home.map(OsString::from),
                _ => None,
            };
            default_path(&Traceset::new(), value).map(|path| path.parent().map(Path::to_owned))
        };
        let is = |path: &str| Some(PathBuf::from(path));
        assert_eq!(path(Some("/data"), Some("/home/a")).unwrap(), is("/data/lttv/notes"));
        let in_home = is("/home/a/.local/share/lttv/notes");
        for ignored in [None, Some(""), Some("data")] {
            assert_eq!(path(ignored, Some("/home/a")).unwrap(), in_home);
            for home in [None, Some(""), Some("home/a")] {
                assert!(matches!(path(ignored, home), Err(NotesError::NoDirectory)));
            }
        }
    }
}
