//! The leaf of all plans: partitions of rows, each read by a thread of its own.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use datafusion::common::Statistics;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::source::{DataSource, DataSourceExec};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::{
    EquivalenceProperties, LexOrdering, PhysicalExpr, PhysicalSortExpr,
};
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::{
    DisplayFormatType, ExecutionPlan, Partitioning, SendableRecordBatchStream,
};

/// The number of batches that wait for a consumer.
const WAITING: usize = 4;

/// A receiver of batches. It breaks when no more of them are wanted.
pub(crate) type SendBatch<'s> = dyn FnMut(RecordBatch) -> ControlFlow<()> + 's;

/// The rows of a table, in partitions.
pub(crate) trait Rows: fmt::Debug + Send + Sync {
    /// Returns the columns.
    fn schema(&self) -> SchemaRef;

    /// Returns the number of partitions. Each row is in exactly one of them.
    fn partitions(&self) -> usize {
        1
    }

    /// Returns the names of the columns by each of which the rows of every partition are sorted.
    fn sorted_by(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Describes the read for `explain`.
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Reads a partition, at most `limit` rows of it if given.
    fn read(&self, partition: usize, limit: Option<usize>, send: &mut SendBatch<'_>) -> Result<()>;
}

/// A data source of rows.
#[derive(Debug, Clone)]
struct RowsSource {
    rows: Arc<dyn Rows>,
    limit: Option<usize>,
}

/// Returns the plan that reads rows.
pub(crate) fn plan(rows: Arc<dyn Rows>, limit: Option<usize>) -> Arc<dyn ExecutionPlan> {
    DataSourceExec::from_data_source(RowsSource { rows, limit })
}

impl DataSource for RowsSource {
    fn open(&self, partition: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let mut stream = RecordBatchReceiverStream::builder(self.rows.schema(), WAITING);
        let (rows, limit, sender) = (Arc::clone(&self.rows), self.limit, stream.tx());
        stream.spawn_blocking(move || {
            let mut left = limit.unwrap_or(usize::MAX);
            rows.read(partition, limit, &mut |batch| {
                let batch = batch.slice(0, batch.num_rows().min(left));
                left -= batch.num_rows();
                // The consumer has ended, for example because of a limit.
                let is_over = sender.blocking_send(Ok(batch)).is_err() || left == 0;
                if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
        });
        Ok(stream.build())
    }

    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows.describe(f)?;
        write!(f, ", partitions={}", self.rows.partitions())?;
        match self.limit {
            Some(limit) => write!(f, ", limit={limit}"),
            None => Ok(()),
        }
    }

    fn output_partitioning(&self) -> Partitioning {
        Partitioning::UnknownPartitioning(self.rows.partitions())
    }

    fn eq_properties(&self) -> EquivalenceProperties {
        let schema = self.rows.schema();
        let ordering = |name: &str| {
            let (index, field) = schema.column_with_name(name)?;
            let column = Arc::new(Column::new(field.name(), index)) as Arc<dyn PhysicalExpr>;
            let ascending = PhysicalSortExpr::new_default(column).asc().nulls_last();
            LexOrdering::new([ascending]).filter(|_| !field.is_nullable())
        };
        let orderings: Vec<_> = self.rows.sorted_by().into_iter().filter_map(ordering).collect();
        EquivalenceProperties::new_with_orderings(Arc::clone(&schema), orderings)
    }

    fn partition_statistics(&self, _: Option<usize>) -> Result<Arc<Statistics>> {
        Ok(Arc::new(Statistics::new_unknown(&self.rows.schema())))
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn DataSource>> {
        Some(Arc::new(RowsSource { rows: Arc::clone(&self.rows), limit }))
    }

    fn fetch(&self) -> Option<usize> {
        self.limit
    }

    fn try_swapping_with_projection(
        &self,
        _: &ProjectionExprs,
    ) -> Result<Option<Arc<dyn DataSource>>> {
        Ok(None)
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
}
