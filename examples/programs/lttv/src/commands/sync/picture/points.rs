//! The messages of a pair, as points around a line.

use ltt_read::{ClockTransform, Timestamp};

/// The number of messages in one direction from which every second one is left out.
const MOST: usize = 1 << 14;

/// The messages of a pair. A point is the time of the first clock in ns after the first message, and
/// the distance from the line in ns.
#[derive(Debug)]
pub(super) struct Points {
    line: Option<ClockTransform>,
    forward: Side,
    backward: Side,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
}

/// The messages of one direction.
#[derive(Debug, Default)]
struct Side {
    /// By increasing time.
    points: Vec<(Timestamp, f64)>,
    /// The corners of the hull, by increasing time.
    hull: Vec<(Timestamp, f64)>,
    /// The number of messages of which one is kept.
    each: u64,
    seen: u64,
}

impl Points {
    /// Creates a picture without messages. Without a line, it is the one of slope 1 through the first
    /// message.
    pub(super) fn new(line: Option<ClockTransform>) -> Self {
        let (forward, backward) = (Side::default(), Side::default());
        Points { line, forward, backward, first: None, last: None }
    }

    /// Adds a message, with its times by the first and the second clock.
    pub(super) fn add(&mut self, is_forward: bool, first: Timestamp, second: Timestamp) {
        let line = self.line.get_or_insert_with(|| {
            // A slope of 1 is in range.
            ClockTransform::new(first, second, ClockTransform::ONE).unwrap_or_default()
        });
        let height = second.signed_ns_since(line.apply(first)) as f64;
        let side = if is_forward { &mut self.forward } else { &mut self.backward };
        side.add((first, height), if is_forward { 1.0 } else { -1.0 });
        self.first = Some(self.first.map_or(first, |time| time.min(first)));
        self.last = Some(self.last.map_or(first, |time| time.max(first)));
    }

    /// Returns the time of the first message, and the time in ns to the last one, at least 1.
    pub(super) fn span(&self) -> (Timestamp, f64) {
        let (first, last) = (self.first.unwrap_or_default(), self.last.unwrap_or_default());
        (first, (last.since(first) as f64).max(1.0))
    }

    fn side(&self, is_forward: bool) -> &Side {
        if is_forward { &self.forward } else { &self.backward }
    }

    /// Iterates over the points of a direction.
    pub(super) fn of(&self, is_forward: bool) -> impl Iterator<Item = (f64, f64)> {
        let (first, _) = self.span();
        self.side(is_forward)
            .points
            .iter()
            .map(move |(at, height)| (at.since(first) as f64, *height))
    }

    /// Iterates over the corners of the hull of a direction.
    pub(super) fn hull(&self, is_forward: bool) -> impl Iterator<Item = (f64, f64)> {
        let (first, _) = self.span();
        self.side(is_forward).hull.iter().map(move |(at, height)| (at.since(first) as f64, *height))
    }

    /// Returns the range of heights in the picture: it has nine tenths of the messages of each
    /// direction, and 0.
    pub(super) fn range(&self) -> (f64, f64) {
        let most = |is_forward: bool| {
            let mut heights: Vec<f64> =
                self.side(is_forward).points.iter().map(|(_, height)| *height).collect();
            heights.sort_by(f64::total_cmp);
            match is_forward {
                true => heights.get(heights.len().saturating_sub(1) * 9 / 10).copied(),
                false => {
                    heights.get(heights.len().div_ceil(10).min(heights.len().max(1) - 1)).copied()
                }
            }
        };
        let ends = [most(true), most(false)].into_iter().flatten().chain([0.0]);
        let (low, high) =
            ends.fold((0.0_f64, 0.0_f64), |(low, high), end| (low.min(end), high.max(end)));
        let margin = ((high - low) * 0.15).max(1.0);
        (low - margin, high + margin)
    }

    /// Returns the number of messages outside of the picture. Those that were left out count as
    /// the others.
    pub(super) fn outside(&self) -> u64 {
        let (low, high) = self.range();
        let of = |side: &Side| {
            let outside = side.points.iter().filter(|(_, height)| !(low..=high).contains(height));
            outside.count() as u64 * side.each.max(1)
        };
        of(&self.forward) + of(&self.backward)
    }
}

impl Side {
    /// Adds a point. `sign` is that of the distance between the hull and the points.
    fn add(&mut self, point: (Timestamp, f64), sign: f64) {
        // Messages are almost in order.
        let place = self.hull.partition_point(|of| of.0 < point.0);
        self.hull.insert(place, point);
        if place + 1 == self.hull.len() {
            shorten(&mut self.hull, sign);
        } else {
            let rest = std::mem::take(&mut self.hull);
            for corner in rest {
                self.hull.push(corner);
                shorten(&mut self.hull, sign);
            }
        }
        self.each = self.each.max(1);
        if self.seen.is_multiple_of(self.each) {
            let place = self.points.partition_point(|of| of.0 < point.0);
            self.points.insert(place, point);
        }
        self.seen += 1;
        if self.points.len() > MOST {
            let mut number = 0;
            self.points.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.each *= 2;
        }
    }
}

/// Removes the corners before the last one that are not on the hull.
fn shorten(hull: &mut Vec<(Timestamp, f64)>, sign: f64) {
    while let [.., a, b, c] = hull[..] {
        let (to_b, to_c) = (b.0.since(a.0) as f64, c.0.since(a.0) as f64);
        if (b.1 - a.1) * to_c * sign < (c.1 - a.1) * to_b * sign {
            break;
        }
        hull.remove(hull.len() - 2);
    }
}
