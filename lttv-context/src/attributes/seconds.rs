//! Seconds with decimals, in the form that users type.

use std::time::Duration;

const NS_PER_S: u128 = 1_000_000_000;

/// Parses `[-]SEC[.NANO]` and returns nanoseconds. Returns `None` for any other form, and if
/// the seconds exceed 64 bits.
pub(crate) fn parse_ns(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(decimals) || decimals.len() > 9 {
        return None;
    }
    let seconds: u64 = whole.parse().ok()?;
    let ns: u32 = format!("{decimals:0<9}").parse().ok()?;
    let total = i128::try_from(u128::from(seconds) * NS_PER_S + u128::from(ns)).ok()?;
    Some(if negative { -total } else { total })
}

/// Converts nanoseconds to a duration. Returns `None` if they are negative or too many.
pub(crate) fn duration(ns: i128) -> Option<Duration> {
    let ns = u128::try_from(ns).ok()?;
    let seconds = u64::try_from(ns / NS_PER_S).ok()?;
    Some(Duration::new(seconds, u32::try_from(ns % NS_PER_S).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals() {
        assert_eq!(parse_ns("0"), Some(0));
        assert_eq!(parse_ns("12.5"), Some(12_500_000_000));
        assert_eq!(parse_ns("-3.000000001"), Some(-3_000_000_001));
        assert_eq!(parse_ns("1.1234567890"), None);
        for wrong in ["", ".", "1.", ".5", "1.-5", "+1", "1e3", "--1", "1.5.5", "ä"] {
            assert_eq!(parse_ns(wrong), None, "{wrong}");
        }
        assert_eq!(parse_ns("18446744073709551616"), None);
    }

    #[test]
    fn durations() {
        let longest = parse_ns("18446744073709551615.999999999").and_then(duration);
        assert_eq!(longest, Some(Duration::MAX));
        assert_eq!(duration(-1), None);
        assert_eq!(duration(i128::MAX), None);
    }
}
