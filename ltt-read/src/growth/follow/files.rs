//! The files of recordings of perf and ftrace that are followed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use hashbrown::HashMap;

use super::followed::Followed;
use super::recording::{FollowedRecording, has_ended};
use crate::base::source::Access;
use crate::files::file_id::FileId;
use crate::files::findings::{Findings, OnFailure};
use crate::files::once::FilesOnce;
use crate::open::discover::Kind;
use crate::report::Error;
use crate::trace::Trace;
use crate::{ftrace, perf};

/// The files that were found.
#[derive(Debug, Default)]
pub(super) struct RecordingFiles(HashMap<FileId, Known>);

/// A file that was found.
#[derive(Debug)]
struct Known {
    path: PathBuf,
    kind: Kind,
    /// The size and the time of the last change when the file was read and was not complete.
    incomplete: Option<(u64, Option<SystemTime>)>,
}

/// A recording that was not known before.
pub(super) enum New {
    /// Its traces, since it has ended.
    Complete(Vec<Followed>),
    Growing(Box<FollowedRecording>),
}

impl RecordingFiles {
    /// Returns the recording in a file, if it is new or has become complete.
    pub(super) fn find(&mut self, path: &Path, kind: Kind) -> Result<Option<New>, Error> {
        let io = |error| Error::Io { path: path.to_owned(), error };
        let file = File::open(path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        let id = FileId::new(path, &metadata).map_err(io)?;
        let state = (metadata.len(), metadata.modified().ok());
        match self.0.get(&id) {
            Some(Known { incomplete: None, .. }) => return Ok(None),
            Some(Known { incomplete: Some(before), .. }) if *before == state => return Ok(None),
            _ => {}
        }
        let note = |incomplete| {
            self.0.insert(id, Known { path: path.to_owned(), kind, incomplete });
        };
        let not_yet = |reason| Error::NotATrace { path: path.to_owned(), reason };
        match kind {
            Kind::Perf if has_ended(&file).map_err(io)? => {}
            Kind::Perf if perf::is_of_threads(path) => {
                note(Some(state));
                return Err(not_yet(
                    "a recording of `perf record --threads` is read when it has ended",
                ));
            }
            Kind::Perf => {
                note(None);
                let recording = FollowedRecording::of_file(path, file);
                return Ok(Some(New::Growing(Box::new(recording))));
            }
            _ if ftrace::is_complete(path) => {}
            _ => {
                note(Some(state));
                return Err(not_yet("trace-cmd has not written all of it yet"));
            }
        }
        note(None);
        open_complete(path, kind).map(|traces| Some(New::Complete(traces)))
    }

    /// Returns `true` if a recording in a file was found and is complete or growing.
    pub(super) fn knows(&self, path: &Path) -> bool {
        let id = fs::metadata(path).and_then(|metadata| FileId::new(path, &metadata));
        id.is_ok_and(|id| self.0.get(&id).is_some_and(|known| known.incomplete.is_none()))
    }

    /// Returns the paths and kinds of the files that are not complete.
    pub(super) fn incomplete(&self) -> Vec<(PathBuf, Kind)> {
        let incomplete = self.0.values().filter(|known| known.incomplete.is_some());
        let mut paths: Vec<_> = incomplete.map(|known| (known.path.clone(), known.kind)).collect();
        paths.sort_by(|(a, _), (b, _)| a.cmp(b));
        paths
    }
}

/// Opens the traces in a file that grows no more.
pub(super) fn open_complete(path: &Path, kind: Kind) -> Result<Vec<Followed>, Error> {
    let mut findings = Findings::new(OnFailure::Stop);
    let (access, mut once) = (Access::default(), FilesOnce::default());
    let traces: Vec<Trace> = match kind {
        Kind::Ftrace => ftrace::open(path, access, &mut once, &mut findings)?,
        _ => perf::open(path, access, &mut once, &mut findings)?.into_iter().collect(),
    };
    Ok(traces.into_iter().map(|trace| Followed::Complete(Arc::new(trace))).collect())
}
