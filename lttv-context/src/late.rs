//! Events that come late: after others of a later time, where a clock went back.
//!
//! Reading up to a time first goes to where seeking that time leads. If events before the
//! time can come after that place, reading goes on *ahead* until all have come, and the
//! context then goes back to the place. What was delivered ahead is left out from then on:
//! events before a *floor*.

use ltt_read::{Event, Timestamp};

use crate::bounds::{EndReason, Limit};
use crate::checkpoint::Checkpoint;
use crate::context::TracesetContext;
use crate::position::{Key, TracesetPosition, time_of};

/// Events before a time are left out, since they have been delivered.
#[derive(Debug, Clone)]
pub(crate) struct Floor {
    time: i64,
    until: Until,
}

/// Where none of the events come any more that are to be left out.
#[derive(Debug, Clone)]
enum Until {
    /// At a time of delivery.
    Time(i64),
    Position(TracesetPosition),
    End,
}

impl Until {
    fn by(time: Option<Timestamp>) -> Self {
        time.map_or(Until::End, |time| Until::Time(time.ns()))
    }

    fn is_met(&self, key: Key, event: &Event<'_>) -> bool {
        match self {
            Until::Time(time) => key.0 >= *time,
            Until::Position(end) => {
                let is_at = || end.place().is_none_or(|place| event.position() >= *place);
                key > end.key() || key == end.key() && is_at()
            }
            Until::End => false,
        }
    }
}

/// Events at a time or later are left out, since a place to go back to.
#[derive(Debug)]
pub(crate) struct Ahead {
    pub(crate) end: i64,
    back: TracesetPosition,
    /// The state of the extensions there, if they keep one.
    state: Option<Checkpoint>,
    is_current: bool,
    floor: Option<Floor>,
}

/// A stretch of reading in which each event's time decides whether it is delivered.
#[derive(Debug)]
pub(crate) struct Stage {
    /// Events before these times are left out, each until a place.
    floors: [Option<Floor>; 2],
    /// Events at this time or later are left out.
    end: Option<i64>,
    /// Where no event before that comes any more, if reading has gone ahead.
    ahead: Option<Until>,
    pub(crate) met: Met,
}

/// Why a stage was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Met {
    /// A bound that has nothing to do with it.
    Bound,
    /// Floors have to be looked at anew.
    Floor,
    /// The first event at the end time or later.
    End,
    /// The place where all events before the end time have come.
    AllCame,
}

impl Stage {
    /// Whether an event is to be delivered to all hooks; or why nothing is before something
    /// else was done.
    pub(crate) fn judge(
        &mut self,
        key: Key,
        event: &Event<'_>,
        limit: &Limit<'_>,
    ) -> Result<bool, EndReason> {
        if let Some(reason) = limit.met(key, event) {
            self.met = Met::Bound;
            return Err(reason);
        }
        if self.end.is_some_and(|end| key.0 >= end) {
            match &self.ahead {
                None => self.met = Met::End,
                Some(until) if until.is_met(key, event) => self.met = Met::AllCame,
                Some(_) => self.met = Met::Bound,
            }
            if self.met != Met::Bound {
                return Err(EndReason::EndTime);
            }
        }
        if self.floors.iter().flatten().any(|floor| floor.until.is_met(key, event)) {
            self.met = Met::Floor;
            return Err(EndReason::EndTime);
        }
        let time = time_of(event);
        let is_above = self.floors.iter().flatten().all(|floor| time >= floor.time);
        Ok(is_above && self.end.is_none_or(|end| time < end))
    }
}

impl TracesetContext<'_> {
    /// Returns a time of delivery by which all events before `end` have come: see
    /// [`Merge::delivered_by`](ltt_read::Merge::delivered_by).
    pub fn delivered_by(&mut self, end: Timestamp) -> Option<Timestamp> {
        self.merge.delivered_by(end)
    }

    /// Returns what decides about events at the current position, if their order does not.
    pub(crate) fn stage(&mut self, start: Option<i64>, end: Option<i64>) -> Option<Stage> {
        let start = start.and_then(|time| {
            let by = self.merge.delivered_by(Timestamp::from_ns(time));
            let is_past = by.is_some_and(|by| by.ns() <= self.now);
            (!is_past).then(|| Floor { time, until: Until::by(by) })
        });
        let ahead = self.ahead.as_ref().map(|ahead| ahead.end).map(Timestamp::from_ns);
        let ahead = ahead.map(|end| Until::by(self.merge.delivered_by(end)));
        let floors = [self.floor.clone(), start];
        let is_needed = ahead.is_some() || floors.iter().any(Option::is_some);
        is_needed.then_some(Stage { floors, end, ahead, met: Met::Bound })
    }

    /// Passes the floors that end at the next event.
    pub(crate) fn pass_floors(&mut self) {
        let tracefile = match self.merge.next() {
            Some(event) => {
                self.now = self.now.max(time_of(&event));
                self.merge.current_tracefile() as u32
            }
            None => return,
        };
        let key = (self.now, tracefile);
        let is_over = |floor: &Floor, event: &Event<'_>| floor.until.is_met(key, event);
        let event = self.merge.current();
        if self.floor.as_ref().zip(event).is_some_and(|(floor, event)| is_over(floor, &event)) {
            self.floor = None;
        }
        self.merge.put_back();
    }

    /// Prepares to read ahead, if events before a time can come after the next event, which
    /// is not before it. Whether they can.
    pub(crate) fn go_ahead(&mut self, end: i64) -> bool {
        let next = self.position();
        let now = next.time().map_or(i64::MAX, Timestamp::ns);
        let by = self.merge.delivered_by(Timestamp::from_ns(end));
        if next.is_end() || by.is_some_and(|by| by.ns() <= now) {
            return false;
        }
        self.read_whole();
        let state = self.extensions.keep_state().then(|| self.checkpoint_here());
        let back = self.position();
        let (is_current, floor) = (self.state.is_current, self.floor.clone());
        self.ahead = Some(Ahead { end, back, state, is_current, floor });
        true
    }

    /// Goes back to where reading ahead began, once it has come to its end. From there,
    /// what was delivered ahead is left out.
    pub(crate) fn turn_back(&mut self) {
        if let Some(ahead) = self.ahead.take() {
            let by = self.merge.delivered_by(Timestamp::from_ns(ahead.end));
            self.return_from(ahead, Until::by(by));
        }
    }

    /// The same before it has come to its end, unless it is to go on up to the same time.
    pub(crate) fn turn_back_unless(&mut self, end: Option<i64>) {
        if let Some(ahead) = self.ahead.take_if(|ahead| Some(ahead.end) != end) {
            let here = self.position();
            self.return_from(ahead, Until::Position(here));
        }
    }

    fn return_from(&mut self, ahead: Ahead, until: Until) {
        let sought = self.seek_position(&ahead.back);
        debug_assert!(sought.is_ok(), "the traceset stays the same");
        if let Some(state) = &ahead.state {
            self.extensions.restore(&state.states);
        }
        self.state.is_current = ahead.is_current;
        let floor = ahead.floor.filter(|floor| floor.time >= ahead.end);
        self.floor = floor.or(Some(Floor { time: ahead.end, until }));
    }
}
