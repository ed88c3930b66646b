//! Offsets of clocks in arguments.

use std::str::FromStr;

use lttv_filter::{TimeErrorKind, parse_length};

/// An offset that is added to all times of a host: `TRACE=±TIME`.
///
/// ```
/// use lttv_common::clocks::ClockOffset;
///
/// let offset: ClockOffset = "server=-1.5ms".parse()?;
/// assert_eq!((offset.name.as_str(), offset.ns), ("server", -1_500_000));
/// assert!("server=1.5ms".parse::<ClockOffset>().is_err());
/// # Ok::<(), lttv_common::clocks::ClockOffsetError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClockOffset {
    /// The name of a host, or of one of its traces: see [`find_host`](super::find_host).
    pub name: String,
    /// The offset in ns.
    pub ns: i64,
}

/// An error from parsing an offset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClockOffsetError {
    /// The text has not the form of an offset.
    #[error("expected TRACE=±TIME, such as `server=+1.5ms` or `server=-2s`")]
    Notation,
    /// The offset cannot be represented.
    #[error("the offset is longer than 292 years")]
    Range,
}

impl FromStr for ClockOffset {
    type Err = ClockOffsetError;

    fn from_str(text: &str) -> Result<Self, ClockOffsetError> {
        // A path may contain the sign.
        let (name, time) = text.rsplit_once('=').ok_or(ClockOffsetError::Notation)?;
        if name.is_empty() {
            return Err(ClockOffsetError::Notation);
        }
        if !time.starts_with(['+', '-']) {
            return Err(ClockOffsetError::Notation);
        }
        let ns = parse_length(time, 1_000_000_000).map_err(|error| match error.kind {
            TimeErrorKind::Range => ClockOffsetError::Range,
            _ => ClockOffsetError::Notation,
        })?;
        Ok(ClockOffset { name: name.to_owned(), ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_have_a_name_and_a_signed_time() {
        let of = |text: &str| text.parse::<ClockOffset>().map(|of| (of.name, of.ns));
        for (text, name, ns) in [
            ("a=+3", "a", 3_000_000_000),
            ("a=-2s", "a", -2_000_000_000),
            ("a=-2", "a", -2_000_000_000),
            ("/x/y=z/b=+1.5ms", "/x/y=z/b", 1_500_000),
            ("a=-0.5us", "a", -500),
        ] {
            assert_eq!(of(text), Ok((name.to_owned(), ns)), "{text}");
        }
        for wrong in ["", "a", "a=", "=+1s", "a=1s", "a=+", "a=+-1s", "a=+1.5ns", "a=+1 week"] {
            assert_eq!(of(wrong), Err(ClockOffsetError::Notation), "{wrong}");
        }
        assert_eq!(of("a=+9999999999999h"), Err(ClockOffsetError::Range));
    }
}
