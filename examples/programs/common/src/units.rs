//! Quantities in units for people.

/// The units of lengths of time, with their lengths in ns.
const LENGTHS: [(&str, u64); 4] =
    [("ns", 1), ("µs", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

/// The units of bytes.
const BYTES: [(&str, u64); 7] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("PB", 1_000_000_000_000_000),
    ("EB", 1_000_000_000_000_000_000),
];

/// Formats a length of time in ns in a suitable unit, with four significant digits: `1.25 ms`.
///
/// ```
/// use lttv_common::units::length;
///
/// assert_eq!(length(999), "999 ns");
/// assert_eq!(length(1_250_000), "1.25 ms");
/// assert_eq!(length(295_641_234), "295.6 ms");
/// assert_eq!(length(999_999), "1 ms");
/// assert_eq!(length(90_000_000_000), "90 s");
/// ```
pub fn length(ns: u64) -> String {
    in_units(ns, &LENGTHS)
}

/// Formats a length of time in ns in a suitable unit, with all digits: `1.250001 ms`.
///
/// ```
/// use lttv_common::units::exact_length;
///
/// assert_eq!(exact_length(999), "999 ns");
/// assert_eq!(exact_length(1_250_001), "1.250001 ms");
/// assert_eq!(exact_length(90_000_000_000), "90 s");
/// ```
pub fn exact_length(ns: u64) -> String {
    let (unit, digits) = match ns {
        0..1_000 => ("ns", 0),
        1_000..1_000_000 => ("µs", 3),
        1_000_000..1_000_000_000 => ("ms", 6),
        _ => ("s", 9),
    };
    let per = 10_u64.pow(digits);
    let fraction = format!("{:01$}", ns % per, digits as usize);
    let text = format!("{}.{fraction}", ns / per);
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Formats a number of bytes in a suitable unit, with four significant digits: `1.374 GB`.
///
/// ```
/// use lttv_common::units::bytes;
///
/// assert_eq!(bytes(999), "999 B");
/// assert_eq!(bytes(1_373_818_880), "1.374 GB");
/// assert_eq!(bytes(u64::MAX), "18.45 EB");
/// ```
pub fn bytes(number: u64) -> String {
    in_units(number, &BYTES)
}

/// Formats a number in the greatest unit that is not greater than its rounded value, with four
/// significant digits, or more if there is no greater unit.
fn in_units(number: u64, units: &[(&str, u64)]) -> String {
    let number = u128::from(number);
    let last = units.len().saturating_sub(1);
    for (at, &(unit, per)) in units.iter().enumerate() {
        let per = u128::from(per);
        let decimals = match number / per {
            0..10 => 3,
            10..100 => 2,
            100..1_000 => 1,
            _ => 0,
        };
        let scale = 10_u128.pow(decimals);
        let scaled = (number * scale + per / 2) / per;
        if scaled >= 1_000 * scale && at < last {
            continue;
        }
        let fraction = format!("{:01$}", scaled % scale, decimals as usize);
        let text = match decimals {
            0 => scaled.to_string(),
            _ => format!("{}.{fraction}", scaled / scale),
        };
        let text = if text.contains('.') { text.trim_end_matches('0') } else { &text };
        return format!("{} {unit}", text.trim_end_matches('.'));
    }
    String::new()
}
