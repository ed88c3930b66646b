//! Quantities in units for people.

/// Formats a length of time in ns in a suitable unit: `1.25 ms`.
///
/// ```
/// use lttv_common::units::length;
///
/// assert_eq!(length(999), "999 ns");
/// assert_eq!(length(1_250_000), "1.25 ms");
/// assert_eq!(length(90_000_000_000), "90 s");
/// ```
pub fn length(ns: u64) -> String {
    let (unit, per) = match ns {
        0..1_000 => ("ns", 1_u128),
        1_000..1_000_000 => ("µs", 1_000),
        1_000_000..1_000_000_000 => ("ms", 1_000_000),
        _ => ("s", 1_000_000_000),
    };
    let hundredths = u128::from(ns) * 100 / per;
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
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

/// Formats a number of bytes in a suitable unit: `1.5 MiB`.
///
/// ```
/// use lttv_common::units::bytes;
///
/// assert_eq!(bytes(1023), "1023 B");
/// assert_eq!(bytes(1_572_864), "1.5 MiB");
/// ```
pub fn bytes(number: u64) -> String {
    let (unit, shift) = match number {
        0..0x400 => ("B", 0),
        0x400..0x10_0000 => ("KiB", 10),
        0x10_0000..0x4000_0000 => ("MiB", 20),
        _ => ("GiB", 30),
    };
    let hundredths = (u128::from(number) * 100) >> shift;
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}
