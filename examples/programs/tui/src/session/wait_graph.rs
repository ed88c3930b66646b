//! The wait graph of the traceset, in which critical paths of any window are found.

use std::sync::Arc;

use lttv_context::TracesetContext;
use lttv_requests::Owner;
use lttv_requests::views::TimeWindow;
use lttv_state::analysis::attach;
use lttv_state::kernel::KernelState;
use lttv_state::waits::{WaitAnalysis, WaitGraph};

use super::window_collection::{Collection, OfTimeWindow, OfWindow};
use crate::session::Session;

impl OfTimeWindow for WaitGraph {
    type Known = ();

    fn collect(of: &Collection<Self>) {
        let mut context = TracesetContext::new(&of.traceset);
        let kernel = context.attach(KernelState::new());
        let waits = attach(&mut context, kernel, .., WaitAnalysis::new());
        if of.read(&mut context, |context, reached| {
            waits.take_until(context.extensions_mut(), reached)
        }) {
            of.send(waits.take(context.extensions_mut()), true);
        }
    }
}

impl Session {
    /// Requests the wait graph for the viewer of an owner. What ended a wait may come at any later
    /// time, so that the graph is that of all events, whatever the time window is.
    pub fn wants_wait_graph(&mut self, owner: Owner) {
        let traceset = self.scheduler.context().traceset();
        self.wait_graph.want(owner, TimeWindow::covering(self.span), traceset, &());
    }

    /// Returns the wait graph, as far as it has been built.
    pub fn wait_graph(&self) -> Option<Arc<OfWindow<WaitGraph>>> {
        self.wait_graph.of(TimeWindow::covering(self.span)).cloned()
    }

    /// Returns the part of the traceset from which the graph was built, from 0 to 1.
    pub fn wait_graph_progress(&self) -> f64 {
        self.wait_graph.progress(TimeWindow::covering(self.span))
    }

    /// Allows to build the graph after it was stopped.
    pub fn resume_wait_graph(&mut self) {
        self.wait_graph.resume();
    }
}
