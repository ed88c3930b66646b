//! The parts of a session that its tables share.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::{Field, Fields, Schema, SchemaRef};
use ltt_read::{Timestamp, Trace};
use lttv_arrow::{Damage, EventTable, Tables, is_in_order};
use lttv_common::definitions::Definitions;
use lttv_common::time::Window;
use lttv_filter::Environment;
use lttv_state::filter::KernelFilters;
use lttv_state::history::History;
use tempfile::NamedTempFile;

use crate::messages::{Dataset, TableMessage};

/// The size of a window that is read by one thread, in bytes.
const SHORT: f64 = (1 << 20) as f64;

/// The settings of a session.
#[derive(Debug, Default)]
pub struct SessionOptions {
    /// The window of time of all tables of events.
    pub window: Window,
    /// A filter of all tables of events.
    pub filters: Option<KernelFilters>,
    /// The number of threads: all processors if `None`.
    pub threads: Option<NonZeroUsize>,
    /// The time zone of times in the filter.
    pub environment: Environment,
    /// A flag that ends running queries when it is set.
    pub cancel: Arc<AtomicBool>,
    /// `true` if the order of events by time must not be relied on.
    pub unordered: bool,
    /// `true` if tables of events have columns of the kernel state. Queries that use them read the
    /// events on one thread.
    pub kernel_state: bool,
    /// The definitions of periods, beside those that come with the program.
    pub definitions: Definitions,
    /// The description of the traces for other processes, if they can open them. The filter is not
    /// told to them, and damage is only in the tables of errors and notices and in metrics.
    pub dataset: Option<Dataset>,
}

/// The parts of a session that tables need.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) tables: Tables,
    pub(crate) options: SessionOptions,
    pub(crate) threads: usize,
    /// The number of partitions that events are read in.
    pub(crate) slices: usize,
    pub(crate) damage: Mutex<Damage>,
    pub(crate) order: OnceLock<bool>,
    pub(crate) kept: Mutex<Kept>,
    pub(crate) done: AtomicU64,
    pub(crate) total: AtomicU64,
}

/// The results that later queries of a session use again.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// The tables of events that were named, by their names in queries.
    pub(crate) tables: HashMap<String, Arc<EventTable>>,
    pub(crate) damage: Option<(RecordBatch, RecordBatch)>,
    pub(crate) statistics: Option<RecordBatch>,
    /// The history of states, in a file that is removed with the session.
    pub(crate) states: Option<(Arc<History>, NamedTempFile)>,
}

impl Shared {
    /// Describes a table for other processes; `None` if they cannot open the traces.
    pub(crate) fn message(&self, name: &str) -> Option<TableMessage> {
        let dataset = self.options.dataset.clone()?;
        Some(TableMessage { dataset, name: name.to_owned() })
    }

    /// Returns the columns of a table as the engine sees them.
    ///
    /// Plans for other processes lose that a cast makes a column nullable, and then get operators
    /// that their sender does not know. Nothing is lost where all columns are nullable.
    pub(crate) fn columns_of(&self, schema: &SchemaRef) -> SchemaRef {
        if self.options.dataset.is_none() {
            return Arc::clone(schema);
        }
        let nullable = |field: &Arc<Field>| Field::clone(field).with_nullable(true);
        let fields: Fields = schema.fields().iter().map(nullable).collect();
        Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
    }

    /// Adds what a read met.
    pub(crate) fn add_damage(&self, damage: Damage) {
        // The session of another process's query: nobody takes it.
        if self.options.dataset.is_some() {
            return;
        }
        self.damage.lock().unwrap_or_else(PoisonError::into_inner).add(damage);
    }

    /// Returns `true` if all rows are in the order of their times.
    pub(crate) fn is_in_order(&self) -> bool {
        !self.options.unordered
            && *self.order.get_or_init(|| is_in_order(self.tables.traceset().traces()))
    }

    /// Returns `true` for a window that is read by one thread in less time than several need to find their parts of
    /// it. The events are assumed to be evenly distributed.
    pub(crate) fn is_short(&self, window: Window) -> bool {
        let (Some(begin), Some(end)) = (window.begin, window.end) else { return false };
        let bytes = |trace: &Arc<Trace>| {
            let Some(span) = trace.time_span() else { return 0.0 };
            let (begin, end) = (begin.max(span.start), end.min(span.end));
            let part =
                |from: Timestamp, to: Timestamp| to.as_ns().saturating_sub(from.as_ns()) as f64;
            let size: u64 = trace.tracefiles().iter().map(|of| of.size()).sum();
            size as f64 * part(begin, end).max(0.0) / part(span.start, span.end).max(1.0)
        };
        self.tables.traceset().traces().iter().map(bytes).sum::<f64>() < SHORT
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.options.cancel.load(Ordering::Relaxed)
    }
}
