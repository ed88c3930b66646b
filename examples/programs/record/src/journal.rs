//! The journal of what a recording changes, which is written before each change.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::error::RecordError;

/// The first line of a journal.
const HEADER: &[u8] = b"lttv record 1\n";

/// The end of the names of journals.
const EXTENSION: &str = "journal";

/// The end of the names of files that are to become journals.
const NEW: &str = "new";

/// The greatest size of a journal that is read. One has a few lines.
const MAX_BYTES: u64 = 1 << 20;

/// The folder with the journals of all recordings of a user.
#[derive(Debug, Clone)]
pub struct Journals {
    folder: PathBuf,
}

/// A change that can be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// A folder was created, which is removed if it is empty.
    Folder(PathBuf),
    /// A file was created.
    File(PathBuf),
    /// An instance of ring buffers was created in tracefs.
    Instance(PathBuf),
    /// A session of LTTng was created.
    Session(String),
    /// The program of a tracer was started, with its process id and its time of start.
    Process(u32, u64),
}

/// The journal of one recording. Its file is locked as long as the recorder runs.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    changes: Vec<Change>,
}

impl Journals {
    /// Returns the journals in a folder, which is created when there is one to write.
    pub fn at(folder: impl Into<PathBuf>) -> Journals {
        Journals { folder: folder.into() }
    }

    /// Returns the journals of the user: below `$XDG_STATE_HOME`, or `~/.local/state`.
    pub fn of_user() -> Journals {
        let state =
            std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_else(|| "/root".into()));
        Journals::at(state.unwrap_or_else(|| home().join(".local/state")).join("lttv/record"))
    }

    /// Creates the journal of this process.
    pub(crate) fn create(&self) -> Result<Journal, RecordError> {
        fs::create_dir_all(&self.folder).map_err(RecordError::io("create", &self.folder))?;
        let pid = std::process::id();
        // Only a locked file with its first line gets the name of a journal.
        let new = self.folder.join(format!("{pid}.{NEW}"));
        let failed = |error: std::io::Error| RecordError::io("write", &new)(error);
        let mut file = File::create(&new).map_err(failed)?;
        let locked = flock(&file, FlockOperation::NonBlockingLockExclusive);
        let written = locked.map_err(Into::into).and_then(|()| file.write_all(HEADER));
        written.and_then(|()| file.sync_all()).map_err(failed)?;
        // Process ids are used again, also while the journal of an earlier process remains.
        let mut number = 0;
        let path = loop {
            let path = self.folder.join(format!("{pid}-{number}.{EXTENSION}"));
            match fs::hard_link(&new, &path) {
                Ok(()) => break path,
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(RecordError::io("create", &path)(error)),
            }
        };
        fs::remove_file(&new).map_err(failed)?;
        // The name must be on the disk, too.
        let folder = File::open(&self.folder).and_then(|folder| folder.sync_all());
        folder.map_err(RecordError::io("write", &self.folder))?;
        Ok(Journal { path, file, changes: Vec::new() })
    }

    /// Returns the journals of recorders that no longer run, and the number of those that do.
    pub(crate) fn abandoned(&self) -> Result<(Vec<Journal>, usize), RecordError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok((Vec::new(), 0));
            }
            Err(error) => return Err(RecordError::io("read", &self.folder)(error)),
        };
        let (mut abandoned, mut running) = (Vec::new(), 0);
        for entry in entries {
            let path = entry.map_err(RecordError::io("read", &self.folder))?.path();
            match path.extension().and_then(OsStr::to_str) {
                Some(EXTENSION) => match Journal::open(&path)? {
                    Some(journal) => abandoned.push(journal),
                    None => running += 1,
                },
                Some(NEW) => remove_new(&path),
                _ => {}
            }
        }
        abandoned.sort_by(|a, b| a.path.cmp(&b.path));
        Ok((abandoned, running))
    }
}

impl Journal {
    /// Opens the journal of a recorder; `None` if it still runs.
    fn open(path: &Path) -> Result<Option<Journal>, RecordError> {
        let failed = RecordError::io("read", path);
        let file = OpenOptions::new().read(true).append(true).open(path).map_err(&failed)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
            Err(error) => return Err(failed(error.into())),
        }
        let mut text = Vec::new();
        (&file).take(MAX_BYTES).read_to_end(&mut text).map_err(&failed)?;
        let lines = match text.strip_prefix(HEADER) {
            Some(lines) => lines,
            // The recorder was killed while it wrote the first line: it had changed nothing.
            None if HEADER.starts_with(&text) => &[],
            None => {
                let reason = "it is no journal of this version of `lttv record`";
                return Err(RecordError::Content { path: path.to_owned(), reason });
            }
        };
        // What follows the last end of a line was not complete, so the change was not made.
        let complete = lines.split_inclusive(|byte| *byte == b'\n');
        let complete = complete.filter_map(|line| line.strip_suffix(b"\n"));
        let changes = complete.map(|line| {
            let reason = "a line is damaged";
            Change::parse(line).ok_or(RecordError::Content { path: path.to_owned(), reason })
        });
        let changes = changes.collect::<Result<_, _>>()?;
        Ok(Some(Journal { path: path.to_owned(), file, changes }))
    }

    /// Returns the changes, the first one first.
    pub(crate) fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Notes a change that is about to be made. The disk has it when this returns.
    pub(crate) fn note(&mut self, change: Change) -> Result<(), RecordError> {
        let line = change.line();
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        written.map_err(RecordError::io("write", &self.path))?;
        self.changes.push(change);
        Ok(())
    }

    /// Returns the lock of the journal, for a program whose changes must not be undone before it has ended.
    pub(crate) fn lock(&self) -> Result<File, RecordError> {
        self.file.try_clone().map_err(RecordError::io("read", &self.path))
    }

    /// Removes the file of the journal, after all changes were undone.
    pub(crate) fn remove(self) -> Result<(), RecordError> {
        fs::remove_file(&self.path).map_err(RecordError::io("remove", &self.path))
    }
}

impl Change {
    /// Returns the line of the journal.
    fn line(&self) -> Vec<u8> {
        let (kind, value): (&str, OsString) = match self {
            Change::Folder(path) => ("folder", path.into()),
            Change::File(path) => ("file", path.into()),
            Change::Instance(path) => ("instance", path.into()),
            Change::Session(name) => ("session", name.into()),
            Change::Process(pid, start) => ("process", format!("{pid} {start}").into()),
        };
        [kind.as_bytes(), b" ", &escaped(&value), b"\n"].concat()
    }

    /// Parses a line without its end.
    fn parse(line: &[u8]) -> Option<Change> {
        let space = line.iter().position(|byte| *byte == b' ')?;
        let (kind, value) = (&line[..space], unescaped(&line[space + 1..])?);
        let text = || value.clone().into_string().ok();
        Some(match kind {
            b"folder" => Change::Folder(value.into()),
            b"file" => Change::File(value.into()),
            b"instance" => Change::Instance(value.into()),
            b"session" => Change::Session(text()?),
            b"process" => {
                let text = text()?;
                let (pid, start) = text.split_once(' ')?;
                Change::Process(pid.parse().ok()?, start.parse().ok()?)
            }
            _ => return None,
        })
    }
}

/// Removes a file that a recorder did not make a journal before it was killed.
fn remove_new(path: &Path) {
    let file = File::open(path);
    if file.is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()) {
        // It may be gone by now, and is empty otherwise.
        _ = fs::remove_file(path);
    }
}

/// Returns a text without ends of lines: `%0A` stands for one, and `%25` for `%`.
fn escaped(text: &OsStr) -> Vec<u8> {
    let mut escaped = Vec::new();
    for byte in text.as_bytes() {
        match byte {
            b'\n' | b'%' => escaped.extend_from_slice(format!("%{byte:02X}").as_bytes()),
            other => escaped.push(*other),
        }
    }
    escaped
}

fn unescaped(text: &[u8]) -> Option<OsString> {
    let mut bytes = Vec::new();
    let mut rest = text.iter().copied();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            other => other,
        });
    }
    Some(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_as_they_were_written() {
        let changes = [
            Change::Folder("a folder\nof %".into()),
            Change::File(OsString::from_vec(vec![b'/', 0xff, b'%']).into()),
            Change::Instance("/sys/kernel/tracing/instances/lttv-1".into()),
            Change::Session("lttv-1".into()),
            Change::Process(7, 1234),
        ];
        for change in changes {
            let line = change.line();
            assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
            assert_eq!(Change::parse(line.strip_suffix(b"\n").unwrap()), Some(change));
        }
        for wrong in ["", "file", "file %", "file %4", "file %zz", "process 1", "unknown x"] {
            assert_eq!(Change::parse(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn journals_of_running_recorders_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let journals = Journals::at(folder.path().join("of/user"));
        assert_eq!(journals.abandoned().unwrap().0.len(), 0);
        let mut journal = journals.create().unwrap();
        journal.note(Change::Session("a".into())).unwrap();
        let (abandoned, running) = journals.abandoned().unwrap();
        assert_eq!((abandoned.len(), running), (0, 1));
        let path = journal.path.clone();
        drop(journal);
        // The last line was not complete when the recorder was killed.
        let mut text = fs::read(&path).unwrap();
        text.extend_from_slice(b"session b");
        fs::write(&path, text).unwrap();
        let (mut abandoned, running) = journals.abandoned().unwrap();
        assert_eq!(running, 0);
        let journal = abandoned.pop().unwrap();
        assert_eq!(journal.changes(), [Change::Session("a".into())]);
        journal.remove().unwrap();
        fs::write(folder.path().join("of/user/1.journal"), "something else").unwrap();
        assert!(matches!(journals.abandoned(), Err(RecordError::Content { .. })));
    }
}
