//! Statistics of the time window.

use std::sync::Arc;

use ltt_read::Timestamp;
use lttv_context::attributes::Attributes;
use lttv_context::{CheckpointPolicy, Checkpoints, TracesetContext};
use lttv_requests::Owner;
use lttv_state::analysis::attach;
use lttv_state::kernel::KernelState;
use lttv_state::stats::{Statistics, StatisticsAnalysis};

use super::statistics_tree::{names, tree};
use super::window_collection::{Collection, OfTimeWindow, OfWindow};
use crate::session::Session;

/// Statistics of a window, also as a tree.
#[derive(Debug)]
pub struct WindowStatistics {
    /// The statistics.
    pub statistics: Statistics,
    /// The statistics as a tree.
    pub tree: Arc<Attributes>,
}

impl OfTimeWindow for WindowStatistics {
    type Known = Checkpoints;

    fn collect(of: &Collection<Self>) {
        let mut context = TracesetContext::new(&of.traceset);
        let kernel = context.attach(KernelState::new());
        // The checkpoints are those of a context with the same number of extensions.
        context.attach_data(());
        context.state().set_policy(CheckpointPolicy::never());
        // Otherwise, the state is computed from the start on.
        _ = context.state().set_checkpoints(of.known.clone());
        if !of.replay(&mut context) {
            return;
        }
        // As for ranges that the user types, times are measured up to the last time in the window.
        let (start, end) = (of.window.start(), of.window.end());
        let last = Timestamp::from_ns(end.as_ns() - 1);
        let statistics = attach(&mut context, kernel, start..=last, StatisticsAnalysis::new());
        let names = names(&of.traceset);
        let with_tree = |statistics: Statistics| {
            // Names of statistics have one type each, so there is no error.
            let tree = Arc::new(tree(&statistics, &names).unwrap_or_default());
            WindowStatistics { statistics, tree }
        };
        let is_wanted = of.read(&mut context, |context, reached| {
            with_tree(statistics.take_until(context.extensions_mut(), reached))
        });
        if is_wanted {
            of.send(with_tree(statistics.take(context.extensions_mut())), true);
        }
    }
}

impl Session {
    /// Requests the statistics of the time window for the viewer of an owner. Those of another
    /// window are no longer collected.
    pub fn wants_window_statistics(&mut self, owner: Owner) {
        let window = self.tab.window();
        let context = self.scheduler.context();
        let (traceset, checkpoints) = (context.traceset(), context.checkpoints());
        self.window_statistics.want(owner, window, traceset, checkpoints);
    }

    /// Returns the statistics of the time window, as far as they have been collected.
    pub fn window_statistics(&self) -> Option<Arc<OfWindow<WindowStatistics>>> {
        self.window_statistics.of(self.tab.window()).cloned()
    }

    /// Returns the part of the time window from which statistics were collected, from 0 to 1.
    pub fn window_statistics_progress(&self) -> f64 {
        self.window_statistics.progress(self.tab.window())
    }

    /// Allows to collect statistics from the time window after they were stopped.
    pub fn resume_window_statistics(&mut self) {
        self.window_statistics.resume();
    }
}
