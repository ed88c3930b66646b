//! Lengths of time as text.

use super::civil::{NS_PER_S, fraction};
use super::error::{TimeError, TimeErrorKind};

/// The units of lengths of time, in ns.
const UNITS: [(&str, i64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", NS_PER_S),
    ("min", 60 * NS_PER_S),
    ("m", 60 * NS_PER_S),
    ("h", 3600 * NS_PER_S),
];

/// Parses a length of time with a unit, such as `1.5ms`, optionally with a sign. Returns it in ns.
///
/// Units are `ns`, `us`, `µs`, `ms`, `s`, `min`, `m` and `h`. Without a unit, a length is a number
/// of `unit`, which is given in ns.
///
/// ```
/// use lttv_filter::parse_length;
///
/// assert_eq!(parse_length("1.5ms", 1), Ok(1_500_000));
/// assert_eq!(parse_length("-2", 1_000_000_000), Ok(-2_000_000_000));
/// assert!(parse_length("1.5ns", 1).is_err());
/// ```
///
/// # Errors
///
/// If the text is no length of time, if it has a part of a nanosecond, or if the length cannot be
/// represented.
pub fn parse_length(text: &str, unit: i64) -> Result<i64, TimeError> {
    let (is_negative, digits) = match (text.strip_prefix('+'), text.strip_prefix('-')) {
        (Some(digits), _) => (false, digits),
        (_, Some(digits)) => (true, digits),
        _ => (false, text),
    };
    let length = length(digits, Some(unit)).map_err(|kind| match kind {
        TimeErrorKind::Notation => TimeErrorKind::Length,
        kind => kind,
    });
    let length = length.map_err(|kind| kind.of(text))?;
    Ok(if is_negative { -length } else { length })
}

/// Parses a length of time without a sign: a decimal number and a unit. Without a unit it is a
/// number of `default` ns; `None` if the unit is required.
pub(super) fn length(text: &str, default: Option<i64>) -> Result<i64, TimeErrorKind> {
    let at = text.find(char::is_alphabetic).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let per = match unit {
        "" => default.ok_or(TimeErrorKind::Notation)?,
        _ => UNITS.iter().find(|it| it.0 == unit).ok_or(TimeErrorKind::Notation)?.1,
    };
    let total = decimal(number.trim_end(), per)?;
    i64::try_from(total).map_err(|_| TimeErrorKind::Range)
}

/// Parses a decimal number of `per` ns, with up to nine digits after the point. A part of a
/// nanosecond is refused.
pub(super) fn decimal(text: &str, per: i64) -> Result<i128, TimeErrorKind> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, digits)) => {
            (whole, i64::from(fraction(digits).map_err(|_| TimeErrorKind::Notation)?))
        }
        None => (text, 0),
    };
    if whole.is_empty() || !whole.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(TimeErrorKind::Notation);
    }
    let whole: i128 = whole.parse().map_err(|_| TimeErrorKind::Range)?;
    let part = i128::from(fraction) * i128::from(per);
    if part % i128::from(NS_PER_S) != 0 {
        return Err(TimeErrorKind::Notation);
    }
    let whole = whole.checked_mul(per.into()).ok_or(TimeErrorKind::Range)?;
    whole.checked_add(part / i128::from(NS_PER_S)).ok_or(TimeErrorKind::Range)
}
