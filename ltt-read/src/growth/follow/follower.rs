//! Following all traces at or below several paths.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant, SystemTime};

use hashbrown::HashSet;

use super::files::{New, RecordingFiles, open_complete};
use super::followed::Followed;
use super::recording::FollowedRecording;
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
/// when a session is rotated, and removed when it is cleared. Files that grow are never mapped.
///
/// The end of a recording in CTF is not marked on disk. [`complete`](Self::complete) ends it.
///
/// Recordings of perf are followed in files and in [streams](Self::with_stream), up to their
/// [end](Self::has_ended). perf describes tracepoints at the end of a file, so until then they are named by
/// their numbers and their fields are bytes; in a stream their descriptions come first. Of compressed records
/// (`-z`), the last part, of at most some hundred KiB, is known at the end only. A recording of ftrace is a file
/// that trace-cmd writes when it ends: it is read then.
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
    traces: Vec<Followed>,
    /// The recordings of perf that are no traces yet, since their descriptions are not there.
    starting: Vec<FollowedRecording>,
    files: RecordingFiles,
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
            starting: Vec::new(),
            files: RecordingFiles::default(),
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

    /// Adds a recording of perf that arrives from a stream, such as a pipe, up to its end: another thread reads
    /// the stream and sends its parts. The path is for messages and names.
    ///
    /// ```
    /// use std::sync::mpsc::sync_channel;
    /// use std::time::Instant;
    ///
    /// use ltt_read::{Follower, Merge};
    ///
    /// let (sender, stream) = sync_channel(16);
    /// let mut follower = Follower::new([""; 0]).with_stream("-", stream);
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/perf/pipe-z.data");
    /// let bytes = std::fs::read(path)?;
    /// let (first, second) = bytes.split_at(bytes.len() / 2);
    /// let mut merge = Merge::new(&[]);
    /// let mut events = 0;
    /// for part in [first, second] {
    ///     sender.send(Ok(part.to_vec()))?;
    ///     follower.poll(Instant::now())?;
    ///     merge.continue_with(follower.traces());
    ///     while merge.next().is_some() {
    ///         events += 1;
    ///     }
    /// }
    /// drop(sender);
    /// follower.poll(Instant::now())?;
    /// assert!(follower.has_ended());
    /// merge.continue_with(follower.traces());
    /// while merge.next().is_some() {
    ///     events += 1;
    /// }
    /// assert!(events > 50 && !merge.is_pending());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_stream(
        mut self,
        path: impl AsRef<Path>,
        stream: Receiver<io::Result<Vec<u8>>>,
    ) -> Follower {
        self.starting.push(FollowedRecording::of_stream(path.as_ref(), stream));
        self
    }

    /// Returns `true` if nothing follows: there are only recordings of perf and ftrace that have ended, and no
    /// directories in which there may be others.
    pub fn has_ended(&self) -> bool {
        let is_known = |path: &PathBuf| self.files.knows(path);
        self.starting.is_empty()
            && self.paths.iter().all(is_known)
            && self.traces.iter().all(Followed::has_ended)
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
        has_grown |= self.start(&mut failures);
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
        self.traces.iter().all(Followed::is_read)
            && self.starting.iter().all(FollowedRecording::is_read)
    }

    /// Forgets the data that a merge of the [`traces`](Self::traces) has delivered. Without
    /// this call, all data is kept in memory.
    pub fn release(&mut self, merge: &Merge) {
        for (number, trace) in self.traces.iter_mut().enumerate() {
            trace.release(merge, number);
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
        let mut failed = self.dirs.values_mut().find_map(|dir| dir.error.take());
        let mut keep = |result: Result<(), Error>| {
            failed = failed.take().or(result.err());
        };
        for mut recording in std::mem::take(&mut self.starting) {
            keep(recording.complete());
            if recording.growing.is_some() {
                self.traces.push(Followed::Perf(Box::new(recording)));
            }
        }
        for (path, kind) in self.files.incomplete() {
            let opened = open_complete(&path, kind);
            keep(opened.map(|traces| self.traces.extend(traces)));
        }
        self.traces.iter_mut().for_each(|trace| keep(trace.complete()));
        self.update();
        failed.or_else(|| self.failures.drain(..).next()).map_or(Ok(()), Err)
    }

    /// Reads the recordings of perf that are no traces yet. Returns `true` if one has become one.
    fn start(&mut self, failures: &mut Vec<Error>) -> bool {
        let mut has_grown = false;
        for mut recording in std::mem::take(&mut self.starting) {
            recording.read(failures);
            match &recording.growing {
                Some(_) => {
                    self.traces.push(Followed::Perf(Box::new(recording)));
                    has_grown = true;
                }
                None if recording.is_complete() => {}
                None => self.starting.push(recording),
            }
        }
        has_grown
    }

    fn update(&mut self) {
        let versions = self.traces.iter_mut().filter_map(|trace| trace.version().cloned());
        self.versions = versions.collect();
    }

    /// Returns a time before which nothing is missing, if there is a new one.
    fn quiet_until(&mut self, now: Instant) -> Option<Timestamp> {
        let known = self.traces.iter().map(Followed::known_until);
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
            if found.kind == Kind::Legacy {
                let reason = "recordings of LTTng 0.x cannot be followed";
                failures.push(Error::NotATrace { path: found.path.clone(), reason });
                continue;
            }
            if found.kind != Kind::Ctf {
                match self.files.find(&found.path, found.kind) {
                    Ok(Some(New::Complete(traces))) => {
                        self.traces.extend(traces);
                        has_grown = true;
                    }
                    Ok(Some(New::Growing(recording))) => self.starting.push(*recording),
                    Ok(None) => {}
                    Err(error) => failures.extend(Some(error).filter(is_lasting)),
                }
                continue;
            }
            match self.read_metadata(&found.path) {
                Ok(is_new) => has_grown |= is_new,
                Err(error) => failures.extend(Some(error).filter(is_lasting)),
            }
            let trace = self.dirs.get(&found.path).and_then(|dir| dir.trace);
            let trace = trace.and_then(|number| self.traces.get_mut(number));
            if let Some(Followed::Ctf(trace)) = trace {
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
        let same = (0..).zip(&mut self.traces).find_map(|(number, known)| {
            let Followed::Ctf(known) = known else { return None };
            let version = known.growing.version();
            let is_same = version.uuid() == uuid && (uuid.is_some() || version.path() == dir);
            is_same.then_some((number, known))
        });
        match same {
            Some((number, known)) => {
                let has_grown = known.growing.extend_metadata(bytes)?;
                Ok((number, has_grown))
            }
            None => {
                self.traces.push(Followed::Ctf(Box::new(FollowedTrace::new(found))));
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
