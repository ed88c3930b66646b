//! Notations of times in a list.

use ltt_read::Timestamp;
use lttv_common::settings;
use lttv_filter::{Environment, Notation, Zone};

use crate::time_text::seconds;

/// A notation of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeFormat {
    /// Seconds since the epoch.
    #[default]
    Epoch,
    /// The time since the first event.
    FromStart,
    /// The time since the previous row.
    FromPrevious,
    /// The time since the mark.
    FromMark,
    /// Date and time.
    DateTime,
    /// The time of day.
    TimeOfDay,
}

/// The times from which others are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeBase {
    /// The time of the first event.
    pub first: Timestamp,
    /// The time of the previous row, if there is one.
    pub previous: Option<Timestamp>,
    /// The time of the mark, if there is one.
    pub mark: Option<Timestamp>,
}

impl TimeFormat {
    /// All notations, in the order in which a key shows them.
    pub const ALL: [TimeFormat; 6] = [
        TimeFormat::Epoch,
        TimeFormat::FromStart,
        TimeFormat::FromPrevious,
        TimeFormat::FromMark,
        TimeFormat::DateTime,
        TimeFormat::TimeOfDay,
    ];

    /// Returns the notation of the user's settings.
    pub fn of_settings() -> Self {
        match settings::current().time_format() {
            None | Some(settings::TimeFormat::Seconds) => TimeFormat::Epoch,
            Some(settings::TimeFormat::Time) => TimeFormat::TimeOfDay,
            Some(settings::TimeFormat::Date) => TimeFormat::DateTime,
        }
    }

    /// Returns the name, for layouts and messages.
    pub fn name(self) -> &'static str {
        match self {
            TimeFormat::Epoch => "seconds since the epoch",
            TimeFormat::FromStart => "from the first event",
            TimeFormat::FromPrevious => "since the previous row",
            TimeFormat::FromMark => "since the mark",
            TimeFormat::DateTime => "date and time",
            TimeFormat::TimeOfDay => "time of day",
        }
    }

    /// Returns the notation of a name.
    pub fn named(name: &str) -> Option<Self> {
        TimeFormat::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns the heading of a column.
    pub fn heading(self) -> &'static str {
        match self {
            TimeFormat::Epoch => "TIME s",
            TimeFormat::FromStart => "FROM START s",
            TimeFormat::FromPrevious => "SINCE ROW s",
            TimeFormat::FromMark => "SINCE MARK s",
            TimeFormat::DateTime => "DATE AND TIME",
            TimeFormat::TimeOfDay => "TIME",
        }
    }

    /// Returns the width of a column.
    pub fn width(self) -> u16 {
        match self {
            TimeFormat::Epoch => 20,
            TimeFormat::FromStart | TimeFormat::FromMark => 16,
            TimeFormat::FromPrevious => 13,
            TimeFormat::DateTime => 29,
            TimeFormat::TimeOfDay => 18,
        }
    }

    /// Returns the next notation.
    #[must_use]
    pub fn next(self) -> Self {
        let at = TimeFormat::ALL.into_iter().position(|format| format == self).unwrap_or(0);
        TimeFormat::ALL[(at + 1) % TimeFormat::ALL.len()]
    }

    /// Formats a time. Dates and times of day are those of a time zone.
    pub fn text(self, time: Timestamp, base: TimeBase, zone: &Zone) -> String {
        let since =
            |origin: Option<Timestamp>| origin.map_or("-".to_owned(), |from| since(time, from));
        let in_notation =
            |notation| Environment::new().in_zone(zone.clone()).in_notation(notation).format(time);
        match self {
            TimeFormat::Epoch => seconds(time),
            TimeFormat::FromStart => since(Some(base.first)),
            TimeFormat::FromPrevious => since(base.previous),
            TimeFormat::FromMark => since(base.mark),
            TimeFormat::DateTime => in_notation(Notation::DateTime),
            TimeFormat::TimeOfDay => in_notation(Notation::TimeOfDay),
        }
    }
}

/// Formats the distance between two times in seconds, with a sign: `+0.000001250`.
///
/// ```
/// use ltt_read::Timestamp;
/// use lttv_tui::model::time_format::since;
///
/// let at = Timestamp::from_ns;
/// assert_eq!(since(at(1_250), at(0)), "+0.000001250");
/// assert_eq!(since(at(0), at(2_000_000_001)), "-2.000000001");
/// ```
pub fn since(time: Timestamp, origin: Timestamp) -> String {
    let sign = if time < origin { '-' } else { '+' };
    let distance = time.as_ns().abs_diff(origin.as_ns());
    format!("{sign}{}.{:09}", distance / 1_000_000_000, distance % 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_notation_fits_its_column() {
        let at = Timestamp::from_ns;
        let base = TimeBase {
            first: at(1_795_233_416_237_946_824),
            previous: Some(at(1_795_233_416_237_946_000)),
            mark: Some(at(1_795_233_417_000_000_000)),
        };
        let expected = [
            "1795233416.237946824",
            "+0.000000000",
            "+0.000000824",
            "-0.762053176",
            "2026-11-21 03:56:56.237946824",
            "03:56:56.237946824",
        ];
        let mut format = TimeFormat::Epoch;
        for expected in expected {
            let text = format.text(base.first, base, &Zone::UTC);
            assert_eq!(text, expected, "{format:?}");
            assert!(text.len() <= usize::from(format.width()), "{format:?}");
            assert!(format.heading().len() <= usize::from(format.width()), "{format:?}");
            assert_eq!(TimeFormat::named(format.name()), Some(format));
            format = format.next();
        }
        assert_eq!(format, TimeFormat::Epoch);
        let none = TimeBase { previous: None, mark: None, ..base };
        assert_eq!(TimeFormat::FromPrevious.text(base.first, none, &Zone::UTC), "-");
        assert_eq!(TimeFormat::FromMark.text(base.first, none, &Zone::UTC), "-");
    }
}
