//! The facts of a trace: its format, host, environment, clocks and streams.

use std::path::PathBuf;

use ltt_read::TimeSpan;
use ltt_read::schema::{ClockOrigin, EnvValue, Format};
use lttv_filter::TraceTimes;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::times::Ns;

/// The facts of a trace.
#[pyclass(frozen, module = "lttv")]
pub(crate) struct TraceInfo {
    trace: std::sync::Arc<ltt_read::Trace>,
}

/// A clock.
#[pyclass(frozen, get_all, module = "lttv")]
pub(crate) struct Clock {
    /// The name.
    name: String,
    /// The description.
    description: Option<String>,
    /// The UUID.
    uuid: Option<String>,
    /// The number of cycles per second.
    frequency: u64,
    /// The seconds that are added to the value of the clock.
    offset_seconds: i64,
    /// The cycles that are added to the value of the clock.
    offset_cycles: i64,
    /// The precision in cycles.
    precision: Option<u64>,
    /// `True` if times are since 1970.
    is_absolute: bool,
}

/// A stream: the events that one CPU recorded in one channel.
#[pyclass(frozen, get_all, module = "lttv")]
pub(crate) struct Stream {
    /// The name of the file.
    name: String,
    /// The channel.
    channel: String,
    /// The CPU, if it is known.
    cpu: Option<u32>,
    /// The size in bytes.
    size: u64,
}

impl TraceInfo {
    pub(crate) fn new(trace: std::sync::Arc<ltt_read::Trace>) -> TraceInfo {
        TraceInfo { trace }
    }

    /// Returns the times of the first and the last event.
    fn span(&self, py: Python<'_>) -> Option<TimeSpan> {
        py.detach(|| TraceTimes::of(std::slice::from_ref(&self.trace)).events())
    }
}

#[pymethods]
impl TraceInfo {
    /// The directory or file.
    #[getter]
    fn path(&self) -> PathBuf {
        self.trace.path().to_owned()
    }

    /// The format: `ctf1`, `ctf2`, `ftrace`, `perf` or `legacy`.
    #[getter]
    fn format(&self) -> &'static str {
        match self.trace.schema().format {
            Format::Ctf1 => "ctf1",
            Format::Ctf2 => "ctf2",
            Format::Ftrace => "ftrace",
            Format::Perf => "perf",
            Format::Legacy => "legacy",
            _ => "unknown",
        }
    }

    /// The UUID of the trace.
    #[getter]
    fn uuid(&self) -> Option<String> {
        self.trace.uuid().map(|uuid| uuid.to_string())
    }

    /// The name of the machine.
    #[getter]
    fn hostname(&self) -> Option<String> {
        self.trace.schema().env_str("hostname").map(str::to_owned)
    }

    /// The environment: what the tracer noted about itself.
    #[getter]
    fn env<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let env = PyDict::new(py);
        for (name, value) in &self.trace.schema().env {
            match value {
                EnvValue::Int(number) => env.set_item(&**name, number)?,
                EnvValue::Str(text) => env.set_item(&**name, text)?,
            }
        }
        Ok(env)
    }

    /// The clocks.
    #[getter]
    fn clocks(&self) -> Vec<Clock> {
        let text = |text: &Option<std::sync::Arc<str>>| text.as_deref().map(str::to_owned);
        let clock = |of: &ltt_read::schema::ClockClass| Clock {
            name: of.name.to_string(),
            description: text(&of.description),
            uuid: of.uuid.map(|uuid| uuid.to_string()),
            frequency: of.frequency,
            offset_seconds: of.offset_seconds,
            offset_cycles: of.offset_cycles,
            precision: of.precision,
            is_absolute: of.origin == ClockOrigin::UnixEpoch,
        };
        self.trace.schema().clocks.iter().map(clock).collect()
    }

    /// The streams.
    #[getter]
    fn streams(&self) -> Vec<Stream> {
        let stream = |of: &ltt_read::Tracefile| Stream {
            name: of.name().to_owned(),
            channel: of.channel().to_owned(),
            cpu: of.cpu(),
            size: of.size(),
        };
        self.trace.tracefiles().iter().map(stream).collect()
    }

    /// The time of the first event in ns.
    #[getter]
    fn begin(&self, py: Python<'_>) -> Option<Ns> {
        self.span(py).map(|span| Ns::of_traces(span.start, std::slice::from_ref(&self.trace)))
    }

    /// The time of the last event in ns.
    #[getter]
    fn end(&self, py: Python<'_>) -> Option<Ns> {
        self.span(py).map(|span| Ns::of_traces(span.end, std::slice::from_ref(&self.trace)))
    }

    fn __repr__(&self) -> String {
        format!("<TraceInfo {} {}>", self.format(), self.trace.path().display())
    }
}
