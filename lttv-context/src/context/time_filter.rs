//! The choice of events by their times, where clocks go back.

use ltt_read::order::DeliveryKey;
use ltt_read::{Event, Timestamp};

use crate::bounds::{EndReason, Limit};
use crate::traceset::{TracesetPosition, time_of};

/// A filter for a stretch of reading in which the time of each event decides whether it is
/// delivered.
#[derive(Debug)]
pub(super) struct TimeFilter {
    /// The rules that skip events before a time.
    skips: [Option<SkipBefore>; 2],
    /// The time at which and after which events are skipped.
    end: Option<Timestamp>,
    /// The place after which no events before the end time follow, during a read ahead.
    ahead_until: Option<EndPlace>,
    /// The reason for the last stop.
    stop: FilterStop,
}

/// The reason why a time filter stopped a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FilterStop {
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
    /// Creates a filter of skip rules, and of the end time and end of a read ahead. Returns `None`
    /// if there are none, so that the order of events alone decides.
    pub(super) fn new(
        skips: [Option<SkipBefore>; 2],
        end: Option<Timestamp>,
        ahead_until: Option<EndPlace>,
    ) -> Option<Self> {
        let is_needed = ahead_until.is_some() || skips.iter().any(Option::is_some);
        is_needed.then_some(TimeFilter { skips, end, ahead_until, stop: FilterStop::Bound })
    }

    /// Returns the reason for the last stop.
    pub(super) fn stop(&self) -> FilterStop {
        self.stop
    }

    /// Returns `true` if the event is to be delivered to all hooks, and `false` if it is to be
    /// skipped.
    ///
    /// # Errors
    ///
    /// Returns the reason to stop before the event. `self.stop` then contains the details.
    pub(super) fn admits(
        &mut self,
        key: DeliveryKey,
        event: &Event<'_>,
        limit: &Limit<'_>,
    ) -> Result<bool, EndReason> {
        if let Some(reason) = limit.met(key, event) {
            self.stop = FilterStop::Bound;
            return Err(reason);
        }
        if self.end.is_some_and(|end| key.time() >= end) {
            match &self.ahead_until {
                None => self.stop = FilterStop::EndTime,
                Some(until) if until.is_reached(key, event) => self.stop = FilterStop::AllDelivered,
                Some(_) => self.stop = FilterStop::Bound,
            }
            if self.stop != FilterStop::Bound {
                return Err(EndReason::EndTime);
            }
        }
        if self.skips.iter().flatten().any(|skip| skip.is_over(key, event)) {
            self.stop = FilterStop::SkipEnd;
            return Err(EndReason::EndTime);
        }
        let time = time_of(event);
        let is_after_skips = self.skips.iter().flatten().all(|skip| time >= skip.time);
        Ok(is_after_skips && self.end.is_none_or(|end| time < end))
    }
}

/// A rule that skips events before a time: those that were delivered ahead, or all before the start
/// time of a read.
#[derive(Debug, Clone)]
pub(super) struct SkipBefore {
    /// The time before which events are skipped.
    pub(super) time: Timestamp,
    /// The place after which the rule no longer applies.
    pub(super) until: EndPlace,
}

impl SkipBefore {
    /// Returns `true` if the rule no longer applies to an event.
    pub(super) fn is_over(&self, key: DeliveryKey, event: &Event<'_>) -> bool {
        self.until.is_reached(key, event)
    }
}

/// The place after which there are no more events to skip, or to deliver.
#[derive(Debug, Clone)]
pub(super) enum EndPlace {
    /// A time of delivery.
    Time(Timestamp),
    /// A position in the order of all events.
    Position(TracesetPosition),
    /// The end of the traceset.
    End,
}

impl EndPlace {
    /// Creates the place at a time of delivery, or the end of the traceset for `None`.
    pub(super) fn delivered(time: Option<Timestamp>) -> Self {
        time.map_or(EndPlace::End, EndPlace::Time)
    }

    /// Returns `true` if an event is at this place or after it.
    fn is_reached(&self, key: DeliveryKey, event: &Event<'_>) -> bool {
        match self {
            EndPlace::Time(time) => key.time() >= *time,
            EndPlace::Position(end) => end.order().is_reached_by(key, || event.position()),
            EndPlace::End => false,
        }
    }
}
