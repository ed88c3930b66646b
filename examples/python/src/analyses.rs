//! Analyses: the commands of the program `lttv`, whose tables are the same.

use std::error::Error as StdError;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int64Builder, StringViewBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Field, Schema};
use lttv_common::losses::Losses;
use lttv_common::report::Report;
use lttv_common::table::{Cell, Kind, Table as Rows};
use lttv_context::Traceset;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString, PyTuple};

use crate::errors::{LossWarning, OptionError, warn};
use crate::hosting::{self, Failure};
use crate::table::{Table, of_arrow};
use crate::times::Time;

/// The options that are times, and those that are lengths of time: integers are ns.
const TIMES: [&str; 4] = ["begin", "end", "at", "around"];
const LENGTHS: [&str; 5] = ["every", "min", "max", "over", "width"];

/// A command that computes tables.
pub(crate) type Command<A> = fn(&A, &mut Report) -> Result<(), Box<dyn StdError>>;

/// Runs a command on traces, and returns its tables by their names.
pub(crate) fn run<'py, A: clap::Args + Send>(
    py: Python<'py>,
    traceset: &Traceset,
    options: Option<&Bound<'py, PyDict>>,
    command: Command<A>,
) -> PyResult<Bound<'py, PyDict>> {
    let (mut words, progress) = words(options)?;
    words.extend(["--format".to_owned(), "json".to_owned()]);
    let args: A = parsed(traceset, words)?;
    let (_, host) = hosting::run(py, traceset, progress.as_ref(), move |report| {
        command(&args, report).map_err(Failure::from)
    })?;
    let tables = PyDict::new(py);
    for rows in host.take_tables() {
        if rows.key() == Losses::TABLE && !rows.is_empty() {
            let places = rows.rows().count();
            let text = format!("events were lost at {places} places: see the table 'losses'");
            warn::<LossWarning>(py, &text)?;
        }
        let batch = batch(&rows).map_err(|error| of_arrow(&error))?;
        tables.set_item(rows.key(), Table::stored(rows.key(), batch))?;
    }
    Ok(tables)
}

/// Parses the options of a command. Paths of traces are only names for what is open.
pub(crate) fn parsed<A: clap::Args>(traceset: &Traceset, words: Vec<String>) -> PyResult<A> {
    let command = clap::Command::new("lttv").no_binary_name(true).disable_help_flag(true);
    let paths = traceset.traces().iter().map(|trace| trace.path().as_os_str().to_owned());
    let words = words.into_iter().map(std::ffi::OsString::from);
    let words = words.chain(std::iter::once("--".into())).chain(paths);
    let matches = A::augment_args(command).try_get_matches_from(words);
    matches.and_then(|matches| A::from_arg_matches(&matches)).map_err(|error| {
        let text = error.to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        let reason = text.split("\n\nUsage").next().unwrap_or(text);
        OptionError::new_err(reason.trim_end().to_owned())
    })
}

/// Returns the words of options on a command line, and the function that is told the progress.
pub(crate) fn words(
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<(Vec<String>, Option<Py<PyAny>>)> {
    let (mut words, mut progress) = (Vec::new(), None);
    for (name, value) in options.into_iter().flat_map(|options| options.iter()) {
        let name: String = name.extract()?;
        if name == "progress" {
            progress = (!value.is_none()).then(|| value.unbind());
            continue;
        }
        let option = match &*name {
            "where" => "--filter".to_owned(),
            _ => format!("--{}", name.trim_end_matches('_').replace('_', "-")),
        };
        if let Ok(flag) = value.cast::<PyBool>() {
            words.extend(flag.is_true().then_some(option));
            continue;
        }
        let items: Vec<Bound<'_, PyAny>> = match value.cast::<PyList>() {
            _ if value.is_none() => continue,
            Ok(list) => list.iter().collect(),
            Err(_) => match value.cast::<PyTuple>() {
                Ok(tuple) => tuple.iter().collect(),
                Err(_) => vec![value],
            },
        };
        for item in items {
            words.push(format!("{option}={}", word(&name, &item)?));
        }
    }
    Ok((words, progress))
}

fn word(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    if TIMES.contains(&name) {
        return Ok(value.extract::<Time>()?.word());
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_cow()?.into_owned());
    }
    if let Ok(number) = value.extract::<i64>() {
        let unit = if LENGTHS.contains(&name) { "ns" } else { "" };
        return Ok(format!("{number}{unit}"));
    }
    if let Ok(path) = value.extract::<std::path::PathBuf>() {
        return Ok(path.to_string_lossy().into_owned());
    }
    let kind = value.get_type().name()?;
    Err(PyTypeError::new_err(format!("{name}: expected a text or a number, not {kind}")))
}

/// Returns the rows of a table. Times and durations are in ns.
pub(crate) fn batch(rows: &Rows) -> Result<RecordBatch, ArrowError> {
    let (mut fields, mut columns): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for (at, (key, kind)) in rows.kinds().enumerate() {
        let cells: Vec<&Cell> = rows.rows().filter_map(|row| row.get(at)).collect();
        let column = column(kind, &cells);
        fields.push(Field::new(key, column.data_type().clone(), true));
        columns.push(column);
    }
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(rows.rows().count()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
}

fn column(kind: Kind, cells: &[&Cell]) -> ArrayRef {
    match kind {
        Kind::Text => {
            let mut texts = StringViewBuilder::new();
            for cell in cells {
                texts.append_option(text(cell));
            }
            Arc::new(texts.finish())
        }
        // Means are no integers.
        _ if matches!(
            kind,
            Kind::Decimal | Kind::Percent | Kind::BytesPerSecond | Kind::Microseconds
        ) || cells.iter().any(|cell| matches!(cell, Cell::Number(_))) =>
        {
            let mut numbers = Float64Builder::new();
            for cell in cells {
                numbers.append_option(match cell {
                    Cell::Number(number) => Some(*number),
                    other => integer(other).map(|number| number as f64),
                });
            }
            Arc::new(numbers.finish())
        }
        // Numbers are signed, so that differences are, unless one is too great.
        _ if cells.iter().filter_map(|cell| integer(cell)).all(|of| i64::try_from(of).is_ok()) => {
            let mut numbers = Int64Builder::new();
            for cell in cells {
                numbers.append_option(integer(cell).and_then(|number| i64::try_from(number).ok()));
            }
            Arc::new(numbers.finish())
        }
        _ if cells.iter().filter_map(|cell| integer(cell)).all(|of| u64::try_from(of).is_ok()) => {
            let mut numbers = UInt64Builder::new();
            for cell in cells {
                numbers.append_option(integer(cell).and_then(|number| u64::try_from(number).ok()));
            }
            Arc::new(numbers.finish())
        }
        // All digits, rather than an approximation.
        _ => {
            let mut texts = StringViewBuilder::new();
            for cell in cells {
                texts.append_option(integer(cell).map(|number| number.to_string()));
            }
            Arc::new(texts.finish())
        }
    }
}

fn integer(cell: &Cell) -> Option<i128> {
    match cell {
        Cell::Integer(number) | Cell::Difference(number) => Some(*number),
        Cell::Time(time) => Some(time.as_ns().into()),
        Cell::Duration(ns) => Some((*ns).into()),
        Cell::Empty | Cell::Text(_) | Cell::Number(_) => None,
    }
}

fn text(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Text(text) => Some(text.clone()),
        Cell::Number(number) => Some(number.to_string()),
        other => integer(other).map(|number| number.to_string()),
    }
}
