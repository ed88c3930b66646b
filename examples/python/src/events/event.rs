//! Events as objects.

use std::sync::Arc;

use ltt_read::schema::Scope;
use lttv_common::text::clock_text::ClockRange;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::getter::{TypeInfo, outer};
use super::place::Place;
use super::reader::Reader;
use crate::times::Ns;

/// An event, which decodes its fields when they are requested.
#[pyclass(frozen, module = "lttv")]
pub(crate) struct Event {
    reader: Arc<Reader>,
    generation: u64,
    place: Place,
    /// The name of the event type.
    #[pyo3(get)]
    name: Py<PyString>,
    range: ClockRange,
    /// The parts of an event of a recording, whose bytes are released.
    decoded: Option<Box<Decoded>>,
}

/// The parts of an event that were decoded in advance.
struct Decoded {
    fields: Py<PyDict>,
    context: Py<PyDict>,
    packet: Py<PyDict>,
    header: Py<PyDict>,
    cpu: Option<u32>,
    stream: String,
    cycles: Option<u64>,
}

impl Event {
    pub(super) fn new(
        reader: &Arc<Reader>,
        generation: u64,
        place: Place,
        (name, range): (Py<PyString>, ClockRange),
    ) -> Event {
        Event { reader: Arc::clone(reader), generation, place, name, range, decoded: None }
    }

    /// Decodes all fields now.
    pub(super) fn decoded(self, py: Python<'_>) -> PyResult<Event> {
        let decoded = Decoded {
            fields: self.fields(py)?.unbind(),
            context: self.context(py)?.unbind(),
            packet: self.packet_context(py)?.unbind(),
            header: self.header(py)?.unbind(),
            cpu: self.cpu(py)?,
            stream: self.stream(py)?,
            cycles: self.cycles(py)?,
        };
        Ok(Event { decoded: Some(Box::new(decoded)), ..self })
    }

    fn with<R>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&ltt_read::Event<'_>, &mut TypeInfo) -> PyResult<R>,
    ) -> PyResult<R> {
        self.reader.lock(py).with(py, (self.generation, &self.place), read)
    }

    fn scope<'py>(&self, py: Python<'py>, scope: Scope) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        self.with(py, |event, _| outer(event, scope, &all))?;
        Ok(all)
    }

    fn lookup<'py>(&self, name: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.decoded {
            None => self.with(name.py(), |event, info| info.field(event, name)),
            Some(decoded) => match decoded.fields.bind(name.py()).get_item(name)? {
                Some(value) => Ok(Some(value)),
                None => decoded.context.bind(name.py()).get_item(name),
            },
        }
    }
}

#[pymethods]
impl Event {
    /// The time in ns since the epoch, or since the origin of the clock; `None` without a time.
    #[getter]
    fn ts(&self) -> Option<Ns> {
        self.place.time.map(|time| Ns::of(time, self.range))
    }

    /// The CPU that recorded the event.
    #[getter]
    fn cpu(&self, py: Python<'_>) -> PyResult<Option<u32>> {
        match &self.decoded {
            Some(decoded) => Ok(decoded.cpu),
            None => self.with(py, |event, _| Ok(event.tracefile().cpu())),
        }
    }

    /// The index of the trace in `Trace.traces`.
    #[getter]
    fn trace(&self) -> usize {
        self.place.trace.0
    }

    /// The name of the stream file.
    #[getter]
    fn stream(&self, py: Python<'_>) -> PyResult<String> {
        match &self.decoded {
            Some(decoded) => Ok(decoded.stream.clone()),
            None => self.with(py, |event, _| Ok(event.tracefile().name().to_owned())),
        }
    }

    /// The value of the clock that was recorded, in cycles.
    #[getter]
    fn cycles(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        match &self.decoded {
            Some(decoded) => Ok(decoded.cycles),
            None => self.with(py, |event, _| Ok(event.cycles())),
        }
    }

    /// The payload.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if let Some(decoded) = &self.decoded {
            return decoded.fields.bind(py).copy();
        }
        let all = PyDict::new(py);
        self.with(py, |event, info| info.payload(event, &all))?;
        Ok(all)
    }

    /// The fields of the contexts.
    #[getter]
    fn context<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if let Some(decoded) = &self.decoded {
            return decoded.context.bind(py).copy();
        }
        let all = PyDict::new(py);
        self.with(py, |event, info| info.contexts(event, &all))?;
        Ok(all)
    }

    /// The fields of the context of the packet.
    #[getter]
    fn packet_context<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match &self.decoded {
            Some(decoded) => decoded.packet.bind(py).copy(),
            None => self.scope(py, Scope::PacketContext),
        }
    }

    /// The fields of the header of the event.
    #[getter]
    fn header<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match &self.decoded {
            Some(decoded) => decoded.header.bind(py).copy(),
            None => self.scope(py, Scope::EventHeader),
        }
    }

    /// Returns a field of the payload, or of a context if the payload has none of this name.
    #[pyo3(signature = (name, default = None))]
    fn get<'py>(
        &self,
        name: &Bound<'py, PyString>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.lookup(name)?.or(default))
    }

    /// Returns the names of the fields, of the payload and then of the contexts.
    fn keys(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let mut names = Vec::new();
        for part in [self.fields(py)?, self.context(py)?] {
            for name in part.keys() {
                let name: String = name.extract()?;
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        Ok(names)
    }

    fn __getitem__<'py>(&self, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(value) = self.lookup(name)? {
            return Ok(value);
        }
        let names = self.keys(name.py())?.join(", ");
        let of = self.name.bind(name.py());
        Err(PyKeyError::new_err(format!("{of} has no field {name}, but {names}")))
    }

    fn __contains__(&self, name: &Bound<'_, PyString>) -> PyResult<bool> {
        Ok(self.lookup(name)?.is_some())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let time = match self.ts() {
            Some(Ns::Signed(ns)) => format!("{ns} "),
            Some(Ns::Unsigned(ns)) => format!("{ns} "),
            None => String::new(),
        };
        Ok(format!("<Event {time}{} {}>", self.name.bind(py), self.fields(py)?.repr()?))
    }
}
