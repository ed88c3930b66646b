//! The rules of known tracers.

use super::rule::{Rule, Rules};

/// The events of lttng-modules that a packet causes on arrival. A packet may cause several of them;
/// the first one on a host counts. Those that end in `entry` exist since 2.12, and
/// `netif_receive_skb` is the name before 2.7.
const RECEIVES: [&str; 8] = [
    "net_if_receive_skb",
    "netif_receive_skb",
    "net_if_rx",
    "netif_rx",
    "net_if_receive_skb*_entry",
    "net_if_rx*_entry",
    "net_napi_gro_receive_entry",
    "net_napi_gro_frags_entry",
];

impl Rules {
    /// Returns all rules for known tracers.
    pub fn built_in() -> Self {
        Self::lttng_network().and(Self::inet_sock()).and(Self::lttng_0()).and(Self::ros2())
    }

    /// Returns rules for the network events of lttng-modules: TCP over IPv4 and IPv6 since version
    /// 2.9, UDP and ICMP since 2.13.
    ///
    /// Keys consist of addresses and the identification of IPv4, besides the fields of the
    /// transport: ports, sequence and acknowledged numbers and flags of TCP; ports and length of
    /// UDP; all fields of ICMP. A retransmitted segment has another identification over IPv4. Where
    /// UDP has no identification, its checksum is part of the key: equal datagrams are never
    /// confused, but those of network cards that compute checksums are not matched.
    ///
    /// Segments that a network card or driver merges or splits are matched only if their first
    /// bytes and flags remain.
    pub fn lttng_network() -> Self {
        let mut rules = Rules::new();
        let tcp = ["source_port", "dest_port", "seq", "ack_seq", "flags"];
        let udp = ["source_port", "dest_port", "len"];
        let udp_checked = ["source_port", "dest_port", "len", "check"];
        let icmp = ["type", "code", "checksum", "gateway"];
        let (v4, v6) = (["saddr", "daddr", "id"], ["saddr", "daddr"]);
        let mut add = |network: &str,
                       addresses: &[&str],
                       transport: &str,
                       fields: &[&str],
                       has_id: Option<bool>| {
            let header = format!("network_header.{network}");
            let within = |path: String, name: &&str| format!("{path}.{name}");
            let key: Vec<_> = addresses
                .iter()
                .map(|name| within(header.clone(), name))
                .chain(
                    fields
                        .iter()
                        .map(|name| within(format!("{header}.transport_header.{transport}"), name)),
                )
                .collect();
            let protocol = match has_id {
                Some(false) => format!("{transport}-{network}-without-id"),
                _ => format!("{transport}-{network}"),
            };
            let ends = RECEIVES.iter().map(|event| Rule::receive(&protocol, event));
            for end in std::iter::once(Rule::send(&protocol, "net_dev_queue")).chain(ends) {
                let rule = end.key(key.iter().map(String::as_str));
                let id = format!("{header}.id");
                rules.add(match has_id {
                    Some(true) => rule.unless(&id, 0),
                    Some(false) => rule.when(&id, 0),
                    None => rule,
                });
            }
        };
        add("ipv4", &v4, "tcp", &tcp, None);
        add("ipv6", &v6, "tcp", &tcp, None);
        add("ipv4", &v4, "udp", &udp, Some(true));
        add("ipv4", &v4, "udp", &udp_checked, Some(false));
        add("ipv6", &v6, "udp", &udp_checked, None);
        add("ipv4", &v4, "icmp", &icmp, None);
        add("ipv6", &v6, "icmp", &icmp, None);
        rules
    }

    /// Returns rules for the additional modules of lttng-modules that record `inet_sock_local_out`
    /// and `inet_sock_local_in`. The key consists of the sequence and acknowledged numbers and the
    /// flags of TCP, as in Trace Compass.
    pub fn inet_sock() -> Self {
        let key = ["seq", "ack_seq", "flags"];
        let rules = [
            Rule::send("inet-sock", "inet_sock_local_out").key(key),
            Rule::receive("inet-sock", "inet_sock_local_in").key(key),
        ];
        Rules { rules: rules.into() }
    }

    /// Returns rules for TCP in traces of LTTng 0.x, as in LTTV. The time of a receive is that of
    /// the event `dev_receive` with the same buffer.
    ///
    /// UDP is left out: the events of its sends do not identify a datagram.
    pub fn lttng_0() -> Self {
        let key = [
            "saddr", "daddr", "tot_len", "ihl", "source", "dest", "seq", "ack_seq", "doff", "ack",
            "rst", "syn", "fin",
        ];
        let (ipv4, tcp) = (0x0800, 6);
        let send = Rule::send("tcp-lttng-0", "dev_xmit_extended").key(key);
        let send = send.when("network_protocol", ipv4).when("transport_protocol", tcp);
        let receive = Rule::receive("tcp-lttng-0", "tcpv4_rcv_extended").key(key);
        Rules { rules: vec![send, receive.time_of("dev_receive", "skb")] }
    }

    /// Returns rules for ROS 2: a publication is identified by its source timestamp, and may reach
    /// several hosts.
    pub fn ros2() -> Self {
        let rules = [
            Rule::send("ros2", "ros2:rmw_publish").key(["timestamp"]).to_many(),
            Rule::receive("ros2", "ros2:rmw_take")
                .key(["source_timestamp"])
                .unless("taken", 0)
                .to_many(),
        ];
        Rules { rules: rules.into() }
    }
}
