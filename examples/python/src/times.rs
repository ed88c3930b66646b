//! Times and windows that users give.

use std::sync::Arc;

use ltt_read::{Timestamp, Trace};
use lttv_common::text::clock_text::ClockRange;
use lttv_common::time::{Times, Window};
use lttv_filter::{TimeText, Zone};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A time as Python has it, in nanoseconds since the origin of its clock.
#[derive(Debug, Clone, Copy, IntoPyObject)]
pub(crate) enum Ns {
    /// A time in the range of a [`Timestamp`].
    Signed(i64),
    /// A time of a clock whose offset is out of that range.
    Unsigned(u64),
}

impl Ns {
    /// Returns a time of a clock with a range.
    #[inline]
    pub(crate) fn of(time: Timestamp, range: ClockRange) -> Ns {
        match range {
            ClockRange::Wrapped => Ns::Unsigned(time.as_ns().cast_unsigned()),
            _ => Ns::Signed(time.as_ns()),
        }
    }

    /// Returns a time of some traces. If they have clocks of both ranges, it is signed, as it is where their times are
    /// compared.
    pub(crate) fn of_traces(time: Timestamp, traces: &[Arc<Trace>]) -> Ns {
        let ranges = traces.iter().flat_map(|trace| {
            let schema = trace.schema();
            schema.event_types.iter().map(|of| ClockRange::of(schema, of))
        });
        let has_signed = ranges.clone().any(|range| range == ClockRange::Signed);
        let wrapped = ranges.into_iter().find(|range| *range == ClockRange::Wrapped);
        Ns::of(time, wrapped.filter(|_| !has_signed).unwrap_or(ClockRange::Signed))
    }
}

/// A time that a user gives: nanoseconds, or a text in the notation of the program.
#[derive(Debug, Clone, FromPyObject)]
pub(crate) enum Time {
    /// Nanoseconds since the origin of the clock.
    Ns(i64),
    /// Nanoseconds since the origin of a clock whose offset is out of the range of an `i64`.
    Beyond(u64),
    /// A text such as `+20ms` or `12:30:05.5`.
    Text(String),
}

impl Time {
    /// Returns the point in time.
    pub(crate) fn resolve(&self, traces: &[Arc<Trace>]) -> PyResult<Timestamp> {
        let text = match self {
            Time::Ns(ns) => return Ok(Timestamp::from_ns(*ns)),
            // All times of other clocks are before it.
            Time::Beyond(ns) => {
                let time = Timestamp::from_ns(ns.cast_signed());
                let is_known = matches!(Ns::of_traces(time, traces), Ns::Unsigned(_));
                return Ok(if is_known { time } else { Timestamp::MAX });
            }
            Time::Text(text) => text,
        };
        let wrong = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
        let time: TimeText = text.parse().map_err(|error| wrong(&error))?;
        Times::new(Zone::UTC, traces).resolve(&time).map_err(|error| wrong(&error))
    }

    /// Returns the word of a command line.
    pub(crate) fn word(&self) -> String {
        match self {
            Time::Text(text) => text.clone(),
            Time::Beyond(ns) => format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000),
            Time::Ns(ns) => {
                let (sign, ns) = (if *ns < 0 { "-" } else { "" }, ns.unsigned_abs());
                format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
            }
        }
    }
}

/// Returns the window between two times, both inclusive.
pub(crate) fn window(
    traces: &[Arc<Trace>],
    begin: Option<&Time>,
    end: Option<&Time>,
) -> PyResult<Window> {
    let resolve = |time: Option<&Time>| time.map(|time| time.resolve(traces)).transpose();
    let window = Window { begin: resolve(begin)?, end: resolve(end)? };
    match (window.begin, window.end) {
        (Some(begin), Some(end)) if begin > end => {
            Err(PyValueError::new_err(format!("the begin {begin} is after the end {end}")))
        }
        _ => Ok(window),
    }
}
