//! The threads and CPUs whose figures are shown.

use std::collections::BTreeSet;

use ltt_read::TraceIndex;
use lttv_state::kernel::Serial;
use lttv_state::stats::{ProcessSum, TraceStatistics};

use super::groups::busiest;

/// A choice of threads and CPUs.
#[derive(Debug, Default)]
pub(crate) struct Picked {
    /// The threads of each trace; `None` for all.
    pub(crate) threads: Option<Vec<BTreeSet<Serial>>>,
    /// The CPUs; all if empty.
    pub(crate) cpus: Vec<u32>,
}

impl Picked {
    /// Returns `true` if a CPU is chosen.
    pub(crate) fn has_cpu(&self, cpu: u32) -> bool {
        self.cpus.is_empty() || self.cpus.contains(&cpu)
    }

    /// Returns the sums of the chosen threads on the chosen CPUs, the busiest ones first.
    pub(crate) fn threads(&self, index: TraceIndex, trace: &TraceStatistics) -> Vec<ProcessSum> {
        self.chosen(index, trace, trace.processes_where(|leaf| self.has_cpu(leaf.cpu)))
    }

    /// Returns the sums of the chosen threads that were on a CPU, the busiest ones first.
    pub(crate) fn threads_on(
        &self,
        index: TraceIndex,
        trace: &TraceStatistics,
        cpu: u32,
    ) -> Vec<ProcessSum> {
        let mut sums = trace.processes_where(|leaf| leaf.cpu == cpu);
        sums.retain(|sum| sum.cpu_time > 0 || sum.events > 0);
        self.chosen(index, trace, sums)
    }

    fn chosen(
        &self,
        index: TraceIndex,
        trace: &TraceStatistics,
        mut sums: Vec<ProcessSum>,
    ) -> Vec<ProcessSum> {
        if let Some(threads) = &self.threads {
            let chosen = threads.get(index.0);
            sums.retain(|sum| chosen.is_some_and(|of| of.contains(&sum.process)));
        }
        if !self.cpus.is_empty() {
            sums.retain(|sum| sum.cpu_time > 0 || sum.events > 0);
        }
        busiest(trace, sums)
    }
}
