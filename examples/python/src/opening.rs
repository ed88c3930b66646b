//! Opening of traces.

use std::path::PathBuf;

use ltt_read::{Access, OnFailure, OpenOptions, Opened};
use lttv_common::clocks::{ClockOffset, Corrections};
use lttv_context::Traceset;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{TraceWarning, of_read, warn, warn_of_error};
use crate::hosting::{self, Failure};

/// The arguments of `open`, by which the traces can be opened again.
#[derive(Debug, Clone)]
pub(crate) struct OpenArgs {
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) sync: bool,
    pub(crate) clock_offset: Vec<(String, String)>,
    pub(crate) clock_transform: Option<PathBuf>,
    pub(crate) access: String,
}

impl OpenArgs {
    /// Opens the traces, with corrected clocks.
    pub(crate) fn open(&self, py: Python<'_>) -> PyResult<Traceset> {
        let access = match &*self.access {
            "map" => Access::Map,
            "read" => Access::Read,
            other => {
                let text = format!("access: expected 'map' or 'read', not '{other}'");
                return Err(PyValueError::new_err(text));
            }
        };
        let corrections = self.corrections()?;
        let options = OpenOptions::new().access(access).on_failure(OnFailure::Continue);
        let opened = py.detach(|| options.open_all_of(&self.paths));
        let Opened { traces, mut failures, notices } =
            opened.map_err(|error| of_read(py, &error))?;
        if traces.is_empty() && !failures.is_empty() {
            return Err(of_read(py, &failures.remove(0)));
        }
        for failure in &failures {
            warn_of_error(py, failure)?;
        }
        for notice in &notices {
            warn::<TraceWarning>(py, &notice.to_string())?;
        }
        for warning in traces.iter().flat_map(|trace| trace.warnings()) {
            warn::<TraceWarning>(py, &format!("metadata: {}", warning.message))?;
        }
        let traceset = Traceset::from(traces);
        if corrections.is_empty() {
            return Ok(traceset);
        }
        let corrected = hosting::run(py, &traceset, None, |report| {
            let corrected = corrections.corrected(traceset.clone(), report);
            corrected.map_err(|error| Failure::of(&error))
        })?;
        Ok(corrected.0.traceset)
    }

    /// Returns the corrections of clocks.
    pub(crate) fn corrections(&self) -> PyResult<Corrections> {
        let offset = |(host, offset): &(String, String)| {
            let parsed = format!("{host}={offset}").parse::<ClockOffset>();
            parsed.map_err(|error| PyValueError::new_err(format!("clock_offset: {error}")))
        };
        Ok(Corrections {
            sync: self.sync,
            clock_transform: self.clock_transform.clone(),
            clock_offsets: self.clock_offset.iter().map(offset).collect::<PyResult<_>>()?,
        })
    }
}
