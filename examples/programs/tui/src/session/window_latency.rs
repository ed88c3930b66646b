//! Latencies of the time window.

use std::sync::Arc;

use lttv_common::definitions::Definitions;
use lttv_common::report::Usage;
use lttv_context::{CheckpointPolicy, Checkpoints, Traceset, TracesetContext};
use lttv_filter::Environment;
use lttv_requests::Owner;
use lttv_state::analysis::attach;
use lttv_state::kernel::KernelState;
use lttv_state::latency::{Latency, LatencyAnalysis, Settings};

use super::window_collection::{Collection, OfTimeWindow, OfWindow};
use crate::session::Session;

/// The number of longest durations of each family.
const TOP: usize = 500;

/// Latencies of a window.
#[derive(Debug)]
pub struct WindowLatency {
    /// The latencies.
    pub latency: Latency,
    /// The checkpoints of what was open, for the next window.
    checkpoints: Checkpoints,
}

impl OfTimeWindow for WindowLatency {
    type Known = (Arc<Definitions>, Checkpoints);

    fn collect(of: &Collection<Self>) {
        let mut context = TracesetContext::new(&of.traceset);
        let kernel = context.attach(KernelState::new());
        let (start, end) = (of.window.start(), of.window.end());
        let (definitions, checkpoints) = &of.known;
        let analysis = LatencyAnalysis::new(settings(definitions, &of.traceset));
        let handle = attach(&mut context, kernel, start.., analysis);
        context.state().set_policy(CheckpointPolicy::default());
        // Those of the previous window; without them, the state is computed from the start on.
        _ = context.state().set_checkpoints(checkpoints.clone());
        if !of.replay(&mut context) {
            return;
        }
        let found = |context: &mut TracesetContext<'_>, reached| WindowLatency {
            latency: handle.take_until(context.extensions_mut(), reached),
            checkpoints: context.checkpoints().clone(),
        };
        if of.read(&mut context, found) {
            of.send(found(&mut context, end), true);
        }
    }
}

/// Returns the settings for the periods of definitions, as far as they fit the traces, and for all other families.
fn settings(definitions: &Definitions, traceset: &Traceset) -> Settings {
    let (traces, environment) = (traceset.traces(), Environment::new());
    let settings = Settings::new().top(TOP);
    // Traces that were added may not have the fields of definitions in files.
    let all = definitions
        .with_served(traces, &environment)
        .or_else(|_| Definitions::default().with_served(traces, &environment));
    let periods = all.map_or_else(|_| Vec::new(), |all| all.periods);
    settings.clone().periods(periods, traces, &environment).unwrap_or(settings)
}

impl Session {
    /// Requests the latencies of the time window for the viewer of an owner. Those of another
    /// window are no longer collected.
    pub fn wants_window_latency(&mut self, owner: Owner) {
        let window = self.tab.window();
        let known = self.window_latency.latest().map(|of| of.checkpoints.clone());
        let traceset = self.scheduler.context().traceset();
        let known = (self.definitions.clone(), known.unwrap_or_default());
        self.window_latency.want(owner, window, traceset, &known);
    }

    /// Sets definitions of periods, beside those that come with the program.
    ///
    /// # Errors
    ///
    /// If they do not fit the traces.
    pub fn define(&mut self, definitions: Definitions) -> Result<(), Usage> {
        let traces = self.scheduler.context().traceset().traces();
        definitions.with_served(traces, &Environment::new())?;
        self.definitions = Arc::new(definitions);
        Ok(())
    }

    /// Returns the latencies of the time window, as far as they have been collected.
    pub fn window_latency(&self) -> Option<Arc<OfWindow<WindowLatency>>> {
        self.window_latency.of(self.tab.window()).cloned()
    }

    /// Returns the part of the time window from which latencies were collected, from 0 to 1.
    pub fn window_latency_progress(&self) -> f64 {
        self.window_latency.progress(self.tab.window())
    }

    /// Allows to collect latencies from the time window after they were stopped.
    pub fn resume_window_latency(&mut self) {
        self.window_latency.resume();
    }
}
