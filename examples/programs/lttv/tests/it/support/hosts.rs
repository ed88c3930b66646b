//! Traces of several machines with known clocks, which exchange messages.

use std::path::Path;

use ltt_read::legacy::LegacyWriter;
use ltt_read::schema::{
    ByteOrder, EnvValue, EventTypeId, FieldClass, Format, Schema, StreamClassId,
};
use ltt_read::uuid::Uuid;
use ltt_read::writer::{FieldValue, TraceWriter, presets};

use super::recorders::Recorder;

/// The true time of the first message, in ns.
const START: i64 = 1_000_000_000;
/// The true time between two messages, in ns.
const EACH: i64 = 5_000_000;

/// A machine whose clock shows `offset + t + t · ppb / 10⁹` at the true time `t`, in ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine {
    pub(crate) name: &'static str,
    pub(crate) offset: i64,
    pub(crate) ppb: i64,
}

impl Machine {
    /// Returns the time that the clock shows.
    pub(crate) fn at(&self, t: i64) -> i64 {
        let drift = (i128::from(t) * i128::from(self.ppb)).div_euclid(1_000_000_000);
        self.offset + t + drift as i64
    }
}

/// A message: the numbers of the sender and of the receiver, and the true times.
pub(crate) type Sent = (usize, usize, i64, i64);

/// Returns messages between the machines of pairs, in both directions in turn.
pub(crate) fn messages(pairs: &[(usize, usize)], count: usize) -> Vec<Sent> {
    let message = |number: usize| {
        let (a, b) = pairs[number % pairs.len()];
        let (from, to) = if (number / pairs.len()).is_multiple_of(2) { (a, b) } else { (b, a) };
        let sent = START + number as i64 * EACH;
        // Some take longer, as if at random.
        let late = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
        (from, to, sent, sent + 30_000 + late.cast_signed() * 200)
    };
    (0..count).map(message).collect()
}

/// Writes a trace of each machine below a folder, in a directory of its name. The field `true_ns` of
/// each event is its true time.
pub(crate) fn write(folder: &Path, machines: &[Machine], messages: &[Sent]) {
    write_by(Recorder::InetSock, folder, machines, messages);
}

/// Writes a trace of each machine with the events of a tracer below a folder, in a directory of its
/// name. The field [`true_time`](Recorder::true_time) of each event is its true time.
pub(crate) fn write_by(recorder: Recorder, folder: &Path, machines: &[Machine], messages: &[Sent]) {
    for (number, machine) in machines.iter().enumerate() {
        let (mut schema, [send, receive]) = recorder.schema();
        machine.sign(number, &mut schema);
        let mut events = Vec::new();
        for (key, (from, to, sent, received)) in messages.iter().enumerate() {
            let values = |is_send, time: i64| recorder.values(key, is_send, time as u64);
            events.extend((*from == number).then(|| (*sent, send, values(true, *sent))));
            events.extend((*to == number).then(|| (*received, receive, values(false, *received))));
        }
        events.sort_by_key(|event| event.0);
        let path = folder.join(machine.name).join(recorder.domain());
        write_events(&path, schema, machine, events);
    }
}

/// Writes a kernel trace of each machine without messages, in the same directories. The field
/// `true_ns` of each event is its true time.
pub(crate) fn write_ticks(folder: &Path, machines: &[Machine], times: &[i64]) {
    for (number, machine) in machines.iter().enumerate() {
        let mut schema = presets::lttng_kernel(Format::Ctf1);
        machine.sign(number, &mut schema);
        let class = FieldClass::structure([("true_ns", uint(64))]);
        let tick = schema.add_event_type(StreamClassId(0), "tick", class);
        let values = |time: &i64| FieldValue::structure([FieldValue::from(*time as u64)]);
        let events = times.iter().map(|time| (*time, tick, values(time))).collect();
        write_events(&folder.join(machine.name).join("kernel"), schema, machine, events);
    }
}

impl Machine {
    /// Enters the identity of the machine, which has a number, into a schema.
    fn sign(&self, number: usize, schema: &mut Schema) {
        let mut uuid = [0x40; 16];
        uuid[0] = number as u8 + 1;
        schema.clocks[0].uuid = Some(Uuid(uuid));
        // Each trace of the machine has a UUID of its own.
        uuid[15] = u8::from(schema.env_str("domain") == Some("ust"));
        schema.uuid = Some(Uuid(uuid));
        for (key, value) in &mut schema.env {
            if &**key == "hostname" {
                *value = EnvValue::Str(self.name.to_owned());
            }
        }
    }
}

/// Writes a trace with one tracefile, of events with their true times.
fn write_events(
    path: &Path,
    schema: Schema,
    machine: &Machine,
    events: Vec<(i64, EventTypeId, FieldValue)>,
) {
    std::fs::create_dir_all(path).expect("a folder");
    let trace = TraceWriter::create(path, schema).expect("a trace");
    let clock = |time| u64::try_from(machine.at(time)).expect("a time after the origin");
    let (first, last) = (events.first().map_or(0, |of| of.0), events.last().map_or(0, |of| of.0));
    let mut stream = trace.stream(StreamClassId(0), "channel_0").expect("a stream");
    stream.begin_packet(clock(first)).expect("a packet");
    for (time, event_type, values) in events {
        stream.event(event_type, clock(time), values).expect("an event");
    }
    stream.end_packet(clock(last)).expect("a packet");
    stream.finish().expect("a file");
}

/// Returns a class of unsigned integers.
pub(super) fn uint(bits: u32) -> FieldClass {
    FieldClass::uint(bits, ByteOrder::Little)
}

/// Writes a trace of LTTng 0.x of each machine below a folder, in a directory of its name: the segments
/// of TCP connections.
pub(crate) fn write_legacy(folder: &Path, machines: &[Machine], messages: &[Sent]) {
    const SEGMENT: &str = "saddr #4u%u daddr #4u%u tot_len #2u%u ihl #1u%u source #2u%u dest #2u%u \
        seq #4u%u ack_seq #4u%u doff #1u%u ack #1u%u rst #1u%u syn #1u%u fin #1u%u";
    let segment =
        |key: usize| [1, 2, 60, 5, 80, 5000, key as u64, 9, 5, 1, 0, 0, 0].map(FieldValue::from);
    for (number, machine) in machines.iter().enumerate() {
        let mut writer = LegacyWriter::new().with_start_time(1_262_715_366, number as u64);
        let xmit = format!("skb #4u%u network_protocol #2u%u transport_protocol #1u%u {SEGMENT}");
        let xmit = writer.marker("net", "dev_xmit_extended", &xmit).expect("a marker");
        let arrive = "skb #4u%u protocol #2u%u";
        let arrive = writer.marker("net", "dev_receive", arrive).expect("a marker");
        let tcp = format!("skb #4u%u {SEGMENT}");
        let tcp = writer.marker("net", "tcpv4_rcv_extended", &tcp).expect("a marker");
        let mut events = Vec::new();
        for (key, (from, to, sent, received)) in messages.iter().enumerate() {
            let skb = || FieldValue::from(key as u64 + 1);
            if *from == number {
                let head = [skb(), 0x800_u64.into(), 6_u64.into()].into_iter();
                events.push((*sent, xmit, head.chain(segment(key)).collect::<Vec<_>>()));
            }
            if *to == number {
                events.push((*received, arrive, vec![skb(), 0x800_u64.into()]));
                let parts = std::iter::once(skb()).chain(segment(key)).collect();
                // The stack of the receiver needs a while.
                events.push((*received + 15_000, tcp, parts));
            }
        }
        events.sort_by_key(|event| event.0);
        for (time, marker, values) in events {
            let time = u64::try_from(machine.at(time)).expect("a time after the origin");
            writer.event(0, marker, time, &values).expect("an event");
        }
        let path = folder.join(machine.name);
        std::fs::create_dir_all(&path).expect("a folder");
        writer.write_to(path).expect("a trace");
    }
}
