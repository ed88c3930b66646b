//! Statistics that are being collected in a context.

use std::mem::replace;
use std::ops::RangeBounds;
use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Timestamp, Trace, TraceIndex};
use lttv_context::{EventCall, Extensions, Handle, Subscription, TracesetContext};
use lttv_hooks::Priority;

use super::books::Accounts;
use super::collected::Collected;
use super::extra::CounterId;
use super::ledger::Ledger;
use super::window::{Start, WindowCollector};
use super::{Statistics, TraceStatistics};
use crate::analysis::Window;
use crate::kernel::KernelState;

/// The priority of hooks for events that change no state: before hooks that may read the
/// statistics. (The kernel state reports all other events.)
pub(crate) const AFTER_STATE: Priority = match Priority::new(30) {
    Ok(priority) => priority,
    Err(_) => Priority::DEFAULT,
};

/// The priority of the hook that ends a window: before the event changes the state.
const BEFORE_STATE: Priority = match Priority::new(24) {
    Ok(priority) => priority,
    Err(_) => Priority::FIRST,
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
    /// The number of event types of each trace that are followed.
    types: Vec<usize>,
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
    /// at any other position use [`attach_at`](Self::attach_at). Those of a trace that a growing
    /// traceset gets later start with its first event.
    pub fn attach(
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
    ) -> StatisticsHandle {
        Self::attach_each(context, kernel, |_| Start::Trace)
    }

    /// Registers the collection of statistics that start at `time`: the time at which the
    /// context stands after a seek. Frames and waits that are open there count from their true
    /// start, so that the statistics can be [added](Self::add) to those of the part before.
    ///
    /// For a part of the trace alone use [`attach_window`](Self::attach_window).
    pub fn attach_at(
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
        time: Timestamp,
    ) -> StatisticsHandle {
        Self::attach_each(context, kernel, |_| Start::At(time))
    }

    /// Registers the collection of statistics in a time window. `kernel` must be attached to the
    /// context, which stands at the start of the window, with its state: after
    /// [`seek_time_with_state`](TracesetContext::seek_time_with_state), or at the start of the
    /// traceset for a window without a start.
    ///
    /// Frames, waits and requests count from the start of the window, and up to its end, if they
    /// are open there: see [windows](super#windows). Times are measured between the bounds of the
    /// window. An event at a bound counts if the bound is included: `a..b` and `b..c` add up to
    /// `a..c`, while `a..=b` contains the events at `b`. The window of each trace is limited to the
    /// time from its first to its last event.
    ///
    /// Reading is to continue at least to the end of the window. Events after it are not counted.
    /// The window of a growing traceset is limited to the events that are there at this call, and the
    /// context [refuses](TracesetContext::refuse_growth) traces, tracefiles and event types that are
    /// new.
    ///
    /// ```
    /// use ltt_read::TraceIndex;
    /// use lttv_context::{Bounds, TracesetContext, Traceset};
    /// use lttv_state::kernel::KernelState;
    /// use lttv_state::stats::Statistics;
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// let kernel = context.attach(KernelState::new());
    /// let state = context.extensions()[kernel].trace(TraceIndex(0)).expect("one trace");
    /// let start = state.start_time();
    /// let window = start.saturating_add(1_000_000)..start.saturating_add(3_000_000);
    /// context.seek_time_with_state(window.start);
    /// let statistics = Statistics::attach_window(&mut context, kernel, window.clone());
    /// assert_eq!(context.read(&Bounds::all().until(window.end))?.errors, 0);
    ///
    /// let statistics = statistics.take(context.extensions());
    /// for cpu in statistics.traces()[0].cpus() {
    ///     assert_eq!(cpu.busy_time + cpu.idle_time + cpu.unknown_time, 2_000_000);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn attach_window(
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
        window: impl RangeBounds<Timestamp>,
    ) -> StatisticsHandle {
        let window = Window::of(&window);
        if window.is_everything() {
            return Self::attach(context, kernel);
        }
        context.refuse_growth::<Statistics>();
        let handle = Self::attach_each(context, kernel, |_| Start::Window(window));
        if let Some(until) = window.until {
            // The state before the first event after the window is that at its end.
            let mut is_over = false;
            let events = Subscription::to_every_event().priority(BEFORE_STATE);
            context.on_event(events, move |call| {
                if call.time().as_ns() >= until && !is_over {
                    is_over = true;
                    handle.close_windows(call.extensions);
                }
            });
        }
        handle
    }

    /// Registers the collection of statistics with a separate start for each trace.
    pub(crate) fn attach_each(
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
        start: impl Fn(usize) -> Start,
    ) -> StatisticsHandle {
        let (counters, observer) = (Arc::default(), None);
        let collection =
            Collection { counters, kernel, observer, traces: Vec::new(), types: Vec::new() };
        let handle = StatisticsHandle(context.attach_data(collection));
        handle.add_traces(context, start);
        context.on_growth(move |context| handle.add_traces(context, |_| Start::Trace));
        handle
    }
}

impl StatisticsHandle {
    /// Adds collectors for traces, and hooks for event types, that are not known yet.
    fn add_traces(self, context: &mut TracesetContext<'_>, start: impl Fn(usize) -> Start) {
        let traces: Vec<_> = context.traceset().traces().to_vec();
        let Some(collection) = context.extensions().get(self.0) else { return };
        let kernel = collection.kernel;
        for (index, trace) in traces.iter().enumerate().skip(collection.traces.len()) {
            self.add_trace(context, TraceIndex(index), trace, start(index));
        }
        for (index, trace) in traces.iter().enumerate() {
            let (index, types) = (TraceIndex(index), trace.schema().event_types.len());
            let Some(collection) = context.extensions_mut().get_mut(self.0) else { return };
            let Some(observer) = collection.observer else { return };
            if collection.types.len() <= index.0 {
                collection.types.push(0);
            }
            collection.traces[index.0].trace = Some(trace.clone());
            let known = replace(&mut collection.types[index.0], types);
            for event_type in (known..types).map(|at| EventTypeId(at as u32)) {
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
    }

    /// Adds the collector of a trace.
    fn add_trace(
        self,
        context: &mut TracesetContext<'_>,
        index: TraceIndex,
        trace: &Arc<Trace>,
        start: Start,
    ) {
        let extensions = context.extensions_mut();
        let Some(kernel) = extensions.get(self.0).map(|collection| collection.kernel) else {
            return;
        };
        let Some(state) = extensions[kernel].trace(index) else { return };
        let (cpus, types) = (state.cpus().count(), trace.schema().event_types.len());
        let begin = start.begin(state.start_time().as_ns());
        let books = Accounts::new(Ledger::new(types, cpus));
        let collector = WindowCollector::new(books, state, start, trace);
        let observer = extensions[kernel].add_observer(index, collector);
        let collected = Collected::none(begin);
        let (trace, names, counters) = (Some(trace.clone()), Arc::default(), Arc::default());
        let selected = None;
        if let Some(collection) = extensions.get_mut(self.0) {
            collection.observer = observer;
            collection.traces.push(TraceStatistics { trace, collected, names, selected, counters });
        }
    }

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
        if let Some(collector) = kernel.observer_mut::<WindowCollector>(trace, observer) {
            collector.add(cpu, place, counter, amount);
        }
    }

    /// Ends the windows of all traces, with the state at their end.
    fn close_windows(self, extensions: &mut Extensions) {
        let Some(Collection { kernel, observer, traces, .. }) = extensions.get(self.0) else {
            return;
        };
        let (kernel, observer, traces) = (*kernel, *observer, traces.len());
        let (Some(kernel), Some(observer)) = (extensions.get_mut(kernel), observer) else { return };
        for index in (0..traces).map(TraceIndex) {
            let found = kernel.observer_and_state::<WindowCollector>(index, observer);
            if let Some((window, state)) = found {
                window.close(state);
            }
        }
    }

    /// Returns the statistics collected so far, as final: all events of the traceset, or of the
    /// window, have been read. Frames and waits that are still open are counted up to the end.
    /// `extensions` are those of the context, which hooks have access to as well.
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
    pub(crate) fn take_each(
        self,
        extensions: &Extensions,
        time: impl Fn(usize) -> Option<Timestamp>,
    ) -> Statistics {
        let Some(Collection { counters, kernel, observer, traces, .. }) = extensions.get(self.0)
        else {
            return Statistics::default();
        };
        let mut taken = Statistics { traces: traces.clone() };
        let (Some(kernel), Some(observer)) = (extensions.get(*kernel), *observer) else {
            return taken;
        };
        for (index, of) in taken.traces.iter_mut().enumerate() {
            let (trace, time) = (TraceIndex(index), time(index).map(Timestamp::as_ns));
            let Some(state) = kernel.trace(trace) else { continue };
            let Some(found) = kernel.observer::<WindowCollector>(trace, observer) else { continue };
            of.collected = found.collected(state, time);
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
