//! Hosts with known clocks that exchange messages.

use ltt_read::Timestamp;
use lttv_context::synchronize::HostIndex;
use lttv_context::synchronize::matching::{Direction, Matcher, MessageEnd};

/// A generator of pseudo-random numbers (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from `low` to `high`, both included.
    pub(crate) fn range(&mut self, low: i64, high: i64) -> i64 {
        let count = high.abs_diff(low) as u128 + 1;
        low + ((u128::from(self.next()) * count) >> 64) as i64
    }

    /// Returns a number from 0 to less than 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a number of the exponential distribution.
    pub(crate) fn exponential(&mut self, mean: f64) -> i64 {
        (-mean * (1.0 - self.unit()).ln()) as i64
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topology {
    Full,
    Chain,
    Star,
}

/// A clock that shows `offset + t + t · ppb / 10⁹` at the true time `t`, rounded down.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    pub(crate) offset: i64,
    pub(crate) ppb: i64,
    /// A change of the rate, in ppb, at a true time.
    pub(crate) step: Option<(i64, i64)>,
}

impl Clock {
    pub(crate) fn at(&self, t: i64) -> Timestamp {
        let billionths =
            |t: i64, ppb: i64| (t as i128 * ppb as i128).div_euclid(1_000_000_000) as i64;
        let step =
            self.step.filter(|(at, _)| t > *at).map_or(0, |(at, ppb)| billionths(t - at, ppb));
        Timestamp::from_ns(self.offset + t + billionths(t, self.ppb) + step)
    }

    /// Returns the time that this clock shows when another one shows `x`, as a multiple of 10⁻³ ns
    /// rounded down. Only for clocks without a change of rate.
    pub(crate) fn when(&self, other: &Clock, x: Timestamp) -> i128 {
        let distance = (x.as_ns() - other.offset) as i128;
        let rate = |ppb: i64| 1_000_000_000 + ppb as i128;
        let image = (distance * 1000 * rate(self.ppb)).div_euclid(rate(other.ppb));
        self.offset as i128 * 1000 + image
    }
}

/// The parameters of a network. Times are in ns.
#[derive(Debug, Clone)]
pub(crate) struct Parameters {
    pub(crate) hosts: usize,
    pub(crate) topology: Topology,
    pub(crate) duration: i64,
    /// The number of messages for each link.
    pub(crate) messages: usize,
    pub(crate) least_delay: i64,
    pub(crate) mean_delay: i64,
    pub(crate) loss: f64,
    pub(crate) retransmission: f64,
    pub(crate) is_one_way: bool,
    /// A change of the rate of host 1 in the middle, in ppb.
    pub(crate) step: i64,
}

impl Parameters {
    pub(crate) fn random(random: &mut Random) -> Self {
        let topologies = [Topology::Full, Topology::Chain, Topology::Star];
        Parameters {
            hosts: random.range(2, 8) as usize,
            topology: topologies[random.range(0, 2) as usize],
            duration: random.range(5, 120) * 1_000_000_000,
            messages: random.range(60, 400) as usize,
            least_delay: random.range(2_000, 100_000),
            mean_delay: random.range(1_000, 1_000_000),
            loss: random.unit() * 0.05,
            retransmission: random.unit() * 0.02,
            is_one_way: false,
            step: 0,
        }
    }
}

/// A recorded end of a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub(crate) host: usize,
    pub(crate) direction: Direction,
    pub(crate) time: Timestamp,
    /// The true time.
    pub(crate) at: i64,
    pub(crate) key: u64,
    /// The host of the other end.
    pub(crate) peer: usize,
}

/// A network with its records, in the order of recorded times.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) clocks: Vec<Clock>,
    pub(crate) ends: Vec<End>,
}

impl World {
    pub(crate) fn new(of: &Parameters, random: &mut Random) -> Self {
        let hour = 3_600_000_000_000;
        let base = 1_700_000_000_000_000_000;
        let clocks: Vec<_> = (0..of.hosts)
            .map(|host| Clock {
                offset: base + random.range(-hour, hour),
                ppb: random.range(-50_000, 50_000),
                step: (host == 1 && of.step != 0).then_some((of.duration / 2, of.step)),
            })
            .collect();
        let hosts = 0..of.hosts;
        let links: Vec<_> = match of.topology {
            Topology::Full => {
                hosts.clone().flat_map(|a| (a + 1..of.hosts).map(move |b| (a, b))).collect()
            }
            Topology::Chain => (1..of.hosts).map(|b| (b - 1, b)).collect(),
            Topology::Star => (1..of.hosts).map(|b| (0, b)).collect(),
        };
        let mut ends = Vec::new();
        let mut key = 0;
        for (a, b) in &links {
            for _ in 0..of.messages {
                let t = random.range(0, of.duration);
                let swap = !of.is_one_way && random.next() & 1 == 0;
                let (from, to) = if swap { (*b, *a) } else { (*a, *b) };
                key += 1;
                let mut end = |host: usize, direction, t| {
                    let (time, peer) = (clocks[host].at(t), if host == from { to } else { from });
                    ends.push(End { host, direction, time, at: t, key, peer });
                };
                end(from, Direction::Send, t);
                let is_lost = random.unit() < of.loss;
                let mut arrives = (!is_lost).then_some(t);
                if random.unit() < of.retransmission {
                    let again = t + 200_000_000;
                    end(from, Direction::Send, again);
                    arrives = arrives.or(Some(again));
                }
                if let Some(sent) = arrives {
                    let delay = of.least_delay + random.exponential(of.mean_delay as f64);
                    end(to, Direction::Receive, sent + delay);
                }
            }
        }
        ends.sort_by_key(|end| (end.time, end.host, end.key));
        World { clocks, ends }
    }

    /// Adds all ends to a matcher. `number_of` numbers the hosts.
    pub(crate) fn read(
        &self,
        matcher: &mut Matcher,
        number_of: impl Fn(usize) -> usize,
        mut found: impl FnMut(lttv_context::synchronize::Message),
    ) {
        for end in &self.ends {
            let end = MessageEnd {
                host: HostIndex(number_of(end.host)),
                direction: end.direction,
                time: end.time,
                protocol: 0,
                key: &end.key.to_le_bytes(),
                validity: 60_000_000_000,
                is_to_many: false,
            };
            matcher.add(&end, &mut found);
        }
    }
}
