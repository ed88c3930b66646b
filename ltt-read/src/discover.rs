//! Finding traces below directories, and the files of a trace.

use std::collections::VecDeque;
use std::fs::FileType;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use hashbrown::HashMap;

use crate::error::Error;
use crate::file_id::FileId;
use crate::findings::{Findings, OnFailure};
use crate::legacy;
use crate::notice::NoticeKind;
use crate::source::{Access, Source};

/// How deep directories are searched (LTTng's are 5 deep).
pub(crate) const MAX_DEPTH: usize = 16;

/// Returns the directories at or below `path` that hold a `metadata` file, or are
/// [legacy] traces, sorted by path.
///
/// LTTng writes a session as several traces: one in `kernel`, one for each
/// user or process in `ust/…`. Symbolic links to directories are followed, but
/// each directory is searched only once, however many links lead to it. Hidden
/// directories are not entered.
///
/// # Errors
///
/// [`Error::Io`] if `path` or a directory below it cannot be read,
/// [`Error::TooDeep`] if there are directories more than 16 deep,
/// [`Error::NotATrace`] if nothing is found. To go on in spite of the first two, see
/// [`OpenOptions::open_all_of`](crate::OpenOptions::open_all_of).
pub fn find_traces(path: impl AsRef<Path>) -> Result<Vec<PathBuf>, Error> {
    let mut findings = Findings::new(OnFailure::Stop);
    let mut search = Search::default();
    search.add(path.as_ref(), &mut findings)?;
    Ok(search.found.into_iter().map(|found| found.dir).collect())
}

/// A search for traces at or below several paths.
#[derive(Debug, Default)]
pub(crate) struct Search {
    /// The traces found so far, sorted by path for each path that was given.
    pub(crate) found: Vec<Found>,
    /// The directories that were searched, and how they were reached.
    searched: HashMap<FileId, PathBuf>,
    /// How many paths were given.
    paths: usize,
}

/// A directory that is a trace.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) dir: PathBuf,
    /// Which of the paths given led to it, from 0.
    pub(crate) given: usize,
    /// Whether it is of a format before CTF.
    pub(crate) is_legacy: bool,
}

/// A directory to be searched.
struct Next {
    dir: PathBuf,
    depth: usize,
}

impl Search {
    /// Searches at and below one more path. Directories that were searched already
    /// are noted as duplicates if there are traces in them.
    pub(crate) fn add(&mut self, path: &Path, findings: &mut Findings) -> Result<(), Error> {
        let (first, failures) = (self.found.len(), findings.failures.len());
        let given = self.paths;
        self.paths += 1;
        let io = |source| Error::Io { path: path.to_owned(), source };
        let Some(metadata) = findings.keep(path.metadata().map_err(io))? else { return Ok(()) };
        // A file is no trace, but its name may be given by mistake.
        if !metadata.is_dir() {
            let reason = "it is a file; give the directory that holds `metadata`";
            return findings.fail(Error::NotATrace { path: path.to_owned(), reason });
        }
        let mut again = Vec::new();
        let mut next = vec![Next { dir: path.to_owned(), depth: 0 }];
        // What is really there comes first, so that links are the duplicates.
        let mut links = VecDeque::new();
        while let Some(at) = next.pop().or_else(|| links.pop_front()) {
            let metadata = at.dir.metadata();
            let id = metadata.and_then(|metadata| FileId::new(&at.dir, &metadata));
            let io = |source| Error::Io { path: at.dir.clone(), source };
            let Some(id) = findings.keep(id.map_err(io))? else { continue };
            if let Some(before) = self.searched.get(&id) {
                again.push((at.dir, before.clone()));
                continue;
            }
            self.searched.insert(id, at.dir.clone());
            self.enter(at, given, &mut next, &mut links, findings)?;
        }
        self.found[first..].sort_by(|a, b| a.dir.cmp(&b.dir));
        let mut is_there = self.found.len() > first || findings.failures.len() > failures;
        for (dir, before) in again {
            if self.found.iter().any(|found| found.dir.starts_with(&before)) {
                findings.note(&dir, NoticeKind::Duplicate { first: before.into() });
                is_there = true;
            }
        }
        if is_there {
            return Ok(());
        }
        let reason = "no `metadata` file and no LTTng 0.x trace in this directory or below";
        findings.fail(Error::NotATrace { path: path.to_owned(), reason })
    }

    /// Looks into a directory: whether it is a trace, and what is below it.
    fn enter(
        &mut self,
        at: Next,
        given: usize,
        next: &mut Vec<Next>,
        links: &mut VecDeque<Next>,
        findings: &mut Findings,
    ) -> Result<(), Error> {
        if is_legacy(&at.dir) {
            // Its directories are parts of it.
            self.found.push(Found { dir: at.dir, given, is_legacy: true });
            return Ok(());
        }
        let Some(entries) = findings.keep(entries(&at.dir))? else { return Ok(()) };
        let is_metadata = |entry: &Entry| {
            entry.name() == b"metadata" && entry.kind.as_ref().is_ok_and(FileType::is_file)
        };
        let has_metadata = entries.iter().any(is_metadata);
        if has_metadata {
            self.found.push(Found { dir: at.dir.clone(), given, is_legacy: false });
        }
        let mut below = Vec::new();
        for entry in entries {
            if entry.name().starts_with(b".") {
                continue;
            }
            let is_dir = match &entry.kind {
                Ok(kind) => kind.is_dir(),
                // In a trace, this is a file of it; elsewhere nothing is lost.
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
                continue;
            }
            if at.depth == MAX_DEPTH {
                findings.fail(Error::TooDeep { path: entry.path })?;
                continue;
            }
            let dir = Next { dir: entry.path, depth: at.depth + 1 };
            if entry.is_link { links.push_back(dir) } else { below.push(dir) }
        }
        next.extend(below.into_iter().rev());
        Ok(())
    }
}

/// Whether a directory is a trace of a format before CTF.
pub(crate) fn is_legacy(dir: &Path) -> bool {
    !dir.join("metadata").is_file() && legacy::is_trace(dir)
}

/// An entry of a directory, and what it is or links to.
pub(crate) struct Entry {
    pub(crate) path: PathBuf,
    pub(crate) is_link: bool,
    pub(crate) kind: io::Result<FileType>,
}

impl Entry {
    fn name(&self) -> &[u8] {
        self.path.file_name().unwrap_or_default().as_encoded_bytes()
    }

    /// Why it cannot be looked at.
    ///
    /// # Panics
    ///
    /// If it can be looked at.
    pub(crate) fn into_error(self) -> Error {
        Error::Io { path: self.path, source: self.kind.expect_err("an error") }
    }
}

/// The entries of a directory, sorted by name.
pub(crate) fn entries(dir: &Path) -> Result<Vec<Entry>, Error> {
    let io = |source| Error::Io { path: dir.to_owned(), source };
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(io)? {
        let entry = entry.map_err(io)?;
        let (path, kind) = (entry.path(), entry.file_type());
        // Only a link takes a system call to look at.
        let is_link = kind.as_ref().is_ok_and(FileType::is_symlink);
        let kind = if is_link { path.metadata().map(|it| it.file_type()) } else { kind };
        entries.push(Entry { path, is_link, kind });
    }
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
}

/// Opens the files of traces, each file once.
#[derive(Debug, Default)]
pub(crate) struct FilesOnce {
    opened: HashMap<FileId, PathBuf>,
    /// How many files were not opened again.
    pub(crate) duplicates: usize,
}

impl FilesOnce {
    /// Opens a file that is not empty, unless it is open already: that is noted then.
    pub(crate) fn open(
        &mut self,
        path: &Path,
        access: Access,
        findings: &mut Findings,
    ) -> Result<Option<Source>, Error> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        let look = || {
            let metadata = path.metadata()?;
            Ok((metadata.len(), FileId::new(path, &metadata)?))
        };
        let Some((len, id)) = findings.keep(look().map_err(io))? else { return Ok(None) };
        if len == 0 {
            return Ok(None);
        }
        if let Some(first) = self.opened.get(&id) {
            self.duplicates += 1;
            findings.note(path, NoticeKind::Duplicate { first: first.as_path().into() });
            return Ok(None);
        }
        let Some(source) = findings.keep(Source::open(path, access))? else { return Ok(None) };
        self.opened.insert(id, path.to_owned());
        Ok(Some(source))
    }
}

/// Opens the data stream files of a trace directory, sorted by name. Empty files are
/// left out.
pub(crate) fn data_files(
    dir: &Path,
    access: Access,
    once: &mut FilesOnce,
    findings: &mut Findings,
) -> Result<Vec<(PathBuf, Source)>, Error> {
    let mut files = Vec::new();
    for entry in findings.keep(entries(dir))?.unwrap_or_default() {
        if entry.name() == b"metadata" || entry.name().starts_with(b".") {
            continue;
        }
        match &entry.kind {
            Ok(kind) if kind.is_file() => {
                let source = once.open(&entry.path, access, findings)?;
                files.extend(source.map(|source| (entry.path, source)));
            }
            Ok(_) => {}
            Err(_) => findings.fail(entry.into_error())?,
        }
    }
    Ok(files)
}
