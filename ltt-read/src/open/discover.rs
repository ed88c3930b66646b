//! Discovery of traces at and below paths.

use std::collections::VecDeque;
use std::fs::{File, FileType};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use hashbrown::HashMap;

use crate::files::entries::{Entry, MAX_DEPTH, entries};
use crate::files::file_id::FileId;
use crate::files::findings::{Findings, OnFailure};
use crate::legacy::is_trace;
use crate::report::{Error, NoticeKind};
use crate::{ftrace, perf};

/// Returns the directories at or below `path` that contain a `metadata` file or are
/// [legacy](crate::legacy) traces, and the recordings of [ftrace](crate::ftrace) and
/// [perf](crate::perf), which are files, sorted by path.
///
/// LTTng writes a session as several traces: one in `kernel`, and one for each user or
/// process in `ust/…`. Symbolic links to directories are followed, but each directory is
/// searched only once. Hidden directories are skipped.
///
/// # Errors
///
/// [`Error::Io`] if `path` or a directory below it cannot be read, [`Error::TooDeep`] if
/// there are directories more than 16 deep, [`Error::NotATrace`] if nothing is found. If
/// there is only a `metadata` that is not a regular file, [`Error::Io`] names it.
/// [`OpenOptions::open_all_of`](crate::OpenOptions::open_all_of) can continue after the
/// first two.
pub fn find_traces(path: impl AsRef<Path>) -> Result<Vec<PathBuf>, Error> {
    let mut findings = Findings::new(OnFailure::Stop);
    let mut search = Search::default();
    search.add(path.as_ref(), &mut findings)?;
    Ok(search.found.into_iter().map(|found| found.path).collect())
}

/// A search for traces at or below several paths.
#[derive(Debug, Default)]
pub(crate) struct Search {
    /// The traces found so far, sorted by path within each given path.
    pub(crate) found: Vec<Found>,
    /// The directories that were searched, with the path by which each was reached.
    searched: HashMap<FileId, PathBuf>,
    /// The number of given paths.
    paths: usize,
    /// The first `metadata` below the current path that is not a regular file.
    irregular: Option<PathBuf>,
    /// `true` if there are pages of CPUs below the current path that belong to no recording.
    has_pages: bool,
}

/// A directory or a file that contains a trace.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    /// The index of the given path that led to it.
    pub(crate) given: usize,
    pub(crate) kind: Kind,
}

/// The kind of a trace, as far as opening distinguishes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A directory with a `metadata` file.
    Ctf,
    /// A directory in a format before CTF.
    Legacy,
    /// A file of ftrace, with a trace for each buffer.
    Ftrace,
    /// A file of perf.
    Perf,
}

/// A directory that remains to be searched.
struct PendingDir {
    dir: PathBuf,
    depth: usize,
    /// `true` below a directory with a trace, whose files belong to that.
    is_in_trace: bool,
}

/// The reason why the pages of CPUs, which `trace-cmd record` leaves behind when it is interrupted, are no trace.
const PAGES_OF_CPUS: &str = "these are pages of a CPU, of which an interrupted `trace-cmd record` has not made a recording: \
     on the same machine, before it is restarted, `trace-cmd restore -o trace.dat` with the names of all such files makes one";

/// Returns the reason why a file is no trace: its name, or the first bytes of a compressed one, tell what it is.
pub(super) fn reason_for_file(path: &Path) -> &'static str {
    if path.file_name().is_some_and(|name| is_of_pages(name.as_encoded_bytes())) {
        return PAGES_OF_CPUS;
    }
    let mut start = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    match start {
        _ if read.is_err() => "path is a file, expected the directory that contains `metadata`",
        [0x28, 0xb5, 0x2f, 0xfd] => "the file is compressed; decompress it with `zstd -d`",
        [0x1f, 0x8b, ..] => "the file is compressed; decompress it with `gunzip`",
        [0xfd, b'7', b'z', b'X'] => "the file is compressed; decompress it with `unxz`",
        [b'P', b'K', ..] => "the file is an archive; unpack it with `unzip`",
        _ => {
            "path is a file, expected a recording of trace-cmd or perf, or the directory that contains \
              `metadata`"
        }
    }
}

impl Search {
    /// Searches at and below another path. Traces in directories that were searched
    /// before are noted as duplicates.
    pub(crate) fn add(&mut self, path: &Path, findings: &mut Findings) -> Result<(), Error> {
        let (first, failures) = (self.found.len(), findings.failures.len());
        let given = self.paths;
        self.paths += 1;
        self.irregular = None;
        self.has_pages = false;
        let io = |error| Error::Io { path: path.to_owned(), error };
        let Some(metadata) = findings.keep(path.metadata().map_err(io))? else { return Ok(()) };
        if let Some(kind) = kind_of_file(path) {
            self.found.push(Found { path: path.to_owned(), given, kind });
            return Ok(());
        }
        // No other file is a trace, but users may give the path of the `metadata` file.
        if !metadata.is_dir() {
            let reason = reason_for_file(path);
            return findings.fail(Error::NotATrace { path: path.to_owned(), reason });
        }
        let mut again = Vec::new();
        let mut next = vec![PendingDir { dir: path.to_owned(), depth: 0, is_in_trace: false }];
        // Links are searched last, so that they are reported as the duplicates.
        let mut links = VecDeque::new();
        while let Some(at) = next.pop().or_else(|| links.pop_front()) {
            let metadata = at.dir.metadata();
            let id = metadata.and_then(|metadata| FileId::new(&at.dir, &metadata));
            let io = |error| Error::Io { path: at.dir.clone(), error };
            let Some(id) = findings.keep(id.map_err(io))? else { continue };
            if let Some(before) = self.searched.get(&id) {
                again.push((at.dir, before.clone()));
                continue;
            }
            self.searched.insert(id, at.dir.clone());
            self.enter(at, given, &mut next, &mut links, findings)?;
        }
        self.found[first..].sort_by(|a, b| a.path.cmp(&b.path));
        let mut has_traces = self.found.len() > first || findings.failures.len() > failures;
        for (dir, before) in again {
            if self.found.iter().any(|found| found.path.starts_with(&before)) {
                findings.note(&dir, NoticeKind::Duplicate { first: before.into() });
                has_traces = true;
            }
        }
        if has_traces {
            return Ok(());
        }
        if let Some(path) = self.irregular.take() {
            let error = std::io::Error::new(ErrorKind::InvalidInput, "not a regular file");
            return findings.fail(Error::Io { path, error });
        }
        let reason = match self.has_pages {
            true => PAGES_OF_CPUS,
            false => {
                "no `metadata` file, LTTng 0.x trace, `trace.dat` or `perf.data` in this directory or below"
            }
        };
        findings.fail(Error::NotATrace { path: path.to_owned(), reason })
    }

    /// Reads a directory: adds it to the results if it is a trace, and its subdirectories
    /// to `next` or `links`.
    fn enter(
        &mut self,
        at: PendingDir,
        given: usize,
        next: &mut Vec<PendingDir>,
        links: &mut VecDeque<PendingDir>,
        findings: &mut Findings,
    ) -> Result<(), Error> {
        if is_legacy(&at.dir) {
            // Its subdirectories are parts of the trace.
            self.found.push(Found { path: at.dir, given, kind: Kind::Legacy });
            return Ok(());
        }
        let Some(entries) = findings.keep(entries(&at.dir))? else { return Ok(()) };
        let is_metadata = |entry: &Entry| {
            entry.name() == b"metadata" && entry.kind.as_ref().is_ok_and(FileType::is_file)
        };
        let has_metadata = entries.iter().any(is_metadata);
        if has_metadata {
            self.found.push(Found { path: at.dir.clone(), given, kind: Kind::Ctf });
        }
        // An unrelated directory of this name is harmless, so this is reported only if there
        // is no trace.
        let is_irregular = |entry: &&Entry| {
            entry.name() == b"metadata" && entry.kind.as_ref().is_ok_and(|kind| !kind.is_file())
        };
        if let Some(entry) = entries.iter().find(is_irregular) {
            self.irregular.get_or_insert_with(|| entry.path.clone());
        }
        let is_in_trace = at.is_in_trace || has_metadata;
        let mut below = Vec::new();
        for entry in entries {
            if entry.name().starts_with(b".") {
                continue;
            }
            let is_dir = match &entry.kind {
                Ok(kind) => kind.is_dir(),
                // In a trace, the entry is one of its data stream files and is reported
                // when these are opened. Elsewhere a broken link is harmless and only
                // noted.
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    let is_metadata = entry.name() == b"metadata";
                    if entry.is_link && !has_metadata && !is_metadata {
                        findings.note(&entry.path, NoticeKind::BrokenLink);
                    } else if is_metadata {
                        findings.fail(entry.into_error())?;
                    }
                    continue;
                }
                Err(_) if has_metadata => continue,
                Err(_) => {
                    findings.fail(entry.into_error())?;
                    continue;
                }
            };
            if !is_dir {
                self.has_pages |= is_of_pages(entry.name());
                let kind = if is_in_trace { None } else { kind_of_file(&entry.path) };
                if let Some(kind) = kind {
                    self.found.push(Found { path: entry.path, given, kind });
                }
                continue;
            }
            if at.depth == MAX_DEPTH {
                findings.fail(Error::TooDeep { path: entry.path })?;
                continue;
            }
            let dir = PendingDir { dir: entry.path, depth: at.depth + 1, is_in_trace };
            if entry.is_link { links.push_back(dir) } else { below.push(dir) }
        }
        next.extend(below.into_iter().rev());
        Ok(())
    }
}

/// Returns `true` if a file has the name of the pages of a CPU, such as `trace.dat.cpu3`.
fn is_of_pages(name: &[u8]) -> bool {
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && name[..name.len() - digits].ends_with(b".cpu")
}

/// Returns the kind of the trace that a file is; `None` if it is none.
fn kind_of_file(path: &Path) -> Option<Kind> {
    match path {
        path if ftrace::is_recording(path) => Some(Kind::Ftrace),
        path if perf::is_recording(path) => Some(Kind::Perf),
        _ => None,
    }
}

/// Returns `true` if a directory is a trace in a format before CTF.
pub(crate) fn is_legacy(dir: &Path) -> bool {
    !dir.join("metadata").is_file() && is_trace(dir)
}
