//! Events out of time order: they follow events of a later time, where a clock went back.
//!
//! A read up to an end time first goes to the place to which seeking the time leads. If events
//! before the time can follow that place, the read continues *ahead* of it until all of them
//! have been delivered, and the context then returns to the place. From there on, the events
//! delivered ahead are skipped.

use ltt_read::{Event, Timestamp};

use super::TracesetContext;
use crate::bounds::{EndReason, Limit};
use crate::state::Checkpoint;
use crate::traceset::{Key, TracesetPosition, time_of};

/// A rule that skips events before a time: those that were delivered ahead, or all before the start
/// time of a read.
#[derive(Debug, Clone)]
pub(crate) struct SkipBefore {
    /// The time before which events are skipped, in ns.
    time: i64,
    /// The place after which the rule no longer applies.
    until: EndPlace,
}

/// The place after which there are no more events to skip, or to deliver.
#[derive(Debug, Clone)]
enum EndPlace {
    /// A time of delivery, in ns.
    Time(i64),
    /// A position in the order of all events.
    Position(TracesetPosition),
    /// The end of the traceset.
    End,
}

impl EndPlace {
    /// Creates the place at a time of delivery, or the end of the traceset for `None`.
    fn delivered(time: Option<Timestamp>) -> Self {
        time.map_or(EndPlace::End, |time| EndPlace::Time(time.as_ns()))
    }

    /// Returns `true` if an event is at this place or after it.
    fn is_reached(&self, key: Key, event: &Event<'_>) -> bool {
        match self {
            EndPlace::Time(time) => key.0 >= *time,
            EndPlace::Position(end) => {
                let is_at = || end.place().is_none_or(|place| event.position() >= *place);
                key > end.key() || key == end.key() && is_at()
            }
            EndPlace::End => false,
        }
    }
}

/// The state of a read ahead: events at the end time or later are skipped until the context
/// returns to the place at which the read ahead started.
#[derive(Debug)]
pub(crate) struct ReadAhead {
    /// The end time of the read, in ns.
    pub(crate) end: i64,
    /// The place to return to.
    back: TracesetPosition,
    /// The state of the extensions at the place to return to, if there are any that keep state.
    state: Option<Checkpoint>,
    /// `true` if the state of extensions was current at that place.
    is_current: bool,
    /// The skip rule in force at that place.
    skip: Option<SkipBefore>,
}

/// A filter for a stretch of reading in which the time of each event decides whether it is
/// delivered.
#[derive(Debug)]
pub(crate) struct TimeFilter {
    /// The rules that skip events before a time.
    skips: [Option<SkipBefore>; 2],
    /// The time at which and after which events are skipped, in ns.
    end: Option<i64>,
    /// The place after which no events before the end time follow, during a read ahead.
    ahead_until: Option<EndPlace>,
    /// The reason for the last stop.
    pub(crate) stop: FilterStop,
}

/// The reason why a time filter stopped a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilterStop {
    /// A bound of the read that is independent of the filter.
    Bound,
    /// The end of a skip rule: the filter has to be built again.
    SkipEnd,
    /// The first event at the end time or later.
    EndTime,
    /// The place after which no events before the end time follow.
    AllDelivered,
}

impl TimeFilter {
    /// Returns `true` if the event is to be delivered to all hooks, and `false` if it is to be
    /// skipped.
    ///
    /// # Errors
    ///
    /// Returns the reason to stop before the event. `self.stop` then contains the details.
    pub(crate) fn admits(
        &mut self,
        key: Key,
        event: &Event<'_>,
        limit: &Limit<'_>,
    ) -> Result<bool, EndReason> {
        if let Some(reason) = limit.met(key, event) {
            self.stop = FilterStop::Bound;
            return Err(reason);
        }
        if self.end.is_some_and(|end| key.0 >= end) {
            match &self.ahead_until {
                None => self.stop = FilterStop::EndTime,
                Some(until) if until.is_reached(key, event) => self.stop = FilterStop::AllDelivered,
                Some(_) => self.stop = FilterStop::Bound,
            }
            if self.stop != FilterStop::Bound {
                return Err(EndReason::EndTime);
            }
        }
        if self.skips.iter().flatten().any(|skip| skip.until.is_reached(key, event)) {
            self.stop = FilterStop::SkipEnd;
            return Err(EndReason::EndTime);
        }
        let time = time_of(event);
        let is_after_skips = self.skips.iter().flatten().all(|skip| time >= skip.time);
        Ok(is_after_skips && self.end.is_none_or(|end| time < end))
    }
}

impl TracesetContext<'_> {
    /// Computes a time of delivery by which all events before `end` have been delivered. It is
    /// `end` itself unless a clock goes back. Returns `None` if such events may follow until the
    /// end of the traceset. See [`Merge::delivered_by`](ltt_read::Merge::delivered_by).
    pub fn delivered_by(&mut self, end: Timestamp) -> Option<Timestamp> {
        self.merge.delivered_by(end)
    }

    /// Creates the filter for events at the current position. Returns `None` if the order of events
    /// alone decides.
    pub(crate) fn time_filter(
        &mut self,
        start: Option<i64>,
        end: Option<i64>,
    ) -> Option<TimeFilter> {
        let start = start.and_then(|time| {
            let by = self.merge.delivered_by(Timestamp::from_ns(time));
            let is_past = by.is_some_and(|by| by.as_ns() <= self.now);
            (!is_past).then(|| SkipBefore { time, until: EndPlace::delivered(by) })
        });
        let ahead = self.read_ahead.as_ref().map(|ahead| ahead.end).map(Timestamp::from_ns);
        let ahead_until = ahead.map(|end| EndPlace::delivered(self.merge.delivered_by(end)));
        let skips = [self.skip_before.clone(), start];
        let is_needed = ahead_until.is_some() || skips.iter().any(Option::is_some);
        is_needed.then_some(TimeFilter { skips, end, ahead_until, stop: FilterStop::Bound })
    }

    /// Removes the skip rule if it ends at the next event.
    pub(crate) fn end_skipping(&mut self) {
        let tracefile = match self.merge.next() {
            Some(event) => {
                self.now = self.now.max(time_of(&event));
                self.merge.current_tracefile() as u32
            }
            None => return,
        };
        let key = (self.now, tracefile);
        let is_over = |skip: &SkipBefore, event: &Event<'_>| skip.until.is_reached(key, event);
        let event = self.merge.current();
        if self.skip_before.as_ref().zip(event).is_some_and(|(skip, event)| is_over(skip, &event)) {
            self.skip_before = None;
        }
        self.merge.unread();
    }

    /// Prepares to read ahead if events before `end` can follow the next event, which is not before
    /// `end`. Returns `true` if they can.
    pub(crate) fn start_read_ahead(&mut self, end: i64) -> bool {
        let next = self.position();
        let now = next.time().map_or(i64::MAX, Timestamp::as_ns);
        let by = self.merge.delivered_by(Timestamp::from_ns(end));
        if next.is_end() || by.is_some_and(|by| by.as_ns() <= now) {
            return false;
        }
        self.unfilter_merge();
        let state = self.extensions.keep_state().then(|| self.checkpoint_here());
        let back = self.position();
        let (is_current, skip) = (self.state.is_current, self.skip_before.clone());
        self.read_ahead = Some(ReadAhead { end, back, state, is_current, skip });
        true
    }

    /// Returns to the place at which the read ahead started, after the read ahead has come to its
    /// end. The events delivered ahead are skipped from there on.
    pub(crate) fn finish_read_ahead(&mut self) {
        if let Some(ahead) = self.read_ahead.take() {
            let by = self.merge.delivered_by(Timestamp::from_ns(ahead.end));
            self.return_from_read_ahead(ahead, EndPlace::delivered(by));
        }
    }

    /// Returns to the place at which the read ahead started before it has come to its end, unless
    /// the next read has the same end time.
    pub(crate) fn abort_read_ahead_unless(&mut self, end: Option<i64>) {
        if let Some(ahead) = self.read_ahead.take_if(|ahead| Some(ahead.end) != end) {
            let here = self.position();
            self.return_from_read_ahead(ahead, EndPlace::Position(here));
        }
    }

    /// Returns to the start of a read ahead. Events delivered ahead are skipped up to `until`.
    fn return_from_read_ahead(&mut self, ahead: ReadAhead, until: EndPlace) {
        let sought = self.seek_position(&ahead.back);
        debug_assert!(sought.is_ok(), "the traceset stays the same");
        if let Some(state) = &ahead.state {
            self.extensions.restore(&state.states);
        }
        self.state.is_current = ahead.is_current;
        let skip = ahead.skip.filter(|skip| skip.time >= ahead.end);
        self.skip_before = skip.or(Some(SkipBefore { time: ahead.end, until }));
    }
}
