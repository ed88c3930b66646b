//! What the meaning of an expression depends on besides the trace.

use ltt_read::Timestamp;

use crate::syntax::CivilTime;
use crate::zone::Zone;

/// What the meaning of times depends on: where the clock on the wall hangs, and
/// which day a time of day is of.
///
/// ```
/// use lttv_filter::{Environment, Zone};
///
/// let environment = Environment::new().in_zone(Zone::local());
/// # let _ = environment;
/// ```
#[derive(Debug, Clone)]
pub struct Environment {
    zone: Zone,
    day: Option<Timestamp>,
}

impl Default for Environment {
    fn default() -> Self {
        Self::new()
    }
}

impl Environment {
    /// Times are UTC; times of day are of the day on which a trace begins.
    pub fn new() -> Self {
        Environment { zone: Zone::UTC, day: None }
    }

    /// Dates and times of day are those of a time zone.
    #[must_use]
    pub fn in_zone(self, zone: Zone) -> Self {
        Environment { zone, ..self }
    }

    /// Times of day are of the day of this point in time.
    #[must_use]
    pub fn on_day_of(self, time: Timestamp) -> Self {
        Environment { day: Some(time), ..self }
    }

    /// The same, if no day has been given.
    pub(crate) fn or_on_day_of(&self, time: impl FnOnce() -> Option<Timestamp>) -> Self {
        Environment { zone: self.zone.clone(), day: self.day.or_else(time) }
    }

    /// A date and time in nanoseconds since the epoch.
    pub(crate) fn date_time(&self, time: CivilTime) -> Result<i128, TimeFault> {
        let instant = match time.offset {
            Some(offset) => offset.to_timestamp(time.at),
            None => self.zone.resolve().to_timestamp(time.at),
        };
        instant.map(|instant| instant.as_nanosecond()).map_err(|_| TimeFault::Range)
    }

    /// A time of day (in nanoseconds since midnight) in nanoseconds since the
    /// epoch.
    pub(crate) fn time_of_day(&self, ns: i64) -> Result<i128, TimeFault> {
        let day = self.day.ok_or(TimeFault::NoDay)?;
        let day =
            jiff::Timestamp::from_nanosecond(day.ns().into()).map_err(|_| TimeFault::Range)?;
        let midnight = self.zone.resolve().to_datetime(day).date();
        // By the clock on the wall: days of 23 and 25 hours have their noon, too.
        let clock = jiff::civil::Time::midnight().checked_add(jiff::SignedDuration::from_nanos(ns));
        let at = midnight.to_datetime(clock.map_err(|_| TimeFault::Range)?);
        self.date_time(CivilTime { at, offset: None })
    }
}

/// Why a time means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TimeFault {
    #[error("there is no such time, or not in the calendar of this program")]
    Range,
    #[error("a time of day needs a trace whose events have times")]
    NoDay,
}
