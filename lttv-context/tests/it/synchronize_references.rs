//! The clocks of recorded traces and of stored networks agree with those of other solvers.
//!
//! The references are in `../shared`. Without it, each test reports that it is skipped.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use ltt_read::{Event, Merge, Timestamp, open_all};
use lttv_context::Traceset;
use lttv_context::synchronize::graph::Network;
use lttv_context::synchronize::matching::{
    Direction, Hosts, Matcher, MessageEnd, MessageEvents, Rules, read_messages,
};
use lttv_context::synchronize::pairs::PairQuality;
use lttv_context::synchronize::{HostIndex, Message, Options, synchronize};
use serde_json::Value;

/// Returns a file or folder next to the repository, or reports that a test is skipped.
fn shared(path: &str) -> Option<PathBuf> {
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(path);
    if found.exists() {
        return Some(found);
    }
    // The output of `println!` is shown only for failed tests.
    let _ = writeln!(std::io::stderr(), "SKIPPED: there is no {}", found.display());
    None
}

/// The events of one host in a text with one JSON object per line.
fn events(path: &Path) -> Vec<Value> {
    let file = File::open(path).expect("a file");
    let reader: Box<dyn Read> = match path.extension().is_some_and(|extension| extension == "gz") {
        true => Box::new(flate2::read::GzDecoder::new(file)),
        false => Box::new(file),
    };
    let lines = BufReader::new(reader).lines().map(|line| line.expect("a line"));
    lines.map(|line| serde_json::from_str(&line).expect("an object")).collect()
}

/// Returns the direction and the key of an event.
fn key_of(event: &Value) -> Option<(Direction, Vec<u8>)> {
    let fields = &event["fields"];
    let (direction, parts) = match event["name"].as_str()? {
        name @ ("inet_sock_local_out" | "inet_sock_local_in") => {
            let direction =
                if name.ends_with("out") { Direction::Send } else { Direction::Receive };
            (
                direction,
                [&fields["seq"], &fields["ack_seq"], &fields["flags"]]
                    .map(Value::to_string)
                    .to_vec(),
            )
        }
        name @ ("net_dev_queue" | "net_if_receive_skb") => {
            let direction =
                if name == "net_dev_queue" { Direction::Send } else { Direction::Receive };
            (direction, vec![fields["network_header"].to_string()])
        }
        _ => return None,
    };
    Some((direction, parts.join(",").into_bytes()))
}

/// Matches the events of several hosts, in the order of recorded times.
fn matched(hosts: &[Vec<Value>]) -> Vec<Message> {
    let mut ends = Vec::new();
    for (host, events) in hosts.iter().enumerate() {
        for event in events {
            let time = event["timestamp"].as_i64().expect("a time");
            ends.extend(key_of(event).map(|(direction, key)| (time, host, direction, key)));
        }
    }
    ends.sort_by_key(|(time, host, ..)| (*time, *host));
    let (mut matcher, mut messages) = (Matcher::new(Default::default()), Vec::new());
    for (time, host, direction, key) in &ends {
        let (host, time) = (HostIndex(*host), Timestamp::from_ns(*time));
        let end = MessageEnd {
            host,
            direction: *direction,
            time,
            protocol: 0,
            key,
            validity: 60_000_000_000,
            is_to_many: false,
        };
        matcher.add(&end, |message| messages.push(message));
    }
    messages
}

/// The exact line between two clocks: the image of `x` in 10⁻⁶ ns.
fn truth(hosts: &Value, from: usize, to: usize, x: Timestamp) -> i128 {
    let number = |host: usize, name: &str| hosts[host][name].as_i64().expect("a number") as i128;
    let rate = |host| 1_000_000_000 + number(host, "ppb");
    let distance = x.as_ns() as i128 - number(from, "offset");
    number(to, "offset") * 1_000_000 + (distance * 1_000_000 * rate(to)).div_euclid(rate(from))
}

/// The ranks of two hosts, the numbers of messages in both directions, and the extreme slopes.
type Expected = (usize, usize, u64, u64, f64, f64);

/// Stored networks with known clocks. The slopes are those of an exact solver in rational numbers.
#[test]
fn stored_networks_contain_the_truth() {
    let cases: [(&str, &[Expected]); 4] = [
        (
            "s1",
            &[
                (0, 1, 578, 598, 0.9999564452367237, 0.9999601022382618),
                (0, 2, 630, 544, 1.0000131891643784, 1.0000166820035963),
                (1, 2, 574, 601, 1.000054889331212, 1.000058461652939),
            ],
        ),
        (
            "s2",
            &[
                (0, 1, 594, 580, 0.9999592207392635, 0.9999630216220268),
                (1, 2, 599, 583, 1.0000748768518017, 1.000078465853448),
                (2, 3, 578, 603, 0.9999434003687729, 0.9999470258699384),
            ],
        ),
        (
            "s3",
            &[
                (0, 1, 64, 55, 1.0000160314302837, 1.0000267444661228),
                (0, 2, 65, 52, 1.0000240946897616, 1.0000341933622279),
                (1, 2, 59, 59, 1.0000040804848542, 1.0000111275689023),
            ],
        ),
        ("s4", &[]),
    ];
    for (name, pairs) in cases {
        let Some(folder) = shared(&format!("sync/synth/{name}")) else { return };
        let known: Value =
            serde_json::from_reader(File::open(folder.join("truth.json")).expect("a file"))
                .expect("JSON");
        let clocks = &known["hosts"];
        let count = clocks.as_array().expect("hosts").len();
        let hosts: Vec<_> =
            (0..count).map(|host| events(&folder.join(format!("host-{host}.json.gz")))).collect();
        let mut network = Network::new((0..count).map(|host| format!("host-{host}")));
        matched(&hosts).iter().for_each(|message| assert!(network.add(message)));
        let result = network.solve(Some(HostIndex(0)));
        if pairs.is_empty() {
            assert_eq!(result.quality(HostIndex(0), HostIndex(1)), PairQuality::OneWay);
            assert!(result.hosts().iter().all(|clock| clock.transform().is_none()));
            continue;
        }
        assert_eq!(result.pairs().len(), pairs.len());
        for (pair, (first, second, forward, backward, least, greatest)) in
            result.pairs().iter().zip(pairs)
        {
            assert_eq!((pair.first.0, pair.second.0), (*first, *second));
            assert_eq!((pair.forward, pair.backward), (*forward, *backward), "{name}");
            let slopes = [pair.bounds.least_slope(), pair.bounds.greatest_slope()];
            for (found, expected) in slopes.into_iter().zip([least, greatest]) {
                let found = found.expect("bounded").as_f64();
                assert!((found - expected).abs() < 1e-15, "{name}: {found}, not {expected}");
            }
            assert!(pair.least_delay.expect("one island") > 0);
        }
        let mut most = 0;
        for (host, clock) in result.hosts().iter().enumerate() {
            let transform = clock.transform().expect("a transform");
            for event in &hosts[host] {
                let time = Timestamp::from_ns(event["timestamp"].as_i64().expect("a time"));
                let (truth, band) =
                    (truth(clocks, host, 0, time), clock.band_at(time).expect("bounded"));
                let millionths = |time: Timestamp| time.as_ns() as i128 * 1_000_000;
                let inside = millionths(band.start) - 2_000_000..=millionths(band.end) + 2_000_000;
                assert!(inside.contains(&truth), "{name}, host {host}, {time}");
                most = most.max((millionths(transform.apply(time)) - truth).abs() / 1_000_000);
            }
        }
        // Delays are symmetric, so that the errors are far below the bands.
        let limit = if name == "s3" { 15_000 } else { 2_500 };
        assert!(most <= limit, "{name}: {most} ns");
    }
}

/// Returns the relation of the two hosts of the recorded pair, and checks it.
fn check_recorded_pair(messages: &[Message]) {
    let (dest, src) = (HostIndex(0), HostIndex(1));
    let from = |host: HostIndex| messages.iter().filter(|message| message.sender == host).count();
    assert_eq!((messages.len(), from(src), from(dest)), (46, 24, 22));
    let mut network = Network::new(["dest", "src"]);
    messages.iter().for_each(|message| assert!(network.add(message)));
    let pair = network.pair(src, dest).expect("messages");
    let bounds = pair.bounds();
    assert_eq!(bounds.quality(), PairQuality::Accurate);
    let near = |found: f64, expected: f64| {
        assert!((found - expected).abs() <= 1e-15, "{found}, not {expected}")
    };
    near(bounds.least_slope().expect("bounded").as_f64(), 0.997_370_271_390_300_9);
    near(bounds.greatest_slope().expect("bounded").as_f64(), 1.002_746_978_742_465_2);
    let line = bounds.line().expect("a line");
    near(line.slope(), 1.000_055_011_450_173_8);
    let mean = bounds.mean_line().expect("a line");
    near(mean.slope(), 1.000_058_625_066_383);
    near(1.0 / mean.slope(), 0.999_941_378_370_313_9);
    // The lines of extreme slopes and the chosen ones, in the middle of the messages. The
    // expected values are those of an exact solver.
    let x = Timestamp::from_ns(1_361_214_092_834_760_756);
    let (least, greatest) = bounds.extreme_lines().expect("lines");
    let ends = [least.at(x), greatest.at(x)].map(|time| time.expect("in range").as_ns());
    assert_eq!(ends.map(|end| end - 1_361_214_092_915_000_000), [336_319, 315_596]);
    let offset = |line: lttv_context::synchronize::pairs::Line| {
        line.at(x).expect("in range").as_ns() - 1_361_214_092_915_000_000
    };
    assert!((offset(mean) - 325_957).abs() <= 1, "{}", offset(mean));
    assert!((offset(line) - 325_971).abs() <= 1, "{}", offset(line));
    // The band contains all possible lines, not only those two: it ends at the hulls.
    let band = bounds.band().at(x).expect("bounded");
    assert_eq!(band.start.as_ns() - 1_361_214_092_915_000_000, 181_413);
    assert_eq!(band.end.as_ns() - 1_361_214_092_915_000_000, 467_047);
    let result = network.solve(Some(dest));
    assert!(result.pairs()[0].least_delay.is_some_and(|delay| delay >= 0));
    let clock = result.host(src).expect("a host");
    assert_eq!(clock.path(), [dest]);
    let back = clock
        .transform()
        .expect("a transform")
        .apply(Timestamp::from_ns(1_361_214_092_915_325_971));
    assert!(back.signed_ns_since(x).abs() <= 2);
}

#[test]
fn recorded_pair_as_text_has_known_lines() {
    let Some(folder) = shared("sync") else { return };
    let hosts = ["dest", "src"].map(|name| events(&folder.join(format!("scp_{name}.net.json"))));
    check_recorded_pair(&matched(&hosts));
}

#[test]
fn recorded_pair_has_known_lines() {
    let Some(path) = shared("traces/ctf/tc-synctraces") else { return };
    let traceset = Traceset::open(path).expect("traces");
    let hosts = Hosts::of(&traceset);
    let names: Vec<_> = hosts.all().iter().map(|host| host.name.as_deref()).collect();
    // The host with the lower identity is the reference in Trace Compass.
    assert_eq!(names, [Some("VM3"), Some("VM1")]);
    let mut messages = Vec::new();
    let read =
        read_messages(&traceset, &hosts, &Rules::built_in(), Default::default(), |message| {
            messages.push(message)
        });
    assert_eq!(
        (read.counts.messages, read.counts.sends + read.counts.receives, read.errors.len()),
        (46, 100, 0)
    );
    check_recorded_pair(&messages);
    let found = synchronize(&traceset, &Options::default());
    assert_eq!(found.counts, read.counts);
    let mut reversed: Vec<_> = traceset.traces().to_vec();
    reversed.reverse();
    let other = synchronize(&Traceset::from(reversed), &Options::default());
    let transforms = |of: &lttv_context::synchronize::Synchronized| {
        of.clocks.hosts().iter().map(|clock| clock.transform()).collect::<Vec<_>>()
    };
    assert_eq!(transforms(&found), transforms(&other));
}

/// A trace of one host: its packets pass the loopback device, and say nothing about other clocks.
#[test]
fn messages_of_one_host_make_no_transform() {
    let Some(path) = shared("traces/ctf/k1-snap") else { return };
    let traceset = Traceset::from(open_all(path).expect("traces"));
    let found = synchronize(&traceset, &Options::default());
    assert_eq!((found.hosts.all().len(), found.counts.local, found.counts.messages), (1, 13, 0));
    assert_eq!((found.counts.sends, found.counts.pending), (13, 0));
    assert_eq!(found.clocks.quality(HostIndex(0), HostIndex(0)), PairQuality::Exact);
    assert_eq!(found.clocks.hosts()[0].transform(), None);
}

/// The time of matching, compared with a count of the same events in recorded traces. Run with
/// `cargo test --release … -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn matching_of_recorded_traces_costs_little_more_than_counting() {
    for name in ["tc-synctraces", "k1-multi", "k1-8cpu"] {
        let Some(path) = shared(&format!("traces/ctf/{name}")) else { return };
        let traceset = Traceset::open(path).expect("traces");
        let (hosts, rules) = (Hosts::of(&traceset), Rules::built_in());
        let events = MessageEvents::new(&traceset, &hosts, &rules);
        let best = |run: &dyn Fn() -> u64| {
            let times = (0..20).map(|_| {
                let start = std::time::Instant::now();
                let count = run();
                (start.elapsed(), count)
            });
            times.min().expect("a run")
        };
        let (counting, count) = best(&|| {
            let mut merge = Merge::new(traceset.traces());
            let wants = |event: &Event<'_>| events.wants(event.trace_index(), event.type_id());
            std::iter::from_fn(|| merge.next_where(wants).map(drop)).count() as u64
        });
        let (matching, messages) = best(&|| {
            let read = read_messages(&traceset, &hosts, &rules, Default::default(), |_| {});
            read.counts.messages + read.counts.local
        });
        let ratio = matching.as_secs_f64() / counting.as_secs_f64();
        println!(
            "{name}: {count} events, {messages} messages: {counting:?}, {matching:?}, {ratio:.2}"
        );
    }
}
