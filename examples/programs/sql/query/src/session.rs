//! A session: the tables of a traceset, for queries.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use datafusion::error::Result;
use datafusion::execution::context::{SessionConfig, SessionContext};
use datafusion::prelude::DataFrame;
use ltt_read::Progress;
use lttv_arrow::{Damage, Tables};
use lttv_context::{MAX_THREADS, Traceset};

use crate::catalog::{self, TraceCatalog};
use crate::functions;
use crate::messages::Dataset;
use crate::shared::{SessionOptions, Shared};

/// The name of the catalogue and schema of the tables.
const SCHEMA: &str = "trace";

/// The size up to which the rows of a thread are sorted at once, in bytes.
const SORTED_AT_ONCE: usize = 64 << 20;

/// The tables of a traceset, for queries.
pub struct TraceSession {
    context: SessionContext,
    shared: Arc<Shared>,
}

impl fmt::Debug for TraceSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceSession").field("shared", &self.shared).finish_non_exhaustive()
    }
}

impl TraceSession {
    /// Creates a session.
    ///
    /// # Errors
    ///
    /// If the engine refuses the tables.
    pub fn new(traceset: Traceset, options: SessionOptions) -> Result<Self> {
        let all = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let threads = options.threads.map_or_else(all, NonZeroUsize::get).min(MAX_THREADS);
        let slices = options.dataset.as_ref().map_or(threads, Dataset::slices);
        let shared = Arc::new(Shared {
            tables: Tables::new(&traceset),
            options,
            threads,
            slices,
            damage: Mutex::default(),
            order: OnceLock::new(),
            kept: Mutex::default(),
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
        });
        let mut config = SessionConfig::new()
            .with_target_partitions(slices)
            .with_create_default_catalog_and_schema(false)
            .with_default_catalog_and_schema(SCHEMA, SCHEMA)
            .with_information_schema(true);
        // Names are those of the trace, in which case matters.
        config.options_mut().sql_parser.enable_ident_normalization = false;
        // Sorting all rows at once is faster than merging sorted batches.
        config.options_mut().execution.sort_in_place_threshold_bytes = SORTED_AT_ONCE;
        let context = SessionContext::new_with_config(config);
        context.register_catalog(SCHEMA, Arc::new(TraceCatalog::new(SCHEMA, &shared)));
        for function in functions::all() {
            context.register_udf(function);
        }
        Ok(TraceSession { context, shared })
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Plans a query.
    ///
    /// # Errors
    ///
    /// If the text is no query, or if it names unknown tables or columns.
    pub async fn sql(&self, query: &str) -> Result<DataFrame> {
        self.shared.done.store(0, Ordering::Relaxed);
        self.shared.total.store(0, Ordering::Relaxed);
        self.context.sql(query).await
    }

    /// Returns the context of the engine, to which other tables and functions can be added.
    pub fn context(&self) -> &SessionContext {
        &self.context
    }

    /// Returns the traces.
    pub fn traceset(&self) -> &Traceset {
        self.shared.tables.traceset()
    }

    /// Returns the names of all tables in alphabetical order, those of no event type first.
    pub fn table_names(&self) -> Vec<String> {
        catalog::table_names(&self.shared.tables)
    }

    /// Takes what queries have met beside events, since the last call. What a query did not read is
    /// not in it: the tables `errors` and `notices` always read everything.
    pub fn damage(&self) -> Damage {
        let mut damage = self.shared.damage.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *damage)
    }

    /// Returns the number of bytes that running queries have read, and an estimate of the total.
    pub fn progress(&self) -> Progress {
        let done = self.shared.done.load(Ordering::Relaxed);
        Progress { done, total: self.shared.total.load(Ordering::Relaxed).max(done) }
    }
}
