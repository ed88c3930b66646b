//! Statistics that are being collected in a context.

use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Timestamp, TraceIndex};
use lttv_context::{Extensions, Handle, Subscription, TracesetContext};
use lttv_hooks::Priority;

use super::collect::Collector;
use super::collected::Collected;
use super::{Statistics, TraceStatistics};
use crate::kernel::KernelState;

/// The priority of hooks for events that change no state: before hooks that may read the
/// statistics. (The kernel state reports all other events.)
const AFTER_STATE: Priority = match Priority::new(30) {
    Ok(priority) => priority,
    Err(_) => Priority::DEFAULT,
};

/// The collection of statistics in a context.
#[derive(Debug)]
struct Collection {
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
        let mut collection = Collection { kernel, observer: None, traces: Vec::new() };
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
            let (trace, names) = (Some(trace.clone()), Arc::default());
            collection.traces.push(TraceStatistics { trace, collected, names });
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
        let Some(Collection { kernel, observer, traces }) = extensions.get(self.0) else {
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
        }
        taken
    }
}
