//! Stopping the requests of a tab, and continuing them.

use std::collections::HashSet;

use lttv_requests::{Owner, SubmitError};

use crate::session::Session;

impl Session {
    /// Returns the owners of the requests that have not ended.
    pub(crate) fn busy_owners(&self) -> HashSet<Owner> {
        let pending = self.scheduler.pending().chain(self.reader.pending());
        let windows = self.window_statistics.owners().chain(self.window_latency.owners());
        let windows = windows.chain(self.window_calls.owners()).chain(self.wait_graph.owners());
        pending.map(|pending| pending.owner).chain(windows).collect()
    }

    /// Cancels all requests and the search for an event. Returns the owners of the requests;
    /// there are none if nothing was pending. Computations in the background continue, since
    /// they are not those of a viewer.
    pub(crate) fn stop(&mut self) -> HashSet<Owner> {
        let owners = self.busy_owners();
        self.stop_export();
        let searched = self.search_direction();
        if self.stop_search() {
            self.stopped_search = searched;
        }
        self.scheduler.stop_all();
        self.reader.stop_all();
        self.window_statistics.stop();
        self.window_latency.stop();
        self.window_calls.stop();
        self.wait_graph.stop();
        owners
    }

    /// Starts the search again that was stopped, if any. Returns `false` if there is none.
    ///
    /// # Errors
    ///
    /// Never while the traceset stays the same.
    pub(crate) fn resume_search(&mut self) -> Result<bool, SubmitError> {
        let Some(back) = self.stopped_search.take() else { return Ok(false) };
        self.search(back)?;
        Ok(true)
    }
}
