//! Tables of events.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use ltt_read::{Progress, Timestamp};
use lttv_arrow::{BATCH_ROWS, EventTable, Scan, Selection, Sink};
use lttv_common::time::Window;
use lttv_filter::{Environment, Expr as Condition, Expression, FilterError};
use lttv_state::filter::KernelFilters;

use crate::messages::{ScanPart, Slice};
use crate::pushdown::{Pushed, pushed};
use crate::shared::Shared;
use crate::source::{self, Met, Rows, SendBatch};

/// A limit up to which one thread finds the rows soonest.
const FEW_ROWS: usize = 4 * BATCH_ROWS;

/// A table of events.
#[derive(Debug)]
pub(crate) struct EventsProvider {
    /// The name of the table in queries.
    name: Arc<str>,
    table: Arc<EventTable>,
    shared: Arc<Shared>,
}

impl EventsProvider {
    pub(crate) fn new(name: &str, table: Arc<EventTable>, shared: &Arc<Shared>) -> Self {
        EventsProvider { name: name.into(), table, shared: Arc::clone(shared) }
    }

    /// Returns the name of the table in queries.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Returns the plan of a read that another process has described.
    ///
    /// # Errors
    ///
    /// If the read does not fit the table.
    pub(crate) fn plan(
        &self,
        part: &ScanPart,
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let condition = part.filter.as_deref().map(Expression::parse).transpose();
        let condition = condition.map_err(wrong)?.map(|of| of.tree().clone());
        let rows = self.rows(part.columns.clone(), condition, part.slices.clone())?;
        Ok(source::plan(Arc::new(rows), limit))
    }

    /// Returns the rows of some columns, of events for which a condition is true.
    fn rows(
        &self,
        columns: Vec<usize>,
        condition: Option<Condition>,
        slices: Vec<Slice>,
    ) -> Result<EventRows> {
        let selection = Selection { table: Arc::clone(&self.table), columns };
        let of_query = condition.clone().map(Expression::new).transpose().map_err(wrong)?;
        Ok(EventRows {
            name: Arc::clone(&self.name),
            schema: self.shared.columns_of(&selection.schema()?),
            selection,
            slices,
            of_query: of_query.map(|of| of.text().to_owned()),
            filters: self.filters(condition.into_iter().collect())?,
            is_ordered: self.shared.is_in_order(),
            shared: Arc::clone(&self.shared),
        })
    }

    /// Returns what a read can evaluate of a condition; `None` if it cannot evaluate it exactly.
    fn pushed(&self, filter: &Expr) -> Option<Pushed> {
        let pushed = pushed(&self.table, filter)?;
        match &pushed.condition {
            // A condition that does not fit the traces is left to the engine.
            Some(condition) => self.compile(condition.clone()).is_some().then_some(pushed),
            None => Some(pushed),
        }
    }

    fn compile(&self, condition: Condition) -> Option<KernelFilters> {
        let expression = Expression::new(condition).ok()?;
        let traces = self.shared.tables.traceset().traces();
        let compiled = KernelFilters::new(&expression, traces, &Environment::new()).ok()?;
        (!compiled.uses_state()).then_some(compiled)
    }

    /// Combines the filter of the session with the conditions of a query.
    fn filters(&self, conditions: Vec<Condition>) -> Result<Option<KernelFilters>> {
        let session = self.shared.options.filters.as_ref();
        let of_session = session.map(|of| of.filters().expression().tree().clone());
        let all: Vec<Condition> = of_session.into_iter().chain(conditions).collect();
        if all.is_empty() {
            return Ok(None);
        }
        let traces = self.shared.tables.traceset().traces();
        let expression = Expression::new(Condition::all(all)).map_err(wrong)?;
        let environment = &self.shared.options.environment;
        KernelFilters::new(&expression, traces, environment).map(Some).map_err(wrong)
    }
}

#[async_trait]
impl TableProvider for EventsProvider {
    fn schema(&self) -> SchemaRef {
        self.shared.columns_of(self.table.schema())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let support = |filter: &&Expr| match self.pushed(filter) {
            Some(_) => TableProviderFilterPushDown::Exact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(support).collect())
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut window = Some(self.shared.options.window);
        let mut conditions = Vec::new();
        for filter in filters {
            let Some(pushed) = self.pushed(filter) else {
                let what = format!("{filter} is not a condition of a read");
                return Err(DataFusionError::Plan(what));
            };
            window = window.and_then(|window| intersection(window, pushed.window));
            conditions.extend(pushed.condition);
        }
        let all = || (0..self.table.schema().fields().len()).collect();
        let columns = projection.cloned().unwrap_or_else(all);
        let condition = (!conditions.is_empty()).then(|| Condition::all(conditions));
        let mut rows = self.rows(columns, condition, Vec::new())?;
        let Some(window) = window else {
            // A query for no time reads nothing.
            return Ok(Arc::new(EmptyExec::new(rows.schema)));
        };
        let count = match limit {
            Some(limit) if limit <= FEW_ROWS => 1,
            _ if self.shared.is_short(window) => 1,
            _ => self.shared.slices,
        };
        let parts = rows.scan(Slice { window, only: None }).parts(count);
        rows.slices = parts.iter().map(Slice::of).collect();
        Ok(source::plan(Arc::new(rows), limit))
    }
}

fn wrong(error: FilterError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// Returns the part of a window between two times in ns, inclusive; `None` if there is none.
fn intersection(window: Window, (low, high): (Option<i64>, Option<i64>)) -> Option<Window> {
    let time = |ns: Option<i64>| ns.map(Timestamp::from_ns);
    let begin = window.begin.into_iter().chain(time(low)).max();
    let end = window.end.into_iter().chain(time(high)).min();
    let is_empty = begin.zip(end).is_some_and(|(begin, end)| begin > end);
    (!is_empty).then_some(Window { begin, end })
}

/// The rows of a table of events, in slices of time.
#[derive(Debug)]
struct EventRows {
    name: Arc<str>,
    selection: Selection,
    schema: SchemaRef,
    slices: Vec<Slice>,
    /// The condition of the query, without the filter of the session.
    of_query: Option<String>,
    filters: Option<KernelFilters>,
    is_ordered: bool,
    shared: Arc<Shared>,
}

impl EventRows {
    fn scan(&self, slice: Slice) -> Scan<'_> {
        Scan::new(self.shared.tables.traceset(), vec![self.selection.clone()])
            .window(slice.window)
            .only(slice.only)
            .filters(self.filters.as_ref())
            .in_order(self.is_ordered)
    }
}

impl Rows for EventRows {
    fn table(&self) -> &str {
        &self.name
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn partitions(&self) -> usize {
        self.slices.len()
    }

    fn sorted_by(&self) -> Vec<&'static str> {
        if self.is_ordered { vec!["timestamp", "ts"] } else { Vec::new() }
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> =
            self.schema.fields().iter().map(|field| field.name().as_str()).collect();
        write!(f, "table={}, columns=[{}]", self.name, names.join(", "))?;
        let begin = self.slices.iter().map(|slice| slice.window.begin).min().flatten();
        let ends = self.slices.iter().map(|slice| slice.window.end);
        let end = ends.collect::<Option<Vec<_>>>().and_then(|ends| ends.into_iter().max());
        if begin.is_some() || end.is_some() {
            let text = |time: Option<Timestamp>| time.map_or(String::new(), |t| t.to_string());
            write!(f, ", time={}..{}", text(begin), text(end))?;
        }
        let scan = self.slices.first().map(|slice| self.scan(*slice));
        if scan.is_some_and(|scan| scan.is_bulk().unwrap_or(false)) {
            write!(f, ", in bulk")?;
        }
        match &self.filters {
            Some(filters) => write!(f, ", filter=[{}]", filters.filters().expression().text()),
            None => Ok(()),
        }
    }

    fn part(&self, partitions: &[usize]) -> Option<ScanPart> {
        let slices = partitions.iter().map(|of| self.slices.get(*of).copied());
        Some(ScanPart {
            table: self.shared.message(&self.name)?,
            columns: self.selection.columns.clone(),
            filter: self.of_query.clone(),
            slices: slices.collect::<Option<_>>()?,
        })
    }

    fn read(
        &self,
        partition: usize,
        limit: Option<usize>,
        send: &mut SendBatch<'_>,
    ) -> Result<Met> {
        let Some(slice) = self.slices.get(partition) else {
            return Err(DataFusionError::Internal(format!("there is no slice {partition}")));
        };
        let rows = limit.map_or(BATCH_ROWS, |limit| limit.clamp(1, BATCH_ROWS));
        let mut sink = Sending { send, shared: &self.shared, last: None };
        // Without its times, the order of rows matters at most for a limit.
        let has_time =
            self.sorted_by().iter().any(|time| self.schema.column_with_name(time).is_some());
        let scan = self.scan(*slice).any_order(limit.is_none() && !has_time);
        let damage = scan.batch_rows(rows).read(&mut sink)?;
        let (goes_back, met) = (damage.goes_back, Met::of(&damage));
        self.shared.add_damage(damage);
        if self.shared.is_cancelled() {
            return Err(DataFusionError::Execution("interrupted".to_owned()));
        }
        if goes_back && self.is_ordered {
            let what = "the clock of a trace goes back, against the times of its packets: \
                        use --unordered";
            return Err(DataFusionError::Execution(what.to_owned()));
        }
        Ok(met)
    }
}

/// A sink that passes batches on, and counts the bytes read.
struct Sending<'s, 'f> {
    send: &'s mut SendBatch<'f>,
    shared: &'s Shared,
    last: Option<u64>,
}

impl Sink for Sending<'_, '_> {
    fn batch(&mut self, _: usize, batch: RecordBatch) -> ControlFlow<()> {
        (self.send)(batch)
    }

    fn step(&mut self, progress: Progress) -> ControlFlow<()> {
        let before = self.last.replace(progress.done).unwrap_or(progress.done);
        let more = progress.done.saturating_sub(before);
        self.shared.done.fetch_add(more, Ordering::Relaxed);
        self.shared.total.fetch_max(progress.total, Ordering::Relaxed);
        match self.shared.is_cancelled() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
