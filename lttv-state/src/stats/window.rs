//! Collection of statistics with a start and an end.

use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Timestamp, Trace};

use super::books::{Accounts, Books};
use super::border::Border;
use super::collect::Collector;
use super::collected::Collected;
use super::extra::CounterId;
use super::leaf::LeafKey;
use super::log::Log;
use crate::analysis::Window;
use crate::kernel::{Observer, TraceState, Transition};
use crate::last_event::last_event;

/// The start of a trace's statistics.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Start {
    /// The first event of the trace.
    Trace,
    /// A time.
    At(Timestamp),
    /// The start of a window.
    Window(Window),
}

impl Start {
    /// Returns the start of an analysis in a window.
    pub(crate) fn of(window: Window) -> Self {
        if window.is_everything() { Start::Trace } else { Start::Window(window) }
    }

    /// Returns the time at which statistics start whose trace starts at a time, in ns.
    pub(crate) fn begin(self, first: i64) -> i64 {
        match self {
            Start::Trace => first,
            Start::At(time) => time.as_ns().max(first),
            Start::Window(window) => window.start.max(first),
        }
    }
}

/// The collector of a trace's statistics with a start and an end.
#[derive(Debug)]
pub(super) struct WindowCollector<B = Accounts> {
    pub(super) collector: Collector<B>,
    border: Border,
    end: Option<i64>,
    until: Option<i64>,
    /// The result, once the window is over.
    closed: Option<Collected>,
}

impl<B: Books> WindowCollector<B> {
    /// Creates a collector with the state at its start.
    pub(super) fn new(books: B, state: &TraceState, start: Start, trace: &Arc<Trace>) -> Self {
        let begin = start.begin(state.start_time().as_ns());
        let mut collector = Collector::with_books(books, state, begin);
        collector.starts_with_trace = matches!(start, Start::Trace);
        let (mut border, mut end, mut until) = (Border::none(), None, None);
        if let Start::Window(window) = start {
            collector.earliest = begin;
            border = Border::at(begin, state);
            let last = |end: i64| end.min(last_event(trace).as_ns()).max(begin);
            (end, until) = (window.end.map(last), window.until);
        }
        WindowCollector { collector, border, end, until, closed: None }
    }

    /// Accounts for an event that has been applied to the state.
    #[inline]
    pub(super) fn applied(
        &mut self,
        state: &TraceState,
        transition: Transition,
        event_type: EventTypeId,
    ) {
        let effect = state.effect();
        let time = effect.time().as_ns();
        if self.is_over(time) {
            return self.collector.books.skip();
        }
        self.collector.applied(state, transition, event_type);
        let place = effect.place();
        if let [ended] = effect.ended()
            && self.border.was_open(ended, time)
            && let (Some(running), Some(cpu)) = (state.running_at(place), effect.cpu())
            && let Some(process) = state.process(ended.process)
        {
            let key = LeafKey::of(running, cpu);
            let left = LeafKey { mode: ended.mode, submode: ended.submode, ..key };
            self.border.frame_ended(process, ended, time, left);
        }
        if let Some(wait) = effect.waited()
            && self.border.has_waits()
            && let Some(process) = state.process(wait.process)
            && let Some(key) = self.collector.books.key(place)
        {
            self.border.wait_ended(process.serial(), &wait, *key);
        }
    }

    /// Accounts for an event that changes no state.
    #[inline]
    pub(super) fn ignored(
        &mut self,
        cpu: u32,
        place: Option<usize>,
        event_type: EventTypeId,
        time: i64,
    ) {
        match self.is_over(time) {
            true => self.collector.books.skip(),
            false => self.collector.ignored(cpu, place, event_type, time),
        }
    }

    /// Returns `true` if an event at a time is after the window.
    #[inline]
    pub(super) fn is_over(&self, time: i64) -> bool {
        self.until.is_some_and(|until| time >= until) || self.closed.is_some()
    }
}

impl WindowCollector<Log> {
    /// Returns a collector with the accounts in which the log has been booked.
    pub(super) fn with_accounts(self, accounts: Accounts) -> WindowCollector {
        let WindowCollector { collector, border, end, until, closed } = self;
        let collector = collector.with_accounts(accounts);
        WindowCollector { collector, border, end, until, closed }
    }
}

impl WindowCollector {
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
}

impl Observer for WindowCollector {
    fn started_again(&mut self, state: &TraceState) {
        self.collector.started_again(state);
    }

    fn types_declared(&mut self, types: usize) {
        self.collector.books.ledger.add_event_types(types);
    }

    fn event_applied(
        &mut self,
        state: &TraceState,
        transition: Transition,
        event_type: EventTypeId,
    ) {
        self.applied(state, transition, event_type);
    }

    fn event_ignored(
        &mut self,
        cpu: u32,
        place: Option<usize>,
        event_type: EventTypeId,
        time: i64,
    ) {
        self.ignored(cpu, place, event_type, time);
    }
}
