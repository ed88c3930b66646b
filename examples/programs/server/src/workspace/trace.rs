//! A trace that a client has opened: a directory with one or more traces.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ltt_read::{OnFailure, OpenOptions, Trace, TraceIndex};
use lttv_context::{Traceset, TracesetContext};
use uuid::Uuid;

use super::file_memory::{FileMemory, FilesInMemory};
use super::{WorkspaceError, names};
use crate::dataset::ToldFaults;
use crate::protocol::models;

/// A directory with one or more traces, such as those of the kernel and of programs in one
/// recording.
#[derive(Debug)]
pub struct OpenTrace {
    /// The id, computed from path and name.
    pub uuid: Uuid,
    /// The name, chosen by the client.
    pub name: String,
    /// The path, as the client named it.
    pub named: String,
    /// The path without links.
    pub path: PathBuf,
    /// The traces in the directory.
    pub traces: Vec<Arc<Trace>>,
    /// The faults that opening them met, such as further traces there that cannot be read.
    pub faults: ToldFaults,
    /// The memory of its files.
    _files: FilesInMemory,
}

impl OpenTrace {
    /// Opens the traces at and below a path.
    ///
    /// # Errors
    ///
    /// If there are none, or none can be read.
    pub fn open(
        named: &str,
        path: PathBuf,
        name: Option<&str>,
        memory: &FileMemory,
    ) -> Result<Self, WorkspaceError> {
        let files = memory.take_for(&path);
        let options = OpenOptions::new().on_failure(OnFailure::Continue).access(files.access());
        let opened = options.open_all_of([&path]).map_err(|_| WorkspaceError::NotATrace)?;
        if opened.traces.is_empty() {
            let reason = opened.failures.first().map(|error| describe(error, &path));
            return Err(reason.map_or(WorkspaceError::NotATrace, WorkspaceError::Unreadable));
        }
        let name = name.map_or_else(|| default_name(&path), str::to_owned);
        Ok(OpenTrace {
            uuid: names::of_trace(&path, &name),
            name,
            named: named.to_owned(),
            path,
            traces: opened.traces,
            faults: ToldFaults {
                errors: opened
                    .failures
                    .iter()
                    .map(|failure| ltt_read::ErrorChain(failure).to_string())
                    .collect(),
                warnings: opened.notices.iter().map(|of| format!("warning: {of}")).collect(),
                ..ToldFaults::default()
            },
            _files: files,
        })
    }

    /// Returns the model of a trace that is in no experiment.
    pub fn closed(&self) -> models::Trace {
        models::Trace {
            uuid: self.uuid.to_string(),
            name: self.name.clone(),
            path: self.named.clone(),
            start: self.span().map_or(0, |(start, _)| start),
            end: self.span().map_or(0, |(_, end)| end),
            events: 0,
            indexing: models::Indexing::Closed,
            properties: BTreeMap::new(),
        }
    }

    /// Returns the times of all traces, in ns, as far as they are known without reading the events.
    pub fn span(&self) -> Option<(i64, i64)> {
        let spans = self.spans();
        let known = || spans.iter().flatten();
        Some((known().map(|of| of.0).min()?, known().map(|of| of.1).max()?))
    }

    /// Returns the times of each trace, in ns.
    pub fn spans(&self) -> Vec<Option<(i64, i64)>> {
        let context = TracesetContext::new(Traceset::from(self.traces.clone()));
        let span = |index| context.contexts().time_span_of(TraceIndex(index));
        let spans = (0..self.traces.len()).map(span);
        spans.map(|of| of.map(|of| (of.start.as_ns(), of.end.as_ns()))).collect()
    }

    /// Returns the properties of the traces and of their machines.
    pub fn properties(&self) -> BTreeMap<String, String> {
        let mut properties = BTreeMap::new();
        for trace in &self.traces {
            for (name, value) in &trace.schema().env {
                properties.entry(name.to_string()).or_insert_with(|| value.to_string());
            }
        }
        if let [trace] = &self.traces[..]
            && let Some(uuid) = trace.uuid()
        {
            properties.insert("uuid".to_owned(), uuid.to_string());
        }
        properties
    }
}

/// Returns the last part of a path.
pub(super) fn default_name(path: &Path) -> String {
    path.file_name().map_or_else(|| "trace".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Describes the fault of a trace without the part of paths that the client does not know.
fn describe(error: &ltt_read::Error, path: &Path) -> String {
    let text = ltt_read::ErrorChain(error).to_string();
    match path.to_str() {
        Some(path) => text.replace(&format!("{path}/"), "").replace(path, "the trace"),
        None => "the trace is damaged".to_owned(),
    }
}
