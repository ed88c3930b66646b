//! Tables and reads as messages to other processes, which open the same traces.
//!
//! A [`Dataset`] names traces on paths that all processes share. A session with one can describe its
//! tables ([`table_message`]) and the leaves of its plans ([`scan_message`]); another process makes them again
//! from a [`TraceSession`] of the same dataset.

use std::any::Any;
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_plan::ExecutionPlan;
use ltt_read::{OnFailure, OpenOptions, Timestamp};
use lttv_common::time::Window;
use lttv_context::Traceset;

use crate::catalog;
use crate::events::EventsProvider;
use crate::messages::identity;
pub use crate::messages::{
    Dataset, SLICES_READ, ScanMessage, TRACE_ERRORS, TRACE_NOTICES, TableMessage,
};
use crate::session::TraceSession;
use crate::shared::SessionOptions;
use crate::source;
use crate::whole::WholeProvider;

/// An error from opening a dataset.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// No trace can be opened.
    #[error(transparent)]
    Open(#[from] ltt_read::Error),
    /// The traces are not those of the message.
    #[error("{0}: other traces than those of the query, or changed since")]
    Other(String),
    /// The engine refuses the tables.
    #[error(transparent)]
    Engine(#[from] DataFusionError),
}

impl Dataset {
    /// Returns the options of a session of the dataset.
    pub fn options(&self) -> SessionOptions {
        let time = |ns: Option<i64>| ns.map(Timestamp::from_ns);
        let (begin, end) = self.window;
        SessionOptions {
            window: Window { begin: time(begin), end: time(end) },
            unordered: self.unordered,
            kernel_state: self.kernel_state,
            dataset: Some(self.clone()),
            ..SessionOptions::default()
        }
    }
}

/// Describes a table of a session with a dataset; `None` for other tables.
pub fn table_message(table: &dyn TableProvider) -> Option<TableMessage> {
    let table: &dyn Any = table;
    if let Some(events) = table.downcast_ref::<EventsProvider>() {
        return events.shared().message(events.name());
    }
    let whole = table.downcast_ref::<WholeProvider>()?;
    whole.shared().message(whole.name())
}

/// Describes the leaf of a plan of a session with a dataset; `None` for other plans.
pub fn scan_message(plan: &dyn ExecutionPlan) -> Option<ScanMessage> {
    let (part, limit) = source::part_of(plan)?;
    Some(ScanMessage { part, limit })
}

impl TraceSession {
    /// Opens the traces of a dataset that another process has described.
    ///
    /// # Errors
    ///
    /// If no trace can be opened, or if the paths contain others here.
    pub fn open(dataset: &Dataset) -> Result<TraceSession, DatasetError> {
        let options = OpenOptions::new().on_failure(OnFailure::Continue);
        let mut opened = options.open_all_of(&dataset.paths)?;
        if opened.traces.is_empty() && !opened.failures.is_empty() {
            return Err(opened.failures.remove(0).into());
        }
        let traceset = Traceset::from(opened.traces);
        if identity(traceset.traces()) != dataset.identity {
            let paths: Vec<_> = dataset.paths.iter().map(|of| of.display().to_string()).collect();
            return Err(DatasetError::Other(paths.join(", ")));
        }
        Ok(TraceSession::new(traceset, dataset.options())?)
    }

    /// Returns the table of a name; `None` if there is none.
    pub fn table(&self, name: &str) -> Option<Arc<dyn TableProvider>> {
        catalog::provider(self.shared(), name)
    }

    /// Returns the plan of a read that another process has described.
    ///
    /// # Errors
    ///
    /// If the read does not fit the traces.
    pub fn plan(&self, message: &ScanMessage) -> Result<Arc<dyn ExecutionPlan>> {
        let ScanMessage { part, limit } = message;
        let name = &part.table.name;
        if let Some(events) = catalog::events(self.shared(), name) {
            return events.plan(part, *limit);
        }
        let whole = catalog::whole(self.shared(), name).ok_or_else(|| {
            DataFusionError::Plan(format!("there is no table {name:?} in these traces"))
        })?;
        whole.plan(part.columns.clone(), *limit, part.slices.len())
    }
}
