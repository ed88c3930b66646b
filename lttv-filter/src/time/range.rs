//! Time ranges as they were typed.

use std::str::FromStr;

use super::error::{TimeError, TimeErrorKind};
use super::text::TimeText;

/// A time range as a user typed it: `FROM..TO`, `FROM,TO` or `[FROM,TO]`. A missing side has no
/// limit.
///
/// ```
/// use lttv_filter::TimeRangeText;
///
/// let range: TimeRangeText = "14:03:05..+20ms".parse()?;
/// assert_eq!(range.to.expect("an end").as_str(), "+20ms");
/// # Ok::<(), lttv_filter::TimeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TimeRangeText {
    /// The first time of the range.
    pub from: Option<TimeText>,
    /// The last time of the range, inclusive.
    pub to: Option<TimeText>,
}

impl FromStr for TimeRangeText {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        let pair = || TimeErrorKind::Pair.of(text);
        let trimmed = text.trim();
        let inner = match trimmed.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']').ok_or_else(pair)?,
            None => trimmed,
        };
        if let Some((from, to)) = inner.split_once("..") {
            let side = |text: &str| match text.trim() {
                "" => Ok(None),
                text => text.parse().map(Some),
            };
            return Ok(TimeRangeText { from: side(from)?, to: side(to)? });
        }
        let (from, to) = inner.split_once(',').ok_or_else(pair)?;
        Ok(TimeRangeText { from: Some(from.trim().parse()?), to: Some(to.trim().parse()?) })
    }
}
