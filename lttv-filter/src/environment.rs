//! The environment on which the meaning of times depends.

#[cfg(feature = "traces")]
use std::ops::Bound;

#[cfg(feature = "traces")]
use ltt_read::{TimeSpan, Timestamp};

use crate::time::{
    CivilTime, Covered, Notation, TimeErrorKind, resolve_civil, resolve_time_of_day,
};
#[cfg(feature = "traces")]
use crate::time::{Form, TimeError, TimeRangeText, TimeText, TraceTimes, resolve_number};
use crate::zone::Zone;

/// The settings on which the meaning of times depends: the time zone of dates and times
/// of day, the times that the data covers, and the notation in which times are printed.
///
/// It is the one parser and formatter of times that users write, in expressions and elsewhere.
/// All that [`format`](Self::format) returns is accepted, and means the same instant.
///
/// | notation | meaning |
/// |---|---|
/// | `2026-11-21`, `2026-11-21 03:56:56.25` | a date and time. `T` may stand for the blank. An offset such as `Z` or `+01:00` may follow, or a blank and the name of the zone: ` CET` |
/// | `03:56`, `03:56:56.25` | a time of day: the one instant of the traces with that time; an offset may follow |
/// | `1795233416.5` | seconds since the origin of the clock, within the traces |
/// | `1795233416`, `1795233416500000000` | an integer: seconds or nanoseconds, whichever is within the traces |
/// | `5s`, `12ms` | a time since the origin of the clock, within the traces or not |
/// | `+20ms`, `+1.5` | a time after the first event; without a unit, in seconds |
/// | `-1s` | a time before the last event; the unit is required |
///
/// Units are `ns`, `us`, `µs`, `ms`, `s`, `min`, `m` and `h`.
///
/// A time that means several instants of the traces is refused, and so is a time that the time zone
/// skips. The error lists the instants in a notation that is accepted. Times of day and numbers
/// that are outside of all traces are refused as well, unless they are nearer than one unit of
/// their last digit, as are times whose further digits are left out.
///
/// A range is `FROM..TO` or `FROM,TO`, also in square brackets. Each side of `..` may be empty.
/// `+20ms` as `TO` counts from `FROM`, unless `FROM` is missing or has a `+`, too.
///
/// ```
/// # #[cfg(feature = "traces")] {
/// use lttv_filter::{Environment, Notation, TraceTimes};
///
/// let traces = ltt_read::open_all(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel"))?;
/// let times = TraceTimes::of(&traces);
/// let environment = Environment::new().in_notation(Notation::TimeOfDay);
/// let time = environment.parse_time("03:56:56.5", &times)?;
/// assert_eq!(time.as_ns(), 1_795_233_416_500_000_000);
/// assert_eq!(environment.format(time), "03:56:56.500000000");
/// let window = environment.parse_window("03:56:56.5..+20ms", &times)?;
/// assert_eq!(window, environment.parse_window("1795233416.5..1795233416520000000", &times)?);
/// let error = environment.parse_time("2.5", &times).unwrap_err();
/// assert!(error.to_string().starts_with("`2.5` is outside of the traces, which are from 17952"));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Environment {
    zone: Zone,
    notation: Notation,
    /// The first and the last time of each trace, in ns since the origin.
    covered: Vec<(i64, i64)>,
}

impl Environment {
    /// Creates an environment in which times are UTC, times of day are those of the traces, and
    /// times are printed in seconds.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the time zone of dates and times of day.
    #[must_use]
    pub fn in_zone(self, zone: Zone) -> Self {
        Environment { zone, ..self }
    }

    /// Sets the notation in which times are printed.
    #[must_use]
    pub fn in_notation(self, notation: Notation) -> Self {
        Environment { notation, ..self }
    }

    /// Adds a part of the time that the data of expressions covers, from its first to its last time,
    /// inclusive. They are given in ns since the origin of the clock, or as timestamps of a trace.
    ///
    /// Filters of traces determine it from the traces, unless it is set.
    #[must_use]
    pub fn within(mut self, first: impl Into<i64>, last: impl Into<i64>) -> Self {
        self.covered.push((first.into(), last.into()));
        self
    }

    /// Returns the time zone of dates and times of day.
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// Returns the instant that a time as text means.
    ///
    /// # Errors
    ///
    /// If the text is no time, if it means no instant or several ones, or if it is a time of day or
    /// a number outside of the traces. The error names the text.
    #[cfg(feature = "traces")]
    pub fn parse_time(&self, text: &str, times: &TraceTimes<'_>) -> Result<Timestamp, TimeError> {
        self.resolve(&text.parse()?, times)
    }

    /// Returns the bounds that a time range as text means. Both are inclusive.
    ///
    /// # Errors
    ///
    /// If the text is no range, for the reasons of [`parse_time`](Self::parse_time), or if the
    /// range ends before it begins.
    #[cfg(feature = "traces")]
    pub fn parse_window(
        &self,
        text: &str,
        times: &TraceTimes<'_>,
    ) -> Result<(Bound<Timestamp>, Bound<Timestamp>), TimeError> {
        let TimeRangeText { from, to } = text.parse()?;
        let (from, to) = self.resolve_window(from.as_ref(), to.as_ref(), times)?;
        if let (Some(from), Some(to)) = (from, to)
            && from > to
        {
            return Err(TimeErrorKind::Order.of(text));
        }
        let bound = |time: Option<Timestamp>| time.map_or(Bound::Unbounded, Bound::Included);
        Ok((bound(from), bound(to)))
    }

    /// Returns the instant that a time means.
    ///
    /// # Errors
    ///
    /// Those of [`parse_time`](Self::parse_time).
    #[cfg(feature = "traces")]
    pub fn resolve(&self, time: &TimeText, times: &TraceTimes<'_>) -> Result<Timestamp, TimeError> {
        self.resolve_after(time, times, None)
    }

    /// Returns the instants that the sides of a range mean. The range may end before it begins.
    ///
    /// # Errors
    ///
    /// Those of [`parse_time`](Self::parse_time).
    #[cfg(feature = "traces")]
    pub fn resolve_window(
        &self,
        from: Option<&TimeText>,
        to: Option<&TimeText>,
        times: &TraceTimes<'_>,
    ) -> Result<(Option<Timestamp>, Option<Timestamp>), TimeError> {
        let begin = from.map(|from| self.resolve(from, times)).transpose()?;
        let origin = begin.filter(|_| from.is_some_and(|from| !from.is_after_first()));
        let end = to.map(|to| self.resolve_after(to, times, origin)).transpose()?;
        Ok((begin, end))
    }

    /// Formats an instant in the notation of the environment.
    ///
    /// ```
    /// use lttv_filter::{Environment, Notation, Zone};
    ///
    /// let time = 1_795_233_416_400_000_007_i64;
    /// let environment = Environment::new();
    /// assert_eq!(environment.format(time), "1795233416.400000007");
    /// let berlin = environment.in_zone(Zone::named("Europe/Berlin")?).in_notation(Notation::DateTimeZone);
    /// assert_eq!(berlin.format(time), "2026-11-21 04:56:56.400000007 CET");
    /// # Ok::<(), lttv_filter::UnknownZone>(())
    /// ```
    pub fn format(&self, time: impl Into<i64>) -> String {
        self.format_ns(time.into().into())
    }

    /// Formats an instant in ns since the origin of the clock, also one beyond the range of a
    /// [`Timestamp`](ltt_read::Timestamp), which ends in 2262.
    pub fn format_ns(&self, ns: i128) -> String {
        self.notation.text(ns, &self.zone.resolve())
    }

    /// Returns the instant that a time means. `+20ms` counts from the origin, or else from the first
    /// event.
    #[cfg(feature = "traces")]
    fn resolve_after(
        &self,
        time: &TimeText,
        times: &TraceTimes<'_>,
        origin: Option<Timestamp>,
    ) -> Result<Timestamp, TimeError> {
        let events = || times.events().ok_or(TimeErrorKind::NoTimes);
        let after = |time: Timestamp, length: i64| {
            time.as_ns().checked_add(length).ok_or(TimeErrorKind::Range)
        };
        let in_range = |ns: i128| i64::try_from(ns).map_err(|_| TimeErrorKind::Range);
        let resolve = |covered: &dyn Fn() -> Vec<(i64, i64)>| match &time.form {
            Form::SinceOrigin(ns) => Ok(*ns),
            Form::AfterFirst(length) => match origin {
                Some(origin) => after(origin, *length),
                None => events().and_then(|events| after(events.start, *length)),
            },
            Form::BeforeLast(length) => events().and_then(|events| after(events.end, -length)),
            Form::Date(civil, _) if civil.offset.is_some() => {
                resolve_civil(*civil, None, &self.zone.resolve(), Covered(&[])).and_then(in_range)
            }
            Form::Date(civil, name) => {
                let zone = self.zone.resolve();
                let covered = covered();
                resolve_civil(*civil, name.as_deref(), &zone, Covered(&covered)).and_then(in_range)
            }
            Form::TimeOfDay(ns, offset) => {
                let zone = match offset {
                    Some(offset) => jiff::tz::TimeZone::fixed(*offset),
                    None => self.zone.resolve(),
                };
                resolve_time_of_day(*ns, &zone, Covered(&covered()))
            }
            Form::Seconds(ns) => resolve_number(*ns, None, Covered(&covered())),
            Form::Integer(number) => match number.checked_mul(1_000_000_000) {
                Some(ns) => resolve_number(ns, Some(*number), Covered(&covered())),
                None => Err(TimeErrorKind::Range),
            },
        };
        let ns = match resolve(&|| pairs(times.spans())) {
            // The times of packets are for the search, those of the events for people.
            Err(outside @ TimeErrorKind::Outside { .. }) => match pairs(&times.event_spans()) {
                events if events.is_empty() => Err(outside),
                events => resolve(&|| events.clone()),
            },
            result => result,
        };
        ns.map(Timestamp::from_ns).map_err(|kind| kind.of(time.as_str()))
    }

    /// Sets the times that the data covers, unless they are set.
    #[cfg(feature = "traces")]
    pub(crate) fn or_within(&self, covered: impl FnOnce() -> Vec<(i64, i64)>) -> Self {
        let covered = if self.covered.is_empty() { covered() } else { self.covered.clone() };
        Environment { covered, ..self.clone() }
    }

    /// Converts a number without a point and a unit to ns since the origin: seconds, unless it is too
    /// great for that. The meaning of an expression does not depend on the times of the traces.
    pub(crate) fn integer(number: i128) -> i128 {
        let seconds = number.saturating_mul(1_000_000_000);
        if i64::try_from(seconds).is_ok() { seconds } else { number }
    }

    /// Converts a date and time to ns since the epoch.
    pub(crate) fn date_time(&self, time: CivilTime) -> Result<i128, TimeErrorKind> {
        resolve_civil(time, None, &self.zone.resolve(), Covered(&self.covered))
    }

    /// Converts a time of day, in ns since midnight, to ns since the epoch.
    pub(crate) fn time_of_day(&self, ns: i64) -> Result<i64, TimeErrorKind> {
        resolve_time_of_day(ns, &self.zone.resolve(), Covered(&self.covered))
    }
}

/// Returns the first and the last time of spans, in ns.
#[cfg(feature = "traces")]
fn pairs(spans: &[TimeSpan]) -> Vec<(i64, i64)> {
    spans.iter().map(|span| (span.start.as_ns(), span.end.as_ns())).collect()
}
