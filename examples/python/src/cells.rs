//! Python objects of the values of Arrow arrays.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampNanosecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

/// Returns the rows of a batch as dictionaries.
pub(crate) fn dicts<'py>(
    py: Python<'py>,
    batch: &RecordBatch,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let rows: Vec<_> = (0..batch.num_rows()).map(|_| PyDict::new(py)).collect();
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let name = pyo3::types::PyString::intern(py, field.name());
        for (row, of) in rows.iter().enumerate() {
            of.set_item(&name, value(py, column, row)?)?;
        }
    }
    Ok(rows)
}

/// Returns the value in a row of an array. Times are numbers of ns.
pub(crate) fn value<'py>(
    py: Python<'py>,
    array: &dyn Array,
    row: usize,
) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    macro_rules! number {
        ($kind:ty) => {
            array.as_primitive::<$kind>().value(row).into_bound_py_any(py)
        };
    }
    match array.data_type() {
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => number!(TimestampNanosecondType),
        DataType::Boolean => array.as_boolean().value(row).into_bound_py_any(py),
        DataType::Utf8 => array.as_string::<i32>().value(row).into_bound_py_any(py),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).into_bound_py_any(py),
        DataType::Utf8View => array.as_string_view().value(row).into_bound_py_any(py),
        DataType::Binary => Ok(PyBytes::new(py, array.as_binary::<i32>().value(row)).into_any()),
        DataType::LargeBinary => {
            Ok(PyBytes::new(py, array.as_binary::<i64>().value(row)).into_any())
        }
        DataType::BinaryView => Ok(PyBytes::new(py, array.as_binary_view().value(row)).into_any()),
        DataType::List(_) => list(py, &array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => list(py, &array.as_list::<i64>().value(row)),
        DataType::Struct(fields) => {
            let of = PyDict::new(py);
            let array = array.as_struct();
            for (field, column) in fields.iter().zip(array.columns()) {
                of.set_item(field.name(), value(py, column, row)?)?;
            }
            Ok(of.into_any())
        }
        other => Err(PyTypeError::new_err(format!("a value of type {other} is not supported"))),
    }
}

fn list<'py>(py: Python<'py>, values: &dyn Array) -> PyResult<Bound<'py, PyAny>> {
    let values = (0..values.len()).map(|row| value(py, values, row));
    Ok(PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_any())
}
