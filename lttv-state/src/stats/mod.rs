//! Where the time of a machine went, and how many events of each kind there were.
//!
//! [`Statistics`] are collected while events are read, by what the
//! [kernel state](crate::kernel) says of each: for each [`LeafKey`] (process, CPU,
//! function, mode and submode) [`Counts`] of time and of events. Everything else is
//! a sum of those, made when it is asked for.
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
//! context.middle(&Bounds::all())?;
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
//! # What counts where
//!
//! * An event counts for what its CPU is on *after* it: the begin of a system call
//!   counts within that call, a switch for the process that is switched to.
//! * CPU time between two events of a CPU is that of what it was on in between. All
//!   CPUs are counted from the trace's first event to its last, so the times of a
//!   CPU add up to exactly that. Who ran before the first switch of a CPU, that
//!   switch tells.
//! * Events of a CPU that change no state count for it, too, even if nothing else is known
//!   of it: for no process ([`Serial::NONE`](crate::kernel::Serial::NONE)) then.
//! * When events were lost, the time from the CPU's last event before the gap to its
//!   next switch is that of an unknown process.
//!
//! # Differences from LTTV
//!
//! Names and divisions are LTTV's. Page faults count as traps like all others; time
//! nested in a mode counts in its cumulative time; a process that is exiting still
//! uses its CPU; processes are told apart even if they have the same id; sums may be
//! asked for any number of times.

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

/// When statistics look at an event that changes nothing: before those who might want to
/// see them. (The state tells them of others.)
const AFTER_STATE: Priority = match Priority::new(30) {
    Ok(priority) => priority,
    Err(_) => Priority::DEFAULT,
};

/// Statistics of a traceset.
#[derive(Debug, Clone, Default)]
pub struct Statistics {
    traces: Vec<TraceStatistics>,
    /// The number of what collects them among the followers of each trace's state.
    follower: Option<usize>,
}

/// Statistics of a trace.
#[derive(Debug, Clone)]
pub struct TraceStatistics {
    trace: Option<Arc<Trace>>,
    collected: Collected,
    names: Arc<Names>,
}

impl Statistics {
    /// Collects statistics of the events that `middle` of a context reads from now
    /// on; of replayed ones it does not. `kernel` is to be attached there, and its
    /// state current.
    ///
    /// At the begin of a traceset, the statistics of each trace begin with its first
    /// event; elsewhere use [`attach_at`](Self::attach_at).
    pub fn attach(
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
    ) -> Handle<Statistics> {
        Self::attach_from(context, kernel, |_| None, false)
    }

    /// As [`attach`](Self::attach), but statistics begin at a time: that which was
    /// sought.
    pub fn attach_at(
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
        time: Timestamp,
    ) -> Handle<Statistics> {
        Self::attach_from(context, kernel, |_| Some(time), false)
    }

    /// Those of each trace begin at a time of its own. If they are a part of all, they are
    /// to be added to those of what was before.
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
            let begin = time(index).map_or(state.begin_time(), |time| time.max(state.begin_time()));
            let types = trace.schema().event_types.len();
            let known_since = if is_part { state.begin_time() } else { begin };
            let collector = Collector::new(state, begin.ns(), known_since.ns(), types);
            statistics.follower = context.extensions_mut()[kernel].follow(index, collector);
            let collected = Collected::none(begin.ns());
            let (trace, names) = (Some(trace.clone()), Arc::default());
            statistics.traces.push(TraceStatistics { trace, collected, names });
        }
        let follower = statistics.follower;
        let handle = context.attach_data(statistics);
        let Some(follower) = follower else { return handle };
        for (index, trace) in traces.iter().enumerate() {
            let types = (0..trace.schema().event_types.len()).map(|at| EventTypeId(at as u32));
            for event_type in types {
                if context.extensions()[kernel].transition(index, event_type).is_some() {
                    continue;
                }
                let events = Subscription::to_type(index, event_type).priority(AFTER_STATE);
                context.on_event(events, move |call| {
                    let (tracefile, time) = (call.tracefile.number(), call.time().ns());
                    if let Some(kernel) = call.extensions.get_mut(kernel) {
                        kernel.pass(index, follower, tracefile, &call.event, time);
                    }
                });
            }
        }
        handle
    }

    /// The statistics collected so far, complete: all events of the traceset have
    /// been read, and what has begun has lasted to the end.
    pub fn take(
        context: &mut TracesetContext<'_>,
        statistics: Handle<Statistics>,
        kernel: Handle<KernelState>,
    ) -> Statistics {
        Self::take_until(context, statistics, kernel, None)
    }

    /// The statistics collected so far, up to a time that has been read to. What
    /// has begun goes on: those of what follows can be [added](Self::add).
    pub fn take_until(
        context: &mut TracesetContext<'_>,
        statistics: Handle<Statistics>,
        kernel: Handle<KernelState>,
        time: Option<Timestamp>,
    ) -> Statistics {
        Self::of_extensions(context.extensions(), statistics, kernel, time)
    }

    /// As [`take_until`](Self::take_until), for hooks: they see the extensions of
    /// their context.
    pub fn of_extensions(
        extensions: &Extensions,
        statistics: Handle<Statistics>,
        kernel: Handle<KernelState>,
        time: Option<Timestamp>,
    ) -> Statistics {
        Self::of_each(extensions, statistics, kernel, |_| time)
    }

    /// Those of each trace up to a time of its own.
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
        let Some(follower) = taken.follower.take() else { return taken };
        for (index, of) in taken.traces.iter_mut().enumerate() {
            let (Some(state), Some(collector)) =
                (kernel.trace(index), kernel.follower::<Collector>(index, follower))
            else {
                continue;
            };
            of.collected = collector.collected(state, time(index).map(Timestamp::ns));
            of.names = state.shared_names();
        }
        taken
    }

    /// Those of each trace, by its index.
    pub fn traces(&self) -> &[TraceStatistics] {
        &self.traces
    }

    /// Adds those of what follows in the same traceset.
    pub fn add(&mut self, later: &Statistics) {
        for (of, later) in self.traces.iter_mut().zip(&later.traces) {
            of.add(later);
        }
        let known = self.traces.len().min(later.traces.len());
        self.traces.extend_from_slice(&later.traces[known..]);
    }
}

impl TraceStatistics {
    /// Adds those of what follows.
    fn add(&mut self, later: &TraceStatistics) {
        self.collected.add(&later.collected);
        self.names = later.names.clone();
    }

    /// The time that they begin at.
    pub fn begin(&self) -> Timestamp {
        Timestamp::from_ns(self.collected.begin)
    }

    /// The time that they end at.
    pub fn end(&self) -> Timestamp {
        Timestamp::from_ns(self.collected.last)
    }

    /// The time in between, in ns.
    pub fn time(&self) -> u64 {
        self.collected.last.saturating_sub(self.collected.begin).max(0) as u64
    }

    /// All that was counted, for each leaf.
    pub fn leaves(&self) -> impl ExactSizeIterator<Item = (&LeafKey, &Counts)> {
        self.collected.leaves.iter()
    }

    /// The processes, by [serial number](crate::kernel::Serial).
    pub fn process_facts(&self) -> &[ProcessFacts] {
        &self.collected.processes
    }

    /// The block devices.
    pub fn devices(&self) -> &[DeviceFacts] {
        &self.collected.devices
    }

    /// The name of an id in keys of leaves.
    pub fn name(&self, id: NameId) -> &str {
        self.names.get(id)
    }

    /// The name of an event type.
    pub fn event_name(&self, id: EventTypeId) -> &str {
        self.trace.as_ref().map_or("", |trace| trace.event_type(id).name())
    }
}
