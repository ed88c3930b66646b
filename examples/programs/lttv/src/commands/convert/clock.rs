//! Clocks of targets whose times are not those that were recorded.

use std::sync::Arc;

use ltt_read::schema::{ClockClass, Schema};
use ltt_read::{ClockTransform, Timestamp, Trace};

/// Returns `true` if the times of a trace are corrected.
pub(super) fn is_transformed(trace: &Trace) -> bool {
    !trace.clock_transforms().iter().all(ClockTransform::is_identity)
}

/// Makes the clocks of a schema count the nanoseconds of the times of a trace.
pub(super) fn count_nanoseconds(schema: &mut Schema, trace: &Arc<Trace>) {
    // Clock values are not negative, so an earlier trace has an earlier zero.
    let start = trace.time_span().map_or(0, |span| span.start.as_ns());
    let zero = start.min(0).div_euclid(1_000_000_000);
    for clock in &mut schema.clocks {
        *clock = ClockClass {
            identity: clock.identity.clone(),
            uuid: clock.uuid,
            description: Some("Nanoseconds of the corrected time".into()),
            origin: clock.origin.clone(),
            offset_seconds: zero,
            ..ClockClass::new(&clock.name)
        };
    }
}

/// Returns the least clock value of a clock at a time or later.
pub(super) fn cycles_at(clock: &ClockClass, time: Timestamp) -> u64 {
    let reaches = |cycles: u64| clock.timestamp(cycles).is_none_or(|at| at >= time);
    let (mut low, mut high) = (0, u64::MAX);
    while low < high {
        let middle = low + (high - low) / 2;
        match reaches(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_values_of_times() {
        let clock = ClockClass { frequency: 3, offset_seconds: 5, ..ClockClass::new("c") };
        let at = |ns| cycles_at(&clock, Timestamp::from_ns(ns));
        assert_eq!((at(0), at(5_000_000_000), at(5_000_000_001)), (0, 0, 1));
        assert_eq!((at(5_333_333_333), at(5_333_333_334)), (1, 2));
    }
}
