//! Times and windows that users give.

use std::sync::Arc;

use ltt_read::{Timestamp, Trace};
use lttv_common::time::{Times, Window};
use lttv_filter::{TimeText, Zone};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A time that a user gives: nanoseconds, or a text in the notation of the program.
#[derive(Debug, Clone, FromPyObject)]
pub(crate) enum Time {
    /// Nanoseconds since the origin of the clock.
    Ns(i64),
    /// A text such as `+20ms` or `12:30:05.5`.
    Text(String),
}

impl Time {
    /// Returns the point in time.
    pub(crate) fn resolve(&self, traces: &[Arc<Trace>]) -> PyResult<Timestamp> {
        let Time::Text(text) = self else {
            let Time::Ns(ns) = self else { return Ok(Timestamp::MIN) };
            return Ok(Timestamp::from_ns(*ns));
        };
        let wrong = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
        let time: TimeText = text.parse().map_err(|error| wrong(&error))?;
        Times::new(Zone::UTC, traces).resolve(&time).map_err(|error| wrong(&error))
    }

    /// Returns the word of a command line.
    pub(crate) fn word(&self) -> String {
        match self {
            Time::Text(text) => text.clone(),
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
