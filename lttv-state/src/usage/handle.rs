//! Usage that is being collected in a context.

use std::ops::RangeBounds;
use std::time::Duration;

use ltt_read::{Timestamp, TraceIndex};
use lttv_context::{Extensions, Handle, Subscription, TracesetContext};

use super::collect::{Collector, Span};
use super::collected::Collected;
use super::events::Source;
use super::intervals::Intervals;
use super::{TraceUsage, Usage};
use crate::analysis::Window;
use crate::kernel::KernelState;
use crate::stats::{AFTER_STATE, Start, Statistics, StatisticsHandle};

/// The options of the collection of usage.
///
/// ```
/// use std::time::Duration;
/// use lttv_state::usage::UsageOptions;
///
/// let options = UsageOptions::new().every(Duration::from_millis(10));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UsageOptions {
    every: Option<u64>,
    origin: Option<i64>,
}

impl UsageOptions {
    /// Creates options without intervals.
    pub fn new() -> Self {
        Self::default()
    }

    /// Divides the time into intervals of a length, at least 1 ns. The first one starts at the
    /// start of the window, or at the first event of the traceset.
    #[must_use]
    pub fn every(self, length: Duration) -> Self {
        let ns = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        UsageOptions { every: Some(ns.max(1)), ..self }
    }

    /// Sets the start of the first interval. Usage of parts of a traceset can be
    /// [added](Usage::add) only if their intervals are the same.
    #[must_use]
    pub fn origin(self, time: Timestamp) -> Self {
        UsageOptions { origin: Some(time.as_ns()), ..self }
    }

    /// Returns the intervals, of which the first one starts at `start` unless it was set.
    pub(super) fn intervals(self, start: i64) -> Option<Intervals> {
        let origin = self.origin.unwrap_or(start);
        self.every.map(|length| Intervals { origin, length })
    }
}

/// The collection in a context.
#[derive(Debug)]
struct Collection {
    kernel: Handle<KernelState>,
    statistics: StatisticsHandle,
    /// The number of the collectors among the observers of each trace.
    observer: Option<usize>,
    intervals: Option<Intervals>,
}

/// A handle of usage that is being collected in a context. It is valid only in that context.
#[derive(Debug, Clone, Copy)]
pub struct UsageHandle(Handle<Collection>);

impl Usage {
    /// Registers the collection of usage for the events that [`read`](TracesetContext::read) reads
    /// from now on: see [`Statistics::attach`], whose conditions are the same. The context
    /// [refuses](TracesetContext::refuse_growth) traces, tracefiles and event types that are new.
    pub fn attach(
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
        options: UsageOptions,
    ) -> UsageHandle {
        let statistics = Statistics::attach(context, kernel);
        Self::attach_each(context, kernel, options, statistics, |_| Start::Trace)
    }

    /// Registers the collection of usage in a time window: see [`Statistics::attach_window`],
    /// whose conditions are the same.
    ///
    /// ```
    /// use lttv_context::{Bounds, TracesetContext, Traceset};
    /// use lttv_state::kernel::KernelState;
    /// use lttv_state::usage::{Usage, UsageOptions};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// let kernel = context.attach(KernelState::new());
    /// let start = context.extensions()[kernel].traces().next().expect("a trace").start_time();
    /// let window = start.saturating_add(1_000_000)..start.saturating_add(3_000_000);
    /// context.seek_time_with_state(window.start);
    /// let usage = Usage::attach_window(&mut context, kernel, window.clone(), UsageOptions::new());
    /// assert_eq!(context.read(&Bounds::all().until(window.end))?.errors, 0);
    ///
    /// let usage = usage.take(context.extensions());
    /// for cpu in usage.traces()[0].cpus() {
    ///     println!("CPU {}: {:?} %", cpu.sum.number, cpu.sum.busy_percent());
    /// }
    /// # assert_eq!(usage.traces()[0].time(), 2_000_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn attach_window(
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
        window: impl RangeBounds<Timestamp>,
        options: UsageOptions,
    ) -> UsageHandle {
        let limits = Window::of(&window);
        let statistics = Statistics::attach_window(context, kernel, window);
        Self::attach_each(context, kernel, options, statistics, |_| Start::Window(limits))
    }

    /// Registers the collection of usage with a separate start for each trace. The statistics
    /// have the same starts.
    pub(super) fn attach_each(
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
        options: UsageOptions,
        statistics: StatisticsHandle,
        start: impl Fn(usize) -> Start,
    ) -> UsageHandle {
        context.refuse_growth::<Usage>();
        let traces: Vec<_> = context.traceset().traces().to_vec();
        let spans: Vec<_> = traces
            .iter()
            .enumerate()
            .map(|(index, _)| {
                let state = context.extensions()[kernel].trace(TraceIndex(index))?;
                Some(Span::of(start(index), state.start_time().as_ns()))
            })
            .collect();
        let first = spans.iter().flatten().map(|span| span.begin).min();
        let intervals = options.intervals(first.unwrap_or(0));
        let mut observer = None;
        for (index, span) in spans.iter().enumerate() {
            let (trace, Some(span)) = (TraceIndex(index), span) else { continue };
            let Some(state) = context.extensions()[kernel].trace(trace) else { continue };
            let collector = Collector::new(state, *span, Collected::new(intervals));
            observer = context.extensions_mut()[kernel].add_observer(trace, collector);
        }
        let collection = Collection { kernel, statistics, observer, intervals };
        let handle = UsageHandle(context.attach_data(collection));
        let Some(observer) = observer else { return handle };
        for (index, trace) in traces.iter().enumerate() {
            let index = TraceIndex(index);
            for (event_type, source) in Source::all_of(trace) {
                let events = Subscription::to_type(index, event_type).priority(AFTER_STATE);
                context.on_event(events, move |call| {
                    let (tracefile, time) = (call.tracefile.number(), call.time().as_ns());
                    let Some(kernel) = call.extensions.get_mut(kernel) else { return };
                    let place = kernel.cpu_and_place(index, tracefile, &call.event);
                    let place = place.and_then(|(_, place)| place);
                    let running = kernel.trace(index).zip(place);
                    let running = running.and_then(|(state, place)| state.running_at(place));
                    let running = running.map(|of| (of.serial(), of.mode().is_interrupt()));
                    if let Some(of) = kernel.observer_mut::<Collector<Collected>>(index, observer) {
                        source.read(&call.event, |measure| of.measure(measure, running, time));
                    }
                });
            }
        }
        handle
    }
}

impl Span {
    /// Returns the part of a trace with a start; `first` is the time of its first event.
    pub(super) fn of(start: Start, first: i64) -> Self {
        let begin = start.begin(first);
        let (earliest, until) = match start {
            Start::Trace | Start::At(_) => (i64::MIN, None),
            Start::Window(window) => (begin, window.until),
        };
        Span { begin, earliest, until }
    }
}

impl UsageHandle {
    /// Returns the usage collected so far, as final: all events of the traceset, or of the window,
    /// have been read. The usage is empty if `extensions` are those of another context.
    pub fn take(self, extensions: &Extensions) -> Usage {
        self.take_each(extensions, |statistics| statistics.take(extensions))
    }

    /// Returns the usage collected so far, up to a time that has been read to. The usage of the
    /// following events can be [added](Usage::add).
    pub fn take_until(self, extensions: &Extensions, time: Timestamp) -> Usage {
        self.take_each(extensions, |statistics| statistics.take_until(extensions, time))
    }

    /// Returns the usage up to the end of statistics, by trace.
    pub(super) fn take_each(
        self,
        extensions: &Extensions,
        statistics: impl FnOnce(StatisticsHandle) -> Statistics,
    ) -> Usage {
        let Some(of) = extensions.get(self.0) else { return Usage::default() };
        let kernel = extensions.get(of.kernel);
        let traces = statistics(of.statistics).into_traces();
        let traces = traces.into_iter().enumerate().map(|(index, statistics)| {
            let (trace, end) = (TraceIndex(index), statistics.end().as_ns());
            let observer = kernel.zip(of.observer);
            let collector = observer
                .and_then(|(of, number)| of.observer::<Collector<Collected>>(trace, number));
            let collected = collector.map(|collector| collector.collected(end));
            let collected = collected.unwrap_or_else(|| Collected::new(of.intervals));
            TraceUsage { statistics, collected }
        });
        Usage { traces: traces.collect() }
    }
}
