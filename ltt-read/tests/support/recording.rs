//! Recordings of unique events: the data and the time of each follow from its CPU and
//! from the sequence number of its packet.

#![allow(dead_code, reason = "not every test needs all of it")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use ltt_read::schema::{
    ByteOrder, EventTypeId, FieldClass, FieldKind, Format, Schema, StreamClassId,
};
use ltt_read::uuid::Uuid;
use ltt_read::writer::{FieldValue, TraceWriter, presets};
use ltt_read::{Merge, Trace};

/// The number of events in a packet.
pub(crate) const EVENTS: u64 = 5;
/// The distance between the starts of successive packets, in ns.
pub(crate) const STEP: u64 = 1000;

/// The form in which a stream is recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    pub(crate) cpu: u64,
    /// `true` if packets have a stream id.
    pub(crate) has_id: bool,
    /// `true` if packets have sequence numbers.
    pub(crate) has_sequence: bool,
    /// `true` if there is an index file.
    pub(crate) is_indexed: bool,
}

impl Default for Stream {
    fn default() -> Self {
        Stream { cpu: 0, has_id: true, has_sequence: true, is_indexed: false }
    }
}

impl Stream {
    fn schema(self) -> (Schema, EventTypeId) {
        let mut schema = presets::lttng_kernel(Format::Ctf1);
        schema.uuid = Some(Uuid([7; 16]));
        (schema.clocks[0].offset_seconds, schema.clocks[0].offset_cycles) = (0, 0);
        let without = |class: &mut Option<Arc<FieldClass>>, name: &str| {
            let class = Arc::make_mut(class.as_mut().expect("of the preset"));
            let FieldKind::Struct(of) = &mut class.kind else { panic!("a structure") };
            of.members.retain(|member| &*member.name != name);
        };
        if !self.has_id {
            without(&mut schema.packet_header, "stream_instance_id");
        }
        if !self.has_sequence {
            without(&mut schema.stream_classes[0].packet_context, "packet_seq_num");
        }
        let class = FieldClass::structure([("n", FieldClass::uint(64, ByteOrder::Little))]);
        let tick = schema.add_event_type(StreamClassId(0), "tick", class);
        (schema, tick)
    }

    /// Writes a file of the stream with the packets of these sequence numbers. The
    /// directory becomes a trace, the same one each time.
    pub(crate) fn write(self, dir: &Path, name: &str, packets: impl IntoIterator<Item = u64>) {
        let (schema, tick) = self.schema();
        let writer = TraceWriter::create(dir, schema).unwrap();
        let writer = if self.is_indexed { writer.with_index() } else { writer };
        let stream = writer.stream(StreamClassId(0), name).unwrap();
        let mut stream = stream
            .with_stream_id(self.cpu)
            .with_packet_context(FieldValue::fields([("cpu_id", self.cpu)]));
        for packet in packets {
            stream.set_packet_sequence(packet);
            stream.begin_packet((packet + 1) * STEP).unwrap();
            for number in numbers(self.cpu, packet) {
                stream.event(tick, time_of(number), FieldValue::fields([("n", number)])).unwrap();
            }
            stream.end_packet((packet + 2) * STEP).unwrap();
        }
        stream.finish().unwrap();
    }
}

/// Writes a file of a stream whose packets have a stream id and sequence numbers.
pub(crate) fn write_file(
    dir: &Path,
    name: &str,
    cpu: u64,
    packets: impl IntoIterator<Item = u64>,
    is_indexed: bool,
) {
    Stream { cpu, is_indexed, ..Stream::default() }.write(dir, name, packets);
}

/// Returns the numbers of the events of one packet.
pub(crate) fn numbers(cpu: u64, packet: u64) -> impl Iterator<Item = u64> {
    (0..EVENTS).map(move |event| cpu * 1_000_000 + packet * 100 + event)
}

/// Returns the time of an event, given its number.
pub(crate) fn time_of(number: u64) -> u64 {
    let (cpu, packet, event) = (number / 1_000_000, number / 100 % 10_000, number % 100);
    (packet + 1) * STEP + event * 10 + cpu
}

/// Returns the events of some packets of some CPUs, in time order.
pub(crate) fn expected(packets: impl IntoIterator<Item = (u64, u64)>) -> Vec<u64> {
    let mut all: Vec<_> =
        packets.into_iter().flat_map(|(cpu, packet)| numbers(cpu, packet)).collect();
    all.sort_by_key(|number| time_of(*number));
    all
}

/// Truncates a file by a number of bytes.
pub(crate) fn cut(path: &Path, bytes: usize) {
    let content = fs::read(path).unwrap();
    fs::write(path, &content[..content.len() - bytes]).unwrap();
}

/// Reads the numbers of the remaining events of a merge.
pub(crate) fn rest_of(merge: &mut Merge) -> Vec<u64> {
    let mut seen = Vec::new();
    while let Some(event) = merge.next() {
        seen.push(event.field("n").and_then(|n| n.as_u64()).expect("a number"));
    }
    seen
}

/// Reads the numbers of all events of traces, and the errors.
pub(crate) fn read(traces: &[Arc<Trace>]) -> (Vec<u64>, Vec<String>) {
    let mut merge = Merge::new(traces);
    let seen = rest_of(&mut merge);
    (seen, merge.errors().iter().map(ToString::to_string).collect())
}
