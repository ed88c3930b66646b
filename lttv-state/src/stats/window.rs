//! Collection of statistics with a start and an end.

use std::sync::Arc;

use ltt_read::Trace;
use ltt_read::schema::EventTypeId;

use super::accounts::Accounts;
use super::border::Border;
use super::collect::{Collector, unknown_leaf};
use super::collected::Collected;
use super::leaf::LeafKey;
use crate::analysis::Window;
use crate::kernel::{TraceState, Transition};
use crate::last_event::last_event;

/// The collector of a trace's statistics with a start and an end.
#[derive(Debug, Clone)]
pub(super) struct WindowCollector {
    pub(super) collector: Collector,
    border: Border,
    end: Option<i64>,
    until: Option<i64>,
}

impl WindowCollector {
    /// Creates a collector with the state at its start.
    pub(super) fn new(state: &TraceState, window: Window, trace: &Arc<Trace>) -> Self {
        let begin = window.start.max(state.start_time().as_ns());
        let mut collector = Collector::new(state, begin);
        let (mut border, mut end, mut until) = (Border::none(), None, None);
        if !window.is_everything() {
            collector.earliest = begin;
            border = Border::at(begin, state);
            let last = |end: i64| end.min(last_event(trace).as_ns()).max(begin);
            (end, until) = (window.end.map(last), window.until);
        }
        WindowCollector { collector, border, end, until }
    }

    /// Accounts for an event that has been applied to the state.
    #[inline]
    pub(super) fn applied(&mut self, state: &TraceState, transition: Transition) {
        let effect = state.effect();
        let time = effect.time().as_ns();
        if self.is_over(time) {
            return self.collector.log.skip();
        }
        self.collector.applied(state, transition);
        let place = effect.place();
        if let Some(ended) = effect.ended()
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
            && let Some(key) = self.collector.log.key(place)
        {
            self.border.wait_ended(process.serial(), (wait.blocked, wait.ready), *key);
        }
        for wait in effect.lost_waits() {
            let (times, leaf) = ((wait.blocked, wait.ready), unknown_leaf(wait.process, wait.cpu));
            self.border.wait_ended(wait.process, times, leaf);
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
            true => self.collector.log.skip(),
            false => self.collector.ignored(cpu, place, event_type, time),
        }
    }

    /// Returns `true` if an event at a time is after the window.
    #[inline]
    pub(super) fn is_over(&self, time: i64) -> bool {
        self.until.is_some_and(|until| time >= until)
    }

    /// Returns the statistics that have been booked in accounts, up to a time; without a time those of
    /// the whole window, in which what is still open counts up to its end.
    pub(super) fn collected(
        &self,
        accounts: Accounts,
        state: &TraceState,
        time: Option<i64>,
    ) -> Collected {
        let last = self.collector.last;
        let time_of_end = self.end.unwrap_or(last);
        let at = time.map_or(time_of_end, |time| time.min(self.end.unwrap_or(i64::MAX)));
        self.collector.collected(accounts, state, at, time.is_none(), &self.border)
    }
}
