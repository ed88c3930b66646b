//! The result for all hosts.

use ltt_read::{ClockTransform, TimeSpan, Timestamp};

use super::paths::{Part, Step};
use crate::synchronize::message::HostIndex;
use crate::synchronize::pairs::{ClockPair, PairBounds, PairQuality};

/// The relations of all clocks: see [`Network::solve`](super::Network::solve).
#[derive(Debug, Clone)]
pub struct Synchronization {
    hosts: Vec<HostClock>,
    islands: Vec<Island>,
    pairs: Vec<PairResult>,
}

/// The relation of the clock of one host to the reference of its island.
#[derive(Debug, Clone)]
pub struct HostClock {
    host: HostIndex,
    island: usize,
    transform: Option<ClockTransform>,
    /// The bands from this host to the reference, each with `true` if it leads from its first clock
    /// to its second one.
    path: Vec<(PairBounds, bool)>,
    hops: Vec<HostIndex>,
    is_alone: bool,
}

/// Hosts whose clocks can be compared with each other, but not with those of other islands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Island {
    /// The host whose clock is that of the island.
    pub reference: HostIndex,
    /// All hosts of the island, by increasing identity.
    pub hosts: Vec<HostIndex>,
}

/// The relation of two hosts that exchanged messages.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PairResult {
    /// The host with the lower identity. Its clock is the first one of the bounds.
    pub first: HostIndex,
    /// The other host.
    pub second: HostIndex,
    /// The number of messages from the first host to the second.
    pub forward: u64,
    /// The number of messages from the second host to the first.
    pub backward: u64,
    /// The bounds of the relation, with its quality.
    pub bounds: PairBounds,
    /// The greatest width of the band, in ns, while one of the hosts exchanges messages with any
    /// other. `None` if the pair cannot be used.
    pub weight: Option<u64>,
    /// `true` if a transform depends on the pair.
    pub is_used: bool,
    /// The least delay of a message between both, in ns of their reference, after the transforms
    /// have been applied; to within 1 ns. It is negative if a message is received before it is
    /// sent: the messages of the pairs of this island contradict each other. `None` if the hosts
    /// are in different islands.
    pub least_delay: Option<i128>,
}

impl Synchronization {
    pub(super) fn new(
        hosts: usize,
        mut pairs: Vec<PairResult>,
        parts: &[Part],
        index_of: &[HostIndex],
    ) -> Self {
        let mut clocks: Vec<Option<HostClock>> = vec![None; hosts];
        let mut islands = Vec::with_capacity(parts.len());
        for (island, part) in parts.iter().enumerate() {
            let step_of = |host: usize| {
                let place = part.members.binary_search_by_key(&host, |(member, _)| *member).ok()?;
                part.members[place].1
            };
            for (host, _) in &part.members {
                let mut steps: Vec<Step> = Vec::new();
                while let Some(step) = step_of(steps.last().map_or(*host, |step| step.to)) {
                    steps.push(step);
                }
                let mut transform = Some(ClockTransform::IDENTITY);
                for (number, step) in steps.iter().enumerate() {
                    pairs[step.pair].is_used = true;
                    let line = pairs[step.pair].bounds.line();
                    let of_step = line.and_then(|line| line.transform().ok());
                    let of_step =
                        of_step.map(|of| if step.is_forward { of } else { of.inverted() });
                    transform = match number {
                        // The origin of the first step is near the messages.
                        0 => of_step,
                        _ => transform.zip(of_step).and_then(|(a, b)| a.then(&b).ok()),
                    };
                }
                let is_alone = part.members.len() == 1;
                let path =
                    steps.iter().map(|step| (pairs[step.pair].bounds.clone(), step.is_forward));
                clocks[index_of[*host].0] = Some(HostClock {
                    host: index_of[*host],
                    island,
                    transform: transform.filter(|_| !is_alone),
                    path: path.collect(),
                    hops: steps.iter().map(|step| index_of[step.to]).collect(),
                    is_alone,
                });
            }
            let hosts = part.members.iter().map(|(host, _)| index_of[*host]).collect();
            islands.push(Island { reference: index_of[part.reference], hosts });
        }
        Synchronization { hosts: clocks.into_iter().flatten().collect(), islands, pairs }
    }

    /// Computes the least delays of all pairs.
    pub(super) fn measure_delays<'p>(
        &mut self,
        pair_of: impl Fn(HostIndex, HostIndex) -> Option<&'p ClockPair>,
    ) {
        for result in &mut self.pairs {
            let clocks = self.hosts.get(result.first.0).zip(self.hosts.get(result.second.0));
            let clocks = clocks.filter(|(first, second)| first.island == second.island);
            let transforms = clocks.and_then(|(a, b)| a.transform.zip(b.transform));
            result.least_delay = transforms
                .zip(pair_of(result.first, result.second))
                .and_then(|((first, second), pair)| pair.least_delay(&first, &second));
        }
    }

    /// Replaces the transform of a host.
    pub(super) fn set_transform(&mut self, host: HostIndex, transform: ClockTransform) {
        if let Some(clock) = self.hosts.get_mut(host.0) {
            clock.transform = Some(transform);
        }
    }

    /// Returns the clocks of all hosts, by index.
    pub fn hosts(&self) -> &[HostClock] {
        &self.hosts
    }

    /// Returns the clock of a host; `None` if there is no such host.
    pub fn host(&self, host: HostIndex) -> Option<&HostClock> {
        self.hosts.get(host.0)
    }

    /// Returns the islands, ordered by the lowest identity of their hosts. A host that cannot be
    /// related to any other is an island of its own.
    pub fn islands(&self) -> &[Island] {
        &self.islands
    }

    /// Returns all pairs of hosts that exchanged messages, ordered by the identities of the first
    /// and the second host.
    pub fn pairs(&self) -> &[PairResult] {
        &self.pairs
    }

    /// Returns the quality of the direct relation of two hosts.
    pub fn quality(&self, a: HostIndex, b: HostIndex) -> PairQuality {
        if a == b {
            return PairQuality::Exact;
        }
        let hosts = |pair: &&PairResult| {
            (pair.first, pair.second) == (a, b) || (pair.first, pair.second) == (b, a)
        };
        self.pairs.iter().find(hosts).map_or(PairQuality::Absent, |pair| pair.bounds.quality())
    }
}

impl HostClock {
    /// Returns the index of the host.
    pub fn host(&self) -> HostIndex {
        self.host
    }

    /// Returns the index of the island in [`Synchronization::islands`].
    pub fn island(&self) -> usize {
        self.island
    }

    /// Returns the transform from this clock to that of the reference: the identity for the
    /// reference itself. `None` if the host is alone in its island, since its clock cannot be
    /// related to any other.
    pub fn transform(&self) -> Option<ClockTransform> {
        self.transform
    }

    /// Returns the hosts on the path to the reference, which is the last of them. Empty for the
    /// reference itself.
    pub fn path(&self) -> &[HostIndex] {
        &self.hops
    }

    /// Returns the earliest and the latest time that the clock of the reference may have shown at a
    /// time of this one. `None` if the band is not bounded there, or if the host is alone in its
    /// island.
    ///
    /// The bands of all steps of the path are composed: as all possible lines increase, the ends of
    /// an interval are mapped by the ends of the next band. Each step rounds outwards to ns.
    pub fn band_at(&self, recorded: Timestamp) -> Option<TimeSpan> {
        let mut span = TimeSpan { start: recorded, end: recorded };
        for (bounds, is_forward) in &self.path {
            let band = bounds.band();
            span = match is_forward {
                true => TimeSpan {
                    start: band.earliest_at(span.start)?,
                    end: band.latest_at(span.end)?,
                },
                false => TimeSpan {
                    start: band.inverse_at(span.start)?.start,
                    end: band.inverse_at(span.end)?.end,
                },
            };
        }
        (!self.is_alone).then_some(span)
    }

    /// Returns the greatest distance of the transformed time from a possible time of the reference,
    /// in ns: see [`band_at`](Self::band_at).
    pub fn accuracy_at(&self, recorded: Timestamp) -> Option<u64> {
        let (span, time) = (self.band_at(recorded)?, self.transform?.apply(recorded));
        Some(span.end.since(time).max(time.since(span.start)))
    }
}
