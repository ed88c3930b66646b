//! The built-in rules find the messages of each tracer, and rules can be added.

use std::sync::Arc;

use ltt_read::legacy::LegacyWriter;
use ltt_read::{Trace, TraceIndex, legacy};
use lttv_context::Traceset;
use lttv_context::synchronize::matching::{
    Hosts, MatchCounts, MessageEvents, Rule, Rules, read_messages,
};
use lttv_context::synchronize::{HostIndex, Message};

/// The declarations of network headers by lttng-modules 2.13, without the fields that rules do not
/// use.
const TYPES: &str = "
    typealias integer { size = 8; align = 8; signed = false; } := u8;
    typealias integer { size = 16; align = 8; signed = false; byte_order = be; } := n16;
    typealias integer { size = 32; align = 8; signed = false; byte_order = be; } := n32;
    typealias integer { size = 64; align = 8; signed = false; } := u64;
    typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := time;
    stream { event.header := struct { u8 id; time timestamp; }; };";
const TRANSPORT: &str = "
    enum : u8 { _unknown = 0, _tcp = 1, _udp = 2, _icmp = 3 } _transport_header_type;
    variant <_transport_header_type> {
        struct { } _unknown;
        struct { n16 _source_port; n16 _dest_port; n32 _seq; n32 _ack_seq; n16 _flags; } _tcp;
        struct { n16 _source_port; n16 _dest_port; n16 _len; n16 _check; } _udp;
        struct { u8 _type; u8 _code; n16 _checksum; n32 _gateway; } _icmp;
    } _transport_header;";

const EVENTS: [&str; 7] = [
    "net_dev_queue",
    "net_if_receive_skb",
    "net_napi_gro_receive_entry",
    "netif_receive_skb",
    "net_if_rx_ni_entry",
    "ros2:rmw_publish",
    "ros2:rmw_take",
];

fn metadata(host: u8) -> String {
    let network = format!(
        "struct {{ u64 _skbaddr;
            enum : u8 {{ _unknown = 0, _ipv4 = 1, _ipv6 = 2 }} _network_header_type;
            variant <_network_header_type> {{
                struct {{ }} _unknown;
                struct {{ n16 _id; u8 _saddr[4]; u8 _daddr[4]; {TRANSPORT} }} _ipv4;
                struct {{ u8 _hop_limit; n16 _saddr[8]; n16 _daddr[8]; {TRANSPORT} }} _ipv6;
            }} _network_header; }}"
    );
    let publish = "struct { u64 rmw_publisher_handle; u64 timestamp; }";
    let take = "struct { u64 source_timestamp; u8 taken; }";
    let events = EVENTS.iter().enumerate().map(|(id, name)| {
        let fields = match id {
            0..=4 => network.as_str(),
            5 => publish,
            _ => take,
        };
        format!("event {{ name = \"{name}\"; id = {id}; fields := {fields}; }};\n")
    });
    format!(
        "/* CTF 1.8 */ trace {{ major = 1; minor = 8; byte_order = le; }};
        clock {{ name = monotonic; freq = 1000000000;
            uuid = \"0000000{host}-0000-4000-8000-000000000000\"; }};
        env {{ hostname = \"host-{host}\"; }};
        {TYPES} {}",
        events.collect::<String>()
    )
}

/// The bytes of events.
#[derive(Debug, Default, Clone)]
struct Host(Vec<u8>);

/// The fields of a transport header: its type, and its bytes.
type Transport = (u8, Vec<u8>);

fn tcp(seq: u32) -> Transport {
    let mut bytes = [[0x13, 0x88], [0x00, 0x50]].concat();
    bytes.extend(seq.to_be_bytes());
    bytes.extend(7_u32.to_be_bytes());
    bytes.extend([0, 16]);
    (1, bytes)
}

fn udp(len: u16, check: u16) -> Transport {
    let parts = [5000, 53, len, check];
    (2, parts.into_iter().flat_map(u16::to_be_bytes).collect())
}

fn icmp(gateway: u32) -> Transport {
    let mut bytes = vec![8, 0, 0xab, 0xcd];
    bytes.extend(gateway.to_be_bytes());
    (3, bytes)
}

impl Host {
    fn event(&mut self, name: &str, time: u64, payload: &[u8]) {
        let id = EVENTS.iter().position(|of| *of == name).expect("an event") as u8;
        self.0.push(id);
        self.0.extend(time.to_le_bytes());
        self.0.extend(payload);
    }

    /// An event with a buffer address, which differs on each host.
    fn packet(&mut self, name: &str, time: u64, network: &[u8], transport: &Transport) {
        let mut payload = (time * 64).to_le_bytes().to_vec();
        payload.extend(network);
        payload.push(transport.0);
        payload.extend(&transport.1);
        self.event(name, time, &payload);
    }

    fn v4(&mut self, name: &str, time: u64, id: u16, transport: &Transport) {
        let mut network = vec![1];
        network.extend(id.to_be_bytes());
        network.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        self.packet(name, time, &network, transport);
    }

    fn v6(&mut self, name: &str, time: u64, hop_limit: u8, transport: &Transport) {
        let mut network = vec![2, hop_limit];
        network.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        network.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
        self.packet(name, time, &network, transport);
    }
}

fn traceset(hosts: &[Host]) -> Traceset {
    let trace = |(number, host): (usize, &Host)| -> Arc<Trace> {
        let metadata = metadata(number as u8);
        Trace::from_memory(metadata.as_bytes(), [("stream".to_owned(), host.0.clone())])
            .expect("a sound trace")
    };
    hosts.iter().enumerate().map(trace).collect()
}

/// Returns the times of all messages, as (sender, sent, receiver, received).
fn read(traceset: &Traceset, rules: &Rules) -> (Vec<(usize, i64, usize, i64)>, MatchCounts) {
    let mut messages = Vec::new();
    let hosts = Hosts::of(traceset);
    let read = read_messages(traceset, &hosts, rules, Default::default(), |of: Message| {
        messages.push((of.sender.0, of.sent.as_ns(), of.receiver.0, of.received.as_ns()));
    });
    assert!(read.errors.is_empty() && read.errors_omitted == 0, "{:?}", read.errors);
    messages.sort_unstable();
    (messages, read.counts)
}

#[test]
fn lttng_packets_of_all_protocols_are_matched() {
    let mut hosts = [Host::default(), Host::default()];
    let [a, b] = &mut hosts;
    a.v4("net_dev_queue", 100, 1, &tcp(1000));
    a.v4("net_dev_queue", 200, 2, &udp(40, 0xaaaa));
    a.v4("net_dev_queue", 300, 0, &udp(40, 0xbbbb));
    a.v4("net_dev_queue", 400, 3, &icmp(9));
    a.v6("net_dev_queue", 500, 64, &tcp(2000));
    a.v6("net_dev_queue", 600, 64, &udp(80, 0xcccc));
    a.v6("net_dev_queue", 700, 64, &icmp(10));
    // Packets without the fields of any rule.
    a.event("net_dev_queue", 800, &[0; 9]);
    a.v4("net_dev_queue", 900, 4, &(0, Vec::new()));
    b.v4("net_if_receive_skb", 1100, 1, &tcp(1000));
    // A network card computed the checksum, which is not needed if there is an identification.
    b.v4("netif_receive_skb", 1200, 2, &udp(40, 0x1234));
    b.v4("net_if_rx_ni_entry", 1300, 0, &udp(40, 0xbbbb));
    b.v4("net_if_receive_skb", 1400, 3, &icmp(9));
    // The same packet in two events of the receiver, after a router.
    b.v6("net_napi_gro_receive_entry", 1500, 63, &tcp(2000));
    b.v6("net_if_receive_skb", 1510, 63, &tcp(2000));
    b.v6("net_if_receive_skb", 1600, 64, &udp(80, 0xcccc));
    b.v6("net_if_receive_skb", 1700, 64, &icmp(10));
    b.v4("net_if_receive_skb", 1900, 4, &(0, Vec::new()));
    let (messages, counts) = read(&traceset(&hosts), &Rules::built_in());
    let expected: Vec<_> = (1..=7).map(|n| (0, n * 100, 1, 1000 + n * 100)).collect();
    assert_eq!(messages, expected);
    assert_eq!((counts.sends, counts.receives, counts.repeated, counts.pending), (7, 8, 1, 0));
}

#[test]
fn lttng_packets_that_differ_are_not_matched() {
    let mut hosts = [Host::default(), Host::default()];
    let [a, b] = &mut hosts;
    a.v4("net_dev_queue", 100, 1, &tcp(1000));
    b.v4("net_if_receive_skb", 1100, 2, &tcp(1000)); // a retransmission
    a.v4("net_dev_queue", 200, 1, &tcp(2000));
    b.v4("net_if_receive_skb", 1200, 1, &tcp(2001));
    a.v4("net_dev_queue", 300, 0, &udp(40, 0xbbbb));
    b.v4("net_if_receive_skb", 1300, 0, &udp(40, 0xbbbc));
    a.v6("net_dev_queue", 400, 64, &tcp(1000));
    b.v4("net_if_receive_skb", 1400, 4, &tcp(1000));
    a.v4("net_dev_queue", 500, 5, &icmp(9));
    b.v4("net_if_receive_skb", 1500, 5, &udp(0, 9));
    let (messages, counts) = read(&traceset(&hosts), &Rules::built_in());
    assert_eq!((messages.len(), counts.pending), (0, 10));
}

#[test]
fn publications_reach_all_subscribers() {
    let mut hosts = [Host::default(), Host::default(), Host::default()];
    let pair = |first: u64, second: u64| [first.to_le_bytes(), second.to_le_bytes()].concat();
    let take = |source: u64, taken: u8| [&source.to_le_bytes()[..], &[taken]].concat();
    hosts[0].event("ros2:rmw_publish", 100, &pair(0xf00, 77));
    hosts[0].event("ros2:rmw_take", 150, &take(77, 1));
    hosts[1].event("ros2:rmw_take", 120, &take(77, 0));
    hosts[1].event("ros2:rmw_take", 130, &take(77, 1));
    hosts[2].event("ros2:rmw_take", 90, &take(77, 1));
    let (messages, counts) = read(&traceset(&hosts), &Rules::built_in());
    assert_eq!(messages, [(0, 100, 1, 130), (0, 100, 2, 90)]);
    assert_eq!((counts.local, counts.receives), (1, 3));
}

#[test]
fn callers_can_add_rules() {
    let mut hosts = [Host::default(), Host::default()];
    let pair = |first: u64, second: u64| [first.to_le_bytes(), second.to_le_bytes()].concat();
    hosts[0].event("ros2:rmw_publish", 100, &pair(5, 77));
    hosts[1].v4("net_if_receive_skb", 210, 5, &icmp(9));
    let traceset = traceset(&hosts);
    let mut rules = Rules::new();
    assert!(rules.is_empty());
    rules.add(Rule::send("mine", "ros2:*").key(["rmw_publisher_handle"]));
    rules.add(Rule::receive("mine", "net_if_*").key(["network_header.ipv4.id"]));
    rules.add(Rule::receive("mine", "net_if_*").key(["no_such_field"]));
    assert_eq!((read(&traceset, &rules).0, rules.len()), (vec![(0, 100, 1, 210)], 3));
    // A condition that does not hold, and another protocol.
    let mut other = Rules::new();
    other.add(Rule::send("mine", "ros2:*").key(["rmw_publisher_handle"]).when("timestamp", 78));
    other.add(Rule::send("yours", "ros2:*").key(["rmw_publisher_handle"]));
    other.add(Rule::receive("mine", "net_if_*").key(["network_header.ipv4.id"]));
    let (messages, counts) = read(&traceset, &other);
    assert_eq!((messages.len(), counts.sends, counts.receives), (0, 1, 1));
    // Only event types with all fields of a key are read.
    let events = MessageEvents::new(&traceset, &Hosts::of(&traceset), &rules);
    let wanted: Vec<_> = traceset.traces()[0]
        .schema()
        .event_types
        .iter()
        .enumerate()
        .filter(|(id, _)| events.wants(TraceIndex(0), ltt_read::schema::EventTypeId(*id as u32)))
        .map(|(_, event_type)| event_type.name())
        .collect();
    assert_eq!(wanted, ["net_if_receive_skb", "net_if_rx_ni_entry", "ros2:rmw_publish"]);
}

/// The receive of a segment has the time of `dev_receive` with the same buffer.
#[test]
fn segments_of_lttng_0_have_the_time_of_their_arrival() {
    const SEGMENT: &str = "saddr #4u%u daddr #4u%u tot_len #2u%u ihl #1u%u source #2u%u dest #2u%u \
        seq #4u%u ack_seq #4u%u doff #1u%u ack #1u%u rst #1u%u syn #1u%u fin #1u%u";
    let segment = |seq: u64| {
        [1, 2, 60, 5, 80, 5000, seq, 9, 5, 1, 0, 0, 0].map(ltt_read::writer::FieldValue::from)
    };
    let host = |sends: &[(u64, u64, u64)], receives: &[(u64, u64, u64)]| {
        let mut writer = LegacyWriter::new();
        let xmit = format!("skb #4u%u network_protocol #2u%u transport_protocol #1u%u {SEGMENT}");
        let xmit = writer.marker("net", "dev_xmit_extended", &xmit).expect("a marker");
        let arrive =
            writer.marker("net", "dev_receive", "skb #4u%u protocol #2u%u").expect("a marker");
        let tcp = writer
            .marker("net", "tcpv4_rcv_extended", &format!("skb #4u%u {SEGMENT}"))
            .expect("a marker");
        for (time, protocol, seq) in sends {
            let values =
                [0x77.into(), 0x800.into(), (*protocol).into()].into_iter().chain(segment(*seq));
            writer.event(0, xmit, *time, &values.collect::<Vec<_>>()).expect("an event");
        }
        for (time, skb, seq) in receives {
            if *seq == 0 {
                writer.event(0, arrive, *time, &[(*skb).into(), 0x800.into()]).expect("an event");
            } else {
                let values = std::iter::once((*skb).into()).chain(segment(*seq));
                writer.event(0, tcp, *time, &values.collect::<Vec<_>>()).expect("an event");
            }
        }
        legacy::from_memory(writer.finish()).expect("a sound trace")
    };
    let a = host(&[(1000, 6, 111), (2000, 6, 222), (3000, 17, 333), (4000, 6, 444)], &[]);
    // Two packets are in processing at once. The last one has no time of arrival.
    let b =
        host(&[], &[(5000, 8, 0), (5100, 9, 0), (5200, 8, 111), (5300, 9, 222), (5400, 8, 444)]);
    let traceset: Traceset = [a, b].into_iter().collect();
    let mut number = 0;
    let hosts = Hosts::by(&traceset, |_| {
        number += 1;
        format!("host-{number}")
    });
    let mut messages = Vec::new();
    let read = read_messages(&traceset, &hosts, &Rules::lttng_0(), Default::default(), |of| {
        messages.push(of)
    });
    let times: Vec<_> = messages
        .iter()
        .map(|of| (of.sender, of.receiver, of.received.signed_ns_since(of.sent)))
        .collect();
    assert_eq!(times, [(HostIndex(0), HostIndex(1), 4000), (HostIndex(0), HostIndex(1), 3100)]);
    assert_eq!((read.counts.sends, read.counts.receives), (3, 2));
}

/// Fields of a key are equal if their values are, whatever their declarations.
#[test]
fn keys_do_not_depend_on_the_sizes_of_fields() {
    let of = |name: &str, fields: &str| {
        format!(
            "/* CTF 1.8 */ trace {{ major = 1; minor = 8; byte_order = le; }};
            clock {{ name = monotonic; freq = 1000000000; }};
            typealias integer {{ size = 64; align = 8; map = clock.monotonic.value; }} := time;
            typealias integer {{ size = 8; align = 8; }} := u8;
            typealias integer {{ size = 8; align = 8; signed = true; }} := s8;
            typealias integer {{ size = 16; align = 8; byte_order = be; }} := n16;
            typealias integer {{ size = 32; align = 8; signed = true; }} := s32;
            stream {{ event.header := struct {{ time timestamp; }}; }};
            event {{ name = \"{name}\"; fields := struct {{ {fields} }}; }};"
        )
    };
    let messages = |send: (&str, &[u8]), receive: (&str, &[u8])| {
        let trace = |name: &str, time: u64, (fields, payload): (&str, &[u8])| {
            let data = [&time.to_le_bytes(), payload].concat();
            Trace::from_memory(of(name, fields).as_bytes(), [("stream".to_owned(), data)])
                .expect("a sound trace")
        };
        let traceset: Traceset =
            [trace("send", 10, send), trace("receive", 20, receive)].into_iter().collect();
        let mut number = 0;
        let hosts = Hosts::by(&traceset, |_| {
            number += 1;
            number.to_string()
        });
        let mut rules = Rules::new();
        rules.add(Rule::send("any", "send").key(["a", "b"]));
        rules.add(Rule::receive("any", "receive").key(["a", "b"]));
        let read = read_messages(&traceset, &hosts, &rules, Default::default(), |_| {});
        assert_eq!((read.counts.sends, read.counts.receives), (1, 1));
        read.counts.messages
    };
    let small: (&str, &[u8]) = ("u8 a; u8 b[2];", &[7, 1, 255]);
    assert_eq!(messages(small, small), 1);
    assert_eq!(messages(small, ("n16 a; n16 b[2];", &[0, 7, 0, 1, 0, 255])), 1);
    assert_eq!(messages(small, ("n16 a; n16 b[2];", &[1, 7, 0, 1, 0, 255])), 0);
    assert_eq!(messages(small, ("u8 count; s32 a; u8 b[count];", &[2, 7, 0, 0, 0, 1, 255])), 1);
    assert_eq!(messages(small, ("s32 a; s8 b[2];", &[7, 0, 0, 0, 1, 255])), 0);
    assert_eq!(
        messages(("s8 a; u8 b;", &[255, 3]), ("s32 a; n16 b;", &[255, 255, 255, 255, 0, 3])),
        1
    );
    assert_eq!(messages(("s8 a; u8 b;", &[255, 3]), ("n16 a; u8 b;", &[0, 255, 3])), 0);
    assert_eq!(
        messages(("string a; u8 b;", b"x\0\x03"), ("string a; s32 b;", b"x\0\x03\0\0\0")),
        1
    );
    assert_eq!(messages(("u8 a; u8 b;", &[1, 2]), ("u8 a; u8 b[1];", &[1, 2])), 0);
}

#[test]
fn hosts_are_told_apart_by_their_clocks() {
    let hosts = [Host::default(), Host::default()];
    let once = traceset(&hosts);
    let twice: Traceset = once.traces().iter().chain(once.traces()).cloned().collect();
    let found = Hosts::of(&twice);
    assert_eq!(found.all().len(), 2);
    assert_eq!(found.all()[1].traces, [TraceIndex(1), TraceIndex(3)]);
    assert_eq!(found.of_trace(TraceIndex(2)), Some(HostIndex(0)));
    assert_eq!(found.of_trace(TraceIndex(4)), None);
    assert_eq!(found.find("host-1"), Some(HostIndex(1)));
    assert_eq!(found.find(&found.all()[1].id), Some(HostIndex(1)));
    assert_eq!(found.find("host-2"), None);
    let identity = |text: &str| {
        let metadata =
            format!("/* CTF 1.8 */ trace {{ major = 1; minor = 8; byte_order = le; }};\n{text}");
        let trace = Trace::from_memory(metadata.as_bytes(), []).expect("a sound trace");
        Hosts::of(&[trace].into_iter().collect()).all()[0].id.clone()
    };
    let nil = "clock { name = c; freq = 1; uuid = \"00000000-0000-0000-0000-000000000000\"; };";
    assert_eq!(identity(&format!("{nil} env {{ hostname = \"x\"; }};")), "host x");
    assert_eq!(identity("env { hostname = \"(none)\"; };"), "path ");
    let uuid = "1a9a454c-b8e8-4c19-b95d-65840be0962f";
    assert_eq!(
        identity(&format!(
            "clock {{ name = c; uuid = \"{uuid}\"; }}; env {{ hostname = \"x\"; }};"
        )),
        uuid
    );
}

/// The time of matching, compared with a count of the same events in the same traces. Run with
/// `cargo test --release … -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn matching_costs_little_more_than_counting() {
    const EVENTS: u64 = 2_000_000;
    for share in [1, 10, 50, 200] {
        let mut hosts = [Host::default(), Host::default()];
        for number in 0..EVENTS {
            let host = (number / 7 % 2) as usize;
            match number % share == 0 {
                false => hosts[host].event(
                    "ros2:rmw_publish",
                    number * 100,
                    &number.to_le_bytes().repeat(2),
                ),
                true => {
                    // Each packet is sent by one host, and then received by the other.
                    let packet = number / share / 2;
                    let from = (packet % 2) as usize;
                    let (host, name) = match number / share % 2 == 0 {
                        true => (from, "net_dev_queue"),
                        false => (1 - from, "net_if_receive_skb"),
                    };
                    hosts[host].v4(name, number * 100, packet as u16, &tcp(packet as u32));
                }
            }
        }
        let traceset = traceset(&hosts);
        let (known, rules) = (Hosts::of(&traceset), Rules::lttng_network());
        let events = MessageEvents::new(&traceset, &known, &rules);
        let counting = || {
            let mut merge = ltt_read::Merge::new(traceset.traces());
            let mut count = 0_u64;
            while merge
                .next_where(|event| events.wants(event.trace_index(), event.type_id()))
                .is_some()
            {
                count += 1;
            }
            count
        };
        let matching =
            || read_messages(&traceset, &known, &rules, Default::default(), |_| {}).counts.messages;
        let timed = |run: &dyn Fn() -> u64| {
            let start = std::time::Instant::now();
            let count = run();
            (start.elapsed(), count)
        };
        // Both in turn, since the load of the machine changes.
        let rounds: Vec<_> = (0..15).map(|_| (timed(&counting), timed(&matching))).collect();
        let (counting, count) = rounds.iter().map(|round| round.0).min().expect("a round");
        let (matching, messages) = rounds.iter().map(|round| round.1).min().expect("a round");
        let ratio = matching.as_secs_f64() / counting.as_secs_f64();
        println!(
            "1 of {share}: {count} events, {messages} messages: {counting:?}, {matching:?}, {ratio:.2}"
        );
    }
}
