//! Pairs of times.

use std::str::FromStr;

use super::{TimeArg, TimeArgError};

/// A time range; a missing side has no limit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TimeRange {
    /// The first time of the range.
    pub from: Option<TimeArg>,
    /// The last time of the range, inclusive.
    pub to: Option<TimeArg>,
}

impl FromStr for TimeRange {
    type Err = TimeArgError;

    fn from_str(text: &str) -> Result<Self, TimeArgError> {
        let text = text.trim();
        let inner = match text.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']').ok_or(TimeArgError::Pair)?,
            None => text,
        };
        if let Some((from, to)) = inner.split_once("..") {
            let side = |text: &str| match text.trim() {
                "" => Ok(None),
                text => text.parse().map(Some),
            };
            return Ok(TimeRange { from: side(from)?, to: side(to)? });
        }
        let (from, to) = inner.split_once(',').ok_or(TimeArgError::Pair)?;
        Ok(TimeRange { from: Some(from.trim().parse()?), to: Some(to.trim().parse()?) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_notations_of_a_range() {
        let range = |text: &str| text.parse::<TimeRange>();
        let time = |text: &str| Some(text.parse::<TimeArg>().unwrap());
        let expected = TimeRange { from: time("03:02:07"), to: time("5") };
        for text in ["[03:02:07,5]", "03:02:07,5", "03:02:07..5", " [03:02:07 .. 5] "] {
            assert_eq!(range(text), Ok(expected.clone()), "{text}");
        }
        assert_eq!(range("+20ms..-1s").unwrap().from, time("+20ms"));
        assert_eq!(range("+20ms..").unwrap().to, None);
        assert_eq!(range(".."), Ok(TimeRange::default()));
        assert_eq!(range("1.5..2.5").unwrap().to, time("2.5"));
        for text in ["5", "[5,6", "", ","] {
            assert!(range(text).is_err(), "{text}");
        }
    }
}
