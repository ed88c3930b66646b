//! The rows of tables of events.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use ltt_read::Progress;
use lttv_arrow::{Damage, EventTable, Scan, Sink, is_in_order};
use lttv_context::Traceset;

use crate::selection::Selection;
use crate::stream::Output;
use crate::table::Source;

/// The number of rows of a batch.
const BATCH_ROWS: usize = 1 << 16;

/// The events of a table that are selected.
pub(crate) struct EventRows {
    pub(crate) traceset: Traceset,
    pub(crate) table: Arc<EventTable>,
    pub(crate) selection: Selection,
    /// `true` if no clock of the traces goes back; empty if it is not known.
    pub(crate) is_in_order: Arc<OnceLock<bool>>,
}

impl Source for EventRows {
    fn schema(&self) -> &SchemaRef {
        self.table.schema()
    }

    fn produce(self: Arc<Self>, columns: &[usize], output: &Output) -> Result<Damage, ArrowError> {
        let in_order = *self.is_in_order.get_or_init(|| is_in_order(self.traceset.traces()));
        let table =
            lttv_arrow::Selection { table: Arc::clone(&self.table), columns: columns.to_vec() };
        Scan::new(&self.traceset, vec![table])
            .window(self.selection.window)
            .filters(self.selection.filters.as_deref())
            .batch_rows(BATCH_ROWS)
            .in_order(in_order)
            .read(&mut Receiver(output))
    }
}

struct Receiver<'o>(&'o Output);

impl Sink for Receiver<'_> {
    fn batch(&mut self, _: usize, batch: RecordBatch) -> ControlFlow<()> {
        self.0.batch(batch)
    }

    fn step(&mut self, _: Progress) -> ControlFlow<()> {
        self.0.step()
    }
}
