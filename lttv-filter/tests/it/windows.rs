//! Filters by time read exactly the events of those times, in the order of the full read.

use crate::support::config::cases;
use crate::support::timeline::deceptive;
use ltt_read::{Event, Merge, Position, Timestamp};
use lttv_filter::{Expression, Filters};
use proptest::prelude::*;
use proptest::sample::Index;

type Known = (Option<Timestamp>, usize, Position);

fn known(event: Event<'_>) -> Known {
    (event.timestamp(), event.tracefile_index().0, event.position())
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn filters_by_time_pass_parts_of_the_full_read(
        timeline in deceptive(),
        windows in prop::collection::vec(any::<[Index; 4]>(), 4..8),
    ) {
        let traces = [timeline.in_memory(timeline.data())];
        let mut merge = Merge::new(&traces);
        let full: Vec<Known> = std::iter::from_fn(|| merge.next().map(known)).collect();
        let mut times = vec![Timestamp::from_ns(0), Timestamp::from_ns(i64::MAX)];
        times.extend(full.iter().filter_map(|event| event.0));
        for bounds in &windows {
            let [a, b, c, d] = bounds.map(|index| *index.get(&times));
            let text = format!(
                "event.time >= {a} && event.time < {b} || event.time > {c} && event.time <= {d}"
            );
            let is_in = |event: &&Known| {
                event.0.is_some_and(|time| a <= time && time < b || c < time && time <= d)
            };
            let expected: Vec<Known> = full.iter().filter(is_in).copied().collect();
            let expression = Expression::parse(&text).expect("a sound expression");
            let filters = Filters::new(&expression, &traces).expect("of this trace");
            let mut matches = filters.read();
            let found: Vec<Known> = std::iter::from_fn(|| matches.next().map(known)).collect();
            prop_assert_eq!(found, expected, "{}", text);

            // Not a filter by time, on a trace out of order.
            let text = format!("number != {}", full.len() / 2);
            let expression = Expression::parse(&text).expect("a sound expression");
            let filters = Filters::new(&expression, &traces).expect("of this trace");
            let (mut matches, mut merge) = (filters.read(), Merge::new(&traces));
            let half = |event: &Event<'_>| {
                event.field("number").and_then(|n| n.as_u64()) != Some(full.len() as u64 / 2)
            };
            while let Some(event) = merge.next() {
                if half(&event) {
                    prop_assert_eq!(matches.next().map(known), Some(known(event)));
                }
            }
            prop_assert!(matches.next().is_none());
        }
    }
}
