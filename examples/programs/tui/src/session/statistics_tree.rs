//! Statistics as a tree of attributes, built on a thread: for a large traceset this takes
//! longer than a frame.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use lttv_context::Traceset;
use lttv_context::attributes::{AttributeError, AttributeId, Attributes};
use lttv_state::stats::Statistics;

/// The latest statistics as a tree.
#[derive(Debug, Default)]
pub(crate) struct StatisticsTree {
    /// `true` if the tree is visible.
    is_wanted: Cell<bool>,
    /// The number of the statistics in the last tree that was started.
    started: Cell<u64>,
    job: RefCell<Option<Receiver<Attributes>>>,
    latest: RefCell<(u64, Arc<Attributes>)>,
}

impl StatisticsTree {
    /// Requests that the tree is built when there are new statistics, at the next call of
    /// [`serve`](Self::serve).
    pub(crate) fn want(&self) {
        self.is_wanted.set(true);
    }

    /// Returns the number of statistics in the tree, and the tree.
    pub(crate) fn latest(&self) -> (u64, Arc<Attributes>) {
        self.latest.borrow().clone()
    }

    /// Starts building a tree if necessary, and waits for the result for at most this time.
    /// Returns `true` if there is a new tree or one is being built.
    pub(crate) fn serve(
        &self,
        number: u64,
        statistics: Option<Arc<Statistics>>,
        traceset: &Traceset,
        time: Duration,
    ) -> bool {
        let is_wanted = self.is_wanted.take();
        let mut job = self.job.borrow_mut();
        if job.is_none()
            && is_wanted
            && self.started.get() != number
            && let Some(statistics) = statistics
        {
            let (sender, receiver) = channel();
            let names = names(traceset);
            // Names of statistics have one type each, so there is no error. There is no receiver
            // if the viewer was closed.
            std::thread::spawn(move || {
                _ = sender.send(tree(&statistics, &names).unwrap_or_default());
            });
            self.started.set(number);
            *job = Some(receiver);
        }
        let Some(receiver) = &*job else { return false };
        match receiver.recv_timeout(time) {
            Ok(tree) => self.latest.replace((self.started.get(), Arc::new(tree))),
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => Default::default(),
        };
        *job = None;
        true
    }
}

/// Returns the names of traces.
pub(super) fn names(traceset: &Traceset) -> Vec<String> {
    let name = |path: &std::path::Path| path.file_name().map(|name| name.to_string_lossy().into());
    traceset.traces().iter().map(|trace| name(trace.path()).unwrap_or_default()).collect()
}

/// Returns the statistics as a tree, with the names of traces.
pub(super) fn tree(
    statistics: &Statistics,
    names: &[String],
) -> Result<Attributes, AttributeError> {
    let mut tree = Attributes::new();
    statistics.export(&mut tree, AttributeId::ROOT)?;
    let traces = tree.subtree(AttributeId::ROOT, "traces")?;
    for (number, name) in (0_u64..).zip(names) {
        let trace = tree.subtree(traces, number)?;
        tree.set(trace, "name", &**name)?;
    }
    Ok(tree)
}
