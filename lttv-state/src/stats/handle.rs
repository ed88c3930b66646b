//! Statistics that are being collected in a context.

use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Timestamp, TraceIndex};
use lttv_context::{EventCall, Extensions, Handle, Subscription, TracesetContext};
use lttv_hooks::Priority;

use super::collect::Collector;
use super::collected::Collected;
use super::extra::CounterId;
use super::{Statistics, TraceStatistics};
use crate::kernel::KernelState;

/// The priority of hooks for events that change no state: before hooks that may read the
/// statistics. (The kernel state reports all other events.)
const AFTER_STATE: Priority = match Priority::new(30) {
    Ok(priority) => priority,
    Err(_) => Priority::DEFAULT,
};

/// The maximum number of counters of modules.
const MAX_COUNTERS: usize = 1 << 10;

/// The collection of statistics in a context.
#[derive(Debug)]
struct Collection {
    /// The names of the counters of modules.
    counters: Arc<Vec<Arc<str>>>,
    kernel: Handle<KernelState>,
    /// The number of the collectors among the observers of each trace.
    observer: Option<usize>,
    /// The statistics at the start, without any time or events.
    traces: Vec<TraceStatistics>,
}

/// A handle of statistics that are being collected in a context. It is valid only in that
/// context.
#[derive(Debug, Clone, Copy)]
pub struct StatisticsHandle(Handle<Collection>);

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
    ) -> StatisticsHandle {
        Self::attach_from(context, kernel, |_| None, false)
    }

    /// Registers the collection of statistics that start at `time`: the time at which the
    /// context stands after a seek.
    pub fn attach_at(
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
        time: Timestamp,
    ) -> StatisticsHandle {
        Self::attach_from(context, kernel, |_| Some(time), false)
    }

    /// Registers the collection of statistics that start at a separate time for each trace.
    /// If `is_part` is true, they are to be added to the statistics of the preceding part.
    pub(super) fn attach_from(
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
        time: impl Fn(usize) -> Option<Timestamp>,
        is_part: bool,
    ) -> StatisticsHandle {
        let (counters, observer) = (Arc::default(), None);
        let mut collection = Collection { counters, kernel, observer, traces: Vec::new() };
        let traces: Vec<_> = context.traceset().traces().to_vec();
        for (index, trace) in traces.iter().enumerate() {
            let Some(state) = context.extensions()[kernel].trace(TraceIndex(index)) else {
                continue;
            };
            let begin = time(index).map_or(state.start_time(), |time| time.max(state.start_time()));
            let types = trace.schema().event_types.len();
            let known_since = if is_part { state.start_time() } else { begin };
            let collector = Collector::new(state, begin.as_ns(), known_since.as_ns(), types);
            collection.observer =
                context.extensions_mut()[kernel].add_observer(TraceIndex(index), collector);
            let collected = Collected::none(begin.as_ns());
            let (trace, names, counters) = (Some(trace.clone()), Arc::default(), Arc::default());
            collection.traces.push(TraceStatistics { trace, collected, names, counters });
        }
        let observer = collection.observer;
        let handle = StatisticsHandle(context.attach_data(collection));
        let Some(observer) = observer else { return handle };
        for (index, trace) in traces.iter().enumerate() {
            let types = (0..trace.schema().event_types.len()).map(|at| EventTypeId(at as u32));
            for event_type in types {
                if context.extensions()[kernel].transition(TraceIndex(index), event_type).is_some()
                {
                    continue;
                }
                let events =
                    Subscription::to_type(TraceIndex(index), event_type).priority(AFTER_STATE);
                context.on_event(events, move |call| {
                    let (tracefile, time) = (call.tracefile.number(), call.time().as_ns());
                    if let Some(kernel) = call.extensions.get_mut(kernel) {
                        kernel.report_ignored(
                            TraceIndex(index),
                            observer,
                            tracefile,
                            &call.event,
                            time,
                        );
                    }
                });
            }
        }
        handle
    }
}

impl StatisticsHandle {
    /// Adds a counter to all leaves, for a module that counts something of its own. The
    /// counter has a name, and is included in all sums and in the exported tree. A name that
    /// was added before returns the same counter.
    ///
    /// Returns `None` if `extensions` are those of another context, or if there are 1024
    /// counters.
    ///
    /// ```
    /// use lttv_context::{Bounds, TracesetContext, Traceset};
    /// use lttv_state::kernel::KernelState;
    /// use lttv_state::stats::Statistics;
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// let kernel = context.attach(KernelState::new());
    /// let statistics = Statistics::attach(&mut context, kernel);
    /// let waking = statistics.add_counter(context.extensions_mut(), "wake-ups").expect("it is new");
    /// context.on_event("sched_waking", move |call| statistics.count(call, waking, 1));
    /// assert_eq!(context.read(&Bounds::all())?.errors, 0);
    ///
    /// let statistics = statistics.take(context.extensions());
    /// let trace = &statistics.traces()[0];
    /// for process in trace.processes() {
    ///     let sum = trace.sum(|leaf| leaf.process == process.process);
    ///     let name = &trace.process_facts()[process.process.index()].name;
    ///     println!("{name} woke up others {} times", sum.counter(waking));
    /// }
    /// assert_eq!(trace.total().counter(waking), trace.events()["sched_waking"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_counter(self, extensions: &mut Extensions, name: &str) -> Option<CounterId> {
        let names = &mut extensions.get_mut(self.0)?.counters;
        counter_of(Arc::make_mut(names), name)
    }

    /// Adds an amount to a counter of the leaf that the CPU of an event is on, for hooks of
    /// the default priority and later. The leaf is that after the event. Does nothing if the
    /// handle is of another context. Sums stay at 2⁶⁴ − 1 once they reach it.
    #[inline]
    pub fn count(self, call: &mut EventCall<'_, '_>, counter: CounterId, amount: u64) {
        let (trace, tracefile) = (call.trace.index(), call.tracefile.number());
        let Some(Collection { kernel, observer, .. }) = call.extensions.get(self.0) else { return };
        let (kernel, Some(observer)) = (*kernel, *observer) else { return };
        let Some(kernel) = call.extensions.get_mut(kernel) else { return };
        let Some((cpu, place)) = kernel.cpu_and_place(trace, tracefile, &call.event) else {
            return;
        };
        if let Some(collector) = kernel.observer_mut::<Collector>(trace, observer) {
            collector.add(cpu, place, counter, amount);
        }
    }

    /// Returns the statistics collected so far, as final: all events of the traceset have
    /// been read, and frames that are still open are counted up to the end. `extensions`
    /// are those of the context, which hooks have access to as well.
    ///
    /// The statistics are empty if `extensions` are those of another context.
    pub fn take(self, extensions: &Extensions) -> Statistics {
        self.take_each(extensions, |_| None)
    }

    /// Returns the statistics collected so far, up to a time that has been read to. Frames
    /// that are still open remain so: the statistics of the following events can be
    /// [added](Statistics::add).
    pub fn take_until(self, extensions: &Extensions, time: Timestamp) -> Statistics {
        self.take_each(extensions, |_| Some(time))
    }

    /// Returns the statistics collected so far, up to a separate time for each trace.
    pub(super) fn take_each(
        self,
        extensions: &Extensions,
        time: impl Fn(usize) -> Option<Timestamp>,
    ) -> Statistics {
        let Some(Collection { counters, kernel, observer, traces }) = extensions.get(self.0) else {
            return Statistics::default();
        };
        let mut taken = Statistics { traces: traces.clone() };
        let (Some(kernel), Some(observer)) = (extensions.get(*kernel), *observer) else {
            return taken;
        };
        for (index, of) in taken.traces.iter_mut().enumerate() {
            let (Some(state), Some(collector)) = (
                kernel.trace(TraceIndex(index)),
                kernel.observer::<Collector>(TraceIndex(index), observer),
            ) else {
                continue;
            };
            of.collected = collector.collected(state, time(index).map(Timestamp::as_ns));
            of.names = state.shared_names();
            of.counters = counters.clone();
        }
        taken
    }
}

/// Returns the counter of a name, which is added if it is new; `None` if there are too many.
pub(super) fn counter_of(names: &mut Vec<Arc<str>>, name: &str) -> Option<CounterId> {
    let known = names.iter().position(|known| **known == *name);
    let at = known.or_else(|| {
        (names.len() < MAX_COUNTERS).then(|| {
            names.push(name.into());
            names.len() - 1
        })
    });
    at.and_then(|at| u16::try_from(at).ok()).map(CounterId)
}
