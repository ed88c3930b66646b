//! Statistics: the CPU time and the number of events of processes, CPUs and modes.
//!
//! [`Statistics`] are collected while events are read, based on the [kernel
//! state](crate::kernel): for each [`LeafKey`] (process, CPU, function, mode and submode)
//! they contain [`Counts`] of time and events. All other figures are sums over leaves,
//! computed on request.
//!
//! ```
//! use lttv_context::{Bounds, TracesetContext, Traceset};
//! use lttv_state::kernel::KernelState;
//! use lttv_state::stats::Statistics;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let mut context = TracesetContext::new(Traceset::open(path)?);
//! let kernel = context.attach(KernelState::new());
//! let statistics = Statistics::attach(&mut context, kernel);
//! context.read(&Bounds::all())?;
//!
//! let statistics = Statistics::take(&mut context, statistics, kernel);
//! let trace = &statistics.traces()[0];
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
//! * When events were lost, the time from the CPU's last event before the gap to its next
//!   switch counts for an unknown process.
//!
//! # Differences from LTTV
//!
//! Names and divisions are LTTV's. Page faults count as traps like all other exceptions.
//! The time nested in a mode is part of its cumulative time. An exiting process still uses
//! its CPU. Processes with the same id are counted separately. Sums may be requested any
//! number of times.

mod attributes;
mod collect;
mod collected;
mod durations;
mod facts;
mod kinds;
mod leaf;
mod ledger;
mod parallel;
mod rows;
mod sums;
mod tally;
mod waits;

use ltt_read::schema::EventTypeId;
use ltt_read::{Timestamp, Trace};
use std::sync::Arc;

use lttv_context::{Extensions, Handle, Subscription, TracesetContext};
use lttv_hooks::Priority;

use self::collect::Collector;
use self::collected::Collected;
use crate::kernel::{KernelState, NameId, Names};

pub use durations::Durations;
pub use facts::{DeviceFacts, ProcessFacts};
pub use leaf::{Counts, LeafKey};
pub use parallel::statistics;
pub use sums::{CpuSum, ProcessSum};
pub use tally::Tally;

/// The priority of hooks for events that change no state: before hooks that may read the
/// statistics. (The kernel state reports all other events.)
const AFTER_STATE: Priority = match Priority::new(30) {
    Ok(priority) => priority,
    Err(_) => Priority::DEFAULT,
};

/// The statistics of a traceset.
#[derive(Debug, Clone, Default)]
pub struct Statistics {
    traces: Vec<TraceStatistics>,
    /// The number of the collectors among the observers of each trace.
    observer: Option<usize>,
}

/// The statistics of a trace.
#[derive(Debug, Clone)]
pub struct TraceStatistics {
    trace: Option<Arc<Trace>>,
    collected: Collected,
    names: Arc<Names>,
}

impl Statistics {
    /// Registers the collection of statistics for the events that
    /// [`read`](TracesetContext::read) reads from now on; replayed events are not
    /// counted. `kernel` must be attached to the context, and its state must be current.
    ///
    /// At the start of a traceset, the statistics of each trace start with its first event;
    /// at any other position use [`attach_at`](Self::attach_at).
    pub fn attach(
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
    ) -> Handle<Statistics> {
        Self::attach_from(context, kernel, |_| None, false)
    }

    /// Registers the collection of statistics that start at `time`: the time at which the
    /// context stands after a seek.
    pub fn attach_at(
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
        time: Timestamp,
    ) -> Handle<Statistics> {
        Self::attach_from(context, kernel, |_| Some(time), false)
    }

    /// Registers the collection of statistics that start at a separate time for each trace.
    /// If `is_part` is true, they are to be added to the statistics of the preceding part.
    fn attach_from(
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
        time: impl Fn(usize) -> Option<Timestamp>,
        is_part: bool,
    ) -> Handle<Statistics> {
        let mut statistics = Statistics::default();
        let traces: Vec<_> = context.traceset().traces().to_vec();
        for (index, trace) in traces.iter().enumerate() {
            let Some(state) = context.extensions()[kernel].trace(index) else { continue };
            let begin = time(index).map_or(state.start_time(), |time| time.max(state.start_time()));
            let types = trace.schema().event_types.len();
            let known_since = if is_part { state.start_time() } else { begin };
            let collector = Collector::new(state, begin.as_ns(), known_since.as_ns(), types);
            statistics.observer = context.extensions_mut()[kernel].add_observer(index, collector);
            let collected = Collected::none(begin.as_ns());
            let (trace, names) = (Some(trace.clone()), Arc::default());
            statistics.traces.push(TraceStatistics { trace, collected, names });
        }
        let observer = statistics.observer;
        let handle = context.attach_data(statistics);
        let Some(observer) = observer else { return handle };
        for (index, trace) in traces.iter().enumerate() {
            let types = (0..trace.schema().event_types.len()).map(|at| EventTypeId(at as u32));
            for event_type in types {
                if context.extensions()[kernel].transition(index, event_type).is_some() {
                    continue;
                }
                let events = Subscription::to_type(index, event_type).priority(AFTER_STATE);
                context.on_event(events, move |call| {
                    let (tracefile, time) = (call.tracefile.number(), call.time().as_ns());
                    if let Some(kernel) = call.extensions.get_mut(kernel) {
                        kernel.report_ignored(index, observer, tracefile, &call.event, time);
                    }
                });
            }
        }
        handle
    }

    /// Returns the statistics collected so far, as final: all events of the traceset have
    /// been read, and frames that are still open are counted up to the end.
    pub fn take(
        context: &mut TracesetContext<'_>,
        statistics: Handle<Statistics>,
        kernel: Handle<KernelState>,
    ) -> Statistics {
        Self::take_until(context, statistics, kernel, None)
    }

    /// Returns the statistics collected so far, up to a time that has been read to. Frames
    /// that are still open remain so: the statistics of the following events can be
    /// [added](Self::add). With `None` as the time the statistics are final, as with
    /// [`take`](Self::take).
    pub fn take_until(
        context: &mut TracesetContext<'_>,
        statistics: Handle<Statistics>,
        kernel: Handle<KernelState>,
        time: Option<Timestamp>,
    ) -> Statistics {
        Self::of_extensions(context.extensions(), statistics, kernel, time)
    }

    /// Returns the statistics collected so far, up to a time, from the extensions of a
    /// context: for hooks, which have no access to the context itself. See
    /// [`take_until`](Self::take_until).
    pub fn of_extensions(
        extensions: &Extensions,
        statistics: Handle<Statistics>,
        kernel: Handle<KernelState>,
        time: Option<Timestamp>,
    ) -> Statistics {
        Self::of_each(extensions, statistics, kernel, |_| time)
    }

    /// Returns the statistics collected so far, up to a separate time for each trace.
    fn of_each(
        extensions: &Extensions,
        statistics: Handle<Statistics>,
        kernel: Handle<KernelState>,
        time: impl Fn(usize) -> Option<Timestamp>,
    ) -> Statistics {
        let (Some(statistics), Some(kernel)) = (extensions.get(statistics), extensions.get(kernel))
        else {
            return Statistics::default();
        };
        let mut taken = statistics.clone();
        let Some(observer) = taken.observer.take() else { return taken };
        for (index, of) in taken.traces.iter_mut().enumerate() {
            let (Some(state), Some(collector)) =
                (kernel.trace(index), kernel.observer::<Collector>(index, observer))
            else {
                continue;
            };
            of.collected = collector.collected(state, time(index).map(Timestamp::as_ns));
            of.names = state.shared_names();
        }
        taken
    }

    /// Returns the statistics of each trace, by trace index.
    pub fn traces(&self) -> &[TraceStatistics] {
        &self.traces
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
    fn add(&mut self, later: &TraceStatistics) {
        self.collected.add(&later.collected);
        self.names = later.names.clone();
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

    /// Returns the name of an event type.
    pub fn event_name(&self, id: EventTypeId) -> &str {
        self.trace.as_ref().map_or("", |trace| trace.event_type(id).name())
    }
}
