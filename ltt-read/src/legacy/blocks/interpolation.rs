//! Times of events in a block of 2003, interpolated between both ends of the block.

use super::double::Double;
use crate::base::time::Timestamp;

/// Computes the time of a tick count by linear interpolation between two ends of a block,
/// each given as ticks and time. Rounds like LTTV, which computed ticks per nanosecond
/// and divided the ticks since the start by that.
pub(crate) fn interpolate(
    begin: (u64, Timestamp),
    end: (u64, Timestamp),
    cycles: u64,
) -> Option<Timestamp> {
    let duration = end.1.as_ns().checked_sub(begin.1.as_ns()).and_then(|d| u64::try_from(d).ok());
    let rate = Double::new(end.0.saturating_sub(begin.0)).over(Double::new(duration.unwrap_or(0)));
    let offset = |ticks: u64| i64::try_from(Double::new(ticks).over(rate).trunc()).ok();
    let ns = match cycles.checked_sub(begin.0) {
        Some(after) => begin.1.as_ns().checked_add(offset(after)?),
        None => begin.1.as_ns().checked_sub(offset(begin.0 - cycles)?),
    };
    ns.map(Timestamp::from_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_before_and_after() {
        let time = |cycles| {
            let end = |cycles, ns| (cycles, Timestamp::from_ns(ns));
            interpolate(end(100, 1_000), end(300, 1_100), cycles).map(Timestamp::as_ns)
        };
        assert_eq!(time(100), Some(1_000));
        assert_eq!(time(201), Some(1_050));
        assert_eq!(time(300), Some(1_100));
        assert_eq!(time(302), Some(1_101));
        assert_eq!(time(90), Some(995));
    }

    #[test]
    fn blocks_without_duration_have_one_time() {
        let begin = (5, Timestamp::from_ns(7));
        assert_eq!(interpolate(begin, begin, 9), Some(Timestamp::from_ns(7)));
        let end = (5, Timestamp::from_ns(9));
        assert_eq!(interpolate(begin, end, 8), Some(Timestamp::from_ns(7)));
    }
}
