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

use lttv_context::{EventCall, Extensions, Handle, Subscription, TracesetContext};
use lttv_hooks::Priority;

use self::collect::Collector;
use crate::kernel::{KernelState, NameId, Names, TraceState};

pub use durations::Durations;
pub use facts::{DeviceFacts, ProcessFacts};
pub use leaf::{Counts, LeafKey};
pub use parallel::statistics;
pub use sums::{CpuSum, ProcessSum};
pub use tally::Tally;

/// When statistics look at an event: after the state does, before those who might
/// want to see them.
const AFTER_STATE: Priority = match Priority::new(30) {
    Ok(priority) => priority,
    Err(_) => Priority::DEFAULT,
};

/// Statistics of a traceset.
#[derive(Debug, Clone, Default)]
pub struct Statistics {
    traces: Vec<TraceStatistics>,
}

/// Statistics of a trace.
#[derive(Debug, Clone)]
pub struct TraceStatistics {
    trace: Option<Arc<Trace>>,
    collector: Collector,
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
        Self::attach_from(context, kernel, None)
    }

    /// As [`attach`](Self::attach), but statistics begin at a time: that which was
    /// sought.
    pub fn attach_at(
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
        time: Timestamp,
    ) -> Handle<Statistics> {
        Self::attach_from(context, kernel, Some(time))
    }

    fn attach_from(
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
        time: Option<Timestamp>,
    ) -> Handle<Statistics> {
        let mut statistics = Statistics::default();
        for (index, state) in context.extensions()[kernel].traces().enumerate() {
            let begin = time.map_or(state.begin_time(), |time| time.max(state.begin_time()));
            let mut collector = Collector::default();
            let trace = context.traceset().traces().get(index).cloned();
            let types = trace.as_ref().map_or(0, |trace| trace.schema().event_types.len());
            collector.begin(state, begin.ns(), types);
            statistics.traces.push(TraceStatistics { trace, collector, names: Arc::default() });
        }
        let handle = context.attach_data(statistics);
        let traces: Vec<_> = context.traceset().traces().to_vec();
        for (index, trace) in traces.iter().enumerate() {
            let types = (0..trace.schema().event_types.len()).map(|at| EventTypeId(at as u32));
            for event_type in types {
                let transition = context.extensions()[kernel].transition(index, event_type);
                let events = Subscription::to_type(index, event_type).priority(AFTER_STATE);
                let who = Told { statistics: handle, kernel, trace: index, event_type };
                // One hook for each case, so that none has to find out which it is.
                match transition {
                    None => context.on_event(events, who.by(|_, _, _, _| {})),
                    Some(transition) => {
                        let tell = move |collector: &mut Collector, state: &_, cpu, time| {
                            collector.transition(state, transition, cpu, time);
                        };
                        context.on_event(events, who.by(tell))
                    }
                };
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
        let (Some(statistics), Some(kernel)) = (extensions.get(statistics), extensions.get(kernel))
        else {
            return Statistics::default();
        };
        let mut taken = statistics.clone();
        for (of, state) in taken.traces.iter_mut().zip(kernel.traces()) {
            let last = of.collector.last;
            let end = time.map_or(last, |time| time.ns().max(last));
            of.collector.finish(state, end);
            if time.is_none() {
                of.collector.close(state);
            }
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

/// Whom hooks tell of events of a type.
#[derive(Clone, Copy)]
struct Told {
    statistics: Handle<Statistics>,
    kernel: Handle<KernelState>,
    trace: usize,
    event_type: EventTypeId,
}

impl Told {
    /// A hook that first has a function tell what an event changed on its CPU, then
    /// counts it.
    fn by<'h>(
        self,
        tell: impl Fn(&mut Collector, &TraceState, u32, i64) + 'h,
    ) -> impl FnMut(&mut EventCall<'_, 'h>) + 'h {
        move |call| {
            let (tracefile, time) = (call.tracefile.number(), call.time().ns());
            let both = call.extensions.both_mut(self.statistics, self.kernel);
            let Some((statistics, kernel)) = both else { return };
            let Some(of) = statistics.traces.get_mut(self.trace) else { return };
            let Some(cpu) = kernel.cpu_of_tracefile(tracefile) else { return };
            let Some(state) = kernel.trace(self.trace) else { return };
            tell(&mut of.collector, state, cpu, time);
            of.collector.count(cpu, self.event_type, time);
        }
    }
}

impl TraceStatistics {
    /// Adds those of what follows.
    fn add(&mut self, later: &TraceStatistics) {
        let (mine, theirs) = (&mut self.collector, &later.collector);
        mine.leaves.add(&theirs.leaves);
        for (at, facts) in theirs.processes.iter().enumerate() {
            match mine.processes.get_mut(at) {
                Some(mine) => mine.add(facts),
                None => mine.processes.push(facts.clone()),
            }
        }
        for (at, device) in theirs.devices.iter().enumerate() {
            match mine.devices.get_mut(at) {
                Some(mine) => mine.add(device),
                None => mine.devices.push(device.clone()),
            }
        }
        mine.last = theirs.last.max(mine.last);
        self.names = later.names.clone();
    }

    /// The time that they begin at.
    pub fn begin(&self) -> Timestamp {
        Timestamp::from_ns(self.collector.begin)
    }

    /// The time that they end at.
    pub fn end(&self) -> Timestamp {
        Timestamp::from_ns(self.collector.last)
    }

    /// The time in between, in ns.
    pub fn time(&self) -> u64 {
        self.collector.last.saturating_sub(self.collector.begin).max(0) as u64
    }

    /// All that was counted, for each leaf.
    pub fn leaves(&self) -> impl ExactSizeIterator<Item = (&LeafKey, &Counts)> {
        self.collector.leaves.iter()
    }

    /// The processes, by [serial number](crate::kernel::Serial).
    pub fn process_facts(&self) -> &[ProcessFacts] {
        &self.collector.processes
    }

    /// The block devices.
    pub fn devices(&self) -> &[DeviceFacts] {
        &self.collector.devices
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
