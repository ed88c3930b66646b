//! Statistics: the CPU time and the number of events of processes, CPUs and modes.
//!
//! [`Statistics`] are collected while events are read, based on the [kernel
//! state](crate::kernel): for each [`LeafKey`] (process, CPU, function, mode and submode)
//! they contain [`Counts`] of time and events. All other figures are sums over leaves,
//! computed on request.
//!
//! ```
//! use lttv_context::Traceset;
//! use lttv_state::analysis::read;
//! use lttv_state::stats::StatisticsAnalysis;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let found = read(&Traceset::open(path)?).threads(2).run(StatisticsAnalysis::new());
//! assert!(found.errors.is_empty()); // there are some if the trace is damaged
//! let trace = &found.output.traces()[0];
//! for cpu in trace.cpus() {
//!     println!("CPU {}: {} of {} ns busy", cpu.number, cpu.busy_time, trace.time());
//!     assert_eq!(cpu.busy_time + cpu.idle_time + cpu.unknown_time, trace.time());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Rules
//!
//! * An event counts for the leaf that its CPU is on *after* it: the entry of a system call
//!   counts within that call, a switch counts for the process that is switched in.
//! * The time between two events of a CPU counts for the leaf that it was on in between.
//!   All CPUs are counted from the trace's first event to its last one, so that the times
//!   of a CPU add up to exactly that interval. The first switch of a CPU determines the
//!   process that ran before it.
//! * Events that change no state count for their CPU, too. If nothing else is known about
//!   the CPU, they count for no process ([`Serial::NONE`](crate::kernel::Serial::NONE)).
//! * Bytes that a system call moves count for the leaf of the system call; a step of a request
//!   to a block device counts for the leaf of its CPU, like its event.
//! * At the end, what is still open counts up to it: system calls, interrupts, and the waits of
//!   processes.
//! * When events were lost, the time from the CPU's last event before the gap to its next
//!   switch counts for an unknown process.
//!
//! # Windows
//!
//! In a [window](crate::analysis#windows), what is open at its start counts from there: the running processes, system calls, interrupts, waits and block requests. What is open
//! at its end counts up to the end.
//!
//! * Times are those within the window: of CPUs and processes, [elapsed](Counts::elapsed_time),
//!   blocked and ready times, the times of devices. Events, bytes and switches are counted within.
//! * [Durations](crate::durations::Durations) are measurements of single system calls, interrupts and wake-ups. Those that
//!   end in the window are included, from their true start.
//! * `a..b` and `b..c` add up to `a..c`. Only what later events reveal differs: a window does not
//!   know a mode that is inferred after its end, or that the exit of an open frame gets lost.
//!
//! # Differences from LTTV
//!
//! Names and divisions are LTTV's, except that the activity of idle processes is a mode of its
//! own in the exported tree. Page faults count as traps like all other exceptions. The time
//! nested in a mode is part of its cumulative time. An exiting process still uses its CPU.
//! Processes with the same id are counted separately. Sums may be requested any number of
//! times.

mod accounts;
mod analysis;
mod attributes;
mod border;
mod closing;
mod collect;
mod collected;
mod extra;
mod facts;
mod input_output;
mod kinds;
mod leaf;
mod ledger;
mod log;
mod needs;
mod rows;
mod sums;
mod tally;
mod waits;
mod window;

use std::collections::BTreeMap;
use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Timestamp, Trace};

use self::collected::Collected;
use crate::kernel::{NameId, Names};

pub use analysis::StatisticsAnalysis;
pub use extra::RequestCounts;
pub use facts::{DeviceFacts, ProcessFacts};
pub use leaf::{Counts, LeafKey};
pub use needs::{DISK_NEEDS, NEEDS};
pub use sums::{CpuSum, CpuTimes, ProcessSum};
pub use tally::Tally;

// For analyses that are based on statistics.
#[cfg(feature = "analyses")]
pub(crate) use analysis::{Part, Slice, State};

/// The statistics of a traceset.
///
/// A [`StatisticsAnalysis`] computes them.
#[derive(Debug, Clone, Default)]
pub struct Statistics {
    traces: Vec<TraceStatistics>,
}

/// The statistics of a trace.
#[derive(Debug, Clone)]
pub struct TraceStatistics {
    trace: Option<Arc<Trace>>,
    collected: Collected,
    names: Arc<Names>,
    /// The number of events of each type that pass the filter, if they were counted.
    selected: Option<BTreeMap<EventTypeId, u64>>,
}

impl Statistics {
    /// Returns the statistics of each trace, by trace index.
    pub fn traces(&self) -> &[TraceStatistics] {
        &self.traces
    }

    /// Returns the earliest time at which the statistics of a trace start: that of its first event,
    /// or of its window. `None` if there are neither events nor time.
    pub fn start(&self) -> Option<Timestamp> {
        self.not_empty().map(TraceStatistics::start).min()
    }

    /// Returns the latest time at which the statistics of a trace end: that of its last event, or
    /// of its window. `None` if there are neither events nor time.
    pub fn end(&self) -> Option<Timestamp> {
        self.not_empty().map(TraceStatistics::end).max()
    }

    /// Returns the time from start to end, in ns; 0 if there are no events.
    pub fn time(&self) -> u64 {
        let span = self.start().zip(self.end());
        span.map_or(0, |(start, end)| end.as_ns().abs_diff(start.as_ns()))
    }

    /// Returns the statistics of each trace.
    #[cfg(feature = "analyses")]
    pub(crate) fn into_traces(self) -> Vec<TraceStatistics> {
        self.traces
    }

    /// Iterates over the traces with events or time.
    fn not_empty(&self) -> impl Iterator<Item = &TraceStatistics> {
        self.traces.iter().filter(|trace| !trace.is_empty())
    }

    /// Adds the statistics of the following part of the same traceset.
    pub fn add(&mut self, later: &Statistics) {
        for (of, later) in self.traces.iter_mut().zip(&later.traces) {
            of.add(later);
        }
        let known = self.traces.len().min(later.traces.len());
        self.traces.extend_from_slice(&later.traces[known..]);
    }
}

impl TraceStatistics {
    /// Adds the statistics of the following part of the trace.
    pub(crate) fn add(&mut self, later: &TraceStatistics) {
        self.names = later.names.clone();
        self.collected.add(&later.collected);
    }

    /// Returns `true` if there are neither events nor time.
    fn is_empty(&self) -> bool {
        self.time() == 0 && self.leaves().all(|(_, counts)| counts.events.total() == 0)
    }

    /// Returns the trace; `None` if it is not known.
    #[cfg(feature = "analyses")]
    pub(crate) fn trace(&self) -> Option<&Arc<Trace>> {
        self.trace.as_ref()
    }

    /// Returns the time at which the statistics start.
    pub fn start(&self) -> Timestamp {
        Timestamp::from_ns(self.collected.begin)
    }

    /// Returns the time at which the statistics end.
    pub fn end(&self) -> Timestamp {
        Timestamp::from_ns(self.collected.last)
    }

    /// Returns the time from start to end, in ns.
    pub fn time(&self) -> u64 {
        self.collected.last.saturating_sub(self.collected.begin).max(0) as u64
    }

    /// Iterates over all leaves with their counts.
    pub fn leaves(&self) -> impl ExactSizeIterator<Item = (&LeafKey, &Counts)> {
        self.collected.leaves.iter()
    }

    /// Returns the facts about processes, indexed by [serial
    /// number](crate::kernel::Serial).
    pub fn process_facts(&self) -> &[ProcessFacts] {
        &self.collected.processes
    }

    /// Returns the statistics of the block devices.
    pub fn devices(&self) -> &[DeviceFacts] {
        &self.collected.devices
    }

    /// Returns the text of a name in keys of leaves.
    pub fn name(&self, id: NameId) -> &str {
        self.names.get(id)
    }

    /// Returns the number of events that pass the filter, by the names of their types; `None` if they
    /// were [not counted](StatisticsAnalysis::counting_selected).
    pub fn selected_events(&self) -> Option<BTreeMap<&str, u64>> {
        let mut events = BTreeMap::new();
        for (id, count) in self.selected.as_ref()? {
            *events.entry(self.event_name(*id)).or_default() += count;
        }
        Some(events)
    }

    /// Returns the name of an event type.
    pub fn event_name(&self, id: EventTypeId) -> &str {
        self.trace.as_ref().map_or("", |trace| trace.event_type(id).name())
    }
}
