//! Tables as objects.

use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::cells;
use crate::errors::TraceError;
use crate::events::OnDamage;
use crate::stream::{Batches, Met, Output, schema_capsule, stream_capsule};
use crate::strings;

/// The number of rows that are shown.
const SHOWN: usize = 10;

/// The origin of the rows of a table, which can be read any number of times.
pub(crate) trait Source: Send + Sync {
    /// Returns all columns.
    fn schema(&self) -> &SchemaRef;

    /// Passes the rows on, with the columns of these numbers.
    fn produce(
        self: Arc<Self>,
        columns: &[usize],
        output: &Output,
    ) -> Result<lttv_arrow::Damage, ArrowError>;
}

/// Rows in memory, of one schema.
struct Stored(Vec<RecordBatch>, SchemaRef);

impl Source for Stored {
    fn schema(&self) -> &SchemaRef {
        &self.1
    }

    fn produce(
        self: Arc<Self>,
        columns: &[usize],
        output: &Output,
    ) -> Result<lttv_arrow::Damage, ArrowError> {
        for batch in self.0.iter().filter(|batch| batch.num_rows() > 0) {
            if output.batch(batch.project(columns)?).is_break() {
                break;
            }
        }
        Ok(lttv_arrow::Damage::default())
    }
}

/// A table: typed columns, whose rows are read when a consumer of Arrow asks for them.
#[pyclass(frozen, module = "lttv")]
pub(crate) struct Table {
    name: String,
    source: Arc<dyn Source>,
    /// The numbers of the columns, in their order.
    columns: Vec<usize>,
    met: Arc<Met>,
    on_damage: OnDamage,
}

impl Table {
    pub(crate) fn new(
        name: impl Into<String>,
        source: Arc<dyn Source>,
        on_damage: OnDamage,
    ) -> Table {
        let columns = (0..source.schema().fields().len()).collect();
        Table { name: name.into(), source, columns, met: Arc::default(), on_damage }
    }

    /// Creates a table of rows in memory.
    pub(crate) fn stored(name: impl Into<String>, rows: RecordBatch) -> Table {
        let schema = rows.schema();
        Table::of_batches(name, vec![rows], schema)
    }

    /// Creates a table of batches in memory, which have one schema.
    pub(crate) fn of_batches(
        name: impl Into<String>,
        batches: Vec<RecordBatch>,
        schema: SchemaRef,
    ) -> Table {
        Table::new(name, Arc::new(Stored(batches, schema)), OnDamage::Warn)
    }

    /// Returns a table with some of the columns.
    pub(crate) fn selected(&self, names: &[String]) -> PyResult<Table> {
        let schema = self.source.schema();
        let find = |name: &String| {
            let found = self.columns.iter().find(|at| schema.field(**at).name() == name);
            found.copied().ok_or_else(|| {
                let names = self.names().join(", ");
                PyKeyError::new_err(format!("{} has no column {name}, but {names}", self.name))
            })
        };
        Ok(Table {
            name: self.name.clone(),
            source: Arc::clone(&self.source),
            columns: names.iter().map(find).collect::<PyResult<_>>()?,
            met: Arc::default(),
            on_damage: self.on_damage,
        })
    }

    fn names(&self) -> Vec<String> {
        let schema = self.source.schema();
        self.columns.iter().map(|at| schema.field(*at).name().clone()).collect()
    }

    fn schema(&self) -> PyResult<SchemaRef> {
        let schema = self.source.schema().project(&self.columns);
        Ok(strings::schema(&schema.map_err(|error| of_arrow(&error))?))
    }

    fn open(&self, columns: Vec<usize>) -> PyResult<Batches> {
        let schema = self.source.schema().project(&columns).map_err(|error| of_arrow(&error))?;
        let source = Arc::clone(&self.source);
        Ok(Batches::new(strings::schema(&schema), (&self.met, self.on_damage), move |output| {
            source.produce(&columns, output)
        }))
    }
}

/// Returns the exception of an error of Arrow.
pub(crate) fn of_arrow(error: &ArrowError) -> PyErr {
    match error {
        ArrowError::ExternalError(error) => TraceError::new_err(error.to_string()),
        error => PyRuntimeError::new_err(error.to_string()),
    }
}

#[pymethods]
impl Table {
    /// The name of the table.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.names()
    }

    /// The types of the columns, by their names.
    #[getter]
    fn types<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let types = PyDict::new(py);
        for field in self.schema()?.fields() {
            types.set_item(field.name(), field.data_type().to_string())?;
        }
        Ok(types)
    }

    /// Returns the table with some of the columns, in this order.
    #[pyo3(signature = (*columns))]
    fn select(&self, columns: Vec<String>) -> PyResult<Table> {
        self.selected(&columns)
    }

    /// Returns the number of rows, which are read.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let mut rows = 0;
        // Texts of the names of traces are cheap, and a batch without columns cannot be told from none.
        let columns = self.columns.first().map_or(Vec::new(), |first| vec![*first]);
        for batch in self.open(columns)? {
            rows += batch.map_err(|error| self.raised(&error))?.num_rows();
        }
        self.met.warn(py)?;
        Ok(rows)
    }

    /// Returns an iterator over parts of the table, which are tables in memory.
    fn batches(&self) -> PyResult<TableBatches> {
        let batches = self.open(self.columns.clone())?;
        let met = Arc::clone(&self.met);
        Ok(TableBatches { name: self.name.clone(), batches: Mutex::new(batches), met })
    }

    /// Returns the rows as dictionaries. Times are numbers of ns.
    fn to_dicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        for batch in self.open(self.columns.clone())? {
            let batch = batch.map_err(|error| self.raised(&error))?;
            for row in cells::dicts(py, &batch)? {
                rows.append(row)?;
            }
        }
        self.met.warn(py)?;
        Ok(rows)
    }

    /// Raises the exception that ended a stream, and issues the warnings that could not be issued then.
    fn _raise_met(&self, py: Python<'_>) -> PyResult<()> {
        self.met.take_raised().map_or(Ok(()), Err)?;
        self.met.warn(py)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol allows another schema than the requested one.
        drop(requested_schema);
        stream_capsule(py, self.open(self.columns.clone())?)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema()?)
    }

    fn __repr__(&self) -> String {
        format!("<Table {}: {}>", self.name, self.names().join(", "))
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let mut html = String::from("<table><thead><tr>");
        for name in self.names() {
            let _ = write!(html, "<th>{}</th>", escaped(&name));
        }
        html.push_str("</tr></thead><tbody>");
        let mut shown = 0;
        for batch in self.open(self.columns.clone())? {
            let batch = batch.map_err(|error| self.raised(&error))?;
            for row in 0..batch.num_rows().min(SHOWN - shown) {
                html.push_str("<tr>");
                for column in batch.columns() {
                    let value = cells::value(py, column, row)?.str()?;
                    let _ = write!(html, "<td>{}</td>", escaped(&value.to_cow()?));
                }
                html.push_str("</tr>");
            }
            shown += batch.num_rows();
            if shown >= SHOWN {
                html.push_str("<tr><td>…</td></tr>");
                break;
            }
        }
        html.push_str("</tbody></table>");
        Ok(html)
    }
}

/// An iterator over parts of a table.
#[pyclass(frozen, module = "lttv")]
pub(crate) struct TableBatches {
    name: String,
    batches: Mutex<Batches>,
    met: Arc<Met>,
}

#[pymethods]
impl TableBatches {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        let next = self.batches.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner).next();
        match next {
            Some(Ok(batch)) => Ok(Some(Table::stored(self.name.clone(), batch))),
            Some(Err(error)) => Err(self.met.take_raised().unwrap_or_else(|| of_arrow(&error))),
            None => self.met.warn(py).map(|()| None),
        }
    }
}

impl Table {
    fn raised(&self, error: &ArrowError) -> PyErr {
        self.met.take_raised().unwrap_or_else(|| of_arrow(error))
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
