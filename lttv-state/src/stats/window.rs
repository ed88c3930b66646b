//! Collection of the statistics of a time window.

use std::ops::{Bound, RangeBounds};

use ltt_read::Timestamp;
use ltt_read::schema::EventTypeId;

use super::border::Border;
use super::collect::Collector;
use super::collected::Collected;
use super::extra::CounterId;
use super::leaf::LeafKey;
use crate::kernel::{Observer, TraceState, Transition};

/// A time window. Times are in ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// The time from which on time counts.
    pub(crate) start: i64,
    /// The time up to which time counts; `None` for that of the last event.
    pub(super) end: Option<i64>,
    /// The time of the first event after the window; `None` if it contains all further events.
    pub(crate) until: Option<i64>,
}

impl Window {
    /// Returns the window of a range.
    pub(crate) fn of(range: &impl RangeBounds<Timestamp>) -> Self {
        let start = match range.start_bound() {
            Bound::Included(start) | Bound::Excluded(start) => start.as_ns(),
            Bound::Unbounded => i64::MIN,
        };
        let (end, until) = match range.end_bound() {
            Bound::Included(end) => (Some(end.as_ns()), end.as_ns().checked_add(1)),
            Bound::Excluded(end) => (Some(end.as_ns()), Some(end.as_ns())),
            Bound::Unbounded => (None, None),
        };
        Window { start, end, until }
    }

    /// Returns `true` if the window has no limits.
    pub(super) fn is_everything(&self) -> bool {
        self.start == i64::MIN && self.until.is_none()
    }
}

/// The collector of a trace's statistics in a window. It contains a collector without a window,
/// so that windows cost nothing where none is used.
#[derive(Debug)]
pub(super) struct WindowCollector {
    pub(super) collector: Collector,
    border: Border,
    end: Option<i64>,
    until: Option<i64>,
    /// The result, once the window is over.
    closed: Option<Collected>,
}

impl WindowCollector {
    /// Creates the collector of a window with the state at its start. `last` is the time of the
    /// trace's last event.
    pub(super) fn new(state: &TraceState, window: Window, last: Option<i64>, types: usize) -> Self {
        let start = window.start.max(state.start_time().as_ns());
        let end = window.end.map(|end| last.map_or(end, |last| end.min(last)).max(start));
        WindowCollector {
            collector: Collector::of_window(state, start, types),
            border: Border::at(start, state),
            end,
            until: window.until,
            closed: None,
        }
    }

    /// Ends the window, with the state at its end.
    pub(super) fn close(&mut self, state: &TraceState) {
        if self.closed.is_none() {
            self.closed = Some(self.collected(state, None));
        }
    }

    /// Returns the statistics up to a time; without a time those of the whole window, in which
    /// what is still open counts up to its end.
    pub(super) fn collected(&self, state: &TraceState, time: Option<i64>) -> Collected {
        if let Some(closed) = &self.closed {
            return closed.clone();
        }
        let last = self.collector.last;
        let time_of_end = self.end.unwrap_or(last);
        let at = time.map_or(time_of_end, |time| time.min(self.end.unwrap_or(i64::MAX)));
        self.collector.collected(state, at, time.is_none(), &self.border)
    }

    /// Adds an amount to a counter of the leaf that a CPU is on, unless the window is over.
    pub(super) fn add(&mut self, cpu: u32, place: Option<usize>, counter: CounterId, amount: u64) {
        if self.closed.is_none() {
            self.collector.add(cpu, place, counter, amount);
        }
    }

    /// Returns `true` if an event at a time is after the window.
    fn is_over(&self, time: i64) -> bool {
        self.until.is_some_and(|until| time >= until) || self.closed.is_some()
    }
}

impl Observer for WindowCollector {
    fn types_declared(&mut self, types: usize) {
        self.collector.types_declared(types);
    }

    fn event_applied(
        &mut self,
        state: &TraceState,
        transition: Transition,
        event_type: EventTypeId,
    ) {
        let effect = state.effect();
        let time = effect.time().as_ns();
        if self.is_over(time) {
            return;
        }
        self.collector.event_applied(state, transition, event_type);
        let place = effect.place();
        if let [ended] = effect.ended()
            && self.border.was_open(ended, time)
            && let (Some(running), Some(cpu)) = (state.running_at(place), effect.cpu())
            && let Some(process) = state.process(ended.process)
        {
            let key = LeafKey::of(running, cpu);
            let left = LeafKey { mode: ended.mode, submode: ended.submode, ..key };
            let leaf = self.collector.books.ledger.find_or_add(&left);
            self.border.frame_ended(process, ended, time, leaf);
        }
        if let Some(wait) = effect.waited()
            && self.border.has_waits()
            && let Some(process) = state.process(wait.process)
            && let Some(on) = self.collector.books.cpus.get(place)
        {
            self.border.wait_ended(process.serial(), &wait, on.leaf);
        }
    }

    fn event_ignored(
        &mut self,
        cpu: u32,
        place: Option<usize>,
        event_type: EventTypeId,
        time: i64,
    ) {
        if !self.is_over(time) {
            self.collector.event_ignored(cpu, place, event_type, time);
        }
    }
}
