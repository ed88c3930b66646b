//! Building of record batches from events.

mod bulk;
mod column;
mod interned;
mod labels;
mod nested;
mod plan;
mod text;

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, FieldRef, Schema, SchemaRef};
use ltt_read::schema::{Encoding, EventTypeId};
use ltt_read::{Event, StrValue, Trace, TraceIndex, Value};
use lttv_common::text::Text;
use lttv_common::text_dump::json::Fields;
use lttv_common::trace_names::trace_names;
use lttv_state::kernel::{Process, TraceState};

use crate::table::{EventTable, StateColumn};
pub(crate) use bulk::Bulk;
use column::{Columns, NodeId};
use nested::{Nested, Scratch};
use plan::{Choices, Plan, Step};

/// A table to build, with the columns that are wanted, in their order.
#[derive(Debug, Clone)]
pub struct Selection {
    /// The table.
    pub table: Arc<EventTable>,
    /// The numbers of the columns.
    pub columns: Vec<usize>,
}

impl Selection {
    /// Selects all columns of a table.
    pub fn all(table: impl Into<Arc<EventTable>>) -> Selection {
        let table = table.into();
        let columns = (0..table.schema().fields().len()).collect();
        Selection { table, columns }
    }

    /// Selects columns by name, in the given order.
    ///
    /// # Errors
    ///
    /// Returns the first name that is no column of the table.
    pub fn named<'n>(
        table: impl Into<Arc<EventTable>>,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Selection, &'n str> {
        let table = table.into();
        let column = |name| table.column(name).ok_or(name);
        let columns = names.into_iter().map(column).collect::<Result<_, _>>()?;
        Ok(Selection { table, columns })
    }

    /// Returns the schema of the batches.
    ///
    /// # Errors
    ///
    /// If the number of a column is that of none.
    pub fn schema(&self) -> Result<SchemaRef, ArrowError> {
        Ok(Arc::new(self.table.schema().project(&self.columns)?))
    }

    /// Returns `true` if a column needs the kernel state.
    pub fn needs_state(&self) -> bool {
        self.table.needs_state(&self.columns)
    }
}

/// The rows of the next batches of some tables.
pub(crate) struct Decoder {
    tables: Vec<TableRows>,
    /// For each trace, the number of the first plan of each event type, or [`NONE`].
    dispatch: Vec<Vec<u32>>,
    plans: Vec<PlanOf>,
    json: Option<Fields>,
    json_text: Text,
    scratch: Scratch,
    /// The approximate size of all rows, in bytes.
    bytes: usize,
    /// The number of rows at which a table is full.
    max_rows: usize,
    full: Vec<usize>,
}

/// The plan of an event type for a table.
struct PlanOf {
    table: u32,
    /// The plan of the same event type for the next table, or [`NONE`].
    next: u32,
    /// The number of the first tracefile of the trace among those of all traces.
    first_stream: u32,
    plan: Plan,
}

const NONE: u32 = u32::MAX;

/// The rows of one table.
struct TableRows {
    schema: SchemaRef,
    columns: Columns,
    nodes: Vec<NodeId>,
    rows: usize,
    /// The approximate size of the values of fixed length in a row, in bytes.
    width: usize,
}

/// The state of the thread that runs at an event.
#[derive(Clone, Copy)]
pub(crate) struct Running<'s> {
    pub(crate) trace: &'s TraceState,
    pub(crate) process: &'s Process,
    pub(crate) priority: Option<i32>,
}

impl Decoder {
    /// Creates the decoder of some tables, without rows. With `has_keys`, columns of texts that are known in
    /// advance are dictionaries.
    pub(crate) fn new(
        traces: &[Arc<Trace>],
        selections: &[Selection],
        max_rows: usize,
        has_keys: bool,
    ) -> Result<Decoder, ArrowError> {
        let mut decoder = Decoder {
            tables: Vec::new(),
            dispatch: Vec::new(),
            plans: Vec::new(),
            json: None,
            json_text: Text::default(),
            scratch: Scratch::default(),
            bytes: 0,
            max_rows: max_rows.max(1),
            full: Vec::new(),
        };
        decoder.dispatch =
            traces.iter().map(|trace| vec![NONE; trace.schema().event_types.len()]).collect();
        let tracefiles = || traces.iter().flat_map(|trace| trace.tracefiles());
        let trace_of = |(number, trace): (u32, &Arc<Trace>)| {
            std::iter::repeat_n(number, trace.tracefiles().len())
        };
        let choices = Choices {
            traces: texts(trace_names(traces.iter().map(|trace| trace.path()))),
            streams: texts(tracefiles().map(|of| of.name())),
            names: texts(
                traces.iter().flat_map(|trace| &trace.schema().event_types).map(|of| of.name()),
            ),
            trace_of: (0..).zip(traces).flat_map(trace_of).collect(),
            cpu_of: tracefiles().map(|of| of.cpu().unwrap_or(0)).collect(),
        };
        let (mut firsts, mut streams, mut types) = (Vec::new(), 0u32, 0u32);
        for trace in traces {
            firsts.push((streams, types));
            streams += trace.tracefiles().len() as u32;
            types += trace.schema().event_types.len() as u32;
        }
        for (number, selection) in selections.iter().enumerate() {
            let table = &*selection.table;
            let mut columns = Columns::new(has_keys);
            let add =
                |column: &usize| plan::add_column(&mut columns, &table.columns[*column], &choices);
            let schema = selection.schema()?;
            let nodes: Vec<NodeId> = selection.columns.iter().map(add).collect();
            let width = |field: &FieldRef| match field.data_type() {
                DataType::Utf8View if has_keys => width(&DataType::UInt32),
                other => width(other),
            };
            let width = schema.fields().iter().map(width).sum();
            if selection.columns.iter().any(|of| table.columns[*of].name == "fields")
                && table.is_all
            {
                decoder.json.get_or_insert_with(|| Fields::new(traces));
            }
            for of in &table.types {
                let (Some(trace), Some(&(stream, first))) =
                    (traces.get(of.trace.0), firsts.get(of.trace.0))
                else {
                    continue;
                };
                let name = first + of.id.0;
                let plan = Plan::new(trace, table, of, &selection.columns, &nodes, name);
                let entry = &mut decoder.dispatch[of.trace.0][of.id.index()];
                let next = std::mem::replace(entry, decoder.plans.len() as u32);
                decoder.plans.push(PlanOf {
                    table: number as u32,
                    next,
                    first_stream: stream,
                    plan,
                });
            }
            decoder.tables.push(TableRows { schema, columns, nodes, rows: 0, width });
        }
        Ok(decoder)
    }

    /// Returns `true` if events of a type belong to a table.
    pub(crate) fn wants(&self, trace: TraceIndex, id: EventTypeId) -> bool {
        let first = self.dispatch.get(trace.0).and_then(|types| types.get(id.index()));
        first.is_some_and(|first| *first != NONE)
    }

    /// Appends an event to all tables that contain its type.
    #[inline]
    pub(crate) fn append(&mut self, event: &Event<'_>, state: Option<Running<'_>>) {
        let Some(types) = self.dispatch.get(event.trace_index().0) else { return };
        let mut next = types.get(event.type_id().index()).copied().unwrap_or(NONE);
        while let Some(of) = self.plans.get_mut(next as usize) {
            next = of.next;
            let Some(table) = self.tables.get_mut(of.table as usize) else { continue };
            let before = table.columns.bytes;
            table.columns.stream(of.first_stream + event.tracefile_index().0 as u32, 1);
            let (json, json_text) = (&mut self.json, &mut self.json_text);
            for step in &mut of.plan.steps {
                append_step(step, &mut table.columns, event, state, json.as_mut(), json_text);
            }
            for (scope, members) in &of.plan.scopes {
                let scratch = &mut self.scratch;
                event.visit(*scope, &mut Nested::new(&mut table.columns, members, scratch));
            }
            table.rows += 1;
            self.bytes += table.width + (table.columns.bytes - before);
            if table.rows >= self.max_rows {
                self.full.push(of.table as usize);
            }
        }
    }

    /// Returns a table that has as many rows as a batch may have; `None` if there is none.
    #[inline]
    pub(crate) fn next_full(&mut self) -> Option<usize> {
        self.full.pop()
    }

    /// Returns the approximate size of all rows, in bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the number of tables.
    pub(crate) fn tables(&self) -> usize {
        self.tables.len()
    }

    /// Returns the table with the most bytes of rows; `None` if there are no rows.
    pub(crate) fn largest(&self) -> Option<usize> {
        let sizes = self.tables.iter().map(TableRows::bytes).enumerate();
        sizes.filter(|(_, size)| *size > 0).max_by_key(|(_, size)| *size).map(|(table, _)| table)
    }

    /// Takes the rows of a table; `None` if there are none.
    pub(crate) fn take(&mut self, table: usize) -> Result<Option<RecordBatch>, ArrowError> {
        let TableRows { schema, columns, nodes, rows, .. } = &mut self.tables[table];
        if *rows == 0 {
            return Ok(None);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(*rows));
        let arrays = nodes.iter().map(|node| columns.finish_column(*node));
        let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
        let schema =
            if columns.has_keys() { with_types(schema, &arrays) } else { Arc::clone(schema) };
        let batch = RecordBatch::try_new_with_options(schema, arrays, &options)?;
        self.bytes -= self.tables[table].bytes();
        self.tables[table].columns.bytes = 0;
        self.tables[table].columns.clear_streams();
        self.tables[table].rows = 0;
        Ok(Some(batch))
    }
}

impl TableRows {
    fn bytes(&self) -> usize {
        self.rows * self.width + self.columns.bytes
    }
}

#[inline]
fn append_step(
    step: &mut Step,
    columns: &mut Columns,
    event: &Event<'_>,
    state: Option<Running<'_>>,
    json: Option<&mut Fields>,
    json_text: &mut Text,
) {
    match step {
        Step::Null(node) => columns.null(*node),
        Step::Time(node) => match event.timestamp() {
            Some(time) => columns.integer(*node, time.as_ns() as u64),
            None => columns.null(*node),
        },
        Step::Constant(node, value) => columns.integer(*node, (*value).into()),
        Step::Cpu(node) => match event.tracefile().cpu() {
            Some(cpu) => columns.integer(*node, cpu.into()),
            None => columns.null(*node),
        },
        Step::Integer(node, field) => match event.integer(field) {
            Some(value) => columns.integer(*node, value),
            None => columns.null(*node),
        },
        Step::Text(node, field) => match event.text(field) {
            Some(bytes) => columns.recorded_text(*node, bytes),
            None => columns.null(*node),
        },
        Step::Value(node, field) => append_value(*node, columns, event.get(field)),
        Step::Labels(node, labels) => {
            let (field, labels) = &mut **labels;
            let label = match event.get(field) {
                Some(Value::Uint(value)) => labels.of(field.info(), value.into()),
                Some(Value::Sint(value)) => labels.of(field.info(), value.into()),
                _ => None,
            };
            match label {
                Some(label) => columns.text(*node, label),
                None => columns.null(*node),
            }
        }
        Step::Json(node) => {
            json_text.clear();
            if let Some(json) = json {
                json.append(event, json_text);
            }
            columns.text(*node, &text::utf8_of(json_text.as_bytes()));
        }
        Step::State(node, column) => match state {
            Some(state) => append_state(*node, columns, *column, state),
            None => columns.null(*node),
        },
    }
}

fn append_value(node: NodeId, columns: &mut Columns, value: Option<Value<'_>>) {
    match value {
        Some(Value::Uint(value) | Value::Bits(value)) => columns.integer(node, value),
        Some(Value::Sint(value)) => columns.integer(node, value as u64),
        Some(Value::Bool(value)) => columns.integer(node, value.into()),
        Some(Value::Float(value)) => columns.float(node, value),
        Some(Value::Str(StrValue { encoding: Encoding::Utf8, bytes, .. })) => {
            columns.recorded_text(node, bytes);
        }
        Some(Value::Str(value)) => columns.text(node, &text::utf8(value)),
        Some(Value::Blob(value)) => columns.blob(node, value),
        _ => columns.null(node),
    }
}

fn append_state(node: NodeId, columns: &mut Columns, column: StateColumn, state: Running<'_>) {
    let Running { trace, process, priority } = state;
    let id = match column {
        StateColumn::Tid => process.tid(),
        StateColumn::Pid => process.pid(),
        StateColumn::Priority => priority,
        StateColumn::Name => return columns.text(node, trace.name(process.name())),
        StateColumn::Mode => return columns.text(node, process.mode().as_str()),
        StateColumn::Submode => return columns.text(node, trace.name(process.submode())),
    };
    match id {
        Some(id) => columns.integer(node, i64::from(id) as u64),
        None => columns.null(node),
    }
}

/// Returns a schema with the types of arrays, some of which are dictionaries.
fn with_types(schema: &SchemaRef, arrays: &[ArrayRef]) -> SchemaRef {
    let field = |(field, array): (&FieldRef, &ArrayRef)| {
        field.as_ref().clone().with_data_type(array.data_type().clone())
    };
    Arc::new(Schema::new(schema.fields().iter().zip(arrays).map(field).collect::<Vec<_>>()))
}

/// Returns an array of texts.
fn texts<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> arrow_array::StringViewArray {
    texts.into_iter().map(|text| Some(text.as_ref().to_owned())).collect()
}

/// Returns the approximate size of the fixed part of a value, in bytes.
fn width(of: &DataType) -> usize {
    match of {
        DataType::Utf8View => 16,
        DataType::Struct(fields) => fields.iter().map(|field| width(field.data_type())).sum(),
        other => other.primitive_width().unwrap_or(4),
    }
}
