//! Figures that are being collected in a context.

use std::ops::RangeBounds;

use ltt_read::{Timestamp, TraceIndex};
use lttv_context::{Extensions, Handle, TracesetContext};

use super::calls::{CallStacks, TraceCalls};
use super::chart::ChartRecorder;
use super::collector::Collector;
use super::state::CallStackState;
use crate::last_event::last_event;

/// A handle of figures that are being collected in a context. It is valid only in that context.
#[derive(Debug, Clone, Copy)]
pub struct CallStacksHandle {
    stacks: Handle<CallStackState>,
    /// The number of the collector of each trace.
    number: u64,
}

impl CallStacks {
    /// Registers the collection of figures of the events that
    /// [`read`](TracesetContext::read) reads from now on; replayed events are not counted. `stacks`
    /// must be attached to the context, and its state must be current.
    pub fn attach(
        context: &mut TracesetContext<'_>,
        stacks: Handle<CallStackState>,
    ) -> CallStacksHandle {
        Self::attach_each(context, stacks, |_| [i64::MIN, i64::MAX, i64::MAX])
    }

    /// Registers the collection of figures in a time window. `stacks` must be attached to the
    /// context, which stands at the start of the window, with its state: after
    /// [`ContextState::seek_time`](lttv_context::ContextState::seek_time), or at the start of the
    /// traceset for a window without a start.
    ///
    /// Times are those within the window: a call that is open at its start counts from there, and
    /// one that is open at its end counts up to it, or up to the last event of the trace if that
    /// is earlier. Durations are those of the calls that end in the window, from their true
    /// start. The figures of `a..b` and `b..c` add up to those of `a..c`.
    ///
    /// Reading is to continue at least to the end of the window. Events after it are not counted.
    ///
    /// ```
    /// use lttv_context::{Bounds, TracesetContext, Traceset};
    /// use lttv_state::call_stacks::{CallRules, CallStackState, CallStacks};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/ust");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// let stacks = context.attach(CallStackState::new(CallRules::default()));
    /// let window = context.contexts().time_span().expect("some events");
    /// context.state().seek_time(window.start);
    /// let calls = CallStacks::attach_window(&mut context, stacks, window.start..window.end);
    /// assert_eq!(context.read(&Bounds::all().until(window.end))?.errors, 0);
    ///
    /// let calls = calls.take(context.extensions());
    /// if calls.traces().iter().all(|trace| !trace.has_calls()) {
    ///     println!("There are no events of functions.");
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn attach_window(
        context: &mut TracesetContext<'_>,
        stacks: Handle<CallStackState>,
        window: impl RangeBounds<Timestamp>,
    ) -> CallStacksHandle {
        use std::ops::Bound::{Excluded, Included, Unbounded};
        let start = match window.start_bound() {
            Included(start) | Excluded(start) => start.as_ns(),
            Unbounded => i64::MIN,
        };
        let (end, until) = match window.end_bound() {
            Included(end) => (end.as_ns(), end.as_ns().saturating_add(1)),
            Excluded(end) => (end.as_ns(), end.as_ns()),
            Unbounded => (i64::MAX, i64::MAX),
        };
        let traces = context.traceset().traces().to_vec();
        let limits = |trace: usize| {
            let last = (end < i64::MAX).then(|| last_event(&traces[trace]).as_ns());
            [start, last.map_or(end, |last| end.min(last)).max(start), until]
        };
        Self::attach_each(context, stacks, limits)
    }

    /// Registers collectors with a separate start, end and time of the first later event for each
    /// trace.
    pub(super) fn attach_each(
        context: &mut TracesetContext<'_>,
        stacks: Handle<CallStackState>,
        limits: impl Fn(usize) -> [i64; 3],
    ) -> CallStacksHandle {
        let traces = context.traceset().traces().len();
        let mut number = 0;
        for trace in 0..traces {
            let state = &mut context.extensions_mut()[stacks];
            let Some(state) = state.trace_mut(TraceIndex(trace)) else { continue };
            number = state.collected;
            state.collected += 1;
            let collector = Collector::new(number, &state.tracker.stacks, limits(trace));
            state.collectors.push(collector);
        }
        CallStacksHandle { stacks, number }
    }
}

impl CallStacksHandle {
    /// Records the flame chart as well: see [`TraceCalls::chart`]. Calls shorter than `resolution`
    /// in ns are put together with their neighbours of the same thread and depth, so that a
    /// chart has few spans for each thread, depth and interval of this length. A chart has at
    /// most `limit` spans; further ones are [counted](TraceCalls::chart_omitted).
    ///
    /// Does nothing if `extensions` are those of another context.
    pub fn record_chart(self, extensions: &mut Extensions, resolution: u64, limit: usize) {
        let traces = extensions.get_mut(self.stacks).map(CallStackState::traces_mut);
        for trace in traces.into_iter().flatten() {
            if let Some(of) = trace.collectors.iter_mut().find(|of| of.id == self.number) {
                of.chart = Some(ChartRecorder::new(resolution, limit));
            }
        }
    }

    /// Returns the figures collected so far. Calls that are still open count up to the end of the
    /// window, if it has one. Without an end they count up to the last entry or exit of their
    /// thread. `extensions` are those of the context, which hooks have access to as well.
    ///
    /// The figures are empty if `extensions` are those of another context.
    pub fn take(self, extensions: &Extensions) -> CallStacks {
        self.take_as(extensions, true)
    }

    /// Returns the figures collected so far, as [`take`](Self::take) does, and ends the collection.
    /// For a context in which one window is read after another.
    pub fn end(self, extensions: &mut Extensions) -> CallStacks {
        let calls = self.take(extensions);
        let traces = extensions.get_mut(self.stacks).map(CallStackState::traces_mut);
        for trace in traces.into_iter().flatten() {
            trace.collectors.retain(|of| of.id != self.number);
        }
        calls
    }

    /// Returns the figures collected so far. If they are final, what is open counts up to the end.
    pub(super) fn take_as(self, extensions: &Extensions, is_final: bool) -> CallStacks {
        let mut calls = CallStacks::default();
        let Some(state) = extensions.get(self.stacks) else { return calls };
        calls.set_pairs(state.rules().pairs());
        for trace in (0..).map_while(|trace| state.trace(TraceIndex(trace))) {
            let figures = trace.collectors.iter().find(|of| of.id == self.number);
            let Some(figures) = figures else { continue };
            let (mut figures, mut tracker) = (figures.clone(), trace.tracker.clone());
            if is_final {
                figures.close(&tracker.stacks);
            }
            if let Some(stacks) = figures.closed.take() {
                tracker.set_stacks(stacks);
            }
            calls.traces.push(TraceCalls {
                trace: trace.trace.clone(),
                tracker,
                figures,
                missing: trace.missing,
                is_exact: true,
            });
        }
        calls
    }
}
