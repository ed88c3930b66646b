//! Packed times of events, compared with a plain list.

use ltt_read::Timestamp;
use lttv_requests::views::EventTimes;
use proptest::prelude::*;

fn packed(times: &[i64]) -> EventTimes {
    let mut packed = EventTimes::new();
    times.iter().for_each(|time| packed.push(Timestamp::from_ns(*time)));
    packed.flush();
    packed
}

fn assert_equal(packed: &EventTimes, times: &[i64], probes: &[i64]) {
    assert_eq!(packed.len(), times.len() as u64);
    for time in probes {
        let expected = times.partition_point(|of| of < time) as u64;
        assert_eq!(packed.before(Timestamp::from_ns(*time)), expected, "{time}");
    }
    for (number, time) in times.iter().enumerate().step_by(1 + times.len() / 1000) {
        assert_eq!(packed.get(number as u64), Some(Timestamp::from_ns(*time)));
    }
    assert_eq!(packed.get(times.len() as u64), None);
}

proptest! {
    #[test]
    fn numbers_and_times_are_those_of_a_list(
        start in any::<i64>(),
        gaps in prop::collection::vec((any::<u64>(), 0u32..64), 0..3000),
        repeat in 1usize..40,
        probes in prop::collection::vec(any::<i64>(), 20),
    ) {
        let mut times = Vec::new();
        let mut time = start;
        for (gap, shift) in gaps.iter().cycle().take(gaps.len() * repeat) {
            time = time.saturating_add_unsigned(gap >> shift >> 20);
            times.push(time);
        }
        let probes: Vec<_> = probes.into_iter().chain(times.iter().copied().step_by(97))
            .chain(times.iter().map(|time| time.saturating_add(1)).step_by(101)).collect();
        let packed = packed(&times);
        assert_equal(&packed, &times, &probes);
        let mut bytes = Vec::new();
        packed.to_bytes(&mut bytes);
        assert_equal(&EventTimes::from_bytes(&bytes).unwrap(), &times, &probes);
    }

    #[test]
    fn stored_forms_of_any_content_are_refused_or_usable(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut stored = Vec::new();
        packed(&(0..2000).map(|n| n * n).collect::<Vec<_>>()).to_bytes(&mut stored);
        let at = at.index(stored.len());
        stored[at] = byte;
        for bytes in [&bytes[..], &stored, &stored[..at]] {
            if let Some(times) = EventTimes::from_bytes(bytes) {
                for number in 0..times.len() {
                    _ = times.before(times.get(number).unwrap());
                }
            }
        }
    }
}

#[test]
fn a_clone_keeps_its_times_while_more_are_added() {
    let mut times = EventTimes::new();
    (0..40_000).for_each(|ns| times.push(Timestamp::from_ns(ns)));
    let earlier = times.clone();
    (40_000..100_000).for_each(|ns| times.push(Timestamp::from_ns(ns)));
    times.flush();
    assert_eq!((earlier.len(), times.len()), (32_768, 100_000));
    assert_eq!(earlier.before(Timestamp::MAX), 32_768);
}

#[test]
fn a_time_that_goes_back_counts_as_the_previous_one() {
    let times = packed(&[10, 5, 20]);
    assert_eq!(times.before(Timestamp::from_ns(10)), 0);
    assert_eq!(times.before(Timestamp::from_ns(11)), 2);
}
