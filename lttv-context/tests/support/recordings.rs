//! Traces of hosts with known clocks, written in memory.

use std::sync::Arc;

use ltt_read::legacy::LegacyWriter;
use ltt_read::schema::{
    Array, ByteOrder, ClockClass, Dependency, EventTypeId, FieldClass, FieldKind, Format, Length,
    Roles, Schema, StreamClassId, Variant, VariantOption,
};
use ltt_read::uuid::Uuid;
use ltt_read::writer::{FieldValue, MemoryTrace, presets};
use ltt_read::{Timestamp, Trace, legacy};
use lttv_context::synchronize::matching::Direction;

use super::clocks::{Random, World};

/// The number of events of a tracefile is less than this.
const MOST_EVENTS: u32 = 1 << 20;
const SECOND: i64 = 1_000_000_000;
/// Frequencies of clocks: those of common timers and processors.
const FREQUENCIES: [u64; 5] = [1_000_000_000, 2_400_000_000, 24_000_000, 999_999_937, 14_318_180];

/// The events of one trace, and its clock.
#[derive(Debug, Clone)]
pub(crate) struct Recording {
    pub(crate) host: usize,
    pub(crate) uuid: Uuid,
    pub(crate) frequency: u64,
    /// The time of the clock's zero, in ns.
    pub(crate) zero: i64,
    /// `true` for a trace of LTTng 0.x, in which the clock's zero is not recorded.
    pub(crate) is_legacy: bool,
    /// The events by tracefile, in order.
    pub(crate) files: Vec<Vec<Record>>,
}

/// An event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    /// The true time, in ns.
    pub(crate) at: i64,
    pub(crate) cycles: u64,
    /// The number of the event in its trace. It is written as the address of a buffer. A segment
    /// has the number of its arrival.
    pub(crate) number: u32,
    pub(crate) content: Content,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// An event that is no end of a message.
    Switch,
    Send(Packet),
    Receive(Packet),
    /// The event of LTTng 0.x that follows a receive and says what was received.
    Segment(Packet),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) key: u64,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// Returns the greatest part of a clock's reading that a recorded time lacks, in ns.
pub(crate) fn quantum(frequency: u64) -> u64 {
    1_000_000_000_u64.div_ceil(frequency)
}

impl Recording {
    /// Records the ends of messages of all hosts and other events, in one or two traces for each
    /// host, and one to three tracefiles for each trace.
    pub(crate) fn all(world: &World, duration: i64, random: &mut Random) -> Vec<Self> {
        let mut all: Vec<Recording> = Vec::new();
        for (host, clock) in world.clocks.iter().enumerate() {
            let uuid = Uuid(std::array::from_fn(|_| random.next() as u8));
            let frequency = FREQUENCIES[random.range(0, FREQUENCIES.len() as i64 - 1) as usize];
            let zero = (clock.offset / SECOND - random.range(1, 100_000)) * SECOND;
            let traces = 1 + usize::from(random.range(0, 3) == 0);
            for _ in 0..traces {
                let files = vec![Vec::new(); random.range(1, 3) as usize];
                let is_legacy = false;
                all.push(Recording { host, uuid, frequency, zero, is_legacy, files });
            }
        }
        let mut add = |host: usize, at: i64, content: Content, random: &mut Random| {
            let traces: Vec<_> = all.iter_mut().filter(|of| of.host == host).collect();
            let place = random.range(0, traces.len() as i64 - 1) as usize;
            let Some(trace) = traces.into_iter().nth(place) else { return };
            let passed = world.clocks[host].at(at).as_ns() - trace.zero;
            let cycles = (passed as u128 * u128::from(trace.frequency) / SECOND as u128) as u64;
            let file = random.range(0, trace.files.len() as i64 - 1) as usize;
            trace.files[file].push(Record { at, cycles, number: 0, content });
        };
        for end in &world.ends {
            let packet = |from, to| Packet { key: end.key, from, to };
            let content = match end.direction {
                Direction::Send => Content::Send(packet(end.host, end.peer)),
                Direction::Receive => Content::Receive(packet(end.peer, end.host)),
            };
            add(end.host, end.at, content, random);
        }
        for host in 0..world.clocks.len() {
            for _ in 0..random.range(5, 40) {
                add(host, random.range(0, duration), Content::Switch, random);
            }
        }
        all.iter_mut().for_each(Self::number);
        all
    }

    /// Puts the events in order and numbers them.
    fn number(&mut self) {
        for (file, events) in self.files.iter_mut().enumerate() {
            events.sort_by_key(|event| event.cycles);
            for (index, event) in events.iter_mut().enumerate() {
                event.number = file as u32 * MOST_EVENTS + index as u32;
            }
        }
    }

    /// Returns the recording as LTTng 0.x makes it: with times since the clock's zero, and a segment
    /// some time after each receive.
    pub(crate) fn into_legacy(mut self) -> Self {
        let late = 3 * self.frequency / 1_000_000;
        let late_ns = (late as i64 * SECOND) / self.frequency as i64;
        for events in &mut self.files {
            let receives = events.iter().filter_map(|event| match event.content {
                Content::Receive(packet) => {
                    let (cycles, content) = (event.cycles + late, Content::Segment(packet));
                    Some(Record { at: event.at + late_ns, cycles, content, ..*event })
                }
                _ => None,
            });
            let segments: Vec<_> = receives.collect();
            events.extend(segments);
            events.sort_by_key(|event| event.cycles);
        }
        Recording { is_legacy: true, ..self }
    }

    /// Returns the time that the trace contains for a time of the host's clock.
    pub(crate) fn recorded(&self, time: Timestamp) -> Timestamp {
        Timestamp::from_ns(time.as_ns() - if self.is_legacy { self.zero } else { 0 })
    }

    /// Writes the trace.
    pub(crate) fn trace(&self) -> Arc<Trace> {
        match self.is_legacy {
            true => self.legacy_trace(),
            false => self.ctf_trace(),
        }
    }

    /// Writes a trace in the format of LTTng 2.13.
    fn ctf_trace(&self) -> Arc<Trace> {
        let mut schema = presets::lttng_kernel(Format::Ctf1);
        schema.clocks = vec![ClockClass {
            uuid: Some(self.uuid),
            frequency: self.frequency,
            offset_seconds: self.zero / SECOND,
            ..ClockClass::new("monotonic")
        }];
        let ids = add_event_types(&mut schema);
        let mut trace = MemoryTrace::new(schema);
        let mut bytes = Vec::new();
        for (cpu, events) in self.files.iter().enumerate() {
            let stream = trace.stream(StreamClassId(0), &format!("channel0_{cpu}"));
            let cpu = cpu as u64;
            let mut stream = stream
                .expect("a stream")
                .with_stream_id(cpu)
                .with_packet_context(FieldValue::fields([("cpu_id", cpu)]))
                .with_packet_limit(2048);
            for event in events {
                bytes.clear();
                let id = match event.content {
                    Content::Switch => 0,
                    Content::Send(_) => 1,
                    Content::Receive(_) | Content::Segment(_) => 2,
                };
                encode(event, &mut bytes);
                stream.encoded_event(ids[id], event.cycles, 8, &bytes).expect("an event");
            }
            trace.add(stream).expect("a stream");
        }
        trace.open().expect("a sound trace")
    }

    /// Writes a trace in the format of LTTng 0.x.
    fn legacy_trace(&self) -> Arc<Trace> {
        let start = self.files.iter().flatten().map(|event| event.cycles).min().unwrap_or(0);
        let mut writer = LegacyWriter::new()
            .with_clock(self.frequency, start)
            .with_machine(ByteOrder::Little, 8, 8)
            .with_sub_buffer_size(4096);
        let segment = "saddr #4u%u daddr #4u%u tot_len #2u%u ihl #1u%u source #2u%u dest #2u%u \
            seq #4u%u ack_seq #4u%u doff #1u%u ack #1u%u rst #1u%u syn #1u%u fin #1u%u";
        let mut marker =
            |channel, name, fields: &str| writer.marker(channel, name, fields).expect("a marker");
        let switch = marker("kernel", "sched_schedule", "skb #4u%u");
        let protocols = "skb #4u%u network_protocol #2u%u transport_protocol #1u%u";
        let send = marker("net", "dev_xmit_extended", &format!("{protocols} {segment}"));
        let receive = marker("net", "dev_receive", "skb #4u%u protocol #2u%u");
        let tcp = marker("net", "tcpv4_rcv_extended", &format!("skb #4u%u {segment}"));
        for (cpu, events) in self.files.iter().enumerate() {
            for event in events {
                let number = event.number.into();
                let fields = |of: Packet| {
                    let [from, to] = [of.from, of.to].map(|host| host as u64 + 1);
                    [from, to, 60, 5, 80, 5000, of.key, 9, 5, 1, 0, 0, 0].map(FieldValue::from)
                };
                let (marker, values) = match event.content {
                    Content::Switch => (switch, vec![number]),
                    Content::Send(of) => {
                        (send, [vec![number, 0x800.into(), 6.into()], fields(of).into()].concat())
                    }
                    Content::Receive(_) => (receive, vec![number, 0x800.into()]),
                    Content::Segment(of) => (tcp, [vec![number], fields(of).into()].concat()),
                };
                writer.event(cpu as u32, marker, event.cycles, &values).expect("an event");
            }
        }
        legacy::from_memory(writer.finish()).expect("a sound trace")
    }
}

/// Adds the event types, with the layout of lttng-modules 2.13.
fn add_event_types(schema: &mut Schema) -> [EventTypeId; 3] {
    let little = |bits| FieldClass::uint(bits, ByteOrder::Little);
    let big = |bits| FieldClass::uint(bits, ByteOrder::Big);
    let address = |element: FieldClass, count: u64| {
        let length = Length::Static(count);
        let roles = Roles::NONE;
        let array = Array { element: Arc::new(element), length, roles };
        FieldClass::new(FieldKind::Array(array), 8)
    };
    let empty = || FieldClass::structure([]);
    let tcp = FieldClass::structure([
        ("source_port", big(16)),
        ("dest_port", big(16)),
        ("seq", big(32)),
        ("ack_seq", big(32)),
        ("data_offset", big(4)),
        ("reserved", big(3)),
        ("flags", big(9)),
        ("window_size", big(16)),
        ("checksum", big(16)),
        ("urg_ptr", big(16)),
    ]);
    let udp = FieldClass::structure([
        ("source_port", big(16)),
        ("dest_port", big(16)),
        ("len", big(16)),
        ("check", big(16)),
    ]);
    let transport = || {
        let options = [("unknown", empty()), ("tcp", tcp.clone()), ("udp", udp.clone())];
        let labels = [("unknown", 0, 0), ("tcp", 1, 1), ("udp", 2, 2)];
        let variant = variant("transport_header_type", options);
        [("transport_header_type", presets::enumeration(8, labels)), ("transport_header", variant)]
    };
    let ipv4 = [
        ("version", big(4)),
        ("ihl", big(4)),
        ("tos", little(8)),
        ("tot_len", big(16)),
        ("id", big(16)),
        ("frag_off", big(16)),
        ("ttl", little(8)),
        ("protocol", little(8)),
        ("checksum", big(16)),
        ("saddr", address(little(8), 4)),
        ("daddr", address(little(8), 4)),
    ];
    let ipv6 = [
        ("version", big(4)),
        ("prio", big(4)),
        ("flow_lbl", address(little(8), 3)),
        ("payload_len", big(16)),
        ("nexthdr", little(8)),
        ("hop_limit", little(8)),
        ("saddr", address(big(16), 8)),
        ("daddr", address(big(16), 8)),
    ];
    let options = [
        ("unknown", empty()),
        ("ipv4", FieldClass::structure(ipv4.into_iter().chain(transport()))),
        ("ipv6", FieldClass::structure(ipv6.into_iter().chain(transport()))),
    ];
    let labels = [("unknown", 0, 0), ("ipv4", 1, 1), ("ipv6", 2, 2)];
    let packet = FieldClass::structure([
        ("skbaddr", little(64)),
        ("len", little(32)),
        ("name", FieldClass::string()),
        ("network_header_type", presets::enumeration(8, labels)),
        ("network_header", variant("network_header_type", options)),
    ]);
    let switch = FieldClass::structure([
        ("prev_comm", presets::text_array(16)),
        ("next_tid", FieldClass::sint(32, ByteOrder::Little)),
    ]);
    [("sched_switch", switch), ("net_dev_queue", packet.clone()), ("net_if_receive_skb", packet)]
        .map(|(name, class)| schema.add_event_type(StreamClassId(0), name, class))
}

fn variant<'n>(
    selector: &str,
    options: impl IntoIterator<Item = (&'n str, FieldClass)>,
) -> FieldClass {
    let options = options.into_iter().enumerate().map(|(number, (name, class))| VariantOption {
        name: Some(name.into()),
        label: Some(name.into()),
        ranges: vec![(number as i128, number as i128)],
        class: Arc::new(class),
        attributes: None,
    });
    let (selector, options) = (Dependency::sibling(selector), options.collect());
    FieldClass::new(FieldKind::Variant(Variant { selector, options }), 1)
}

/// Writes the payload of an event: IPv6 for packets of odd hosts, otherwise IPv4.
fn encode(event: &Record, out: &mut Vec<u8>) {
    let packet = match event.content {
        Content::Switch => {
            out.extend(b"swapper/0\0\0\0\0\0\0\0");
            out.extend(event.number.to_le_bytes());
            return;
        }
        Content::Send(packet) | Content::Receive(packet) | Content::Segment(packet) => packet,
    };
    let address = |host: usize| [10, 0, 1, host as u8];
    out.extend(u64::from(event.number).to_le_bytes());
    out.extend(60_u32.to_le_bytes());
    out.extend(b"eth0\0");
    match packet.from % 2 {
        0 => {
            out.extend([1, 0x45, 0, 0, 60]);
            out.extend((packet.key as u16).to_be_bytes());
            out.extend([0x40, 0, 64, 6, 0xab, 0xcd]);
            out.extend(address(packet.from));
            out.extend(address(packet.to));
        }
        _ => {
            out.extend([2, 0x60, 0, 0, 0, 0, 20, 6, 64]);
            for host in [packet.from, packet.to] {
                out.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0]);
                out.extend(address(host));
            }
        }
    }
    out.extend([1, 0x13, 0x88, 0, 0x50]);
    out.extend((packet.key as u32).to_be_bytes());
    out.extend([0, 0, 0, 7, 0x50, 0x10, 0x72, 0x10, 0xab, 0xcd, 0, 0]);
}
