//! The environment on which the meaning of times depends.

use crate::syntax::CivilTime;
use crate::zone::Zone;

/// The settings on which the meaning of times depends: the time zone of dates and times
/// of day, and the date of times of day.
///
/// ```
/// use lttv_filter::{Environment, Zone};
///
/// let environment = Environment::new().in_zone(Zone::local());
/// # let _ = environment;
/// ```
#[derive(Debug, Clone, Default)]
pub struct Environment {
    zone: Zone,
    /// A point in time on that date, in ns since the epoch.
    day: Option<i64>,
}

impl Environment {
    /// Creates an environment in which times are UTC, and times of day refer to the day
    /// on which the traces begin.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the time zone of dates and times of day.
    #[must_use]
    pub fn in_zone(self, zone: Zone) -> Self {
        Environment { zone, ..self }
    }

    /// Sets the date of times of day to the date of a point in time, given in ns since the
    /// Unix epoch or as a timestamp of a trace.
    #[must_use]
    pub fn on_day_of(self, time: impl Into<i64>) -> Self {
        Environment { day: Some(time.into()), ..self }
    }

    /// Sets the date of times of day, unless it is set.
    #[cfg(feature = "traces")]
    pub(crate) fn or_on_day_of(&self, time: impl FnOnce() -> Option<ltt_read::Timestamp>) -> Self {
        let day = self.day.or_else(|| time().map(i64::from));
        Environment { zone: self.zone.clone(), day }
    }

    /// Converts a date and time to ns since the epoch.
    pub(crate) fn date_time(&self, time: CivilTime) -> Result<i128, TimeFault> {
        let instant = match time.offset {
            Some(offset) => offset.to_timestamp(time.at),
            None => self.zone.resolve().to_timestamp(time.at),
        };
        instant.map(|instant| instant.as_nanosecond()).map_err(|_| TimeFault::Range)
    }

    /// Converts a time of day, in ns since midnight, to ns since the epoch.
    pub(crate) fn time_of_day(&self, ns: i64) -> Result<i128, TimeFault> {
        let day = self.day.ok_or(TimeFault::NoDay)?;
        let day = jiff::Timestamp::from_nanosecond(day.into()).map_err(|_| TimeFault::Range)?;
        let midnight = self.zone.resolve().to_datetime(day).date();
        // In civil time: 12:00 is noon on days of 23 and 25 hours, too.
        let clock = jiff::civil::Time::midnight().checked_add(jiff::SignedDuration::from_nanos(ns));
        let at = midnight.to_datetime(clock.map_err(|_| TimeFault::Range)?);
        self.date_time(CivilTime { at, offset: None })
    }
}

/// An error from converting a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TimeFault {
    #[error("time does not exist, or is outside of the supported range")]
    Range,
    #[error("time of day without a date: no trace has events with times")]
    NoDay,
}
