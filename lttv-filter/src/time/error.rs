//! Errors from parsing and resolving times.

use std::fmt::{self, Display, Formatter};

/// An error from parsing or resolving a time. Its text begins with the time as it was typed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` {kind}")]
pub struct TimeError {
    /// The time as it was typed.
    pub text: String,
    /// The reason.
    pub kind: TimeErrorKind,
}

impl fmt::Debug for TimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The reason why a time is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeErrorKind {
    /// The text fits no notation.
    Notation,
    /// The text of a range is not a pair of times.
    Pair,
    /// The text is no length of time.
    Length,
    /// There is no such time, or it cannot be represented: the years are 1678 to 2262.
    Range,
    /// Clocks are set forward over the time in the time zone.
    Skipped,
    /// The time zone does not have the name that follows the time.
    ZoneName,
    /// Several instants of the traces are written in this way. Those of `candidates` are
    /// unambiguous.
    Ambiguous {
        /// The instants, in a notation that is accepted: the first ones, if there are many.
        candidates: Vec<String>,
    },
    /// The time is outside of the traces.
    Outside {
        /// The nearest instants with this time of day, in a notation that is accepted. Empty for
        /// numbers.
        candidates: Vec<String>,
        /// The first and the last time of each trace: the first ones, if there are many.
        spans: Vec<(String, String)>,
    },
    /// The time relates to the times of events, of which there are none.
    NoTimes,
    /// The range ends before it begins.
    Order,
}

impl TimeErrorKind {
    /// Creates the error of a time that was typed.
    pub(crate) fn of(self, text: &str) -> TimeError {
        TimeError { text: text.to_owned(), kind: self }
    }
}

impl Display for TimeErrorKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TimeErrorKind::Notation => f.write_str(
                "is not a time: expected `YYYY-MM-DD [hh:mm[:ss[.NANO]]]`, `hh:mm[:ss[.NANO]]`, \
                 `[-]SECONDS[.NANO]`, or a time from the first event such as `+20ms` or before \
                 the last one such as `-1s`",
            ),
            TimeErrorKind::Pair => {
                f.write_str("is not a time range: expected `FROM..TO`, `FROM,TO` or `[FROM,TO]`")
            }
            TimeErrorKind::Length => {
                f.write_str("is not a length of time: expected one such as `10ms` or `1.5s`")
            }
            TimeErrorKind::Range => f.write_str("is no time between the years 1678 and 2262"),
            TimeErrorKind::Skipped => {
                f.write_str("does not exist in the time zone, where clocks are set forward over it")
            }
            TimeErrorKind::ZoneName => {
                f.write_str("has another name of a time zone than the one in use at that time")
            }
            TimeErrorKind::Ambiguous { candidates } => {
                write!(f, "can mean several times of the traces: {}", quoted(candidates))
            }
            TimeErrorKind::Outside { candidates, spans } => {
                f.write_str("is outside of the traces, which are from ")?;
                for (number, (start, end)) in spans.iter().enumerate() {
                    let between = if number == 0 { "" } else { ", " };
                    write!(f, "{between}{start} to {end}")?;
                }
                match candidates.is_empty() {
                    true => Ok(()),
                    false => write!(f, "; with a date it is {}", quoted(candidates)),
                }
            }
            TimeErrorKind::NoTimes => f.write_str("needs a trace whose events have times"),
            TimeErrorKind::Order => f.write_str("ends before it begins"),
        }
    }
}

/// Formats a list of alternatives.
fn quoted(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
    match &*texts {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => texts.concat(),
    }
}
