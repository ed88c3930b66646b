//! The length of intervals in arguments, and their greatest number.

use std::str::FromStr;
use std::time::Duration;

use lttv_common::report::Usage;
use lttv_context::TimeSpan;
use lttv_filter::parse_length;

/// The greatest number of intervals of a result.
const MAX_INTERVALS: u128 = 1 << 16;

/// A length of intervals, such as `100ms`; without a unit, in seconds.
///
/// ```
/// use lttv::commands::every::Every;
///
/// let every: Every = "1.5ms".parse()?;
/// assert_eq!(every.length().as_micros(), 1500);
/// assert!("0".parse::<Every>().is_err());
/// # Ok::<(), &'static str>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Every(u64);

impl Every {
    /// Returns the length.
    pub fn length(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

/// Checks the number of intervals of a length, at least 1 ns, in a span of time.
///
/// # Errors
///
/// If there are more than 65,536 of them.
pub(super) fn check_count(length: Duration, span: TimeSpan) -> Result<(), Usage> {
    let intervals = u128::from(span.end.since(span.start)) / length.as_nanos();
    match intervals < MAX_INTERVALS {
        true => Ok(()),
        false => Err(Usage::new(format_args!("--every: more than {MAX_INTERVALS} intervals"))),
    }
}

impl FromStr for Every {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let ns = parse_length(text, 1_000_000_000).ok().and_then(|ns| u64::try_from(ns).ok());
        let ns = ns.filter(|ns| *ns > 0).ok_or("expected a length of time, such as `100ms`")?;
        Ok(Every(ns))
    }
}
