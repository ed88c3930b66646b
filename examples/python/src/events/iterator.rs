//! Iterators over events: as objects, tuples and dictionaries.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pyo3::exceptions::{PyBaseException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::event::Event;
use super::reader::Reader;
use crate::times::Ns;

/// An iterator over events, in order of time.
#[pyclass(frozen, module = "lttv")]
pub(crate) struct Events {
    reader: Arc<Reader>,
    /// `true` for traces that are being recorded.
    follows: bool,
    /// `true` if a wait that was too long yields `None`.
    has_timeout: bool,
}

/// The form of rows.
#[derive(Debug)]
enum Form {
    /// Tuples with these values, and a number that no other form has.
    Tuples(u64, Vec<String>),
    /// Dictionaries with all fields.
    Dicts,
}

/// An iterator over events as tuples or dictionaries.
#[pyclass(frozen, module = "lttv")]
pub(crate) struct Rows {
    reader: Arc<Reader>,
    form: Form,
}

impl Events {
    pub(crate) fn new(reader: Reader) -> Events {
        Events { reader: Arc::new(reader), follows: false, has_timeout: false }
    }

    /// Creates the iterator over the events of a recording.
    pub(crate) fn following(reader: Reader, has_timeout: bool) -> Events {
        Events { reader: Arc::new(reader), follows: true, has_timeout }
    }

    fn next(&self, py: Python<'_>) -> PyResult<Option<Event>> {
        let mut state = self.reader.lock(py);
        let Some(place) = state.next(py)? else { return Ok(None) };
        let of_type = state.name(py, place.trace, place.id);
        let event = Event::new(&self.reader, state.generation, place, of_type);
        drop(state);
        if self.follows { event.decoded(py).map(Some) } else { Ok(Some(event)) }
    }
}

#[pymethods]
impl Events {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        match self.next(py)? {
            Some(event) => Ok(Some(Py::new(py, event)?.into_any())),
            None if self.has_timeout && !self.reader.lock(py).has_ended() => Ok(Some(py.None())),
            None => Ok(None),
        }
    }

    /// Returns the next event; `None` if there is none within `timeout` seconds, or at the end.
    #[pyo3(signature = (timeout = 0.0))]
    fn poll(&self, py: Python<'_>, timeout: f64) -> PyResult<Option<Event>> {
        let timeout = Duration::try_from_secs_f64(timeout)
            .map_err(|error| PyValueError::new_err(format!("timeout: {error}")))?;
        let before = self.reader.lock(py).set_timeout(Some(timeout));
        let event = self.next(py);
        self.reader.lock(py).set_timeout(before);
        event
    }

    /// Returns tuples with chosen values in place of the other events.
    ///
    /// The names are `ts`, `name`, `cpu`, `trace`, `stream`, and those of fields; `fields.NAME` and `context.NAME`
    /// are fields of the payload and of contexts. A value that an event lacks is `None`.
    ///
    /// >>> switches = lttv.open("examples/traces/kernel").events("sched_switch")
    /// >>> next(switches.as_tuples("cpu", "next_comm"))
    /// (4, 'lttng-consumerd')
    #[pyo3(signature = (*names))]
    fn as_tuples(&self, names: Vec<String>) -> PyResult<Rows> {
        self.refuse_recording()?;
        static FORMS: AtomicU64 = AtomicU64::new(0);
        let form = Form::Tuples(FORMS.fetch_add(1, Ordering::Relaxed), names);
        Ok(Rows { reader: Arc::clone(&self.reader), form })
    }

    /// Returns dictionaries in place of the other events: `_name`, `_timestamp`, `_cpu`, and the fields of the
    /// contexts and the payload.
    fn as_dicts(&self) -> PyResult<Rows> {
        self.refuse_recording()?;
        Ok(Rows { reader: Arc::clone(&self.reader), form: Form::Dicts })
    }

    /// `True` after the last event.
    #[getter]
    fn has_ended(&self, py: Python<'_>) -> bool {
        self.reader.lock(py).has_ended()
    }

    /// The errors that were met, after the last event: exceptions with `file`, `packet` and `offset`.
    #[getter]
    fn errors(&self, py: Python<'_>) -> Vec<Py<PyBaseException>> {
        self.reader.lock(py).errors(py)
    }

    /// The losses that were met, after the last event.
    #[getter]
    fn losses(&self, py: Python<'_>) -> Vec<String> {
        self.reader.lock(py).losses()
    }

    /// Ends a recording: what is left of it follows.
    fn complete(&self, py: Python<'_>) -> PyResult<()> {
        self.reader.lock(py).complete(py)
    }
}

impl Events {
    fn refuse_recording(&self) -> PyResult<()> {
        match self.follows {
            true => Err(PyValueError::new_err("the events of a recording are objects")),
            false => Ok(()),
        }
    }
}

#[pymethods]
impl Rows {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut state = self.reader.lock(py);
        let Some(place) = state.next(py)? else { return Ok(None) };
        let current = (state.generation, &place);
        match &self.form {
            Form::Tuples(form, names) => {
                let mut row = Vec::with_capacity(names.len());
                state.with(py, current, |event, info| {
                    info.row(py, event, (*form, names), |value| {
                        row.push(value);
                        Ok(())
                    })
                })?;
                Ok(Some(PyTuple::new(py, row)?.into_any()))
            }
            Form::Dicts => {
                let all = PyDict::new(py);
                let (name, range) = state.name(py, place.trace, place.id);
                all.set_item(pyo3::intern!(py, "_name"), name)?;
                let time = place.time.map(|time| Ns::of(time, range));
                all.set_item(pyo3::intern!(py, "_timestamp"), time)?;
                state.with(py, current, |event, info| {
                    all.set_item(pyo3::intern!(py, "_cpu"), event.tracefile().cpu())?;
                    info.contexts(event, &all)?;
                    info.payload(event, &all)
                })?;
                Ok(Some(all.into_any()))
            }
        }
    }
}
