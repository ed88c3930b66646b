//! Latencies: how long threads wait for CPUs, and system calls, interrupts, requests to disks and
//! other things take.
//!
//! [`Latency`] is collected while events are read, based on the [kernel state](crate::kernel). Each
//! [`Family`] of durations is divided by thread and by subject, such as the system call;
//! [`TraceLatency::rows`] sums the durations by either. A [`Distribution`](crate::durations::Distribution) contains their number,
//! sum, extremes, deviation, percentiles and histogram.
//!
//! ```
//! use lttv_context::Traceset;
//! use lttv_state::analysis::read;
//! use lttv_state::latency::{Family, GroupBy, LatencyAnalysis, Settings};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let analysis = LatencyAnalysis::new(Settings::new());
//! let found = read(&Traceset::open(path)?).threads(2).run(analysis);
//! assert!(found.errors.is_empty()); // there are some if the trace is damaged
//! let trace = &found.output.traces()[0];
//! for row in trace.rows(Family::Syscall, GroupBy::Subject) {
//!     let durations = row.figures.durations();
//!     println!(
//!         "{}: {} calls, {} failed, 99 % within {} ns",
//!         trace.subject(row.subject.expect("rows by subject")),
//!         durations.count(),
//!         row.figures.failures(),
//!         durations.percentile(99.0).unwrap_or(0),
//!     );
//! }
//! let longest = trace.top(Family::WakeUp)[0];
//! println!("the longest wait for a CPU began at {}", longest.begin);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Rules
//!
//! Latencies are sums of [spans](crate::spans#rules). Those of which not both ends were seen lead to no duration and
//! are [counted](Unmatched). What has not ended is [listed](TraceLatency::open). What was not recorded is
//! [missing](TraceLatency::missing): its figures are empty, not 0.
//!
//! # Memory
//!
//! Memory grows with the number of threads, of different subjects of each, and of requests that are
//! open. Each of these has a limit, beyond which durations share one entry.

mod analysis;
mod collector;
mod division;
mod group_by;
mod ledger;
mod over_time;
mod result;
mod sample;
mod selection;
mod settings;
mod trace_latencies;

use ltt_read::TraceIndex;

pub use crate::spans::{Family, NEEDS, Period, PeriodError, ThreadFacts, ThreadId, Unmatched};

pub use analysis::LatencyAnalysis;
pub use division::PartOf;
pub use group_by::GroupBy;
pub use ledger::LatencyFigures;
pub use result::{DiskUse, FutexUse, Open, Row, Subject, TraceLatency, Wakes};
pub use sample::Sample;
pub use settings::Settings;

/// The latencies of a traceset.
///
/// A [`LatencyAnalysis`] computes them.
#[derive(Debug, Clone, Default)]
pub struct Latency {
    traces: Vec<TraceLatency>,
}

impl Latency {
    /// Returns the latencies of each trace, by trace index.
    pub fn traces(&self) -> &[TraceLatency] {
        &self.traces
    }

    /// Returns the latencies of a trace; `None` if there is no such trace.
    pub fn trace(&self, index: TraceIndex) -> Option<&TraceLatency> {
        self.traces.get(index.0)
    }

    /// Adds the latencies of the following part of the same traceset. What was open at the border
    /// belongs to the later part, with its true begin, so that both parts add up to the whole.
    pub fn add(&mut self, later: &Latency) {
        for (of, later) in self.traces.iter_mut().zip(&later.traces) {
            of.add(later);
        }
        let known = self.traces.len().min(later.traces.len());
        self.traces.extend_from_slice(&later.traces[known..]);
    }
}
