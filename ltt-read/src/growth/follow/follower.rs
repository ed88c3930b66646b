//! Following all traces at or below several paths.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use hashbrown::HashSet;

use super::silence::Silence;
use super::trace::FollowedTrace;
use crate::base::source::{Access, FileBytes};
use crate::base::time::Timestamp;
use crate::files::file_id::FileId;
use crate::files::findings::{Findings, OnFailure};
use crate::growth::GrowingTrace;
use crate::merge::Merge;
use crate::open::MAX_METADATA;
use crate::open::discover::{Kind, Search};
use crate::report::Error;
use crate::trace::Trace;

/// A reader of all traces at or below several directories while they are being recorded.
///
/// [`poll`](Self::poll) reads what was written since the last call: new packets, new files,
/// new metadata, and new traces. Each whole packet is returned once, whatever the tracer does
/// with its files: files are written anew when their number is limited, renamed and moved
/// when a session is rotated, and removed when it is cleared. Files are never mapped.
///
/// The end of a recording is not marked on disk. [`complete`](Self::complete) ends it.
///
/// Until then, events are delivered up to the time for which all tracefiles have data.
/// A tracefile without new data holds up the others. A [limit of silence](Self::with_silence)
/// bounds this: it should be at least twice the period at which the tracer flushes its
/// buffers (`lttng enable-channel --switch-timer`).
///
/// ```no_run
/// use std::time::{Duration, Instant};
///
/// use ltt_read::{Follower, Merge};
///
/// let mut follower = Follower::new(["lttng-traces/auto-20261125"])
///     .with_silence(Duration::from_secs(2));
/// let mut merge = Merge::new(&[]);
/// loop {
///     if follower.poll(Instant::now())? {
///         merge.continue_with(follower.traces());
///         while let Some(event) = merge.next() {
///             println!("{:?} {}", event.timestamp(), event.event_type().name());
///         }
///         follower.release(&merge);
///     }
///     std::thread::sleep(Duration::from_millis(100));
/// }
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug)]
#[doc(alias("prometheus", "tail"))]
pub struct Follower {
    paths: Vec<PathBuf>,
    traces: Vec<FollowedTrace>,
    versions: Vec<Arc<Trace>>,
    /// The trace whose metadata is in a directory, with the state of the file when it was read.
    dirs: BTreeMap<PathBuf, Dir>,
    silence: Option<Silence>,
    latest: Timestamp,
    /// The texts of the failures that last and were returned.
    returned: HashSet<String>,
    /// The other failures of the last poll.
    failures: Vec<Error>,
}

/// A directory with metadata.
#[derive(Debug)]
struct Dir {
    read: MetadataState,
    /// The index of its trace; `None` while the metadata cannot be parsed.
    trace: Option<usize>,
    error: Option<Error>,
}

/// The state of a metadata file, by which changes are seen.
#[derive(Debug, PartialEq, Eq)]
struct MetadataState {
    id: FileId,
    len: u64,
    modified: Option<SystemTime>,
}

impl Follower {
    /// Creates a follower of all traces that are or will be at or below some directories.
    /// Nothing is read yet. The directories need not exist yet.
    pub fn new<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Follower {
        Follower {
            paths: paths.into_iter().map(|path| path.as_ref().to_owned()).collect(),
            traces: Vec::new(),
            versions: Vec::new(),
            dirs: BTreeMap::new(),
            silence: None,
            latest: Timestamp::MIN,
            returned: HashSet::new(),
            failures: Vec::new(),
        }
    }

    /// Sets a limit of silence: what is recorded is assumed to be in the files after that
    /// time. Tracefiles that are silent for longer do not hold up others any more.
    #[must_use]
    pub fn with_silence(mut self, limit: Duration) -> Follower {
        self.silence = Some(Silence::new(limit));
        self
    }

    /// Reads what was written since the last call, up to 4 MiB of each file. Returns `true` if
    /// [`traces`](Self::traces) have changed. `now` is the instant of this call, which is
    /// used for the limit of silence.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a file or directory that is there cannot be read, [`Error::Decode`] if a
    /// file cannot be read beyond damage, [`Error::NotATrace`] and [`Error::TooDeep`] if a
    /// directory cannot be followed. All others have been read, and the failure is tried again at
    /// the next call. One that lasts is returned once, and if there are several, one by each call.
    ///
    /// Metadata that cannot be parsed may be incomplete, so this is no error before
    /// [`complete`](Self::complete): see [`metadata_errors`](Self::metadata_errors).
    pub fn poll(&mut self, now: Instant) -> Result<bool, Error> {
        let mut failures = Vec::new();
        let mut has_grown = self.find_traces(&mut failures);
        for trace in &mut self.traces {
            has_grown |= trace.read(&mut failures);
        }
        if let Some(time) = self.quiet_until(now) {
            self.traces.iter_mut().for_each(|trace| trace.silent_until(time));
            has_grown = true;
        }
        if has_grown {
            self.update();
        }
        self.next_failure(failures).map_or(Ok(has_grown), Err)
    }

    /// Returns the first failure that was not returned before.
    fn next_failure(&mut self, failures: Vec<Error>) -> Option<Error> {
        if failures.is_empty() && self.returned.is_empty() {
            return None;
        }
        let lasting: HashSet<String> = failures.iter().map(Error::to_string).collect();
        self.returned.retain(|text| lasting.contains(text));
        self.failures = failures;
        self.failures.retain(|failure| !self.returned.contains(&failure.to_string()));
        if self.failures.is_empty() {
            return None;
        }
        let first = self.failures.remove(0);
        self.returned.insert(first.to_string());
        Some(first)
    }

    /// Returns the reasons why metadata cannot be parsed as far as it has been written, sorted by
    /// path. A caller that stops following should report them, since the events of these traces
    /// were not delivered.
    pub fn metadata_errors(&self) -> impl Iterator<Item = &Error> {
        self.dirs.values().filter_map(|dir| dir.error.as_ref())
    }

    /// Returns the traces found so far, as far as they have been read, in the order in which
    /// they were found. They are versions of [growing traces](GrowingTrace).
    pub fn traces(&self) -> &[Arc<Trace>] {
        &self.versions
    }

    /// Returns `true` if the last [`poll`](Self::poll) read all files to their ends.
    pub fn is_read(&self) -> bool {
        self.traces.iter().all(FollowedTrace::is_read)
    }

    /// Forgets the data that a merge of the [`traces`](Self::traces) has delivered. Without
    /// this call, all data is kept in memory.
    pub fn release(&mut self, merge: &Merge) {
        for (number, trace) in self.traces.iter_mut().enumerate() {
            trace.growing.release(merge, number);
        }
        self.latest = self.latest.max(merge.latest());
    }

    /// Ends the recording: nothing more is read, and everything that was read is final. What
    /// is left of packets at the ends of files is damage.
    ///
    /// # Errors
    ///
    /// The first of the [`metadata_errors`](Self::metadata_errors), or a failure that
    /// [`poll`](Self::poll) has not returned yet.
    pub fn complete(&mut self) -> Result<(), Error> {
        self.traces.iter_mut().for_each(FollowedTrace::complete);
        self.update();
        let failed = self.dirs.values_mut().find_map(|dir| dir.error.take());
        failed.or_else(|| self.failures.drain(..).next()).map_or(Ok(()), Err)
    }

    fn update(&mut self) {
        let versions = self.traces.iter_mut().map(|trace| trace.growing.version().clone());
        self.versions = versions.collect();
    }

    /// Returns a time before which nothing is missing, if there is a new one.
    fn quiet_until(&mut self, now: Instant) -> Option<Timestamp> {
        let known = self.traces.iter().map(|trace| trace.growing.known_until());
        self.latest = known.max().unwrap_or(Timestamp::MIN).max(self.latest);
        let is_read = self.is_read();
        let time = self.silence.as_mut()?.note(now, self.latest)?;
        is_read.then_some(time)
    }

    /// Finds traces, their metadata and their files. Returns `true` if something is new.
    fn find_traces(&mut self, failures: &mut Vec<Error>) -> bool {
        let mut findings = Findings::new(OnFailure::Continue);
        let mut search = Search::default();
        for path in &self.paths {
            _ = search.add(path, &mut findings);
        }
        failures.extend(findings.failures.into_iter().filter(is_lasting));
        self.dirs.retain(|dir, _| search.found.iter().any(|found| found.path == *dir));
        let mut has_grown = false;
        for found in &search.found {
            if found.kind != Kind::Ctf {
                let (path, reason) = (found.path.clone(), "only CTF can be followed");
                failures.push(Error::NotATrace { path, reason });
                continue;
            }
            match self.read_metadata(&found.path) {
                Ok(is_new) => has_grown |= is_new,
                Err(error) => failures.extend(Some(error).filter(is_lasting)),
            }
            let trace = self.dirs.get(&found.path).and_then(|dir| dir.trace);
            if let Some(trace) = trace.and_then(|number| self.traces.get_mut(number)) {
                let mut found_here = Vec::new();
                trace.add_files(&found.path, &mut found_here);
                failures.extend(found_here.into_iter().filter(is_lasting));
            }
        }
        has_grown
    }

    /// Reads the metadata of a directory if it has changed. Returns `true` if it declares a
    /// new trace, or more of a known one.
    fn read_metadata(&mut self, dir: &Path) -> Result<bool, Error> {
        let path = dir.join("metadata");
        let state = || {
            let metadata = fs::metadata(&path)?;
            let (len, modified) = (metadata.len(), metadata.modified().ok());
            Ok::<_, std::io::Error>(MetadataState {
                id: FileId::new(&path, &metadata)?,
                len,
                modified,
            })
        };
        let state = state().map_err(|error| Error::Io { path: path.clone(), error })?;
        let known = self.dirs.get(dir);
        if known.is_some_and(|known| known.read == state) {
            return Ok(false);
        }
        let before = known.and_then(|known| known.trace);
        // Metadata is truncated and written anew when it is regenerated.
        if state.len == 0 && before.is_some() {
            return Ok(false);
        }
        let source = FileBytes::open_up_to(&path, Access::Read, MAX_METADATA);
        let source = source.map_err(|error| Error::Io { path: path.clone(), error })?;
        let (trace, error, has_grown) = match self.add_metadata(dir, source.bytes()) {
            Ok((trace, has_grown)) => (Some(trace), None, has_grown),
            Err(error) => (before, Some(error), false),
        };
        self.dirs.insert(dir.to_owned(), Dir { read: state, trace, error });
        Ok(has_grown)
    }

    /// Adds a trace, or extends the metadata of the one that has the same UUID or, without
    /// UUIDs, the same directory. Returns its index, and `true` if something is new.
    fn add_metadata(&mut self, dir: &Path, bytes: &[u8]) -> Result<(usize, bool), Error> {
        let mut found = GrowingTrace::new(dir, bytes)?;
        let uuid = found.version().uuid();
        let same = self.traces.iter_mut().position(|known| {
            let known = known.growing.version();
            known.uuid() == uuid && (uuid.is_some() || known.path() == dir)
        });
        match same {
            Some(number) => {
                let has_grown = self.traces[number].growing.extend_metadata(bytes)?;
                Ok((number, has_grown))
            }
            None => {
                self.traces.push(FollowedTrace::new(found));
                Ok((self.traces.len() - 1, true))
            }
        }
    }
}

/// Returns `true` if an error does not just say that something is not there yet, or not any more:
/// directories may be moved while they are searched.
fn is_lasting(error: &Error) -> bool {
    match error {
        Error::Io { error, .. } => error.kind() != ErrorKind::NotFound,
        Error::NotATrace { path, .. } => !path.is_dir(),
        _ => true,
    }
}
