//! Events of traces that are being recorded.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use ltt_read::{Event, Merge, Trace};
use lttv_common::follow::{FollowArgs, PAUSE, Place as Source};
use lttv_context::{Recording, RecordingState};
use lttv_filter::{Environment, Expression, Zone};
use lttv_state::filter::KernelFilters;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::place::Place;
use crate::errors::{FilterError, of_filter, of_other};
use crate::outside::check_signals;

/// The number of events that are examined at once.
const MANY: u64 = 1 << 16;

/// A reader of traces that grow.
pub(crate) struct Follow {
    recording: Recording,
    merge: Merge,
    expression: Option<Expression>,
    filters: Option<KernelFilters>,
    /// The longest time to wait for an event; `None` for any time.
    timeout: Option<Duration>,
    traces: Option<Vec<Arc<Trace>>>,
    has_ended: bool,
}

impl Follow {
    /// Opens a recording: a directory that grows, or a live session.
    pub(crate) fn open(
        py: Python<'_>,
        path: PathBuf,
        args: FollowArgs,
        expression: Option<Expression>,
        timeout: Option<Duration>,
    ) -> PyResult<Follow> {
        let paths = vec![path];
        let recording = py.detach(|| {
            let source = Source::new(&paths, args).map_err(|error| error.to_string())?;
            // An error of a relay daemon names it.
            let opened = source.recording(&paths, args, None);
            opened.map_err(|error| ltt_read::ErrorChain(&*error).to_string())
        });
        let recording = recording.map_err(crate::errors::TraceError::new_err)?;
        let recording = recording.ok_or_else(|| {
            PyValueError::new_err("expected a directory, or net://HOST/host/NAME/SESSION")
        })?;
        // Wrong words are known without traces.
        compile(expression.as_ref(), &[])?;
        Ok(Follow {
            recording,
            merge: Merge::new(&[]),
            expression,
            filters: None,
            timeout,
            traces: None,
            has_ended: false,
        })
    }

    pub(super) fn merge(&mut self) -> &mut Merge {
        &mut self.merge
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    pub(super) fn set_timeout(&mut self, timeout: Option<Duration>) -> Option<Duration> {
        std::mem::replace(&mut self.timeout, timeout)
    }

    /// Returns the current version of the traces, if it is new.
    pub(super) fn new_traces(&mut self) -> Option<Vec<Arc<Trace>>> {
        self.traces.take()
    }

    /// Ends the recording: what is left of it is delivered.
    pub(super) fn complete(&mut self, py: Python<'_>) -> PyResult<()> {
        self.recording.complete().map_err(|error| of_other(py, &error))
    }

    pub(super) fn next(&mut self, py: Python<'_>) -> PyResult<Option<Place>> {
        let deadline = self.timeout.map(|timeout| Instant::now() + timeout);
        loop {
            let (place, is_out) = py.detach(|| self.examine());
            if place.is_some() {
                return Ok(place);
            }
            check_signals(py)?;
            if !is_out {
                continue;
            }
            let Follow { recording, merge, .. } = self;
            let polled = py.detach(|| {
                let polled = recording.poll(PAUSE, merge);
                // A directory is looked at again after a while.
                if matches!(polled, Ok(RecordingState::Idle)) {
                    thread::sleep(
                        PAUSE.min(deadline.map_or(PAUSE, |end| end - Instant::now().min(end))),
                    );
                }
                polled
            });
            match polled.map_err(|error| of_other(py, &error))? {
                RecordingState::Ended => {
                    self.has_ended = true;
                    return Ok(None);
                }
                RecordingState::Busy => self.grow()?,
                RecordingState::Idle => {}
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                // What has arrived comes first.
                let (place, _) = py.detach(|| self.examine());
                return Ok(place);
            }
        }
    }

    /// Looks for the next event among those that have arrived. Returns `true` as well if there are no others.
    fn examine(&mut self) -> (Option<Place>, bool) {
        let filters = self.filters.as_ref().map(KernelFilters::filters);
        let passes = |event: &Event<'_>| filters.is_none_or(|of| of.matches(event));
        let mut examined = 0;
        let found = self.merge.next_where(|event| {
            examined += 1;
            examined > MANY || passes(event)
        });
        match found {
            Some(event) if passes(&event) => (Some(Place::of(&event)), false),
            Some(_) => (None, false),
            None => (None, true),
        }
    }

    /// Continues with the next version of the traces.
    fn grow(&mut self) -> PyResult<()> {
        let traces = self.recording.traceset().traces().to_vec();
        match &mut self.filters {
            Some(filters) => filters.grow(&traces),
            None => self.filters = compile(self.expression.as_ref(), &traces)?,
        }
        self.traces = Some(traces);
        Ok(())
    }
}

fn compile(
    expression: Option<&Expression>,
    traces: &[Arc<Trace>],
) -> PyResult<Option<KernelFilters>> {
    let Some(expression) = expression.filter(|_| !traces.is_empty()) else { return Ok(None) };
    let environment = Environment::new().in_zone(Zone::UTC);
    let filters = KernelFilters::new(expression, traces, &environment);
    let filters = filters.map_err(|error| of_filter(&error))?;
    match filters.uses_state() {
        true => Err(FilterError::new_err(
            "a recording is followed without the kernel state, which this filter needs",
        )),
        false => Ok(Some(filters)),
    }
}
