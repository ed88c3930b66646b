//! Times and durations as text.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use lttv_common::report::Usage;
use lttv_state::history::{History, Timestamp};

/// A time, written like `2026-11-20T14:10:00Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Time(pub(crate) Timestamp);

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let time: jiff::Timestamp = text
            .parse()
            .map_err(|_| format!("not a time like 2026-11-20T14:10:00Z: {:?}", first_of(text)))?;
        let ns = i64::try_from(time.as_nanosecond());
        let ns = ns.map_err(|_| "the time is not between the years 1678 and 2262".to_owned())?;
        Ok(Time(Timestamp::from_ns(ns)))
    }
}

/// Returns the first characters of a text that may be long.
fn first_of(text: &str) -> String {
    text.chars().take(40).collect()
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_nanosecond(self.0.as_ns().into()) {
            Ok(time) => f.pad(&time.to_string()),
            Err(_) => f.pad(&self.0.to_string()),
        }
    }
}

/// The options of a time range.
#[derive(Debug, clap::Args)]
pub(crate) struct TimeRange {
    /// Start of the time range [default: the start of the history]
    #[arg(long, value_name = "TIME")]
    from: Option<Time>,
    /// End of the time range, which is not included [default: the end of the history]
    #[arg(long, value_name = "TIME")]
    to: Option<Time>,
}

impl TimeRange {
    /// Returns the time range, which lies within the history.
    pub(crate) fn within(&self, history: &History) -> Result<Range<Timestamp>, Usage> {
        let start = self.from.map_or(history.start(), |time| time.0);
        let end = self.to.map_or(history.end(), |time| time.0);
        let (first, last) = (Time(history.start()), Time(history.end()));
        if start >= end {
            return Err(Usage::new(format!("empty time range: {} to {}", Time(start), Time(end))));
        }
        if start < history.start() || end > history.end() {
            return Err(Usage::new(format!("the history is from {first} to {last}")));
        }
        Ok(start..end)
    }
}

/// A duration in ns, written like `1 h 02 min 03 s`, without parts of a second if it is a
/// second or more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Duration(pub(crate) u64);

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1_000_000_000;
        let (minutes, hours) = (seconds / 60, seconds / 3600);
        let text = match (hours, minutes, seconds) {
            (0, 0, 0) => format!("{} ms", self.0 as f64 / 1e6),
            (0, 0, _) => format!("{seconds} s"),
            (0, _, _) => format!("{minutes} min {:02} s", seconds % 60),
            _ => format!("{hours} h {:02} min {:02} s", minutes % 60, seconds % 60),
        };
        f.pad(&text)
    }
}
