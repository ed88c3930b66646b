//! Going to times and time ranges that the user types.

use ltt_read::{TimeSpan, Timestamp};
use lttv_filter::{Environment, TimeError, TimeRangeText, TimeText, TraceTimes, Zone};
use lttv_requests::views::TimeWindow;

use crate::model::time_format::since;
use crate::session::Session;

/// The reason why a time is refused. The time window and the current time stay.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GoToError {
    /// The text is not a time or a time range.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// The range ends before it starts.
    #[error("the range ends at {to}, which is before its start {from}")]
    Order {
        /// The start.
        from: Timestamp,
        /// The end.
        to: Timestamp,
    },
    /// The time is before the first event or after the last one.
    #[error(
        "{time} is outside of the traces: their events are from {} to {} (+0 to {})",
        events.start, events.end, since(events.end, events.start)
    )]
    Outside {
        /// The time, or the end of the range that is nearest to the traces.
        time: Timestamp,
        /// The times of the first and the last event.
        events: TimeSpan,
    },
}

impl Session {
    /// Returns the times of the first and the last event.
    pub fn events(&self) -> TimeSpan {
        *self.events.get_or_init(|| {
            let events = TraceTimes::of(self.traceset().traces()).events();
            events.unwrap_or_else(|| self.span())
        })
    }

    /// Returns the time zone of dates and times of day.
    pub fn zone(&self) -> &Zone {
        self.zone.get_or_init(Zone::local)
    }

    /// Sets the time zone of dates and times of day.
    pub fn set_zone(&mut self, zone: Zone) {
        self.zone = zone.into();
    }

    /// Goes to a time in any notation of [`TimeText`], or shows exactly a time range in one of
    /// [`TimeRangeText`]. In an open range, the other side is that of the traces.
    ///
    /// # Errors
    ///
    /// If the text is no time, or if it is outside of the traces.
    pub fn go_to(&mut self, text: &str) -> Result<(), GoToError> {
        let text = text.trim();
        match text.contains("..") || text.contains(',') || text.starts_with('[') {
            true => self.show_range(text.parse()?),
            false => {
                let time = self.resolve(&joined(text).parse()?)?;
                let events = self.events();
                if !(events.start..=events.end).contains(&time) {
                    return Err(GoToError::Outside { time, events });
                }
                self.tab.set_time(time, None);
                Ok(())
            }
        }
    }

    /// Shows exactly a time range, as far as it is within the traces. Events at its last time are
    /// in the window.
    ///
    /// # Errors
    ///
    /// If a time cannot be resolved, or if the range ends before it starts or is outside of the
    /// traces.
    pub fn show_range(&mut self, range: TimeRangeText) -> Result<(), GoToError> {
        let events = self.events();
        let times = TraceTimes::of(self.traceset().traces());
        let (from, to) =
            self.times().resolve_window(range.from.as_ref(), range.to.as_ref(), &times)?;
        let (from, to) = (from.unwrap_or(events.start), to.unwrap_or(events.end));
        if from > events.end {
            return Err(GoToError::Outside { time: from, events });
        }
        if to < events.start {
            return Err(GoToError::Outside { time: to, events });
        }
        let span = TimeWindow::covering(self.span());
        let window = TimeWindow::new(from.max(span.start()), to.saturating_add(1).min(span.end()));
        let window = window.ok_or(GoToError::Order { from, to })?;
        self.clear_selection();
        self.tab.set_time(window.start().max(events.start), None);
        self.tab.set_window(window, None);
        Ok(())
    }

    /// Returns the last time in the time window. A range up to it shows the same window.
    pub fn last_time(&self) -> Timestamp {
        let window = self.tab.window();
        Timestamp::from_ns(window.end().as_ns().saturating_sub(1)).max(window.start())
    }

    fn resolve(&self, time: &TimeText) -> Result<Timestamp, TimeError> {
        self.times().resolve(time, &TraceTimes::of(self.traceset().traces()))
    }

    /// Returns the notation of times.
    fn times(&self) -> Environment {
        Environment::new().in_zone(self.zone().clone())
    }
}

/// Joins seconds and nanoseconds with spaces between them: those of the list of events, and
/// those of LTTV's time bar, which has a point, too.
fn joined(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    match words[..] {
        [seconds, ".", ns] => format!("{seconds}.{ns}"),
        [seconds, ns] if ns.len() == 9 && is_number(seconds) && is_number(ns) => {
            format!("{seconds}.{ns}")
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn seconds_and_nanoseconds_may_be_apart() {
        assert_eq!(joined("12 . 000000001"), "12.000000001");
        assert_eq!(joined("1795233416 237946824"), "1795233416.237946824");
        assert_eq!(joined("2026-11-21 03:02"), "2026-11-21 03:02");
        assert_eq!(joined("+20 ms"), "+20 ms");
    }
}
