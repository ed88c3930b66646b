//! A writer of traces from Python values.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use ltt_read::ErrorChain;
use ltt_read::schema::{ClockOrigin, EnvValue, EventTypeId, Format, Schema, StreamClassId};
use ltt_read::uuid::Uuid;
use ltt_read::writer::{
    FieldValue, StagedDirectory, StreamFile, StreamWriter, TraceWriter, WriteError, presets,
};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;

use super::spec::{Members, members_of, structure, structure_value};
use crate::errors::TraceError;

/// The facts of a new trace.
pub(super) struct Facts {
    pub(super) format: Format,
    pub(super) env: Vec<(String, EnvValue)>,
}

impl Facts {
    pub(super) fn of(format: &str, env: Option<&Bound<'_, PyDict>>) -> PyResult<Facts> {
        let format = match format {
            "ctf2" => Format::Ctf2,
            "ctf1.8" => Format::Ctf1,
            other => {
                let text = format!("format: expected 'ctf2' or 'ctf1.8', not '{other}'");
                return Err(PyValueError::new_err(text));
            }
        };
        let value = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let value = match value.extract::<i128>() {
                Ok(number) => EnvValue::Int(number),
                Err(_) => EnvValue::Str(value.extract()?),
            };
            Ok((name.extract()?, value))
        };
        let env = env.into_iter().flat_map(|env| env.iter()).map(value);
        Ok(Facts { format, env: env.collect::<PyResult<_>>()? })
    }

    /// Returns a schema with one stream class, whose packets name their CPU and whose clock counts ns since 1970.
    pub(super) fn schema(&self, py: Python<'_>) -> PyResult<Schema> {
        let mut schema = presets::lttng_kernel(self.format);
        schema.env =
            self.env.iter().map(|(name, value)| (name.as_str().into(), value.clone())).collect();
        if let Some(clock) = schema.clocks.first_mut() {
            (clock.offset_seconds, clock.offset_cycles) = (0, 0);
            clock.origin = ClockOrigin::UnixEpoch;
            clock.description = None;
        }
        let uuid = py.import("uuid")?.call_method0("uuid4")?.getattr("bytes")?;
        schema.uuid = Some(Uuid(uuid.extract()?));
        Ok(schema)
    }
}

/// Returns the exception of an error of the writer.
pub(super) fn of_write(error: &WriteError) -> PyErr {
    match error {
        WriteError::Value { .. } => PyValueError::new_err(ErrorChain(error).to_string()),
        WriteError::Io { error, file } if error.raw_os_error().is_some() => {
            pyo3::exceptions::PyOSError::new_err((
                error.raw_os_error(),
                error.to_string(),
                file.clone(),
            ))
        }
        error => TraceError::new_err(ErrorChain(error).to_string()),
    }
}

/// A writer of a trace, which appears when it is closed.
///
/// `event_types` has the types of the fields of each event type: `int8` to `int64`, `uint8` to `uint64`, `float32`,
/// `float64`, `bool`, `str`, `bytes`, `list[TYPE]`, `TYPE | None`, dictionaries of types, and `(TYPE, {LABEL: NUMBER})`.
///
/// >>> import tempfile
/// >>> path = tempfile.mkdtemp() + "/trace"
/// >>> with lttv.Writer(path, {"request": {"id": "uint32", "path": "str"}}) as out:
/// ...     out.write("request", 1_000, {"id": 1, "path": "/"})
/// >>> next(iter(lttv.open(path)))["path"]
/// '/'
#[pyclass(frozen, module = "lttv")]
pub(crate) struct Writer {
    path: PathBuf,
    types: HashMap<String, (EventTypeId, Members)>,
    open: Mutex<Option<Open>>,
}

struct Open {
    staged: StagedDirectory,
    trace: TraceWriter,
    streams: HashMap<u32, (StreamWriter<StreamFile>, u64)>,
}

#[pymethods]
impl Writer {
    #[new]
    #[pyo3(signature = (path, event_types, *, env = None, format = "ctf2"))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        event_types: &Bound<'_, PyDict>,
        env: Option<&Bound<'_, PyDict>>,
        format: &str,
    ) -> PyResult<Writer> {
        let mut schema = Facts::of(format, env)?.schema(py)?;
        let mut types = HashMap::new();
        for (name, fields) in event_types.iter() {
            let name: String = name.extract()?;
            let members = members_of(fields.cast::<PyDict>()?, 0)?;
            let id = schema.add_event_type(StreamClassId(0), &name, structure(&members));
            types.insert(name, (id, members));
        }
        let staged = StagedDirectory::create(&path).map_err(|error| of_write(&error))?;
        let trace = staged.trace("", schema).map_err(|error| of_write(&error))?.with_index();
        let open = Open { staged, trace, streams: HashMap::new() };
        Ok(Writer { path, types, open: Mutex::new(Some(open)) })
    }

    /// Writes an event. The times of each CPU must not go back.
    #[pyo3(signature = (name, ts, fields = None, *, cpu = 0))]
    fn write(
        &self,
        py: Python<'_>,
        name: &str,
        ts: u64,
        fields: Option<&Bound<'_, PyDict>>,
        cpu: u32,
    ) -> PyResult<()> {
        let (id, members) = self
            .types
            .get(name)
            .ok_or_else(|| PyKeyError::new_err(format!("there is no event type {name}")))?;
        let none = PyDict::new(py);
        let values = structure_value(members, fields.unwrap_or(&none))?;
        let mut open = self.open.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let open = open.as_mut().ok_or_else(|| PyValueError::new_err("the writer is closed"))?;
        if !open.streams.contains_key(&cpu) {
            let name = format!("stream_{cpu}");
            let stream = open.trace.stream(StreamClassId(0), &name);
            let stream = stream.map_err(|error| of_write(&error))?;
            let context = FieldValue::fields([("cpu_id", cpu)]);
            open.streams.insert(cpu, (stream.with_packet_context(context), 0));
        }
        let Some((stream, last)) = open.streams.get_mut(&cpu) else { return Ok(()) };
        if ts < *last {
            let text =
                format!("the time {ts} is before {last}, that of the last event of CPU {cpu}");
            return Err(PyValueError::new_err(text));
        }
        stream.event(*id, ts, values).map_err(|error| of_write(&error))?;
        *last = ts;
        Ok(())
    }

    /// Ends the trace, which appears in the file system.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let open = self.open.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner).take();
        let Some(Open { staged, streams, trace }) = open else { return Ok(()) };
        let closed = py.detach(|| {
            for (_, (stream, _)) in streams {
                stream.finish()?;
            }
            drop(trace);
            staged.publish()
        });
        closed.map_err(|error| of_write(&error))
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    /// Ends the trace, or leaves nothing of it after an exception.
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        if kind.is_none() {
            return self.close(py);
        }
        let open = self.open.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner).take();
        drop(open);
        Ok(())
    }

    fn __repr__(&self) -> String {
        format!("<Writer {}>", self.path.display())
    }
}
