//! The traces that a process has open.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::error::{DataFusionError, Result};
use lttv_sql::TraceSession;
use lttv_sql::remote::Dataset;

/// The number of datasets that a process keeps open.
const KEPT: NonZeroUsize = NonZeroUsize::new(16).expect("not zero");

/// The sessions of the datasets that were requested last. Tasks of one query share a session, so that a trace
/// is opened once.
#[derive(Debug, Default)]
pub struct Sessions {
    /// In the order of use, the last one at the end.
    open: Mutex<Vec<(Dataset, Arc<TraceSession>)>>,
}

impl Sessions {
    /// Returns the session of a dataset, whose traces are opened if they are not.
    ///
    /// # Errors
    ///
    /// If the traces cannot be opened, or are others than those of the dataset.
    pub fn of(&self, dataset: &Dataset) -> Result<Arc<TraceSession>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = open.iter().position(|(known, _)| known == dataset) {
            let entry = open.remove(at);
            let session = Arc::clone(&entry.1);
            open.push(entry);
            return Ok(session);
        }
        let session = TraceSession::open(dataset);
        let session = Arc::new(session.map_err(|error| DataFusionError::External(error.into()))?);
        if open.len() >= KEPT.get() {
            open.remove(0);
        }
        open.push((dataset.clone(), Arc::clone(&session)));
        Ok(session)
    }
}
