//! Usage: the use of CPUs, memory and network by threads and processes, and over time.
//!
//! [`Usage`] is collected while events are read, based on the [kernel state](crate::kernel) and on
//! the [statistics](crate::stats), which define the times of CPUs and threads. It adds intervals of
//! time, clock frequencies, memory pages and network packets.
//!
//! ```
//! use std::time::Duration;
//! use lttv_context::Traceset;
//! use lttv_state::analysis::read;
//! use lttv_state::usage::{UsageAnalysis, UsageOptions};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let options = UsageOptions::new().every(Duration::from_millis(10));
//! let usage = read(&Traceset::open(path)?).threads(2).run(UsageAnalysis::new(options)).output;
//! for interval in usage.traces()[0].intervals() {
//!     let busy = interval.cpus.iter().map(|(cpu, _)| cpu.busy_time).sum::<u64>();
//!     println!("{}: {busy} ns busy, {} switches", interval.start, interval.activity.switches);
//! }
//! # assert_eq!(usage.traces()[0].intervals().len(), 60);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Rules
//!
//! * A CPU is busy while a thread runs other than its idle thread, including interrupts: see
//!   [`CpuSum::busy_percent`](crate::stats::CpuSum::busy_percent).
//! * Pages are those of `mm_page_alloc` and `mm_page_free`. They count for the thread that runs, and
//!   apart from all threads in an interrupt.
//! * A packet is sent when its driver takes it (`net_dev_xmit`; without that event when it is
//!   queued), and received when it reaches the protocols (`netif_receive_skb`). Threads only send:
//!   packets arrive in interrupts.
//! * What is not recorded is not zero: see [`TraceUsage::is_recorded`].

mod analysis;
mod collect;
mod collected;
mod counts;
mod events;
mod intervals;
mod options;
mod sums;

use ltt_read::Timestamp;

use self::collected::Collected;
use crate::kernel::needs::{Need, RecordedEvents};
use crate::stats::{ProcessFacts, TraceStatistics};

pub use analysis::UsageAnalysis;
pub use counts::{Activity, Pages, Traffic};
pub use events::{Figure, NEEDS};
pub use options::UsageOptions;
pub use sums::{CpuFrequency, CpuUsage, InterfaceUsage, IntervalUsage, ProcessUsage, ThreadUsage};

/// The usage of a traceset.
///
/// A [`UsageAnalysis`] computes it.
#[derive(Debug, Clone, Default)]
pub struct Usage {
    traces: Vec<TraceUsage>,
}

/// The usage of the machine of a trace.
#[derive(Debug, Clone)]
pub struct TraceUsage {
    statistics: TraceStatistics,
    collected: Collected,
    recorded: RecordedEvents,
}

impl Usage {
    /// Returns the usage of each trace, by trace index.
    pub fn traces(&self) -> &[TraceUsage] {
        &self.traces
    }

    /// Adds the usage of the following part of the same traceset, with the same intervals.
    pub fn add(&mut self, later: &Usage) {
        for (of, later) in self.traces.iter_mut().zip(&later.traces) {
            of.statistics.add(&later.statistics);
            of.collected.add(&later.collected);
        }
        let known = self.traces.len().min(later.traces.len());
        self.traces.extend_from_slice(&later.traces[known..]);
    }
}

impl TraceUsage {
    /// Returns the time at which the usage starts.
    pub fn start(&self) -> Timestamp {
        self.statistics.start()
    }

    /// Returns the time at which the usage ends.
    pub fn end(&self) -> Timestamp {
        self.statistics.end()
    }

    /// Returns the time from start to end, in ns.
    pub fn time(&self) -> u64 {
        self.statistics.time()
    }

    /// Returns the statistics that the usage is based on.
    pub fn statistics(&self) -> &TraceStatistics {
        &self.statistics
    }

    /// Returns the facts about threads, indexed by [serial number](crate::kernel::Serial).
    pub fn thread_facts(&self) -> &[ProcessFacts] {
        self.statistics.process_facts()
    }

    /// Returns `true` if the trace can contain events for a figure. Without them its numbers are 0,
    /// but mean nothing.
    pub fn is_recorded(&self, figure: Figure) -> bool {
        self.recorded.meets(&figure.need())
    }

    /// Iterates over the events that the trace lacks, each without which a [`Figure`] is missing.
    pub fn missing(&self) -> impl Iterator<Item = &'static Need> {
        self.recorded.missing(NEEDS)
    }

    /// Returns what the machine did in the whole time, besides the use of its CPUs.
    pub fn total(&self) -> Activity {
        self.collected.total
    }

    /// Returns the CPU time in ns that is in no interval, since there are too many. 0 unless there
    /// are millions of intervals and threads.
    pub fn omitted_time(&self) -> u64 {
        self.collected.omitted
    }
}
