//! Small changes of transforms, such that they satisfy the messages of all pairs.
//!
//! Each transform follows one path. The messages of the other pairs limit the same clocks, and may
//! exclude the combination of lines that the paths have led to. The line of one pair may also pass
//! through a message, which then has no delay. The true clocks satisfy all messages, so a solution
//! near the first one usually exists.

use ltt_read::{ClockTransform, TimeSpan, Timestamp};

use crate::synchronize::pairs::ClockPair;

/// The least delay of a message that is aimed at, in ns: more than the rounding of transforms.
const AIM: f64 = 3.0;

/// The greatest number of visits of constraints.
const MOST_VISITS: usize = 20_000_000;

/// The clock of one host while it is adjusted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Adjusted {
    pub(super) transform: ClockTransform,
    /// The times of the messages of the host.
    pub(super) span: TimeSpan,
    /// `true` for the reference, which does not change.
    pub(super) is_fixed: bool,
}

impl Adjusted {
    /// Returns the middle of the messages and half of their duration.
    fn middle(&self) -> (i64, f64) {
        let (start, end) = (self.span.start.as_ns(), self.span.end.as_ns());
        let middle = (i128::from(start) + i128::from(end)).div_euclid(2) as i64;
        (middle, (end.abs_diff(start) as f64 / 2.0).max(1.0))
    }
}

/// A message that limits two clocks: sent by one host, received by another.
struct Constraint {
    hosts: [usize; 2],
    /// The distance from the middle of the messages of the hosts, from −1 to 1.
    places: [f64; 2],
    /// The delay with the transforms at the start, in ns.
    delay: f64,
}

/// Changes transforms by the relaxation method: each message that arrives too early moves the two
/// lines by the least amount that corrects it, until there are none (Agmon, "The relaxation
/// method for linear inequalities", 1954). Returns `None` if that does not end, for instance
/// since the messages of several pairs contradict each other.
pub(super) fn adjust(
    clocks: &[Adjusted],
    pairs: &[(usize, usize, &ClockPair)],
) -> Option<Vec<ClockTransform>> {
    let mut constraints = Vec::new();
    for (first, second, pair) in pairs {
        for (is_forward, x, y) in pair.limits() {
            let place = |host: usize, time: Timestamp| {
                let (middle, half) = clocks[host].middle();
                time.signed_ns_since(Timestamp::from_ns(middle)) as f64 / half
            };
            let image = |host: usize, time| clocks[host].transform.apply(time);
            let [(from, sent), (to, received)] = match is_forward {
                true => [(*first, x), (*second, y)],
                false => [(*second, y), (*first, x)],
            };
            let delay = image(to, received).signed_ns_since(image(from, sent)) as f64;
            let places = [place(from, sent), place(to, received)];
            constraints.push(Constraint { hosts: [from, to], places, delay });
        }
    }
    // The change of each clock at the middle of its messages, and that at their end besides.
    let mut changes = vec![[0.0_f64; 2]; clocks.len()];
    let mut visits = 0;
    loop {
        let mut is_changed = false;
        for of in &constraints {
            let [from, to] = of.hosts;
            let change = |host: usize, place: f64| changes[host][0] + changes[host][1] * place;
            let missing = AIM - (of.delay + change(to, of.places[1]) - change(from, of.places[0]));
            if missing <= 0.01 {
                continue;
            }
            is_changed = true;
            let ends = [(from, of.places[0], -1.0), (to, of.places[1], 1.0)];
            let free = ends.into_iter().filter(|(host, ..)| !clocks[*host].is_fixed);
            let norm: f64 = free.clone().map(|(_, place, _)| 1.0 + place * place).sum();
            if norm == 0.0 {
                return None;
            }
            for (host, place, sign) in free {
                changes[host][0] += sign * missing / norm;
                changes[host][1] += sign * missing / norm * place;
            }
        }
        if !is_changed {
            break;
        }
        visits += constraints.len();
        if visits > MOST_VISITS {
            return None;
        }
    }
    let changed = clocks.iter().zip(&changes).map(|(clock, [at_middle, at_end])| {
        if clock.is_fixed {
            return Some(clock.transform);
        }
        let (middle, half) = clock.middle();
        let middle = Timestamp::from_ns(middle);
        let image = clock.transform.checked_apply(middle)?.as_ns();
        let image = image.checked_add(at_middle.round() as i64)?;
        let slope = (at_end / half * ClockTransform::ONE as f64).round() as i64;
        let slope = clock.transform.slope().checked_add_signed(slope)?;
        ClockTransform::new(middle, Timestamp::from_ns(image), slope).ok()
    });
    changed.collect()
}
