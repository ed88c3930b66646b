//! The options of usage.

use std::time::Duration;

use ltt_read::Timestamp;

use super::intervals::Intervals;

/// The options of the collection of usage.
///
/// ```
/// use std::time::Duration;
/// use lttv_state::usage::UsageOptions;
///
/// let options = UsageOptions::new().every(Duration::from_millis(10));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UsageOptions {
    every: Option<u64>,
    origin: Option<i64>,
}

impl UsageOptions {
    /// Creates options without intervals.
    pub fn new() -> Self {
        Self::default()
    }

    /// Divides the time into intervals of a length, at least 1 ns. The first one starts at the
    /// start of the window, or at the first event of the traceset.
    #[must_use]
    pub fn every(self, length: Duration) -> Self {
        let ns = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        UsageOptions { every: Some(ns.max(1)), ..self }
    }

    /// Sets the start of the first interval. Usage of parts of a traceset can be
    /// [added](super::Usage::add) only if their intervals are the same.
    #[must_use]
    pub fn origin(self, time: Timestamp) -> Self {
        UsageOptions { origin: Some(time.as_ns()), ..self }
    }

    /// Returns the intervals, of which the first one starts at `start` unless it was set.
    pub(super) fn intervals(self, start: i64) -> Option<Intervals> {
        let origin = self.origin.unwrap_or(start);
        self.every.map(|length| Intervals { origin, length })
    }
}
