//! The latencies of a trace, while they are collected.

use std::sync::Arc;

use ltt_read::Trace;
use lttv_context::TraceContext;

use super::collector::{Collector, Wanted};
use crate::kernel::KernelState;
use crate::kernel::needs::Need;
use crate::spans::Family;
use crate::spans::machine::Machine;

/// The latencies of a trace.
#[derive(Debug, Clone)]
pub(super) struct TraceLatencies {
    pub(super) trace: Arc<Trace>,
    pub(super) machine: Machine,
    pub(super) collector: Collector,
    /// The events that each family lacks.
    pub(super) missing: Vec<(Family, Vec<Need>)>,
}

impl TraceLatencies {
    /// Creates the latencies of a trace before its first event.
    pub(super) fn new(
        kernel: &KernelState,
        trace: &TraceContext,
        wanted: &Wanted,
        missing: Vec<(Family, Vec<Need>)>,
    ) -> Self {
        let (index, trace) = (trace.index(), trace.trace());
        let begin = kernel.trace(index).map_or(0, |state| state.start_time().as_ns());
        TraceLatencies {
            trace: trace.clone(),
            machine: Machine::default(),
            collector: Collector::new(wanted, begin),
            missing,
        }
    }
}
