//! Writing of traces from tables of Arrow.

use std::collections::HashMap;
use std::path::PathBuf;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampNanosecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use ltt_read::schema::{EventTypeId, StreamClassId};
use ltt_read::writer::{FieldValue, StagedDirectory, StreamFile, StreamWriter, TraceWriter};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use super::spec::{Members, Spec, push, structure};
use super::writer::{Facts, of_write};
use crate::table::of_arrow;

/// The columns of the time, the first of which counts, and of the CPU.
const TIMES: [&str; 2] = ["ts", "timestamp"];
const CPU: &str = "cpu";

/// The columns of tables of this package that are no fields.
const FACTS: [&str; 5] = ["timestamp", "ts", "trace", "stream", "cpu"];

/// Writes a trace with an event for each row of some tables, by the names of their event types.
///
/// The column `ts` or `timestamp` is the time in ns, `cpu` the CPU; `trace` and `stream` are left out. Others are
/// fields.
#[pyfunction]
#[pyo3(signature = (path, tables, *, env = None, format = "ctf2"))]
pub(crate) fn write_tables(
    py: Python<'_>,
    path: PathBuf,
    tables: &Bound<'_, PyDict>,
    env: Option<&Bound<'_, PyDict>>,
    format: &str,
) -> PyResult<()> {
    let mut schema = Facts::of(format, env)?.schema(py)?;
    let mut all = Vec::new();
    for (name, data) in tables.iter() {
        let name: String = name.extract()?;
        let batches = import(&data)?;
        let events = Rows::of(&name, batches)?;
        let id = schema.add_event_type(StreamClassId(0), &name, structure(&events.members));
        all.push((id, events));
    }
    let staged = StagedDirectory::create(&path).map_err(|error| of_write(&error))?;
    let trace = staged.trace("", schema).map_err(|error| of_write(&error))?.with_index();
    py.detach(|| {
        for (number, (id, rows)) in all.iter().enumerate() {
            rows.write(number, *id, &trace)?;
        }
        drop(trace);
        staged.publish().map_err(|error| of_write(&error))
    })
}

/// Returns the batches of an object of any library with the interface of Arrow.
fn import(data: &Bound<'_, PyAny>) -> PyResult<Vec<RecordBatch>> {
    if !data.hasattr("__arrow_c_stream__")? {
        let kind = data.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "expected a table with __arrow_c_stream__, not {kind}"
        )));
    }
    let capsule = data.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    let stream = stream.cast::<FFI_ArrowArrayStream>().as_ptr();
    // SAFETY: a capsule of this name points to a valid stream as long as it lives, which is until the end of this
    // function, by the protocol of Arrow. The stream is moved out, and the capsule is left with a released one.
    let reader = unsafe { ArrowArrayStreamReader::from_raw(stream) };
    let reader = reader.map_err(|error| of_arrow(&error))?;
    reader.collect::<Result<_, _>>().map_err(|error| of_arrow(&error))
}

/// The rows of the events of one type.
struct Rows {
    name: String,
    batches: Vec<RecordBatch>,
    time: usize,
    cpu: Option<usize>,
    /// The numbers of the columns that are fields.
    columns: Vec<usize>,
    members: Members,
}

impl Rows {
    fn of(name: &str, batches: Vec<RecordBatch>) -> PyResult<Rows> {
        let Some(first) = batches.first() else {
            let empty = Vec::new();
            return Ok(Rows {
                name: name.to_owned(),
                batches,
                time: 0,
                cpu: None,
                columns: Vec::new(),
                members: empty,
            });
        };
        let schema = first.schema();
        let time = TIMES.iter().find_map(|name| schema.index_of(name).ok()).ok_or_else(|| {
            PyKeyError::new_err(format!("{name}: there is no column ts or timestamp"))
        })?;
        let mut columns = Vec::new();
        let mut members = Members::new();
        for (at, field) in schema.fields().iter().enumerate() {
            if FACTS.contains(&field.name().as_str()) {
                continue;
            }
            let place = format!("{name}.{}", field.name());
            let spec = spec_of(&place, field.data_type())?;
            // Columns that may be null hardly ever are.
            let has_nulls = batches.iter().any(|batch| batch.column(at).null_count() > 0);
            let spec = if has_nulls { Spec::Option(Box::new(spec)) } else { spec };
            columns.push(at);
            members.push((field.name().clone(), spec));
        }
        let cpu = schema.index_of(CPU).ok();
        Ok(Rows { name: name.to_owned(), batches, time, cpu, columns, members })
    }

    fn write(&self, number: usize, id: EventTypeId, trace: &TraceWriter) -> PyResult<()> {
        let mut streams: HashMap<u32, (StreamWriter<StreamFile>, u64)> = HashMap::new();
        for batch in &self.batches {
            let times = batch.column(self.time);
            let columns: Vec<&dyn Array> =
                self.columns.iter().map(|at| &**batch.column(*at)).collect();
            for row in 0..batch.num_rows() {
                let time = integer(times, row).and_then(|time| u64::try_from(time).ok());
                let time = time.ok_or_else(|| self.wrong("a time is missing or negative"))?;
                let cpu = self.cpu.and_then(|at| integer(batch.column(at), row));
                let cpu = cpu.and_then(|cpu| u32::try_from(cpu).ok()).unwrap_or(0);
                let mut values = Vec::with_capacity(columns.len());
                for ((_, spec), column) in self.members.iter().zip(&columns) {
                    let value = value(spec, *column, row);
                    push(&mut values, spec, value.ok_or_else(|| self.wrong("a value is missing"))?);
                }
                if let std::collections::hash_map::Entry::Vacant(new) = streams.entry(cpu) {
                    let stream = trace.stream(StreamClassId(0), &format!("table{number}_{cpu}"));
                    let stream = stream.map_err(|error| of_write(&error))?;
                    let context = FieldValue::fields([("cpu_id", cpu)]);
                    new.insert((stream.with_packet_context(context), 0));
                }
                let Some((stream, last)) = streams.get_mut(&cpu) else { continue };
                if time < *last {
                    return Err(self.wrong("the rows of a CPU must be sorted by time"));
                }
                *last = time;
                stream
                    .event(id, time, FieldValue::Struct(values))
                    .map_err(|error| of_write(&error))?;
            }
        }
        for (_, (stream, _)) in streams {
            stream.finish().map_err(|error| of_write(&error))?;
        }
        Ok(())
    }

    fn wrong(&self, what: &str) -> PyErr {
        PyValueError::new_err(format!("{}: {what}", self.name))
    }
}

/// Returns the type of the fields of a column.
fn spec_of(place: &str, kind: &DataType) -> PyResult<Spec> {
    let integer = |bits, signed| Ok(Spec::Integer { bits, signed });
    match kind {
        DataType::Int8 => integer(8, true),
        DataType::Int16 => integer(16, true),
        DataType::Int32 => integer(32, true),
        DataType::Int64 | DataType::Timestamp(TimeUnit::Nanosecond, _) => integer(64, true),
        DataType::UInt8 => integer(8, false),
        DataType::UInt16 => integer(16, false),
        DataType::UInt32 => integer(32, false),
        DataType::UInt64 => integer(64, false),
        DataType::Float32 => Ok(Spec::Float(32)),
        DataType::Float64 => Ok(Spec::Float(64)),
        DataType::Boolean => Ok(Spec::Bool),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Ok(Spec::Text),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Ok(Spec::Bytes),
        DataType::Dictionary(_, values) => spec_of(place, values),
        DataType::List(item) | DataType::LargeList(item) => {
            Ok(Spec::List(Box::new(spec_of(place, item.data_type())?.element()?)))
        }
        DataType::Struct(fields) => {
            let member = |field: &arrow_schema::FieldRef| {
                Ok((field.name().clone(), spec_of(place, field.data_type())?))
            };
            Ok(Spec::Struct(fields.iter().map(member).collect::<PyResult<_>>()?))
        }
        other => Err(PyTypeError::new_err(format!("{place}: {other} cannot be written"))),
    }
}

/// Returns an integer of a column.
fn integer(array: &dyn Array, row: usize) -> Option<i128> {
    if array.is_null(row) {
        return None;
    }
    macro_rules! of {
        ($kind:ty) => {
            Some(array.as_primitive::<$kind>().value(row).into())
        };
    }
    match array.data_type() {
        DataType::Int8 => of!(Int8Type),
        DataType::Int16 => of!(Int16Type),
        DataType::Int32 => of!(Int32Type),
        DataType::Int64 => of!(Int64Type),
        DataType::UInt8 => of!(UInt8Type),
        DataType::UInt16 => of!(UInt16Type),
        DataType::UInt32 => of!(UInt32Type),
        DataType::UInt64 => of!(UInt64Type),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => of!(TimestampNanosecondType),
        _ => None,
    }
}

/// Returns the value of a field; `None` if it is null but must not be.
fn value(spec: &Spec, array: &dyn Array, row: usize) -> Option<FieldValue> {
    if let Spec::Option(content) = spec {
        return match array.is_null(row) {
            true => Some(FieldValue::absent()),
            false => value(content, array, row).map(FieldValue::present),
        };
    }
    if array.is_null(row) {
        return None;
    }
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        let key = integer(dictionary.keys(), row).and_then(|key| usize::try_from(key).ok())?;
        return value(spec, &**dictionary.values(), key);
    }
    let list = |element: &Spec, values: &dyn Array| {
        let values = (0..values.len()).map(|row| value(element, values, row));
        values.collect::<Option<_>>().map(FieldValue::Array)
    };
    match (spec, array.data_type()) {
        (Spec::Integer { signed, .. }, _) => super::spec::number(integer(array, row)?, *signed),
        (Spec::Float(32), _) => {
            Some(FieldValue::Float(array.as_primitive::<Float32Type>().value(row).into()))
        }
        (Spec::Float(_), _) => {
            Some(FieldValue::Float(array.as_primitive::<Float64Type>().value(row)))
        }
        (Spec::Bool, _) => Some(FieldValue::Bool(array.as_boolean().value(row))),
        (Spec::Text, DataType::Utf8) => Some(array.as_string::<i32>().value(row).into()),
        (Spec::Text, DataType::LargeUtf8) => Some(array.as_string::<i64>().value(row).into()),
        (Spec::Text, DataType::Utf8View) => Some(array.as_string_view().value(row).into()),
        (Spec::Bytes, DataType::Binary) => Some(array.as_binary::<i32>().value(row).into()),
        (Spec::Bytes, DataType::LargeBinary) => Some(array.as_binary::<i64>().value(row).into()),
        (Spec::Bytes, DataType::BinaryView) => Some(array.as_binary_view().value(row).into()),
        (Spec::List(of), DataType::List(_)) => list(of, &array.as_list::<i32>().value(row)),
        (Spec::List(of), DataType::LargeList(_)) => list(of, &array.as_list::<i64>().value(row)),
        (Spec::Struct(members), DataType::Struct(_)) => {
            let mut values = Vec::with_capacity(members.len());
            for ((_, spec), column) in members.iter().zip(array.as_struct().columns()) {
                push(&mut values, spec, value(spec, column, row)?);
            }
            Some(FieldValue::Struct(values))
        }
        _ => None,
    }
}
