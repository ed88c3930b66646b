//! Times and sizes as text.

use ltt_read::Timestamp;

/// Nanoseconds per second.
pub use lttv_common::units::{bytes, exact_length, length};

const NS: i64 = 1_000_000_000;

/// Formats a time in seconds, with nine decimals: `1795233416.334812345`.
///
/// ```
/// use ltt_read::Timestamp;
/// use lttv_tui::time_text::seconds;
///
/// assert_eq!(seconds(Timestamp::from_ns(12_000_000_345)), "12.000000345");
/// assert_eq!(seconds(Timestamp::from_ns(-1)), "-0.000000001");
/// ```
pub fn seconds(time: Timestamp) -> String {
    let (sign, ns) = (if time.as_ns() < 0 { "-" } else { "" }, time.as_ns().unsigned_abs());
    format!("{sign}{}.{:09}", ns / NS as u64, ns % NS as u64)
}

/// Returns the distance of marks on an axis, in ns: the least number of the form 1, 2 or 5
/// times a power of ten with at most `most` marks in `width`.
///
/// ```
/// assert_eq!(lttv_tui::time_text::step(1_000_000, 6), 200_000);
/// ```
pub fn step(width: u64, most: u64) -> u64 {
    let least = width.div_ceil(most.max(1)).max(1);
    let mut power = 1u64;
    loop {
        for factor in [1, 2, 5] {
            let step = power.saturating_mul(factor);
            if step >= least {
                return step;
            }
        }
        power = power.saturating_mul(10);
    }
}
