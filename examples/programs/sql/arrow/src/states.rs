//! The table of states: the intervals of a history of kernel states.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{Int64Builder, StringViewBuilder};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use ltt_read::Trace;
use lttv_common::trace_names::trace_names;
use lttv_state::history::{History, HistoryError, Interval};
use lttv_state::value::StateValue;

use crate::scan::BATCH_ROWS;

/// An error from reading the table of states.
#[derive(Debug, thiserror::Error)]
pub enum StatesError {
    /// The history cannot be read.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// A batch cannot be built.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

/// Returns the columns of the table of states.
///
/// | column | meaning |
/// |---|---|
/// | `trace` | the trace, named as in tables of events |
/// | `attribute` | the path of the attribute in the trace, such as `Threads/12/Mode` |
/// | `value` | the value as text |
/// | `number` | the value if it is an integer |
/// | `start_ts`, `end_ts` | the interval in ns since the origin of the clock; the end is exclusive |
pub fn states_schema() -> SchemaRef {
    let text = |name: &str| Field::new(name, DataType::Utf8View, false);
    let number = |name: &str, nullable| Field::new(name, DataType::Int64, nullable);
    Arc::new(Schema::new(vec![
        text("trace"),
        text("attribute"),
        text("value"),
        number("number", true),
        number("start_ts", false),
        number("end_ts", false),
    ]))
}

/// Passes the intervals of a history with a value to `sink`, attribute by attribute.
///
/// # Errors
///
/// If the history is damaged, or if a batch cannot be built.
pub fn read_states(
    history: &History,
    traces: &[Arc<Trace>],
    mut sink: impl FnMut(RecordBatch) -> ControlFlow<()>,
) -> Result<(), StatesError> {
    let names = trace_names(traces.iter().map(|trace| trace.path()));
    let mut rows = Rows::default();
    for quark in history.tree().quarks() {
        let path = history.tree().path(quark);
        let Some((trace, attribute)) = path.split_once('/') else { continue };
        let Some(trace) = trace.parse().ok().and_then(|trace: usize| names.get(trace)) else {
            continue;
        };
        for interval in history.intervals(quark, history.start()..history.end())? {
            let interval = interval?;
            if !interval.value.is_null() {
                rows.push(trace, attribute, &interval);
            }
            if rows.len == BATCH_ROWS && sink(rows.finish()?).is_break() {
                return Ok(());
            }
        }
    }
    if rows.len > 0 {
        // Nothing follows that could be left out.
        _ = sink(rows.finish()?);
    }
    Ok(())
}

/// The rows of the next batch.
#[derive(Default)]
struct Rows {
    traces: StringViewBuilder,
    attributes: StringViewBuilder,
    values: StringViewBuilder,
    numbers: Int64Builder,
    starts: Int64Builder,
    ends: Int64Builder,
    len: usize,
}

impl Rows {
    fn push(&mut self, trace: &str, attribute: &str, interval: &Interval<'_>) {
        self.traces.append_value(trace);
        self.attributes.append_value(attribute);
        match &interval.value {
            StateValue::Str(text) => self.values.append_value(text),
            other => self.values.append_value(other.to_string()),
        }
        self.numbers.append_option(interval.value.as_i64());
        self.starts.append_value(interval.start.as_ns());
        self.ends.append_value(interval.end.as_ns());
        self.len += 1;
    }

    fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        self.len = 0;
        RecordBatch::try_new(
            states_schema(),
            vec![
                Arc::new(self.traces.finish()),
                Arc::new(self.attributes.finish()),
                Arc::new(self.values.finish()),
                Arc::new(self.numbers.finish()),
                Arc::new(self.starts.finish()),
                Arc::new(self.ends.finish()),
            ],
        )
    }
}
