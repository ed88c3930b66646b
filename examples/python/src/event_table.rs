//! The rows of tables of events.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use ltt_read::Progress;
use lttv_arrow::{Damage, EventTable, Scan, Sink, is_in_order};
use lttv_context::Traceset;
use pyo3::prelude::*;

use crate::errors::{of_read, warn_of_damage};
use crate::events::OnDamage;
use crate::outside::check_signals;
use crate::selection::Selection;
use crate::stream::Output;
use crate::table::{Source, Table, of_arrow};

/// The time between two looks for an interrupt by the user.
const PATIENCE: Duration = Duration::from_millis(50);

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

/// Reads some tables at once, and returns those with rows, in memory, with their names.
pub(crate) fn read_tables(
    py: Python<'_>,
    traceset: &Traceset,
    tables: Vec<EventTable>,
    selection: &Selection,
    on_damage: OnDamage,
) -> PyResult<Vec<(String, Table)>> {
    let all = |table| {
        let table: Arc<EventTable> = Arc::new(table);
        let columns = (0..table.schema().fields().len()).collect();
        lttv_arrow::Selection { table, columns }
    };
    let selections: Vec<_> = tables.into_iter().map(all).collect();
    let mut collector = Collector {
        batches: vec![Vec::new(); selections.len()],
        looked: Instant::now(),
        raised: None,
    };
    let read = py.detach(|| {
        Scan::new(traceset, selections.clone())
            .window(selection.window)
            .filters(selection.filters.as_deref())
            .batch_rows(BATCH_ROWS)
            .read(&mut collector)
    });
    collector.raised.map_or(Ok(()), Err)?;
    let damage = read.map_err(|error| of_arrow(&error))?;
    match (on_damage, damage.errors.first()) {
        (OnDamage::Raise, Some(error)) => return Err(of_read(py, error)),
        (OnDamage::Ignore, _) => {}
        _ => warn_of_damage(py, &damage.errors, damage.errors_omitted, &damage.notices)?,
    }
    let rows = selections.into_iter().zip(collector.batches);
    let with_rows = rows.filter(|(_, batches)| !batches.is_empty());
    let table = |(of, batches): (lttv_arrow::Selection, _)| {
        let name = of.table.name().to_owned();
        (name.clone(), Table::of_batches(name, batches, Arc::clone(of.table.schema())))
    };
    Ok(with_rows.map(table).collect())
}

/// Collects the batches of each table.
struct Collector {
    batches: Vec<Vec<RecordBatch>>,
    /// The time of the last look for an interrupt.
    looked: Instant,
    raised: Option<PyErr>,
}

impl Sink for Collector {
    fn batch(&mut self, table: usize, batch: RecordBatch) -> ControlFlow<()> {
        self.batches[table].push(batch);
        ControlFlow::Continue(())
    }

    fn step(&mut self, _: Progress) -> ControlFlow<()> {
        if self.looked.elapsed() < PATIENCE {
            return ControlFlow::Continue(());
        }
        self.looked = Instant::now();
        match Python::attach(check_signals) {
            Ok(()) => ControlFlow::Continue(()),
            Err(raised) => {
                self.raised = Some(raised);
                ControlFlow::Break(())
            }
        }
    }
}
