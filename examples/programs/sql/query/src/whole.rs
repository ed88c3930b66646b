//! The tables that need a read of whole traces: spans, states, statistics, errors and notices.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use ltt_read::Progress;
use lttv_arrow::{
    Damage, Scan, Sink, read_spans, read_states, spans_schema, states_schema, statistics_batch,
    statistics_schema,
};
use lttv_common::kernel_trace;
use lttv_common::time::Window;
use lttv_state::analysis::read;
use lttv_state::history::History;
use lttv_state::kernel_history::{self, HistoryTarget};
use lttv_state::stats::StatisticsAnalysis;
use tempfile::NamedTempFile;

use crate::messages::{ScanPart, Slice};
use crate::shared::{Kept, Shared};
use crate::source::{self, Met, Rows, SendBatch};

/// A table that is computed from whole traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whole {
    Errors,
    Notices,
    Spans,
    States,
    Statistics,
}

impl Whole {
    pub(crate) const ALL: [Whole; 5] =
        [Whole::Errors, Whole::Notices, Whole::Spans, Whole::States, Whole::Statistics];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Whole::Errors => "errors",
            Whole::Notices => "notices",
            Whole::Spans => "spans",
            Whole::States => "states",
            Whole::Statistics => "statistics",
        }
    }

    fn schema(self) -> SchemaRef {
        match self {
            Whole::Errors => Damage::errors_schema(),
            Whole::Notices => Damage::notices_schema(),
            Whole::Spans => spans_schema(),
            Whole::States => states_schema(),
            Whole::Statistics => statistics_schema(),
        }
    }
}

/// The provider of such a table.
#[derive(Debug)]
pub(crate) struct WholeProvider {
    whole: Whole,
    shared: Arc<Shared>,
}

impl WholeProvider {
    pub(crate) fn new(whole: Whole, shared: &Arc<Shared>) -> Self {
        WholeProvider { whole, shared: Arc::clone(shared) }
    }

    /// Returns the name of the table.
    pub(crate) fn name(&self) -> &'static str {
        self.whole.name()
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Returns the plan that reads some columns.
    ///
    /// # Errors
    ///
    /// If there is no such column.
    pub(crate) fn plan(
        &self,
        columns: Vec<usize>,
        limit: Option<usize>,
        partitions: usize,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = Arc::new(self.schema().project(&columns)?);
        let shared = Arc::clone(&self.shared);
        let rows = WholeRows { whole: self.whole, columns, schema, partitions, shared };
        Ok(source::plan(Arc::new(rows), limit))
    }
}

#[async_trait]
impl TableProvider for WholeProvider {
    fn schema(&self) -> SchemaRef {
        self.shared.columns_of(&self.whole.schema())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let all = || (0..self.whole.schema().fields().len()).collect();
        self.plan(projection.cloned().unwrap_or_else(all), limit, 1)
    }
}

/// The rows of such a table.
#[derive(Debug)]
struct WholeRows {
    whole: Whole,
    columns: Vec<usize>,
    schema: SchemaRef,
    /// One, or none where a plan was divided among processes.
    partitions: usize,
    shared: Arc<Shared>,
}

impl WholeRows {
    /// Returns the tables of errors and of notices.
    fn damage(&self, kept: &mut Kept) -> Result<(RecordBatch, RecordBatch)> {
        if let Some(known) = &kept.damage {
            return Ok(known.clone());
        }
        let damage =
            Scan::new(self.shared.tables.traceset(), Vec::new()).read(&mut Steps(&self.shared))?;
        self.refuse_interrupt()?;
        let batches = (damage.errors_batch()?, damage.notices_batch()?);
        self.shared.add_damage(damage);
        kept.damage = Some(batches.clone());
        Ok(batches)
    }

    fn statistics(&self, kept: &mut Kept) -> Result<RecordBatch> {
        if let Some(known) = &kept.statistics {
            return Ok(known.clone());
        }
        let traceset = self.shared.tables.traceset();
        kernel_trace::require(traceset, &kernel_trace::STATS).map_err(external)?;
        let computed = read(traceset).threads(self.shared.threads).run(StatisticsAnalysis::new());
        let batch = statistics_batch(&computed.output, traceset.traces())?;
        let (errors, errors_omitted) = (computed.errors, computed.errors_omitted);
        self.shared.add_damage(Damage { errors, errors_omitted, ..Damage::default() });
        kept.statistics = Some(batch.clone());
        Ok(batch)
    }

    fn history(&self, kept: &mut Kept) -> Result<Arc<History>> {
        if let Some((known, _)) = &kept.states {
            return Ok(Arc::clone(known));
        }
        let traceset = self.shared.tables.traceset();
        kernel_trace::require(traceset, &kernel_trace::HISTORY).map_err(external)?;
        let file = NamedTempFile::new()?;
        let recorded = kernel_history::record(
            traceset,
            HistoryTarget::Replace(file.path()),
            |(done, total)| match self.goes_on(Progress { done, total }) {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            },
        );
        self.refuse_interrupt()?;
        let recorded = recorded.map_err(external)?;
        let (errors, errors_omitted) = (recorded.errors, recorded.errors_omitted);
        self.shared.add_damage(Damage { errors, errors_omitted, ..Damage::default() });
        let history = Arc::new(recorded.history);
        kept.states = Some((Arc::clone(&history), file));
        Ok(history)
    }

    /// Passes all spans on. They are not stored: there may be more than memory takes.
    fn spans(&self, send: &mut SendBatch<'_>) -> Result<Met> {
        let traceset = self.shared.tables.traceset();
        let goes_on = |progress| self.goes_on(progress);
        let options = &self.shared.options;
        let definitions = options.definitions.with_served(traceset.traces(), &options.environment);
        let definitions = definitions.map_err(|error| external(error.to_string()))?;
        if definitions.periods.is_empty() {
            kernel_trace::require(traceset, &kernel_trace::SPANS).map_err(external)?;
        }
        let threads = self.shared.threads;
        let damage = read_spans(traceset, &definitions, threads, &self.columns, send, goes_on)?;
        self.refuse_interrupt()?;
        self.shared.add_damage(damage);
        Ok(Met::default())
    }

    /// Shows the progress of a read. Returns `false` if it is to end.
    fn goes_on(&self, Progress { done, total }: Progress) -> bool {
        self.shared.done.store(done, Ordering::Relaxed);
        self.shared.total.store(total, Ordering::Relaxed);
        !self.shared.is_cancelled()
    }

    fn refuse_interrupt(&self) -> Result<()> {
        match self.shared.is_cancelled() {
            true => Err(DataFusionError::Execution("interrupted".to_owned())),
            false => Ok(()),
        }
    }
}

fn external(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> DataFusionError {
    DataFusionError::External(error.into())
}

impl Rows for WholeRows {
    fn table(&self) -> &str {
        self.whole.name()
    }

    fn partitions(&self) -> usize {
        self.partitions
    }

    fn part(&self, partitions: &[usize]) -> Option<ScanPart> {
        if self.whole == Whole::Spans && !self.shared.options.definitions.is_empty() {
            // Other processes have not read the files of definitions.
            return None;
        }
        let whole = Slice { window: Window::default(), only: None };
        Some(ScanPart {
            table: self.shared.message(self.whole.name())?,
            columns: self.columns.clone(),
            filter: None,
            slices: vec![whole; partitions.len()],
        })
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "table={}", self.whole.name())
    }

    fn read(&self, _: usize, _: Option<usize>, send: &mut SendBatch<'_>) -> Result<Met> {
        let mut kept = self.shared.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let batch = match self.whole {
            Whole::Errors => self.damage(&mut kept)?.0,
            Whole::Notices => self.damage(&mut kept)?.1,
            Whole::Statistics => self.statistics(&mut kept)?,
            Whole::Spans => {
                drop(kept);
                return self.spans(send);
            }
            Whole::States => {
                let history = self.history(&mut kept)?;
                // Other queries may read states meanwhile.
                drop(kept);
                let traces = self.shared.tables.traceset().traces();
                let mut failure = None;
                let read = read_states(&history, traces, |batch| {
                    let projected = batch.project(&self.columns);
                    match projected {
                        Ok(batch) if !self.shared.is_cancelled() => send(batch),
                        Ok(_) => ControlFlow::Break(()),
                        Err(error) => {
                            failure = Some(error);
                            ControlFlow::Break(())
                        }
                    }
                });
                read.map_err(external)?;
                self.refuse_interrupt()?;
                return failure.map_or(Ok(Met::default()), |error| Err(error.into()));
            }
        };
        drop(kept);
        let rows = batch.num_rows() as u64;
        // The only batch: nothing follows that could be left out.
        _ = send(batch.project(&self.columns)?);
        Ok(match self.whole {
            Whole::Errors => Met { errors: rows, ..Met::default() },
            Whole::Notices => Met { notices: rows, ..Met::default() },
            Whole::Spans | Whole::States | Whole::Statistics => Met::default(),
        })
    }
}

/// A sink without rows.
struct Steps<'s>(&'s Shared);

impl Sink for Steps<'_> {
    fn batch(&mut self, _: usize, _: RecordBatch) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn step(&mut self, progress: ltt_read::Progress) -> ControlFlow<()> {
        self.0.done.store(progress.done, Ordering::Relaxed);
        self.0.total.store(progress.total, Ordering::Relaxed);
        match self.0.is_cancelled() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
