//! Where requests stand, compared.

use std::cmp::Ordering;

use ltt_read::Timestamp;
use lttv_context::{Bounds, TracesetPosition};

use crate::start::Start;

/// A place between two events.
///
/// A time is one too: that before the first event at it or later. Which position
/// that is shows when somebody goes there.
#[derive(Debug, Clone)]
pub(crate) enum Cut {
    Time(Timestamp),
    Position(TracesetPosition),
}

impl From<Start> for Cut {
    fn from(start: Start) -> Self {
        match start {
            Start::Begin => Cut::Time(Timestamp::MIN),
            Start::Time(time) => Cut::Time(time),
            Start::Position(position) => Cut::Position(position),
        }
    }
}

impl Cut {
    /// Whether it is known to be at a position.
    pub(crate) fn is_at(&self, position: &TracesetPosition) -> bool {
        match self {
            Cut::Time(time) => position.is_start_of(*time),
            Cut::Position(own) => own == position,
        }
    }

    /// Whether there are events between a position and it.
    pub(crate) fn is_behind(&self, position: &TracesetPosition) -> bool {
        match self {
            Cut::Time(time) => position.time().is_some_and(|next| next < *time),
            Cut::Position(own) => position < own,
        }
    }

    /// Whether reading on from a position leads to it.
    pub(crate) fn is_reached_from(&self, position: &TracesetPosition) -> bool {
        self.is_at(position) || self.is_behind(position)
    }

    /// Which of two comes first. What may be equal counts as a time before a
    /// position: going to the time shows it.
    pub(crate) fn order(&self, other: &Cut) -> Ordering {
        match (self, other) {
            (Cut::Time(a), Cut::Time(b)) => a.cmp(b),
            (Cut::Position(a), Cut::Position(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            (Cut::Time(_), Cut::Position(position)) => self.order_to(position),
            (Cut::Position(position), Cut::Time(_)) => other.order_to(position).reverse(),
        }
    }

    fn order_to(&self, position: &TracesetPosition) -> Ordering {
        if self.is_behind(position) { Ordering::Greater } else { Ordering::Less }
    }

    /// Whether both are the same by what they say, wherever that is.
    pub(crate) fn is_same(&self, other: &Cut) -> bool {
        match (self, other) {
            (Cut::Time(a), Cut::Time(b)) => a == b,
            (Cut::Position(a), Cut::Position(b)) => a == b,
            _ => false,
        }
    }

    /// Bounds that end at it.
    pub(crate) fn bounds(&self) -> Bounds {
        match self {
            Cut::Time(time) => Bounds::all().until(*time),
            Cut::Position(position) => Bounds::all().until_position(position),
        }
    }
}
