//! The leaf of all plans: partitions of rows, each read by a thread of its own.
//!
//! It is a scan of files in DataFusion's sense: the table is the file, and its partitions are
//! ranges of it. Schedulers of clusters divide such scans among machines, but no other leaves.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{
    FileGroup, FileOpenFuture, FileOpener, FileScanConfig, FileScanConfigBuilder, FileSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::object_store::ObjectStore;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder};
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::{DisplayFormatType, ExecutionPlan};
use futures::future::ready;
use futures::{FutureExt, StreamExt};
use lttv_arrow::Damage;

use crate::messages::{SLICES_READ, ScanPart, TRACE_ERRORS, TRACE_NOTICES};

/// The number of batches that wait for a consumer.
const WAITING: usize = 4;

/// A receiver of batches. It breaks when no more of them are wanted.
pub(crate) type SendBatch<'s> = dyn FnMut(RecordBatch) -> ControlFlow<()> + 's;

/// The numbers of errors and notices that a read met.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Met {
    pub(crate) errors: u64,
    pub(crate) notices: u64,
}

impl Met {
    pub(crate) fn of(damage: &Damage) -> Met {
        Met {
            errors: damage.errors.len() as u64 + damage.errors_omitted,
            notices: damage.notices.len() as u64 + damage.notices_omitted,
        }
    }
}

/// The rows of a table, in partitions.
pub(crate) trait Rows: fmt::Debug + Send + Sync {
    /// Returns the name of the table.
    fn table(&self) -> &str;

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

    /// Describes some partitions for another process; `None` if it cannot read them.
    fn part(&self, partitions: &[usize]) -> Option<ScanPart>;

    /// Reads a partition, at most `limit` rows of it if given.
    fn read(&self, partition: usize, limit: Option<usize>, send: &mut SendBatch<'_>)
    -> Result<Met>;
}

/// A source of rows.
#[derive(Debug, Clone)]
pub(crate) struct RowsSource {
    rows: Arc<dyn Rows>,
    schema: TableSchema,
    metrics: ExecutionPlanMetricsSet,
}

/// Returns the plan that reads all partitions.
pub(crate) fn plan(rows: Arc<dyn Rows>, limit: Option<usize>) -> Arc<dyn ExecutionPlan> {
    let schema = rows.schema();
    let ordering = |name: &str| {
        let (index, field) = schema.column_with_name(name)?;
        let column = Arc::new(Column::new(field.name(), index)) as Arc<dyn PhysicalExpr>;
        let ascending = PhysicalSortExpr::new_default(column).asc().nulls_last();
        LexOrdering::new([ascending]).filter(|_| !field.is_nullable())
    };
    let orderings = rows.sorted_by().into_iter().filter_map(ordering).collect();
    let groups = (0..rows.partitions()).map(|partition| {
        let at = partition as i64;
        FileGroup::new(vec![PartitionedFile::new(rows.table(), 0).with_range(at, at + 1)])
    });
    let groups = groups.collect();
    let table_schema = TableSchema::from(Arc::clone(&schema));
    let source = RowsSource { rows, schema: table_schema, metrics: ExecutionPlanMetricsSet::new() };
    let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
        .with_file_groups(groups)
        .with_output_ordering(orderings)
        // Partitions are not exchanged between threads.
        .with_preserve_order(true)
        .with_limit(limit)
        .build();
    DataSourceExec::from_data_source(config)
}

/// Describes what a plan reads, if it is a leaf of this module: the part, and its limit.
pub(crate) fn part_of(plan: &dyn ExecutionPlan) -> Option<(ScanPart, Option<usize>)> {
    let scan = plan.downcast_ref::<DataSourceExec>()?;
    let (config, source) = scan.downcast_to_file_source::<RowsSource>()?;
    let files = config.file_groups.iter().flat_map(FileGroup::iter);
    let partitions = files.map(partition_of).collect::<Option<Vec<_>>>()?;
    Some((source.rows.part(&partitions)?, config.limit))
}

/// Returns the number of the partition that a file stands for.
fn partition_of(file: &PartitionedFile) -> Option<usize> {
    usize::try_from(file.range.as_ref()?.start).ok()
}

impl FileSource for RowsSource {
    fn create_file_opener(
        &self,
        _: Arc<dyn ObjectStore>,
        config: &FileScanConfig,
        partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        let (rows, metrics) = (Arc::clone(&self.rows), self.metrics.clone());
        Ok(Arc::new(Opener { rows, metrics, partition, limit: config.limit }))
    }

    fn table_schema(&self) -> &TableSchema {
        &self.schema
    }

    fn with_batch_size(&self, _: usize) -> Arc<dyn FileSource> {
        Arc::new(self.clone())
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        &self.metrics
    }

    fn file_type(&self) -> &str {
        "trace"
    }

    fn fmt_extra(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ", ")?;
        self.rows.describe(f)
    }

    fn supports_repartitioning(&self) -> bool {
        false
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
}

/// An opener of partitions.
struct Opener {
    rows: Arc<dyn Rows>,
    metrics: ExecutionPlanMetricsSet,
    /// The partition of the plan, to which metrics belong.
    partition: usize,
    limit: Option<usize>,
}

impl FileOpener for Opener {
    fn open(&self, file: PartitionedFile) -> Result<FileOpenFuture> {
        let number = partition_of(&file).ok_or_else(|| {
            DataFusionError::Internal(format!("{} has no partition", file.path()))
        })?;
        let counter = |name| MetricBuilder::new(&self.metrics).counter(name, self.partition);
        let (slices, errors, notices) =
            (counter(SLICES_READ), counter(TRACE_ERRORS), counter(TRACE_NOTICES));
        let mut stream = RecordBatchReceiverStream::builder(self.rows.schema(), WAITING);
        let (rows, limit, sender) = (Arc::clone(&self.rows), self.limit, stream.tx());
        let schema = rows.schema();
        stream.spawn_blocking(move || {
            let mut left = limit.unwrap_or(usize::MAX);
            let met = rows.read(number, limit, &mut |batch| {
                let batch = batch.slice(0, batch.num_rows().min(left));
                left -= batch.num_rows();
                // More columns may be nullable to the engine.
                let batch = batch.with_schema(Arc::clone(&schema)).map_err(Into::into);
                // The consumer has ended, for example because of a limit.
                let is_over = sender.blocking_send(batch).is_err() || left == 0;
                if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            slices.add(1);
            errors.add(met.errors as usize);
            notices.add(met.notices as usize);
            Ok(())
        });
        Ok(ready(Ok(stream.build().boxed())).boxed())
    }
}
