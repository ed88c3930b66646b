//! The bounds of two clocks are those of a naive solver in rational numbers, and do not depend on
//! the order of messages.

use ltt_read::Timestamp;
use lttv_context::synchronize::pairs::{ClockPair, PairBounds, PairQuality};
use proptest::prelude::*;

/// A message: `true` if it is sent by the first host, and its times by the first and the second
/// clock.
type Sent = (bool, i64, i64);

fn pair(messages: &[Sent]) -> ClockPair {
    let mut pair = ClockPair::new();
    for (is_forward, x, y) in messages {
        let (x, y) = (Timestamp::from_ns(*x), Timestamp::from_ns(*y));
        match is_forward {
            true => pair.add_forward(x, y),
            false => pair.add_backward(y, x),
        }
    }
    pair
}

/// A fraction with a positive denominator.
#[derive(Debug, Clone, Copy)]
struct Ratio(i128, i128);

impl Ratio {
    fn new(n: i128, d: i128) -> Self {
        if d < 0 { Ratio(-n, -d) } else { Ratio(n, d) }
    }

    fn floor(self) -> i128 {
        self.0.div_euclid(self.1)
    }

    fn ceil(self) -> i128 {
        -(-self.0).div_euclid(self.1)
    }
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ratio {}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.0 * other.1).cmp(&(other.0 * self.1))
    }
}

type Point = (i128, i128);

/// The height at `x` of the line through two points.
fn height(a: Point, b: Point, x: i128) -> Ratio {
    let run = b.0 - a.0;
    Ratio::new(a.1 * run + (b.1 - a.1) * (x - a.0), run)
}

/// All constraints, compared one by one.
struct Naive {
    ceiling: Vec<Point>,
    floor: Vec<Point>,
    least: Option<Ratio>,
    greatest: Option<Ratio>,
    /// The least shift of one direction with which a line exists; at most 0 if a line exists.
    overlap: Option<Ratio>,
}

impl Naive {
    fn new(messages: &[Sent]) -> Self {
        let of = |forward: bool| {
            let side = messages.iter().filter(move |(is_forward, ..)| *is_forward == forward);
            side.map(|(_, x, y)| (i128::from(*x), i128::from(*y))).collect::<Vec<Point>>()
        };
        let (ceiling, floor) = (of(true), of(false));
        let both = || ceiling.iter().flat_map(|u| floor.iter().map(move |l| (*u, *l)));
        let slope = |(u, l): (Point, Point)| Ratio::new(u.1 - l.1, u.0 - l.0);
        let greatest = both().filter(|(u, l)| u.0 > l.0).map(slope).min();
        let least = both().filter(|(u, l)| u.0 < l.0).map(slope).max();
        let mut overlaps = Vec::new();
        for (u, l) in both() {
            if u.0 == l.0 {
                overlaps.push(Ratio::new(l.1 - u.1, 1));
            }
            let minus = |a: Ratio, b: i128| Ratio(a.0 - b * a.1, a.1);
            for v in
                ceiling.iter().filter(|v| (u.0 < l.0) == (l.0 < v.0) && v.0 != l.0 && u.0 != l.0)
            {
                let at = height(u, *v, l.0);
                overlaps.push(Ratio(l.1 * at.1 - at.0, at.1));
            }
            for m in floor.iter().filter(|m| (l.0 < u.0) == (u.0 < m.0) && m.0 != u.0 && l.0 != u.0)
            {
                overlaps.push(minus(height(l, *m, u.0), u.1));
            }
        }
        let overlap = overlaps.into_iter().max();
        Naive { ceiling, floor, least, greatest, overlap }
    }

    fn has_line(&self) -> bool {
        self.overlap.is_none_or(|overlap| overlap.0 <= 0)
    }

    /// The greatest and least height of a possible line at `x`, over all lines through two
    /// messages, if the slope is bounded.
    fn band(&self, x: i128) -> (Ratio, Ratio) {
        let all: Vec<_> = self.ceiling.iter().chain(&self.floor).copied().collect();
        let pairs = all.iter().flat_map(|a| all.iter().map(move |b| (*a, *b)));
        let lines = pairs.filter(|(a, b)| {
            a.0 < b.0
                && self.ceiling.iter().all(|u| height(*a, *b, u.0) <= Ratio(u.1, 1))
                && self.floor.iter().all(|l| height(*a, *b, l.0) >= Ratio(l.1, 1))
        });
        let heights: Vec<_> = lines.map(|(a, b)| height(a, b, x)).collect();
        (*heights.iter().min().expect("a line"), *heights.iter().max().expect("a line"))
    }
}

fn ratio(slope: lttv_context::synchronize::pairs::Slope) -> Ratio {
    Ratio(slope.rise(), slope.run())
}

fn same(bounds: &PairBounds, naive: &Naive) -> Result<(), TestCaseError> {
    let expected = match (naive.ceiling.len(), naive.floor.len()) {
        (0, 0) => "no messages".to_owned(),
        (0, _) | (_, 0) => "one direction".to_owned(),
        _ if !naive.has_line() => {
            let overlap = naive.overlap.expect("an overlap").ceil();
            format!("contradiction of {overlap} ns")
        }
        _ if naive.least.is_some() && naive.greatest.is_some() => "accurate".to_owned(),
        _ => "one-sided".to_owned(),
    };
    prop_assert_eq!(bounds.quality().to_string(), expected);
    let is_contradiction = matches!(bounds.quality(), PairQuality::Contradiction(_));
    let slopes = match is_contradiction {
        true => (None, None),
        false => (naive.least, naive.greatest),
    };
    prop_assert_eq!((bounds.least_slope().map(ratio), bounds.greatest_slope().map(ratio)), slopes);
    prop_assert_eq!(bounds.line().is_some(), bounds.quality() == PairQuality::Accurate);
    Ok(())
}

/// Messages at few places, so that many are on one line or at one time, and messages of clocks that
/// are nearly the same.
fn messages() -> impl Strategy<Value = Vec<Sent>> {
    let small = prop::collection::vec((any::<bool>(), -6..6_i64, -6..6_i64), 0..12);
    let medium = prop::collection::vec((any::<bool>(), 0..1000_i64, -300..300_i64), 0..25);
    let close =
        prop::collection::vec((any::<bool>(), 0..1000_i64, 0..40_i64), 0..25).prop_map(|list| {
            let delayed = |(forward, x, delay): Sent| {
                (forward, x, x + 5000 + if forward { delay } else { -delay })
            };
            list.into_iter().map(delayed).collect()
        });
    prop_oneof![small, medium, close]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn bounds_are_those_of_the_naive_solver(messages in messages()) {
        same(&pair(&messages).bounds(), &Naive::new(&messages))?;
    }

    #[test]
    fn bands_are_those_of_all_possible_lines(messages in messages(), times in prop::collection::vec(-1200..1200_i64, 20)) {
        let (bounds, naive) = (pair(&messages).bounds(), Naive::new(&messages));
        if bounds.quality() != PairQuality::Accurate {
            return Ok(());
        }
        let ends = messages.iter().flat_map(|(_, x, _)| [x - 1, *x, x + 1]);
        for x in ends.chain(times) {
            let (earliest, latest) = naive.band(x.into());
            let span = bounds.band().at(Timestamp::from_ns(x)).expect("a bounded band");
            prop_assert_eq!(i128::from(span.start.as_ns()), earliest.floor(), "at {}", x);
            prop_assert_eq!(i128::from(span.end.as_ns()), latest.ceil(), "at {}", x);
            // The chosen lines are possible ones, to within the rounding of their offset.
            for line in [bounds.line(), bounds.mean_line()].into_iter().flatten() {
                let y = line.at(Timestamp::from_ns(x)).expect("in range");
                prop_assert!(y >= span.start - std::time::Duration::from_nanos(2), "at {}", x);
                prop_assert!(y <= span.end + std::time::Duration::from_nanos(1), "at {}", x);
            }
        }
    }

    /// The inverse of a band contains an instant if and only if the band contains its image.
    #[test]
    fn inverse_bands_are_the_same_band(messages in messages(), times in prop::collection::vec(3000..8000_i64, 20)) {
        let bounds = pair(&messages).bounds();
        let increases = bounds.least_slope().is_some_and(|slope| slope.rise() > 0);
        for y in times.into_iter().map(Timestamp::from_ns) {
            let Some(span) = bounds.band().inverse_at(y) else {
                prop_assert!(bounds.quality() != PairQuality::Accurate || !increases);
                continue;
            };
            let ns = std::time::Duration::from_nanos(1);
            // The ends are rounded outwards.
            if span.end.since(span.start) >= 2 {
                for inside in [span.start + ns, span.end - ns] {
                    let possible = bounds.band().at(inside);
                    prop_assert!(possible.is_some() || bounds.quality() == PairQuality::OneSided);
                    prop_assert!(possible.is_none_or(|possible| possible.contains(y)));
                }
            }
            if bounds.quality() != PairQuality::Accurate {
                continue;
            }
            let before = bounds.band().latest_at(span.start - ns);
            prop_assert!(before.is_some_and(|before| before <= y));
            let after = bounds.band().earliest_at(span.end + ns);
            prop_assert!(after.is_some_and(|after| after >= y));
        }
    }

    #[test]
    fn the_order_of_messages_does_not_matter(
        (messages, shuffled) in messages().prop_flat_map(|m| (Just(m.clone()), Just(m).prop_shuffle())),
        times in prop::collection::vec(any::<i64>(), 10),
    ) {
        let mut growing = ClockPair::new();
        for (is_forward, x, y) in &shuffled {
            let (x, y) = (Timestamp::from_ns(*x), Timestamp::from_ns(*y));
            if *is_forward { growing.add_forward(x, y) } else { growing.add_backward(y, x) }
            growing.bounds(); // intermediate results change nothing
        }
        let (a, b) = (pair(&messages).bounds(), growing.bounds());
        prop_assert_eq!(a.quality(), b.quality());
        prop_assert_eq!((a.least_slope(), a.greatest_slope()), (b.least_slope(), b.greatest_slope()));
        prop_assert_eq!(a.line(), b.line());
        for x in times.into_iter().map(Timestamp::from_ns) {
            prop_assert_eq!(a.band().at(x), b.band().at(x));
        }
    }

    /// Times anywhere in the range, also at its ends.
    #[test]
    fn no_times_cause_a_panic(
        messages in prop::collection::vec(
            (any::<bool>(), prop_oneof![any::<i64>(), Just(i64::MIN), Just(i64::MAX)], any::<i64>()), 0..20),
        x in prop_oneof![any::<i64>(), Just(i64::MIN), Just(i64::MAX)],
    ) {
        let pair = pair(&messages);
        let (bounds, x) = (pair.bounds(), Timestamp::from_ns(x));
        bounds.band().at(x);
        bounds.band().inverse_at(x);
        bounds.line().map(|line| (line.at(x), line.slope(), line.transform()));
        bounds.extreme_lines().map(|(a, b)| (a.at(x), b.at(x)));
    }

    /// Exchanging the roles of the clocks leads to the inverse of the same line.
    #[test]
    fn bisectors_do_not_depend_on_the_roles(
        delays in prop::collection::vec((1..100_000_i64, any::<bool>()), 20..60), ppm in -100..100_i64,
    ) {
        let mut messages = Vec::new();
        for (number, (delay, is_forward)) in delays.into_iter().enumerate() {
            let x = 1_700_000_000_000_000_000 + number as i64 * 500_000_000;
            let y = x + number as i64 * 500 * ppm + 3_600_000_000_000;
            messages.push((is_forward, x, if is_forward { y + delay } else { y - delay }));
        }
        let swapped: Vec<_> = messages.iter().map(|(forward, x, y)| (!forward, *y, *x)).collect();
        let (a, b) = (pair(&messages).bounds(), pair(&swapped).bounds());
        prop_assert_eq!(a.quality(), b.quality());
        if let (Some(a), Some(b)) = (a.line(), b.line()) {
            prop_assert!((a.slope() * b.slope() - 1.0).abs() < 1e-15);
            for (_, x, _) in messages {
                let x = Timestamp::from_ns(x);
                let back = b.at(a.at(x).expect("in range")).expect("in range");
                prop_assert!(back.signed_ns_since(x).abs() <= 3, "{}", back.signed_ns_since(x));
            }
        }
    }
}

/// A message, the quality after it, and slope and offset in seconds of the mean line.
type Step = (Sent, &'static str, Option<(f64, f64)>);

/// The sequence of Trace Compass' `SyncTest`, in seconds, with the results of exact arithmetic.
/// Trace Compass itself reports lines for the last two steps, although none exists.
#[test]
fn sequence_of_known_results() {
    const S: i64 = 1_000_000_000;
    let steps: [Step; 10] = [
        ((false, 1, 1), "one direction", None),
        ((true, 1, 3), "one-sided", None),
        ((false, 3, 2), "one-sided", None),
        ((true, 3, 5), "accurate", Some((0.75, 1.25))),
        ((true, 4, 8), "accurate", Some((0.75, 1.25))),
        ((false, 5, 4), "accurate", Some((1.125, 0.875))),
        ((false, 6, 4), "accurate", Some((1.125, 0.875))),
        ((true, 6, 7), "accurate", Some((0.725, 1.275))),
        ((true, 7, 4), "contradiction", None),
        ((false, 3, 7), "contradiction", None),
    ];
    let mut messages: Vec<Sent> = Vec::new();
    for ((is_forward, x, y), quality, line) in steps {
        messages.push((is_forward, x * S, y * S));
        let bounds = pair(&messages).bounds();
        same(&bounds, &Naive::new(&messages)).expect("the naive result");
        assert!(bounds.quality().to_string().starts_with(quality), "{messages:?}");
        let mean = bounds.mean_line().map(|line| {
            let (x, y) = (line.first().as_ns() as f64, line.second().as_ns() as f64);
            (line.slope(), (y - line.slope() * x) / S as f64)
        });
        match (mean, line) {
            (None, None) => assert!(bounds.line().is_none()),
            (Some(mean), Some(line)) => {
                assert_eq!(mean.0, line.0);
                assert!((mean.1 - line.1).abs() < 2e-9, "{mean:?} {line:?}");
            }
            other => panic!("{messages:?}: {other:?}"),
        }
    }
}

/// All messages of one direction come before all of the other: the slope is bounded on one
/// side only, so that no line is chosen.
#[test]
fn directions_one_after_the_other_have_no_line() {
    let messages: Vec<_> =
        (0..10).map(|n| (n < 5, n * 1000, n * 1000 + if n < 5 { 10 } else { -10 })).collect();
    let bounds = pair(&messages).bounds();
    assert_eq!(bounds.quality(), PairQuality::OneSided);
    assert!(bounds.line().is_none() && bounds.greatest_slope().is_none());
    assert_eq!(bounds.least_slope().map(ratio), Naive::new(&messages).least);
    // The band is bounded up to the last message that limits it.
    assert!(bounds.band().latest_at(Timestamp::from_ns(4000)).is_some());
    assert!(bounds.band().latest_at(Timestamp::from_ns(4001)).is_none());
}
