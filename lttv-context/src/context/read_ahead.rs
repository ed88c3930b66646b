//! Events out of time order: they follow events of a later time, where a clock went back.
//!
//! A read up to an end time first goes to the place to which seeking the time leads. If events
//! before the time can follow that place, the read continues *ahead* of it until all of them
//! have been delivered, and the context then returns to the place. From there on, the events
//! delivered ahead are skipped.

use ltt_read::Timestamp;

use super::TracesetContext;
use super::time_filter::{EndPlace, SkipBefore, TimeFilter};
use crate::state::Checkpoint;
use crate::traceset::TracesetPosition;

/// The read ahead of a context, if one is running, and the events delivered by an earlier one.
#[derive(Debug, Default)]
pub(super) struct ReadAhead {
    /// The events to skip since they were delivered ahead of their turn.
    skip: Option<SkipBefore>,
    running: Option<Running>,
}

/// The state of a running read ahead: events at the end time or later are skipped until the context
/// returns to the place at which the read ahead started.
#[derive(Debug)]
struct Running {
    /// The end time of the read.
    end: Timestamp,
    /// The place to return to.
    back: TracesetPosition,
    /// The state of the extensions at the place to return to, if there are any that keep state.
    state: Option<Checkpoint>,
    /// `true` if the state of extensions was current at that place.
    is_current: bool,
    /// The skip rule in force at that place.
    skip: Option<SkipBefore>,
}

impl ReadAhead {
    /// Forgets a running read ahead: reading continues at the current position.
    pub(super) fn stop(&mut self) {
        self.running = None;
    }

    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }
}

impl TracesetContext<'_> {
    /// Creates the filter for events at the current position. Returns `None` if the order of events
    /// alone decides.
    pub(super) fn time_filter(
        &mut self,
        start: Option<Timestamp>,
        end: Option<Timestamp>,
    ) -> Option<TimeFilter> {
        let start = start.and_then(|time| {
            let by = self.reader.delivered_by(time);
            let is_past = by.is_some_and(|by| by <= self.reader.time());
            (!is_past).then(|| SkipBefore { time, until: EndPlace::delivered(by) })
        });
        let ahead = self.ahead.running.as_ref().map(|ahead| ahead.end);
        let ahead_until = ahead.map(|end| EndPlace::delivered(self.reader.delivered_by(end)));
        TimeFilter::new([self.ahead.skip.clone(), start], end, ahead_until)
    }

    /// Removes the skip rule if it ends at the next event.
    pub(super) fn end_skipping(&mut self) {
        let skip = &self.ahead.skip;
        let is_over = self
            .reader
            .reach_next(|key, event| skip.as_ref().is_some_and(|skip| skip.is_over(key, event)));
        if is_over == Some(true) {
            self.ahead.skip = None;
        }
    }

    /// Prepares to read ahead if events before `end` can follow the next event, which is not before
    /// `end`. Returns `true` if they can.
    pub(super) fn start_read_ahead(&mut self, end: Timestamp) -> bool {
        let next = self.position();
        let now = next.time().unwrap_or(Timestamp::MAX);
        let by = self.reader.delivered_by(end);
        if next.is_end() || by.is_some_and(|by| by <= now) {
            return false;
        }
        self.reader.read_all();
        let state = self.extensions().keep_state().then(|| self.checkpoint_here());
        let back = self.position();
        let (is_current, skip) = (self.state.is_current(), self.ahead.skip.clone());
        self.ahead.running = Some(Running { end, back, state, is_current, skip });
        true
    }

    /// Returns to the place at which the read ahead started, after the read ahead has come to its
    /// end. The events delivered ahead are skipped from there on.
    pub(super) fn finish_read_ahead(&mut self) {
        if let Some(ahead) = self.ahead.running.take() {
            let by = self.reader.delivered_by(ahead.end);
            self.return_from_read_ahead(ahead, EndPlace::delivered(by));
        }
    }

    /// Returns to the place at which the read ahead started before it has come to its end, unless
    /// the next read has the same end time.
    pub(super) fn abort_read_ahead_unless(&mut self, end: Option<Timestamp>) {
        if let Some(ahead) = self.ahead.running.take_if(|ahead| Some(ahead.end) != end) {
            let here = self.position();
            self.return_from_read_ahead(ahead, EndPlace::Position(here));
        }
    }

    /// Returns to the start of a read ahead. Events delivered ahead are skipped up to `until`.
    fn return_from_read_ahead(&mut self, ahead: Running, until: EndPlace) {
        let sought = self.seek_position(&ahead.back);
        debug_assert!(sought.is_ok(), "the traceset stays the same");
        self.state.return_to(ahead.state.as_ref(), ahead.is_current);
        let skip = ahead.skip.filter(|skip| skip.time >= ahead.end);
        self.ahead.skip = skip.or(Some(SkipBefore { time: ahead.end, until }));
    }
}
