//! Opening of single traces, and of all traces at or below several paths.

mod bytes;
pub(crate) mod discover;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::source::{Access, FileBytes};
use crate::files::findings::{Findings, OnFailure};
use crate::files::once::{FilesOnce, data_files};
use crate::metadata::{Declarations, MetadataError};
use crate::report::{Error, Notice};
use crate::trace::{SMALL, Trace};
use crate::{ftrace, perf};

use discover::{Found, Kind, Search, is_legacy};

pub use bytes::open_bytes;
pub use discover::find_traces;

/// Options for opening traces.
///
/// ```
/// use ltt_read::{Access, OpenOptions};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// // The files of this trace may be overwritten while it is read.
/// let traces = OpenOptions::new().access(Access::Read).open_all(path)?;
/// # Ok::<(), ltt_read::Error>(())
/// ```
///
/// An interactive program opens everything that can be opened, and reports the failures:
///
/// ```
/// use ltt_read::{Merge, OnFailure, OpenOptions, Opened};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let options = OpenOptions::new().on_failure(OnFailure::Continue);
/// let Opened { traces, failures, notices } = options.open_all_of([path, path])?;
/// for notice in &notices {
///     eprintln!("{notice}"); // the second path is the same as the first
/// }
/// for failure in &failures {
///     eprintln!("{failure:?}");
/// }
/// let mut events = Merge::new(&traces);
/// // …
/// # assert_eq!((traces.len(), failures.len(), notices.len()), (1, 0, 1));
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct OpenOptions {
    access: Access,
    on_failure: OnFailure,
    verified: u64,
}

impl Default for OpenOptions {
    fn default() -> Self {
        OpenOptions { access: Access::default(), on_failure: OnFailure::default(), verified: SMALL }
    }
}

/// The result of opening several traces.
// Exhaustive: who takes it apart should see all of it.
#[derive(Debug, Default)]
#[must_use = "`failures` has the traces and files that could not be opened"]
pub struct Opened {
    /// The traces, sorted by the given path that led to them, then by their own path.
    pub traces: Vec<Arc<Trace>>,
    /// The errors about traces, directories and data stream files that could not be
    /// opened. Always empty with [`OnFailure::Stop`].
    pub failures: Vec<Error>,
    /// The notices about files and directories that were left out without loss:
    /// duplicates and broken links.
    pub notices: Vec<Notice>,
}

impl OpenOptions {
    /// Creates the default options: files are mapped, and the first failure is returned.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how the bytes of files are accessed. The default is [`Access::Map`].
    #[must_use]
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Sets the reaction of [`open_all_of`](Self::open_all_of) to failures. The default
    /// is [`OnFailure::Stop`]. The methods that return only traces, [`open`](Self::open)
    /// and [`open_all`](Self::open_all), always stop.
    #[must_use]
    pub fn on_failure(mut self, on_failure: OnFailure) -> Self {
        self.on_failure = on_failure;
        self
    }

    /// Sets the size in bytes up to which the data of a trace is read before its first
    /// seek, to determine the times of its packets from their events. The default is 16
    /// MiB. For larger traces, the times that packets declare are used if they are
    /// [reliable](crate::index::PacketTimes).
    ///
    /// ```
    /// use ltt_read::OpenOptions;
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// // Seeks in these traces are exact, whatever times their packets declare.
    /// let traces = OpenOptions::new().verify_times_up_to(u64::MAX).open_all(path)?;
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    #[must_use]
    pub fn verify_times_up_to(mut self, bytes: u64) -> Self {
        self.verified = bytes;
        self
    }

    /// Opens the trace in one directory or file: see [`Trace::open`].
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a file cannot be opened, [`Error::Metadata`] if the metadata is
    /// invalid, [`Error::Unsupported`] if no decoder can be compiled from it.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Arc<Trace>, Error> {
        let path = path.as_ref();
        let mut opening = Opening::new(self.access, OnFailure::Stop);
        if is_legacy(path) {
            let mut once = FilesOnce::default();
            let trace = crate::legacy::open(path, self.access, &mut once, &mut opening.findings);
            return trace.map(|trace| self.apply(trace));
        }
        if let Some(file) = recording_at(path, ftrace::is_recording, ftrace::recording_in) {
            let mut once = FilesOnce::default();
            let (access, findings) = (self.access, &mut opening.findings);
            let traces = crate::ftrace::open(&file, access, &mut once, findings)?;
            let reason = "the file is empty";
            let main = traces.into_iter().next().ok_or(Error::NotATrace { path: file, reason });
            return main.map(|trace| self.apply(trace));
        }
        if let Some(file) = recording_at(path, perf::is_recording, perf::recording_in) {
            let mut once = FilesOnce::default();
            let (access, findings) = (self.access, &mut opening.findings);
            let trace = perf::open(&file, access, &mut once, findings)?;
            let reason = "the file is empty";
            let trace = trace.ok_or(Error::NotATrace { path: file, reason });
            return trace.map(|trace| self.apply(trace));
        }
        if path.is_file() {
            let reason = discover::reason_for_file(path);
            return Err(Error::NotATrace { path: path.to_owned(), reason });
        }
        let mut parsed = parse_metadata(path)?;
        if let Some(error) = parsed.cut.take() {
            return Err(damaged_metadata(path, error));
        }
        let dirs = vec![path.to_owned()];
        let files = opening.files(&dirs)?;
        Ok(self.apply(Trace::new(dirs, parsed, files)?))
    }

    /// Opens all traces at or below a directory: see [`open_all`].
    ///
    /// # Errors
    ///
    /// [`Error::NotATrace`] if there is no trace, otherwise the first error from searching
    /// a directory or from opening a trace or one of its files.
    pub fn open_all(&self, path: impl AsRef<Path>) -> Result<Vec<Arc<Trace>>, Error> {
        let strict = self.on_failure(OnFailure::Stop);
        strict.open_all_of([path]).map(|opened| opened.traces)
    }

    /// Opens all traces at or below several directories.
    ///
    /// Each directory and each data stream file is read once, even if several paths or
    /// links lead to it; a [notice](crate::NoticeKind::Duplicate) reports this.
    /// Directories whose traces have the same UUID are one trace, whichever path led to
    /// them.
    ///
    /// # Errors
    ///
    /// With [`OnFailure::Stop`], the first failure: [`Error::NotATrace`] if there is no
    /// trace at or below one of the paths, otherwise the error from searching a directory
    /// or from opening a trace or one of its files. With [`OnFailure::Continue`], there
    /// is no error: all failures are in [`Opened::failures`], even if no trace could be
    /// opened.
    pub fn open_all_of<P: AsRef<Path>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Opened, Error> {
        let mut opening = Opening::new(self.access, self.on_failure);
        let mut search = Search::default();
        for path in paths {
            search.add(path.as_ref(), &mut opening.findings)?;
        }
        let mut groups: Vec<Group> = Vec::new();
        for found in search.found {
            opening.group(&mut groups, found)?;
        }
        groups.sort_by(|a, b| (a.given, &a.dirs[0]).cmp(&(b.given, &b.dirs[0])));
        let mut traces = Vec::new();
        for group in groups {
            traces.extend(opening.open(group)?.into_iter().map(|trace| self.apply(trace)));
        }
        let Findings { failures, notices, .. } = opening.findings;
        Ok(Opened { traces, failures, notices })
    }

    /// Passes the options to a trace that apply after it was opened.
    fn apply(&self, trace: Trace) -> Arc<Trace> {
        Arc::new(trace.verified_up_to(self.verified))
    }
}

impl Trace {
    /// Opens the trace in one directory, which contains its `metadata` file, or is that
    /// of a [legacy](crate::legacy) trace; or the main buffer of a recording of
    /// [ftrace](crate::ftrace), or a recording of [perf](crate::perf), given its path or that of its
    /// directory.
    ///
    /// Only the metadata and the first packet of each file are read. Damage in data
    /// stream files is reported when reading reaches it. A file with several names in the
    /// directory is read once.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a file cannot be opened, [`Error::Metadata`] if the metadata is
    /// invalid, [`Error::Unsupported`] if no decoder can be compiled from it.
    pub fn open(path: impl AsRef<Path>) -> Result<Arc<Trace>, Error> {
        OpenOptions::new().open(path)
    }
}

/// Opens all traces at or below a directory, such as those of a whole LTTng session.
///
/// Directories whose traces have the same UUID are one trace: LTTng creates them when it
/// rotates a session. A directory that several links lead to is read once. The traces are
/// sorted by path.
///
/// Any failure is returned as an error. [`OpenOptions::open_all_of`] can open the other
/// traces in spite of failures, and accepts several paths.
///
/// # Errors
///
/// [`Error::NotATrace`] if there is no trace, otherwise the first error from searching a
/// directory or from opening a trace or one of its files.
pub fn open_all(path: impl AsRef<Path>) -> Result<Vec<Arc<Trace>>, Error> {
    OpenOptions::new().open_all(path)
}

/// The directories of one trace.
struct Group {
    /// The index of the given path that led to the first of them.
    given: usize,
    dirs: Vec<PathBuf>,
    kind: Kind,
    /// The parsed metadata; `None` in other formats than CTF.
    parsed: Option<Declarations>,
}

/// The state while traces are opened.
struct Opening {
    access: Access,
    once: FilesOnce,
    findings: Findings,
}

impl Opening {
    fn new(access: Access, on_failure: OnFailure) -> Self {
        Opening { access, once: FilesOnce::default(), findings: Findings::new(on_failure) }
    }

    /// Adds a directory or file to the group of its trace.
    fn group(&mut self, groups: &mut Vec<Group>, found: Found) -> Result<(), Error> {
        let Found { path: dir, given, kind } = found;
        if kind != Kind::Ctf {
            groups.push(Group { given, dirs: vec![dir], kind, parsed: None });
            return Ok(());
        }
        let Some(parsed) = self.metadata(&dir)? else { return Ok(()) };
        let uuid = parsed.schema.uuid;
        let same = groups.iter_mut().find_map(|group| {
            let known = group.parsed.as_mut()?;
            (uuid.is_some() && known.schema.uuid == uuid).then_some((&mut group.dirs, known))
        });
        match same {
            Some((dirs, known)) => {
                dirs.push(dir);
                // Metadata grows during a session, so the longest one is complete.
                if parsed.schema.event_types.len() > known.schema.event_types.len() {
                    *known = parsed;
                }
            }
            None => groups.push(Group { given, dirs: vec![dir], kind, parsed: Some(parsed) }),
        }
        Ok(())
    }

    /// Parses the metadata in a directory; `None` if nothing of it can be used. Metadata that was cut
    /// is used, and is a failure as well.
    fn metadata(&mut self, dir: &Path) -> Result<Option<Declarations>, Error> {
        let Some(mut parsed) = self.findings.keep(parse_metadata(dir))? else { return Ok(None) };
        if let Some(error) = parsed.cut.take() {
            self.findings.fail(damaged_metadata(dir, error))?;
        }
        Ok(Some(parsed))
    }

    /// Opens the traces of a group; none if they cannot be opened, or if all of their files
    /// are open already.
    fn open(&mut self, group: Group) -> Result<Vec<Trace>, Error> {
        let (once, findings) = (&mut self.once, &mut self.findings);
        let Some(parsed) = group.parsed else {
            let opened = match group.kind {
                Kind::Ftrace => crate::ftrace::open(&group.dirs[0], self.access, once, findings),
                Kind::Perf => crate::perf::open(&group.dirs[0], self.access, once, findings)
                    .map(|trace| trace.into_iter().collect()),
                Kind::Legacy | Kind::Ctf => {
                    crate::legacy::open(&group.dirs[0], self.access, once, findings)
                        .map(|trace| vec![trace])
                }
            };
            return Ok(self.findings.keep(opened)?.unwrap_or_default());
        };
        let duplicates = self.once.duplicates;
        let files = self.files(&group.dirs)?;
        if files.is_empty() && self.once.duplicates > duplicates {
            return Ok(Vec::new());
        }
        let opened = Trace::new(group.dirs, parsed, files);
        Ok(self.findings.keep(opened)?.into_iter().collect())
    }

    /// Opens the data stream files of some directories.
    fn files(&mut self, dirs: &[PathBuf]) -> Result<Vec<(PathBuf, FileBytes)>, Error> {
        let mut files = Vec::new();
        for dir in dirs {
            files.extend(data_files(dir, self.access, &mut self.once, &mut self.findings)?);
        }
        Ok(files)
    }
}

/// The greatest size of a metadata file, in bytes. Known ones have at most some
/// megabytes.
pub(crate) const MAX_METADATA: u64 = 1 << 28;

fn damaged_metadata(dir: &Path, error: MetadataError) -> Error {
    Error::Metadata { path: dir.join("metadata"), error: Box::new(error) }
}

/// Returns the recording at a path: the file itself, or the one in a directory that has no metadata.
fn recording_at(
    path: &Path,
    is_recording: fn(&Path) -> bool,
    recording_in: fn(&Path) -> Option<PathBuf>,
) -> Option<PathBuf> {
    if !path.is_dir() {
        return is_recording(path).then(|| path.to_owned());
    }
    if path.join("metadata").exists() { None } else { recording_in(path) }
}

fn parse_metadata(dir: &Path) -> Result<Declarations, Error> {
    let path = dir.join("metadata");
    // Not mapped, since a tracer that regenerates metadata truncates it.
    match FileBytes::open_up_to(&path, Access::Read, MAX_METADATA) {
        Ok(source) => {
            Declarations::of_complete(source.bytes()).map_err(|error| damaged_metadata(dir, error))
        }
        Err(error) => Err(Error::Io { path, error }),
    }
}
