//! Clocks of generated networks are found to within the band, whatever the order of hosts.

use crate::clocks::{Parameters, Random, Topology, World};
use ltt_read::{ClockTransform, Timestamp};
use lttv_context::synchronize::graph::{Network, Synchronization};
use lttv_context::synchronize::matching::{Hosts, Matcher, MessageEvents, MessagesRead, Rules};
use lttv_context::synchronize::pairs::{ClockPair, PairBounds, PairQuality};
use lttv_context::synchronize::{HostIndex, Message, Options, Synchronized};
use proptest::prelude::*;

fn id(host: usize) -> String {
    format!("host-{host}")
}

/// Solves a world whose host `h` has the index `number_of(h)`.
fn solve(world: &World, number_of: &[usize], reference: Option<usize>) -> Synchronization {
    let mut ids = vec![String::new(); number_of.len()];
    number_of.iter().enumerate().for_each(|(host, number)| ids[*number] = id(host));
    let mut network = Network::new(ids);
    let mut matcher = Matcher::new(Default::default());
    let mut world = World { clocks: world.clocks.clone(), ends: world.ends.clone() };
    world.ends.sort_by_key(|end| (end.time, number_of[end.host], end.key));
    world.read(&mut matcher, |host| number_of[host], |message| assert!(network.add(&message)));
    assert_eq!(matcher.counts().messages, network.messages());
    network.solve(reference.map(|host| HostIndex(number_of[host])))
}

fn in_order(world: &World) -> Vec<usize> {
    (0..world.clocks.len()).collect()
}

/// Returns times of a host from before its first to after its last event.
fn times_of(world: &World, host: usize) -> Vec<Timestamp> {
    let times = || world.ends.iter().filter(|end| end.host == host).map(|end| end.time.as_ns());
    let (first, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    let step = (last - first) / 20 + 1;
    (-2..=22).map(|n| Timestamp::from_ns(first + n * step)).collect()
}

/// The checks of one network whose clocks keep their rates.
fn check(world: &World, result: &Synchronization, seed: u64) -> (u64, i128) {
    let mut widest = 0;
    for (host, clock) in result.hosts().iter().enumerate() {
        let island = &result.islands()[clock.island()];
        let Some(transform) = clock.transform() else {
            assert_eq!(island.hosts, [HostIndex(host)], "seed {seed}");
            continue;
        };
        let reference = &world.clocks[island.reference.0];
        for (place, time) in times_of(world, host).into_iter().enumerate() {
            let truth = reference.when(&world.clocks[host], time);
            let Some(band) = clock.band_at(time) else { panic!("seed {seed}: no band") };
            // Clocks show whole ns.
            let inside = i128::from(band.start.as_ns()) * 1000 - 2000
                ..=i128::from(band.end.as_ns()) * 1000 + 2000;
            assert!(
                inside.contains(&truth),
                "seed {seed}, host {host}, {time}: {truth} in {band:?}"
            );
            let found = transform.apply(time).as_ns();
            let error = (i128::from(found) * 1000 - truth).unsigned_abs().div_ceil(1000) as u64;
            let accuracy = clock.accuracy_at(time).expect("bounded");
            assert!(error <= accuracy + 4, "seed {seed}, host {host}: {error} ns, not {accuracy}");
            if (2..=22).contains(&place) {
                widest = widest.max(error);
            }
        }
    }
    let delays = result.pairs().iter().filter_map(|pair| pair.least_delay);
    (widest, delays.min().unwrap_or(0))
}

#[test]
fn a_thousand_networks_contain_the_truth() {
    let (mut unrelated, mut errors, mut delays) = (0, Vec::new(), Vec::new());
    for seed in 0..1000 {
        let mut random = Random(seed);
        let world = World::new(&Parameters::random(&mut random), &mut random);
        let result = solve(&world, &in_order(&world), None);
        let (error, delay) = check(&world, &result, seed);
        assert!(delay >= 0, "seed {seed}: a message arrives {delay} ns after it was sent");
        unrelated += result.islands().len() - 1;
        errors.push(error);
        delays.push(delay);
    }
    errors.sort_unstable();
    delays.sort_unstable();
    println!(
        "errors in ns: half {}, most {}; least delay {}; islands {unrelated}",
        errors[500], errors[999], delays[0]
    );
    assert!(unrelated <= 5, "{unrelated}");
}

#[test]
fn results_can_be_sent_to_other_threads() {
    fn shared<T: Send + Sync + std::fmt::Debug>() {}
    shared::<(Matcher, MessageEvents, Rules, Hosts, MessagesRead)>();
    shared::<(ClockPair, PairBounds, Network, Synchronization)>();
    shared::<(Options, Synchronized)>();
}

fn usual() -> Parameters {
    Parameters {
        hosts: 4,
        topology: Topology::Chain,
        duration: 60_000_000_000,
        messages: 1200,
        least_delay: 50_000,
        mean_delay: 100_000,
        loss: 0.02,
        retransmission: 0.01,
        is_one_way: false,
        step: 0,
    }
}

fn world(of: &Parameters, seed: u64) -> World {
    World::new(of, &mut Random(seed))
}

/// With 10 messages per second in each direction, delays from 50 µs, and a mean of 150 µs.
#[test]
fn usual_networks_are_found_to_some_microseconds() {
    for topology in [Topology::Full, Topology::Chain, Topology::Star] {
        let mut most = 0;
        for seed in 0..20 {
            let world = world(&Parameters { topology, ..usual() }, seed);
            let result = solve(&world, &in_order(&world), Some(0));
            assert_eq!(result.islands()[0].reference, HostIndex(0));
            let (error, delay) = check(&world, &result, seed);
            assert!(delay > 0, "{delay}");
            most = most.max(error);
        }
        assert!(most < 20_000, "{topology:?}: {most} ns");
    }
}

#[test]
fn one_way_traffic_has_no_transform() {
    for seed in 0..20 {
        let world = world(&Parameters { hosts: 3, is_one_way: true, ..usual() }, seed);
        let result = solve(&world, &in_order(&world), None);
        assert_eq!(result.islands().len(), 3);
        for clock in result.hosts() {
            assert_eq!((clock.transform(), clock.path()), (None, &[][..]));
            assert_eq!(clock.band_at(world.clocks[0].at(0)), None);
        }
        assert!(result.pairs().iter().all(|pair| pair.bounds.quality() == PairQuality::OneWay));
        assert_eq!(result.quality(HostIndex(0), HostIndex(2)), PairQuality::Absent);
        assert_eq!(result.quality(HostIndex(1), HostIndex(1)), PairQuality::Exact);
    }
}

/// The rate of one clock changes by 100 ppm in the middle of 60 s: the lines of both halves differ
/// by up to 1.5 ms, at least ten times as much as messages take.
#[test]
fn a_change_of_rate_is_a_contradiction() {
    for seed in 0..20 {
        let world = world(&Parameters { hosts: 3, step: 100_000, ..usual() }, seed);
        let result = solve(&world, &in_order(&world), None);
        // Host 1 is in the middle of the chain.
        assert_eq!(result.islands().len(), 3);
        for pair in result.pairs() {
            let PairQuality::Contradiction(of) = pair.bounds.quality() else {
                panic!("seed {seed}: {}", pair.bounds.quality());
            };
            assert!((1_000_000..1_500_000).contains(&of.ns), "{}", of.ns);
            assert!(pair.bounds.line().is_none() && pair.bounds.band().at(of.at).is_none());
            // The break is at the place of the contradiction, to within some seconds.
            let first = world.clocks[pair.first.0].at(30_000_000_000);
            assert!(of.at.signed_ns_since(first).abs() < 3_000_000_000);
        }
    }
}

#[test]
fn islands_are_apart() {
    let world = world(&Parameters { hosts: 6, ..usual() }, 1);
    let mut network = Network::new((0..7).map(id));
    let mut matcher = Matcher::new(Default::default());
    // Without the link in the middle, 0-1-2 and 3-4-5 are not connected. Host 6 is silent.
    world.read(
        &mut matcher,
        |host| host,
        |message| {
            if message.sender.0.min(message.receiver.0) != 2 {
                network.add(&message);
            }
        },
    );
    let result = network.solve(Some(HostIndex(5)));
    let hosts: Vec<Vec<usize>> =
        result.islands().iter().map(|of| of.hosts.iter().map(|h| h.0).collect()).collect();
    assert_eq!(hosts, [vec![0, 1, 2], vec![3, 4, 5], vec![6]]);
    let references: Vec<_> = result.islands().iter().map(|of| of.reference.0).collect();
    // The middle of a chain is nearest to all others; the reference of the second is given.
    assert_eq!(references, [1, 5, 6]);
    assert_eq!(result.host(HostIndex(3)).expect("a host").path(), [HostIndex(4), HostIndex(5)]);
    assert_eq!(result.host(HostIndex(6)).expect("a host").transform(), None);
    assert!(
        result
            .host(HostIndex(5))
            .expect("a host")
            .transform()
            .expect("the reference")
            .is_identity()
    );
    assert!(result.host(HostIndex(7)).is_none());
    check(&world, &result, 1);
}

/// The path over a third host is taken if its bands together are narrower.
#[test]
fn paths_have_the_least_band() {
    let mut network = Network::new(["a", "b", "c"]);
    let at = Timestamp::from_ns;
    let mut link = |a: usize, b: usize, delay: i64| {
        for n in 0..100 {
            let (a, b, sent) = (HostIndex(a), HostIndex(b), at(n * 1_000_000));
            let received = at(n * 1_000_000 + delay);
            network.add(&Message { sender: a, sent, receiver: b, received });
            network.add(&Message { sender: b, sent, receiver: a, received });
        }
    };
    link(0, 2, 100_000);
    link(0, 1, 20_000);
    link(1, 2, 20_000);
    let result = network.solve(Some(HostIndex(0)));
    let last = result.host(HostIndex(2)).expect("a host");
    assert_eq!(last.path(), [HostIndex(1), HostIndex(0)]);
    let band = last.band_at(at(50_000_000)).expect("bounded");
    assert_eq!(band.end.since(band.start), 80_000);
    let is_used: Vec<_> =
        result.pairs().iter().map(|pair| (pair.first.0, pair.second.0, pair.is_used)).collect();
    assert_eq!(is_used, [(0, 1, true), (0, 2, false), (1, 2, true)]);
}

/// Three clocks that cannot all be right: each pair has a line, but the lines of the paths
/// contradict the third pair. The transforms remain, and the result says by how much.
#[test]
fn contradictions_of_three_pairs_are_reported() {
    let mut network = Network::new(["a", "b", "c"]);
    let at = Timestamp::from_ns;
    for (a, b, offset) in [(0, 1, 0), (1, 2, 0), (0, 2, 1_000_000)] {
        for n in 0..100 {
            let (a, b, time) = (HostIndex(a), HostIndex(b), n * 1_000_000);
            network.add(&Message {
                sender: a,
                sent: at(time),
                receiver: b,
                received: at(time + offset + 10_000),
            });
            network.add(&Message {
                sender: b,
                sent: at(time + offset),
                receiver: a,
                received: at(time + 10_000),
            });
        }
    }
    let result = network.solve(None);
    let least = result.pairs().iter().filter_map(|pair| pair.least_delay).min();
    assert_eq!(least, Some(10_000 - 1_000_000));
    assert!(result.hosts().iter().all(|clock| clock.transform().is_some()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_order_of_hosts_does_not_matter(
        seed: u64,
        shuffled in Just((0..8_usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let mut random = Random(seed);
        let parameters = Parameters { messages: 40, ..Parameters::random(&mut random) };
        let world = World::new(&parameters, &mut random);
        let number_of: Vec<_> = shuffled.into_iter().filter(|host| *host < parameters.hosts).collect();
        let (a, b) = (solve(&world, &in_order(&world), None), solve(&world, &number_of, None));
        let host_of = |number: HostIndex| number_of.iter().position(|of| *of == number.0).map(HostIndex);
        let hosts_of = |hosts: &[HostIndex]| hosts.iter().copied().map(host_of).collect::<Vec<_>>();
        let islands = |of: &Synchronization, renumber: bool| -> Vec<_> {
            of.islands().iter().map(|island| match renumber {
                true => (host_of(island.reference), hosts_of(&island.hosts)),
                false => (Some(island.reference), island.hosts.iter().copied().map(Some).collect()),
            }).collect()
        };
        prop_assert_eq!(islands(&a, false), islands(&b, true));
        for (host, number) in number_of.iter().enumerate() {
            let (a, b) = (&a.hosts()[host], &b.hosts()[*number]);
            prop_assert_eq!(a.transform(), b.transform());
            prop_assert_eq!(a.path().iter().copied().map(Some).collect::<Vec<_>>(), hosts_of(b.path()));
            for time in times_of(&world, host) {
                prop_assert_eq!(a.band_at(time), b.band_at(time));
            }
        }
        let pairs = |of: &Synchronization, renumber: bool| -> Vec<_> {
            of.pairs().iter().map(|pair| {
                let number = |host| if renumber { host_of(host) } else { Some(host) };
                (number(pair.first), number(pair.second), pair.forward, pair.bounds.quality(), pair.weight, pair.least_delay)
            }).collect()
        };
        prop_assert_eq!(pairs(&a, false), pairs(&b, true));
    }

    /// Messages can be added at any time: the result is that of all of them at once.
    #[test]
    fn growing_networks_have_the_same_result(seed: u64, part in 0..400_usize) {
        let mut random = Random(seed);
        let parameters = Parameters { messages: 100, hosts: 3, ..Parameters::random(&mut random) };
        let world = World::new(&parameters, &mut random);
        let mut messages = Vec::new();
        world.read(&mut Matcher::new(Default::default()), |host| host, |message| messages.push(message));
        let add = |network: &mut Network, messages: &[Message]| messages.iter().for_each(|of| { network.add(of); });
        let mut growing = Network::new((0..3).map(id));
        let split = part.min(messages.len());
        add(&mut growing, &messages[split..]);
        growing.solve(None);
        add(&mut growing, &messages[..split]);
        let mut whole = Network::new((0..3).map(id));
        add(&mut whole, &messages);
        let transforms = |of: &Network| of.solve(None).hosts().iter().map(|clock| clock.transform()).collect::<Vec<_>>();
        prop_assert_eq!(transforms(&growing), transforms(&whole));
    }

    /// Messages at any times between any hosts.
    #[test]
    fn no_messages_cause_a_panic(
        messages in prop::collection::vec((0..5_usize, any::<i64>(), 0..5_usize, any::<i64>()), 0..40),
        near in prop::collection::vec((0..4_usize, 0..50_i64, 0..4_usize, 0..50_i64), 0..40),
    ) {
        let mut network = Network::new((0..4).map(id));
        for (from, sent, to, received) in messages.into_iter().take(3).chain(near) {
            let (sent, received) = (Timestamp::from_ns(sent), Timestamp::from_ns(received));
            let message = Message { sender: HostIndex(from), sent, receiver: HostIndex(to), received };
            prop_assert_eq!(network.add(&message), from != to && from < 4 && to < 4);
        }
        for clock in network.solve(Some(HostIndex(9))).hosts() {
            clock.band_at(Timestamp::from_ns(25));
            clock.accuracy_at(Timestamp::MAX);
        }
    }
}

/// Ten million messages, also out of order, take little time and memory. Run with
/// `cargo test --release … -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn ten_million_messages_take_a_second() {
    let clock = ClockTransform::from_ratio(
        Timestamp::from_ns(0),
        Timestamp::from_ns(7_000_000),
        1_000_030,
        1_000_000,
    );
    let clock = clock.expect("a slope near 1");
    for (name, disorder) in [("in order", 0), ("out of order", 3_600_000_000_000)] {
        let mut random = Random(7);
        let messages: Vec<_> = (0..10_000_000_i64)
            .map(|n| {
                let time =
                    1_700_000_000_000_000_000 + n * 360_000 + random.range(-disorder, disorder);
                let (sent, delay) =
                    (Timestamp::from_ns(time), 50_000 + random.exponential(100_000.0));
                let other = clock.apply(sent);
                let delayed = |time: Timestamp| Timestamp::from_ns(time.as_ns() + delay);
                let (a, b) = (HostIndex(0), HostIndex(1));
                match n & 1 {
                    0 => Message { sender: a, sent, receiver: b, received: delayed(other) },
                    _ => Message { sender: b, sent: other, receiver: a, received: delayed(sent) },
                }
            })
            .collect();
        let start = std::time::Instant::now();
        let mut network = Network::new(["a", "b"]);
        messages.iter().for_each(|message| {
            network.add(message);
        });
        let result = network.solve(None);
        let taken = start.elapsed();
        let corners = network.pair(HostIndex(0), HostIndex(1)).map_or(0, ClockPair::corners);
        let quality = result.quality(HostIndex(0), HostIndex(1));
        println!("{name}: {taken:?} for 10 000 000 messages, {corners} corners, {quality}");
        assert!(corners < 1000);
        assert!(cfg!(debug_assertions) || taken < std::time::Duration::from_secs(1), "{taken:?}");
    }
}
