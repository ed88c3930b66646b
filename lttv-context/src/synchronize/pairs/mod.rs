//! Two clocks: the lines between them that no message contradicts.
//!
//! A message is sent before it is received. With the first clock as `x` and the second one as `y`,
//! each message from the first host to the second is a point that the true line does not exceed,
//! and each message of the other direction a point that it reaches. The lines that satisfy all
//! messages are those between two convex hulls: see Duda, Harrus, Haddad and Bernard, "Estimating
//! global time in distributed systems", 1987. The hulls grow by one message at a time, as in
//! Jabbarifar and Dagenais, "LIANA: Live incremental time synchronization of traces for distributed
//! systems analysis", 2014.
//!
//! The [bounds](PairBounds) of a pair are exact: all comparisons are of integers, with as many bits
//! as they need. This includes the greatest and the least slope, the [band](Band) of the times that
//! are possible at each instant, and, for messages that no line satisfies, by how much they
//! [contradict](Contradiction) each other.

mod band;
mod exact;
mod extreme;
mod hull;
mod line;

use std::fmt;

use ltt_read::{ClockTransform, TimeSpan, Timestamp};

pub use band::Band;
pub use exact::Slope;
pub use line::Line;

use band::Piecewise;
use exact::Point;
use extreme::{Extreme, Limit, limit, overlap};
use hull::{Hull, Side};
use line::ExactLine;

/// The messages between two hosts, reduced to what limits the relation of their clocks.
///
/// Messages can be added in any order and at any time, for instance while a trace grows. The
/// result depends only on the set of messages. A message costs a few comparisons. The memory is
/// proportional to the corners of the hulls: some tens for random delays, whatever the
/// number of messages.
///
/// ```
/// use ltt_read::Timestamp;
/// use lttv_context::synchronize::pairs::{ClockPair, PairQuality};
///
/// let at = Timestamp::from_ns;
/// // The second clock shows 1000 ns more than the first one. Messages take 100 ns.
/// let mut pair = ClockPair::new();
/// for time in [0, 50_000, 100_000] {
///     pair.add_forward(at(time), at(time + 1100));
///     pair.add_backward(at(time + 20_000 + 1000), at(time + 20_100));
/// }
/// let bounds = pair.bounds();
/// assert_eq!(bounds.quality(), PairQuality::Accurate);
/// let possible = bounds.band().at(at(60_000)).expect("a bounded band");
/// assert_eq!((possible.start, possible.end), (at(60_900), at(61_100)));
/// let transform = bounds.line().expect("a line").transform()?;
/// // All times of the band are possible. The chosen line is near its middle.
/// assert!(transform.apply(at(60_000)).signed_ns_since(at(61_000)).abs() <= 1);
/// # Ok::<(), ltt_read::ClockTransformError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ClockPair {
    /// Messages from the first host to the second.
    ceiling: Hull,
    /// Messages from the second host to the first.
    floor: Hull,
    forward: u64,
    backward: u64,
    /// The times of the second clock from the first to the last message.
    second: Option<TimeSpan>,
}

impl Default for ClockPair {
    fn default() -> Self {
        Self::new()
    }
}

impl ClockPair {
    /// Creates a pair without messages.
    pub fn new() -> Self {
        let (ceiling, floor) = (Hull::new(Side::Ceiling), Hull::new(Side::Floor));
        ClockPair { ceiling, floor, forward: 0, backward: 0, second: None }
    }

    /// Adds a message from the first host to the second: `sent` is a time of the first clock, and
    /// `received` one of the second clock.
    pub fn add_forward(&mut self, sent: Timestamp, received: Timestamp) {
        self.forward += 1;
        self.extend_second(received);
        self.ceiling.add(Point { x: sent.as_ns(), y: received.as_ns() });
    }

    /// Adds a message from the second host to the first: `sent` is a time of the second clock,
    /// and `received` one of the first clock.
    pub fn add_backward(&mut self, sent: Timestamp, received: Timestamp) {
        self.backward += 1;
        self.extend_second(sent);
        self.floor.add(Point { x: received.as_ns(), y: sent.as_ns() });
    }

    fn extend_second(&mut self, time: Timestamp) {
        let span = TimeSpan { start: time, end: time };
        self.second = Some(self.second.map_or(span, |second| second.join(span)));
    }

    /// Returns the number of messages from the first host to the second.
    pub fn forward(&self) -> u64 {
        self.forward
    }

    /// Returns the number of messages from the second host to the first.
    pub fn backward(&self) -> u64 {
        self.backward
    }

    /// Returns the number of corners of both hulls, to which the memory is proportional.
    pub fn corners(&self) -> usize {
        self.ceiling.corners().len() + self.floor.corners().len()
    }

    /// Returns the times of the first clock from the first to the last message; `None` without
    /// messages.
    pub(crate) fn first_span(&self) -> Option<TimeSpan> {
        let spans = [&self.ceiling, &self.floor].into_iter().filter_map(|hull| {
            let at = |corner: &Point| Timestamp::from_ns(corner.x);
            let (start, end) = (hull.corners().first().map(at)?, hull.corners().last().map(at)?);
            Some(TimeSpan { start, end })
        });
        spans.reduce(TimeSpan::join)
    }

    /// Returns the times of the second clock from the first to the last message; `None` without
    /// messages.
    pub(crate) fn second_span(&self) -> Option<TimeSpan> {
        self.second
    }

    /// Computes the bounds of the lines between both clocks.
    pub fn bounds(&self) -> PairBounds {
        let greatest = limit(&self.ceiling, &self.floor, Extreme::Greatest);
        let least = limit(&self.ceiling, &self.floor, Extreme::Least);
        let quality = match (self.forward, self.backward, &greatest, &least) {
            (0, 0, ..) => PairQuality::Absent,
            (0, ..) | (_, 0, ..) => PairQuality::OneWay,
            (_, _, Limit::NoLine, _) | (_, _, _, Limit::NoLine) => {
                let (ns, at) = overlap(&self.ceiling, &self.floor).unwrap_or((1, 0));
                PairQuality::Contradiction(Contradiction { ns, at: Timestamp::from_ns(at) })
            }
            (_, _, Limit::Line { .. }, Limit::Line { .. }) => PairQuality::Accurate,
            _ => PairQuality::OneSided,
        };
        let band = match quality {
            PairQuality::Contradiction(_) => Band::unknown(),
            _ => self.band(greatest, least),
        };
        let base = |limit: Limit| match limit {
            Limit::Line { slope, floor, .. } => {
                Some(ExactLine { base: *self.floor.corners().get(floor)?, slope })
            }
            _ => None,
        };
        let middle = self.first_span().map(|span| {
            let sum = i128::from(span.start.as_ns()) + i128::from(span.end.as_ns());
            sum.div_euclid(2) as i64
        });
        let lines = match quality {
            PairQuality::Accurate => base(least).zip(base(greatest)).zip(middle),
            _ => None,
        };
        let slopes = match quality {
            PairQuality::Contradiction(_) => (None, None),
            _ => (base(least).map(|line| line.slope), base(greatest).map(|line| line.slope)),
        };
        PairBounds {
            quality,
            least: slopes.0,
            greatest: slopes.1,
            extreme_lines: lines.map(|(lines, _)| lines),
            band,
            line: lines.and_then(|((least, greatest), x)| line::bisector(least, greatest, x)),
            mean: lines.and_then(|((least, greatest), x)| line::mean(least, greatest, x)),
        }
    }

    /// Computes the least delay of a message, in ns, after both clocks have been mapped to a
    /// common one, to within 1 ns; `None` without messages. A negative delay means that a message
    /// is received before it is sent.
    pub fn least_delay(&self, first: &ClockTransform, second: &ClockTransform) -> Option<i128> {
        // A linear function is least at a corner.
        let height = |corner: &Point| {
            let x = first.apply(Timestamp::from_ns(corner.x));
            second.apply(Timestamp::from_ns(corner.y)).signed_ns_since(x)
        };
        let forward = self.ceiling.corners().iter().map(height);
        let backward = self.floor.corners().iter().map(|corner| -height(corner));
        forward.chain(backward).min()
    }

    /// Returns the messages that limit lines: `true` for one of the first host to the second, and
    /// its times by the first and the second clock.
    pub(in crate::synchronize) fn limits(
        &self,
    ) -> impl Iterator<Item = (bool, Timestamp, Timestamp)> + '_ {
        let side = |hull: &'_ Hull, is_forward| {
            let times = move |corner: &Point| {
                (is_forward, Timestamp::from_ns(corner.x), Timestamp::from_ns(corner.y))
            };
            hull.corners().iter().map(times).collect::<Vec<_>>()
        };
        side(&self.ceiling, true).into_iter().chain(side(&self.floor, false))
    }

    /// Returns the band between two limits, of which neither is `NoLine`.
    ///
    /// The extreme lines touch the hulls. Between the places where they touch a hull, a line of
    /// the band may pass through any point of the hull; beyond them, the extreme lines limit all
    /// others.
    fn band(&self, greatest: Limit, least: Limit) -> Band {
        let parts = |limit: Limit| match limit {
            Limit::Line { slope, ceiling, floor } => (Some(slope), Some(ceiling), Some(floor)),
            _ => (None, None, None),
        };
        let (steep, steep_ceiling, steep_floor) = parts(greatest);
        let (flat, flat_ceiling, flat_floor) = parts(least);
        let piecewise = |hull: &Hull, left, begin: Option<usize>, right, end: Option<usize>| {
            let last = hull.corners().len().saturating_sub(1);
            let (begin, end) = (begin.unwrap_or(0), end.unwrap_or(last));
            // Both touch a hull at the ends of one edge if there is only one line.
            let corners = hull.corners().get(begin.min(end)..=begin.max(end));
            Piecewise { left, corners: corners.unwrap_or_default().to_vec(), right }
        };
        Band {
            latest: piecewise(&self.ceiling, flat, flat_ceiling, steep, steep_ceiling),
            earliest: piecewise(&self.floor, steep, steep_floor, flat, flat_floor),
            increases: flat.is_some_and(|slope| slope.rise() > 0),
        }
    }
}

/// The relation of two clocks as far as their messages determine it: see [`ClockPair::bounds`].
#[derive(Debug, Clone)]
pub struct PairBounds {
    quality: PairQuality,
    least: Option<Slope>,
    greatest: Option<Slope>,
    extreme_lines: Option<(ExactLine, ExactLine)>,
    band: Band,
    line: Option<Line>,
    mean: Option<Line>,
}

impl PairBounds {
    /// Returns the kind of result.
    pub fn quality(&self) -> PairQuality {
        self.quality
    }

    /// Returns the least slope of all possible lines, in ns of the second clock per ns of the first
    /// one. `None` if it is not bounded, or if there is no line.
    pub fn least_slope(&self) -> Option<Slope> {
        self.least
    }

    /// Returns the greatest slope of all possible lines. `None` if it is not bounded, or if there
    /// is no line.
    pub fn greatest_slope(&self) -> Option<Slope> {
        self.greatest
    }

    /// Returns the lines of least and of greatest slope. Each passes through a message in each
    /// direction. `None` unless the quality is [`Accurate`](PairQuality::Accurate).
    ///
    /// The possible times between the first and the last message are not only those between both
    /// lines, which meet in one point: see [`band`](Self::band).
    pub fn extreme_lines(&self) -> Option<(Line, Line)> {
        self.extreme_lines.map(|(least, greatest)| (least.into(), greatest.into()))
    }

    /// Returns the times that are possible at each instant. The band of a pair with a contradiction
    /// is bounded nowhere.
    pub fn band(&self) -> &Band {
        &self.band
    }

    /// Returns the line that divides the angle between the lines of least and greatest slope into
    /// halves, as in LTTV. All lines of the band are possible; this one does not depend on
    /// which of the clocks is the first. `None` unless the quality is
    /// [`Accurate`](PairQuality::Accurate) and the line is in range.
    pub fn line(&self) -> Option<Line> {
        self.line
    }

    /// Returns the line with the mean of both extreme slopes, as in Trace Compass, for comparing.
    /// `None` under the conditions of [`line`](Self::line).
    pub fn mean_line(&self) -> Option<Line> {
        self.mean
    }
}

/// The quality of the relation of two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PairQuality {
    /// Both are the same clock. A [`ClockPair`] never has this quality: it is that of traces of one
    /// host.
    Exact,
    /// The slope is bounded on both sides. Only such a pair has a line.
    Accurate,
    /// There are messages in both directions, but the slope is bounded on one side only or not at
    /// all, for instance since all of one direction come before all of the other.
    OneSided,
    /// There are messages in one direction only.
    OneWay,
    /// There are no messages.
    Absent,
    /// No line satisfies all messages: the rate of a clock changed, a clock was set, or events were
    /// matched that do not belong to one message.
    Contradiction(Contradiction),
}

impl fmt::Display for PairQuality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PairQuality::Exact => f.write_str("exact"),
            PairQuality::Accurate => f.write_str("accurate"),
            PairQuality::OneSided => f.write_str("one-sided"),
            PairQuality::OneWay => f.write_str("one direction"),
            PairQuality::Absent => f.write_str("no messages"),
            PairQuality::Contradiction(of) => write!(f, "contradiction of {} ns", of.ns),
        }
    }
}

/// The size of a contradiction between the messages of two hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Contradiction {
    /// The least number of ns, rounded up, by which all messages of one direction would have to
    /// take longer for a line to exist. In ns of the second clock.
    pub ns: u64,
    /// The time of the first clock at which the messages contradict each other by this much.
    pub at: Timestamp,
}
