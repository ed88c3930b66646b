//! The events with which tracers record messages between machines.

use ltt_read::metadata;
use ltt_read::schema::{EventTypeId, FieldClass, Format, Schema, StreamClassId};
use ltt_read::writer::{FieldValue, presets};

use super::hosts::uint;

/// A tracer, and what it records of messages.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Recorder {
    /// The additional modules of lttng-modules.
    InetSock,
    /// lttng-modules 2.9 to 2.12: packets of these kinds, of which those of TCP have a transport
    /// header.
    Lttng2_9(&'static [Packet]),
    /// lttng-modules 2.13 or later: packets of these kinds.
    Lttng2_13(&'static [Packet]),
    /// ROS 2, in user space.
    Ros2,
}

/// The protocols of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packet {
    Tcp4,
    Tcp6,
    Udp4,
    /// A datagram without an identification, which IPv4 does not need if it is not divided.
    Udp4WithoutId,
    Udp6,
    Icmp4,
    Icmp6,
    /// A packet of the address resolution protocol.
    Arp,
}

impl Packet {
    pub(crate) const ALL: &[Packet] = &[
        Packet::Tcp4,
        Packet::Tcp6,
        Packet::Udp4,
        Packet::Udp4WithoutId,
        Packet::Udp6,
        Packet::Icmp4,
        Packet::Icmp6,
        Packet::Arp,
    ];

    pub(crate) fn is_tcp(self) -> bool {
        matches!(self, Packet::Tcp4 | Packet::Tcp6)
    }
}

impl Recorder {
    /// Returns the name of the domain: the last part of the path of a trace.
    pub(crate) fn domain(self) -> &'static str {
        match self {
            Recorder::Ros2 => "ust",
            _ => "kernel",
        }
    }

    /// Returns the name of the field with the true time of an event.
    pub(crate) fn true_time(self) -> &'static str {
        match self {
            Recorder::InetSock => "true_ns",
            // Addresses in memory, which differ on both machines anyway.
            Recorder::Lttng2_9(_) | Recorder::Lttng2_13(_) => "skbaddr",
            Recorder::Ros2 => "message",
        }
    }

    /// Returns a schema with the types of sends and of receives.
    pub(super) fn schema(self) -> (Schema, [EventTypeId; 2]) {
        let mut schema = match self {
            Recorder::Ros2 => presets::lttng_ust(Format::Ctf1),
            _ => presets::lttng_kernel(Format::Ctf1),
        };
        let types = match self {
            Recorder::InetSock => {
                let fields =
                    [("seq", 32), ("ack_seq", 32), ("flags", 16), ("true_ns", 64)].map(field);
                let class = FieldClass::structure(fields);
                [("inet_sock_local_out", class.clone()), ("inet_sock_local_in", class)]
            }
            Recorder::Lttng2_9(_) | Recorder::Lttng2_13(_) => {
                let class = self.network_class();
                [("net_dev_queue", class.clone()), ("net_if_receive_skb", class)]
            }
            Recorder::Ros2 => {
                let publish = [("rmw_publisher_handle", 64), ("message", 64), ("timestamp", 64)];
                let take = [
                    ("rmw_subscription_handle", 64),
                    ("message", 64),
                    ("source_timestamp", 64),
                    ("taken", 32),
                ];
                [
                    ("ros2:rmw_publish", FieldClass::structure(publish.map(field))),
                    ("ros2:rmw_take", FieldClass::structure(take.map(field))),
                ]
            }
        };
        let types = types.map(|(name, class)| schema.add_event_type(StreamClassId(0), name, class));
        (schema, types)
    }

    /// Returns the kind of a packet: each kind in both directions.
    pub(crate) fn packet(self, key: usize) -> Option<Packet> {
        match self {
            Recorder::Lttng2_9(kinds) | Recorder::Lttng2_13(kinds) => {
                Some(kinds[key / 2 % kinds.len()])
            }
            _ => None,
        }
    }

    /// Returns the fields of an end of a message.
    pub(super) fn values(self, key: usize, is_send: bool, true_ns: u64) -> FieldValue {
        let number = key as u64;
        let time = FieldValue::from(true_ns);
        match self {
            Recorder::InetSock => FieldValue::structure([number.into(), 7.into(), 16.into(), time]),
            Recorder::Ros2 if is_send => {
                FieldValue::structure([5.into(), time, (number + 1).into()])
            }
            Recorder::Ros2 => {
                FieldValue::structure([6.into(), time, (number + 1).into(), 1.into()])
            }
            Recorder::Lttng2_9(_) | Recorder::Lttng2_13(_) => {
                let has_all = matches!(self, Recorder::Lttng2_13(_));
                let header = self.packet(key).map(|packet| network_header(packet, number, has_all));
                FieldValue::Fields(vec![
                    ("skbaddr".into(), time),
                    ("len".into(), 60.into()),
                    ("name".into(), "eth0".into()),
                    ("network_header".into(), header.unwrap_or_default()),
                ])
            }
        }
    }

    /// Returns the class of the fields of a packet, as lttng-modules declares them.
    fn network_class(self) -> FieldClass {
        let (labels, more) = match self {
            Recorder::Lttng2_13(_) => (", _udp = 2, _icmp = 3", MORE_TRANSPORT),
            _ => ("", ""),
        };
        let transport = format!(
            "enum : u8 {{ _unknown = 0, _tcp = 1{labels} }} _transport_header_type;
            variant <_transport_header_type> {{ struct {{ }} _unknown; {TCP} {more} }} _transport_header;"
        );
        let text = format!(
            "/* CTF 1.8 */ trace {{ major = 1; minor = 8; byte_order = le; }}; {TYPES} stream {{ }};
            event {{ name = e; fields := struct {{ u64 _skbaddr; u32 _len; string _name;
                enum : u8 {{ _unknown = 0, _ipv4 = 1, _ipv6 = 2 }} _network_header_type;
                variant <_network_header_type> {{ struct {{ }} _unknown;
                    struct {{ {IPV4} {transport} }} _ipv4;
                    struct {{ {IPV6} {transport} }} _ipv6;
                }} _network_header; }}; }};"
        );
        let parsed = metadata::parse(text.as_bytes()).expect("sound metadata");
        parsed.schema.event_types[0].payload.as_deref().expect("fields").clone()
    }
}

const TYPES: &str = "
    typealias integer { size = 8; align = 8; } := u8;
    typealias integer { size = 32; align = 8; } := u32;
    typealias integer { size = 64; align = 8; } := u64;
    typealias integer { size = 3; align = 1; byte_order = be; } := n3;
    typealias integer { size = 4; align = 4; byte_order = be; } := n4;
    typealias integer { size = 9; align = 1; byte_order = be; } := n9;
    typealias integer { size = 16; align = 8; byte_order = be; } := n16;
    typealias integer { size = 32; align = 8; byte_order = be; } := n32;";
const IPV4: &str = "n4 _version; n4 _ihl; u8 _tos; n16 _tot_len; n16 _id; n16 _frag_off; u8 _ttl;
    u8 _protocol; n16 _checksum; u8 _saddr[4]; u8 _daddr[4];";
const IPV6: &str = "n4 _version; n4 _prio; u8 _flow_lbl[3]; n16 _payload_len; u8 _nexthdr;
    u8 _hop_limit; n16 _saddr[8]; n16 _daddr[8];";
const TCP: &str =
    "struct { n16 _source_port; n16 _dest_port; n32 _seq; n32 _ack_seq; n4 _data_offset;
    n3 _reserved; n9 _flags; n16 _window_size; n16 _checksum; n16 _urg_ptr; } _tcp;";
const MORE_TRANSPORT: &str = "
    struct { n16 _source_port; n16 _dest_port; n16 _len; n16 _check; } _udp;
    struct { u8 _type; u8 _code; n16 _checksum; n32 _gateway; } _icmp;";

/// Returns the headers of a packet. The transport header of other protocols than TCP is recorded
/// if `has_all` is set.
fn network_header(packet: Packet, number: u64, has_all: bool) -> FieldValue {
    let fields = |fields: &[(&'static str, u64)]| {
        FieldValue::fields(fields.iter().map(|(name, value)| (*name, *value)))
    };
    // Numbers of few bits: keys differ by one of them only.
    let (low, unknown) = (number & 0xffff, FieldValue::variant(0, FieldValue::Auto));
    let transport = match packet {
        Packet::Arp => return unknown,
        Packet::Tcp4 | Packet::Tcp6 => {
            let parts =
                [("source_port", 5000), ("dest_port", 22), ("seq", number), ("flags", 0x18)];
            FieldValue::variant(1, fields(&parts))
        }
        _ if !has_all => unknown,
        Packet::Udp4 | Packet::Udp4WithoutId | Packet::Udp6 => {
            let parts = [("source_port", 5000), ("dest_port", 53), ("len", 40), ("check", low)];
            FieldValue::variant(2, fields(&parts))
        }
        Packet::Icmp4 | Packet::Icmp6 => {
            let parts = [("type", 8), ("checksum", 0xabcd), ("gateway", number)];
            FieldValue::variant(3, fields(&parts))
        }
    };
    let is_v6 = matches!(packet, Packet::Tcp6 | Packet::Udp6 | Packet::Icmp6);
    let address = |last: u64| match is_v6 {
        true => FieldValue::array([0x2001, 0xdb8, 0, 0, 0, 0, 0, last]),
        false => FieldValue::array([10, 0, 0, last]),
    };
    let id = if packet == Packet::Udp4WithoutId { 0 } else { low + 1 };
    let mut header = vec![
        ("version".into(), FieldValue::from(if is_v6 { 6_u64 } else { 4 })),
        ("saddr".into(), address(1)),
        ("daddr".into(), address(2)),
        ("transport_header".into(), transport),
    ];
    if !is_v6 {
        header.push(("id".into(), id.into()));
    }
    FieldValue::variant(if is_v6 { 2 } else { 1 }, FieldValue::Fields(header))
}

fn field((name, bits): (&'static str, u32)) -> (&'static str, FieldClass) {
    (name, uint(bits))
}
