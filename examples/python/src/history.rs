//! Histories of kernel states.

use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow_array::builder::{Int64Builder, StringViewBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use ltt_read::Timestamp;
use lttv_arrow::Damage;
use lttv_common::{cancel, kernel_trace, progress};
use lttv_context::{SliceThreads, Traceset};
use lttv_state::history::{History as Stored, HistoryError, Interval};
use lttv_state::kernel_history::{HistoryTarget, record_on};
use lttv_state::tree::Quark;
use lttv_state::value::StateValue;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;

use crate::errors::of_other;
use crate::events::OnDamage;
use crate::hosting::{self, Failure};
use crate::stream::Output;
use crate::table::{Source, Table};

/// The number of rows of a batch.
const BATCH_ROWS: usize = 1 << 16;

/// The states of a machine over time: attributes such as `0/Threads/12/Mode`, each with its intervals.
#[pyclass(frozen, module = "lttv")]
pub(crate) struct History {
    stored: Arc<Stored>,
}

impl History {
    /// Reads the traces, and stores the states in memory or in a file.
    pub(crate) fn build(
        py: Python<'_>,
        traceset: &Traceset,
        path: Option<PathBuf>,
        force: bool,
        callback: Option<&Py<PyAny>>,
    ) -> PyResult<History> {
        let (stored, _) = hosting::run(py, traceset, callback, |report| {
            kernel_trace::require(traceset, &kernel_trace::HISTORY)
                .map_err(|error| Failure::from(Box::from(error)))?;
            let target = match &path {
                None => HistoryTarget::Memory,
                Some(path) if force => HistoryTarget::Replace(path),
                Some(path) => HistoryTarget::File(path),
            };
            let stop = cancel::on_interrupt().map_err(|error| Failure::from(Box::from(error)))?;
            let mut shown = progress::Progress::new(false);
            let threads = std::thread::available_parallelism().map_or(1, usize::from);
            let recorded = record_on(
                SliceThreads::new(threads),
                traceset,
                target,
                |_| (),
                |(done, total)| {
                    shown.update(ltt_read::Progress { done, total });
                    match stop.load(Ordering::Relaxed) {
                        true => ControlFlow::Break(()),
                        false => ControlFlow::Continue(()),
                    }
                },
            );
            let recorded = recorded.map_err(|error| Failure::of(&error))?;
            report.errors(&recorded.errors, recorded.errors_omitted);
            Ok(recorded.history)
        })?;
        Ok(History { stored: Arc::new(stored) })
    }

    fn matching(&self, pattern: &str) -> PyResult<Vec<Quark>> {
        let found = self.stored.tree().matching(Quark::ROOT, pattern);
        found.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Returns a time, which must be in the history.
    fn inside(&self, time: i64) -> PyResult<Timestamp> {
        let (start, end) = (self.stored.start(), self.stored.end());
        match Timestamp::from_ns(time) {
            time if time < start || time > end => {
                let text =
                    format!("{time} is outside of the history, which is from {start} to {end}");
                Err(PyValueError::new_err(text))
            }
            time => Ok(time),
        }
    }

    fn table(&self, quarks: Vec<Quark>, question: Question) -> Table {
        let rows = Rows {
            stored: Arc::clone(&self.stored),
            quarks,
            question,
            schema: Arc::new(Schema::new(vec![
                Field::new("start_ns", DataType::Int64, false),
                Field::new("end_ns", DataType::Int64, false),
                Field::new("path", DataType::Utf8View, false),
                Field::new("value", DataType::Utf8View, true),
                Field::new("number", DataType::Int64, true),
            ])),
        };
        Table::new("intervals", Arc::new(rows), OnDamage::Warn)
    }
}

/// Opens a history that was stored in a file.
#[pyfunction]
pub(crate) fn open_history(py: Python<'_>, path: PathBuf) -> PyResult<History> {
    let stored = py.detach(|| Stored::open(&path)).map_err(|error| of_history(py, &error))?;
    Ok(History { stored: Arc::new(stored) })
}

fn of_history(py: Python<'_>, error: &HistoryError) -> PyErr {
    match error {
        HistoryError::OutOfRange { .. } => PyValueError::new_err(error.to_string()),
        error => of_other(py, error),
    }
}

#[pymethods]
impl History {
    /// The time at which it starts, in ns.
    #[getter]
    fn start(&self) -> i64 {
        self.stored.start().as_ns()
    }

    /// The time at which it ends, in ns.
    #[getter]
    fn end(&self) -> i64 {
        self.stored.end().as_ns()
    }

    /// The number of intervals.
    #[getter]
    fn intervals(&self) -> u64 {
        self.stored.intervals_count()
    }

    /// Returns the paths of the attributes that match a pattern: `*` matches one name, `**` any number of them.
    #[pyo3(signature = (pattern = "**"))]
    fn attributes(&self, pattern: &str) -> PyResult<Vec<String>> {
        let quarks = self.matching(pattern)?;
        Ok(quarks.into_iter().map(|quark| self.stored.tree().path(quark).to_string()).collect())
    }

    /// Returns the values at a time: a table with a row for each attribute that matches.
    #[pyo3(signature = (time, pattern = "**"))]
    fn at(&self, time: i64, pattern: &str) -> PyResult<Table> {
        let time = self.inside(time)?;
        Ok(self.table(self.matching(pattern)?, Question::At(time)))
    }

    /// Returns the intervals of the attributes that match, between two times. The end is not included. With `each`,
    /// there is one row for each length of time of so many ns.
    #[pyo3(signature = (begin = None, end = None, pattern = "**", *, each = 1))]
    fn between(
        &self,
        begin: Option<i64>,
        end: Option<i64>,
        pattern: &str,
        each: u64,
    ) -> PyResult<Table> {
        let begin = begin.map_or(Ok(self.stored.start()), |begin| self.inside(begin))?;
        let end = end.map_or(Ok(self.stored.end()), |end| self.inside(end))?;
        if begin > end || each == 0 {
            let text = format!("no time is from {begin} to {end} in steps of {each} ns");
            return Err(PyValueError::new_err(text));
        }
        Ok(self.table(self.matching(pattern)?, Question::Between(begin..end, each)))
    }

    /// Returns the value of an attribute at a time.
    fn value(&self, py: Python<'_>, path: &str, time: i64) -> PyResult<Option<Py<PyAny>>> {
        let quark =
            self.matching(path)?.into_iter().next().ok_or_else(|| {
                PyKeyError::new_err(format!("the history has no attribute {path}"))
            })?;
        let found = self.stored.at(quark, Timestamp::from_ns(time));
        let interval = found.map_err(|error| of_history(py, &error))?;
        Ok(match (&interval.value, interval.value.as_i64()) {
            (value, _) if value.is_null() => None,
            (_, Some(number)) => Some(number.into_pyobject(py)?.into_any().unbind()),
            (StateValue::Str(text), _) => Some(text.into_pyobject(py)?.into_any().unbind()),
            (value, _) => Some(value.to_string().into_pyobject(py)?.into_any().unbind()),
        })
    }

    /// Checks the sums of all blocks.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.stored.verify()).map_err(|error| of_history(py, &error))
    }

    fn __repr__(&self) -> String {
        format!("<History of {} intervals>", self.stored.intervals_count())
    }
}

/// A question to a history.
#[derive(Debug, Clone)]
enum Question {
    At(Timestamp),
    Between(Range<Timestamp>, u64),
}

/// The intervals of attributes.
struct Rows {
    stored: Arc<Stored>,
    quarks: Vec<Quark>,
    question: Question,
    schema: SchemaRef,
}

impl Source for Rows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn produce(self: Arc<Self>, columns: &[usize], output: &Output) -> Result<Damage, ArrowError> {
        let failed = |error: HistoryError| ArrowError::ExternalError(Box::new(error));
        let mut batch = Batch::default();
        let mut result = Ok(ControlFlow::Continue(()));
        let mut add = |interval: Interval<'_>| {
            batch.push(&self.stored, &interval);
            if batch.len < BATCH_ROWS {
                return ControlFlow::Continue(());
            }
            result = batch.finish(&self.schema, columns).map(|batch| output.batch(batch));
            match &result {
                Ok(ControlFlow::Continue(())) => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            }
        };
        match &self.question {
            Question::At(time) => {
                for quark in &self.quarks {
                    if add(self.stored.at(*quark, *time).map_err(failed)?).is_break() {
                        break;
                    }
                }
            }
            Question::Between(range, each) => {
                let found = self.stored.for_each_in(&self.quarks, range.clone(), *each, add);
                _ = found.map_err(failed)?;
            }
        }
        if result?.is_continue() && batch.len > 0 {
            // Nothing follows that could be left out.
            _ = output.batch(batch.finish(&self.schema, columns)?);
        }
        Ok(Damage::default())
    }
}

/// The rows of the next batch.
#[derive(Default)]
struct Batch {
    starts: Int64Builder,
    ends: Int64Builder,
    paths: StringViewBuilder,
    values: StringViewBuilder,
    numbers: Int64Builder,
    len: usize,
}

impl Batch {
    fn push(&mut self, stored: &Stored, interval: &Interval<'_>) {
        self.starts.append_value(interval.start.as_ns());
        self.ends.append_value(interval.end.as_ns());
        self.paths.append_value(stored.tree().path(interval.quark));
        match &interval.value {
            value if value.is_null() => self.values.append_null(),
            StateValue::Str(text) => self.values.append_value(text),
            value => self.values.append_value(value.to_string()),
        }
        self.numbers.append_option(interval.value.as_i64());
        self.len += 1;
    }

    fn finish(&mut self, schema: &SchemaRef, columns: &[usize]) -> Result<RecordBatch, ArrowError> {
        self.len = 0;
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(self.starts.finish()),
            Arc::new(self.ends.finish()),
            Arc::new(self.paths.finish()),
            Arc::new(self.values.finish()),
            Arc::new(self.numbers.finish()),
        ];
        RecordBatch::try_new(Arc::clone(schema), arrays)?.project(columns)
    }
}
