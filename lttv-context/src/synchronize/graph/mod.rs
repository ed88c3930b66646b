//! Many clocks: from the pairs that exchange messages to one transform for each host.
//!
//! Hosts are the nodes of a graph, and the pairs with a line its edges. The weight of an edge is
//! the width of its band. Each connected part is an *island* with a *reference*, and each host of
//! it is mapped to the reference along the path of least weight, as in LTTV. Clocks of different
//! islands cannot be compared.
//!
//! Messages between hosts that are no neighbours on a path limit the same clocks. Where the
//! transforms contradict them, or give a message no delay, all transforms of the island are changed
//! by the little that is needed for each message to arrive after it was sent, if that is possible.
//!
//! All choices depend on the identities of hosts and on the messages alone, so that the result is
//! the same for every order of traces.

mod adjust;
mod paths;
mod result;

use std::collections::BTreeMap;

use ltt_read::{TimeSpan, Timestamp};

use crate::synchronize::message::{HostIndex, Message};
use crate::synchronize::pairs::{ClockPair, PairQuality};

pub use result::{HostClock, Island, PairResult, Synchronization};

/// The messages between many hosts, reduced to what limits the relations of their clocks.
///
/// Messages can be added at any time and in any order, also after a
/// [result](Self::solve), for instance while traces grow.
///
/// ```
/// use ltt_read::Timestamp;
/// use lttv_context::synchronize::{HostIndex, Message};
/// use lttv_context::synchronize::graph::Network;
///
/// let mut network = Network::new(["client", "server"]);
/// let (client, server) = (HostIndex(0), HostIndex(1));
/// let at = Timestamp::from_ns;
/// // The clock of the server shows 1 ms more than that of the client. Messages take 10 µs.
/// for time in (0..1_000_000_000).step_by(1_000_000) {
///     let (sent, received) = (at(time), at(time + 1_010_000));
///     network.add(&Message { sender: client, sent, receiver: server, received });
///     let (sent, received) = (at(time + 1_500_000), at(time + 510_000));
///     network.add(&Message { sender: server, sent, receiver: client, received });
/// }
/// let result = network.solve(Some(client));
/// let clock = result.host(server).expect("a host");
/// let transform = clock.transform().expect("a host with messages in both directions");
/// let mapped = transform.apply(at(501_000_000));
/// assert!(mapped.signed_ns_since(at(500_000_000)).abs() <= 1);
/// let possible = clock.band_at(at(501_000_000)).expect("a bounded band");
/// assert_eq!((possible.start, possible.end), (at(499_990_000), at(500_010_000)));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Network {
    ids: Vec<String>,
    /// The pairs by the ranks of their hosts, the lower one first.
    pairs: BTreeMap<(usize, usize), ClockPair>,
    /// The rank of each host in the order of identities, by index.
    ranks: Vec<usize>,
}

impl Network {
    /// Creates a network of hosts with these identities, which have to differ. The
    /// [index](HostIndex) of a host is its place in this list.
    pub fn new(ids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let ids: Vec<String> = ids.into_iter().map(Into::into).collect();
        let mut order: Vec<_> = (0..ids.len()).collect();
        order.sort_by_key(|index| &ids[*index]);
        let mut ranks = vec![0; ids.len()];
        for (rank, index) in order.into_iter().enumerate() {
            ranks[index] = rank;
        }
        Network { ids, pairs: BTreeMap::new(), ranks }
    }

    /// Returns the identities of the hosts, by index.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// Adds a message. Returns `false`, and adds nothing, if a host does not exist or is both the
    /// sender and the receiver.
    pub fn add(&mut self, message: &Message) -> bool {
        let rank = |host: HostIndex| self.ranks.get(host.0).copied();
        let (Some(from), Some(to)) = (rank(message.sender), rank(message.receiver)) else {
            return false;
        };
        if from == to {
            return false;
        }
        let pair = self.pairs.entry((from.min(to), from.max(to))).or_default();
        match from < to {
            true => pair.add_forward(message.sent, message.received),
            false => pair.add_backward(message.sent, message.received),
        }
        true
    }

    /// Returns the number of messages.
    pub fn messages(&self) -> u64 {
        self.pairs.values().map(|pair| pair.forward() + pair.backward()).sum()
    }

    /// Returns the pair of two hosts that have exchanged messages. The first clock of the pair is
    /// that of the host with the lower identity.
    pub fn pair(&self, a: HostIndex, b: HostIndex) -> Option<&ClockPair> {
        let (a, b) = (*self.ranks.get(a.0)?, *self.ranks.get(b.0)?);
        self.pairs.get(&(a.min(b), a.max(b)))
    }

    /// Computes a transform for each host that can be related to others.
    ///
    /// `reference` is the reference of its island. In the other islands it is the host with the
    /// least sum of weights of the paths to all others, and of equal ones that with the lowest
    /// identity.
    ///
    /// The weight of a pair is the greatest width of its band while one of its two hosts exchanges
    /// messages with any other host. Only [`Accurate`](PairQuality::Accurate) pairs of which all
    /// possible lines increase and the line has a slope from ½ to 2 have a weight.
    pub fn solve(&self, reference: Option<HostIndex>) -> Synchronization {
        let mut index_of = vec![HostIndex(0); self.ids.len()];
        for (index, rank) in self.ranks.iter().enumerate() {
            index_of[*rank] = HostIndex(index);
        }
        let spans = self.spans();
        let mut pairs: Vec<PairResult> = Vec::with_capacity(self.pairs.len());
        let mut edges = Vec::new();
        for ((first, second), pair) in &self.pairs {
            let bounds = pair.bounds();
            let weight = match (bounds.quality(), bounds.line().map(|line| line.transform())) {
                (PairQuality::Accurate, Some(Ok(_))) => {
                    weight(bounds.band(), spans[*first], spans[*second])
                }
                _ => None,
            };
            if let Some(weight) = weight {
                edges.push(paths::Edge { hosts: [*first, *second], weight, pair: pairs.len() });
            }
            pairs.push(PairResult {
                first: index_of[*first],
                second: index_of[*second],
                forward: pair.forward(),
                backward: pair.backward(),
                bounds,
                weight,
                is_used: false,
                least_delay: None,
            });
        }
        let reference = reference.and_then(|host| self.ranks.get(host.0).copied());
        let islands = paths::islands(self.ids.len(), &edges, reference);
        let mut result = Synchronization::new(self.ids.len(), pairs, &islands, &index_of);
        result.measure_delays(|first, second| self.pair(first, second));
        for part in &islands {
            self.adjust(part, &spans, &index_of, &mut result);
        }
        result
    }

    /// Adjusts the transforms of an island if a message does not arrive after it was sent.
    fn adjust(
        &self,
        part: &paths::Part,
        spans: &[Option<TimeSpan>],
        index_of: &[HostIndex],
        result: &mut Synchronization,
    ) {
        let place = |rank: &usize| part.members.binary_search_by_key(rank, |(host, _)| *host).ok();
        // Results are in the order of pairs.
        let within = self.pairs.iter().zip(result.pairs()).filter_map(|((hosts, pair), of)| {
            let contradicts = matches!(of.bounds.quality(), PairQuality::Contradiction(_));
            (!contradicts).then_some((place(&hosts.0)?, place(&hosts.1)?, pair))
        });
        let pairs: Vec<_> = within.collect();
        let hosts = || part.members.iter().map(|(rank, _)| *rank);
        let clocks = hosts().map(|rank| {
            Some(adjust::Adjusted {
                transform: result.host(index_of[rank])?.transform()?,
                span: spans[rank]?,
                is_fixed: rank == part.reference,
            })
        });
        let Some(clocks) = clocks.collect::<Option<Vec<_>>>() else { return };
        // Without a delay, the order of the events of a message would be that of their traces.
        let is_early = pairs.iter().any(|(first, second, pair)| {
            let (first, second) = (&clocks[*first].transform, &clocks[*second].transform);
            pair.least_delay(first, second).is_some_and(|delay| delay < 1)
        });
        if !is_early {
            return;
        }
        if let Some(transforms) = adjust::adjust(&clocks, &pairs) {
            for (rank, transform) in hosts().zip(transforms) {
                result.set_transform(index_of[rank], transform);
            }
            result.measure_delays(|first, second| self.pair(first, second));
        }
    }

    /// Returns the times at which each host exchanges messages, by rank.
    fn spans(&self) -> Vec<Option<TimeSpan>> {
        let mut spans: Vec<Option<TimeSpan>> = vec![None; self.ids.len()];
        for ((first, second), pair) in &self.pairs {
            for (host, span) in [(*first, pair.first_span()), (*second, pair.second_span())] {
                let joined = [spans[host], span].into_iter().flatten().reduce(TimeSpan::join);
                spans[host] = joined;
            }
        }
        spans
    }
}

/// Returns the greatest width of a band while one of the hosts exchanges messages. `None` if the
/// band is not bounded there.
fn weight(
    band: &crate::synchronize::pairs::Band,
    first: Option<TimeSpan>,
    second: Option<TimeSpan>,
) -> Option<u64> {
    // The width is a convex function of time, which is greatest at an end of an interval.
    let mut greatest = 0;
    let inverse_width = |time: Timestamp| {
        let span = band.inverse_at(time)?;
        Some(span.end.since(span.start))
    };
    for time in first.iter().flat_map(|span| [span.start, span.end]) {
        greatest = greatest.max(band.width_at(time)?);
    }
    for time in second.iter().flat_map(|span| [span.start, span.end]) {
        greatest = greatest.max(inverse_width(time)?);
    }
    Some(greatest)
}
