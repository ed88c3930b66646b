//! Packets whose content size is damaged while their size is sound. The damage is
//! reported, and their events are read if they can be distinguished from padding.

use std::sync::Arc;

use crate::support::config::cases;
use crate::support::read_all::{Seen, read_all};
use ltt_read::schema::{ByteOrder, EventTypeId, FieldClass, Format, Schema, Scope, StreamClassId};
use ltt_read::writer::{FieldValue, StreamWriter, metadata_text, presets};
use ltt_read::{Error, Merge, NoticeKind, Trace, TracefileIndex};
use proptest::prelude::*;

/// The size of each packet, in bytes.
const PACKET: usize = 512;

/// A trace as it was written.
#[derive(Debug, Clone)]
struct Sound {
    metadata: String,
    stream: Vec<u8>,
    /// The content size of each packet, in bits.
    contents: Vec<u64>,
}

/// An event: its packet, its place in the packet, its clock value, and a sum of its
/// fields.
type Read = (u64, u64, Option<u64>, u64);

/// Returns one of the schemas that tracers write, with an event type of fixed size and
/// one of dynamic size.
fn schema(preset: usize) -> Schema {
    let format = [Format::Ctf1, Format::Ctf2][preset / 2 % 2];
    let preset = [presets::lttng_kernel, presets::lttng_ust][preset % 2];
    let mut schema = preset(format);
    let uint = |bits| FieldClass::uint(bits, ByteOrder::Little);
    let fixed = FieldClass::structure([("a", uint(32)), ("b", uint(8))]);
    let bytes = presets::sequence("len", uint(16));
    let dynamic = [("text", FieldClass::string()), ("len", uint(8)), ("bytes", bytes)];
    schema.add_event_type(StreamClassId(0), "fixed", fixed);
    schema.add_event_type(StreamClassId(0), "dynamic", FieldClass::structure(dynamic));
    schema
}

/// Writes a packet for each list of events. An event has a distance from the previous
/// one, is of dynamic size or not, and has a number with which its fields are filled.
fn write(schema: Schema, packets: &[Vec<(u64, bool, u8)>]) -> Sound {
    let metadata = metadata_text(&schema).expect("metadata");
    let schema = Arc::new(schema);
    let stream = StreamWriter::new(schema, StreamClassId(0), "channel0_0", Vec::new());
    let mut stream = stream.expect("a stream").with_packet_limit(PACKET as u64).with_padding();
    let mut now = 1_000_000;
    for events in packets {
        stream.begin_packet(now).expect("a packet");
        for (passed, is_dynamic, number) in events {
            now += passed;
            let number = u64::from(*number);
            let values = match is_dynamic {
                false => {
                    FieldValue::fields([("a", FieldValue::from(number << 8)), ("b", number.into())])
                }
                true => FieldValue::fields([
                    ("text", FieldValue::from("text")),
                    ("bytes", FieldValue::array(vec![number; 3])),
                ]),
            };
            stream.event(EventTypeId((*is_dynamic).into()), now, values).expect("an event");
        }
        now += 10;
        stream.end_packet(now).expect("the end of a packet");
    }
    let stream = stream.finish().expect("a stream");
    assert_eq!(stream.len(), PACKET * packets.len(), "all fit");
    let trace = open(metadata.as_bytes(), &stream);
    let entries = trace.packet_index(TracefileIndex(0)).entries().len();
    assert_eq!(entries, packets.len());
    let mut contents = vec![0; entries];
    let mut cursor = trace.cursor(TracefileIndex(0));
    while cursor.advance().expect("a sound trace") {
        let packet = cursor.event().packet();
        contents[packet.number as usize] = packet.content_bits;
    }
    Sound { metadata, stream, contents }
}

fn open(metadata: &[u8], stream: &[u8]) -> Arc<Trace> {
    let files = [("channel0_0".to_owned(), stream.to_vec())];
    Trace::from_memory(metadata, files).expect("a trace")
}

impl Sound {
    /// Fills the padding of each packet.
    fn pad(&mut self, filling: impl Fn(usize) -> u8) {
        for (packet, content) in self.stream.chunks_exact_mut(PACKET).zip(&self.contents) {
            let padding = content.div_ceil(8) as usize..;
            packet[padding].iter_mut().enumerate().for_each(|(i, byte)| *byte = filling(i));
        }
    }

    /// Opens the trace with another content size in a packet.
    fn damaged(&self, packet: usize, content: u64) -> Arc<Trace> {
        let mut stream = self.stream.clone();
        let bytes = &mut stream[packet * PACKET..][..PACKET];
        let sound = self.contents[packet].to_le_bytes();
        let at = bytes.windows(8).position(|window| window == sound).expect("a content size");
        bytes[at..at + 8].copy_from_slice(&content.to_le_bytes());
        open(self.metadata.as_bytes(), &stream)
    }

    fn read(&self) -> Vec<Read> {
        let (events, errors, _) = read(&open(self.metadata.as_bytes(), &self.stream));
        assert_eq!(errors, [""; 0]);
        events
    }
}

/// Returns all events of a trace, its errors, and the number of recovered events.
fn read(trace: &Arc<Trace>) -> (Vec<Read>, Vec<String>, Option<u64>) {
    let (mut events, mut errors) = (Vec::new(), Vec::new());
    let mut cursor = trace.cursor(TracefileIndex(0));
    loop {
        match cursor.advance() {
            Ok(true) => {
                let event = cursor.event();
                let mut seen = Seen::default();
                // The packet context is left out because it contains the content size.
                event.visit(Scope::EventHeader, &mut seen);
                event.visit_body(&mut seen);
                let number = event.packet().number;
                events.push((number, event.offset(), event.cycles(), seen.sum));
            }
            Ok(false) => break,
            Err(error) => {
                let Error::Decode { place, .. } = &error else { panic!("{error}") };
                assert!(place.offset / 8 / PACKET as u64 == place.packet, "{error}");
                errors.push(error.to_string());
                assert!(cursor.advance().is_ok_and(|more| !more), "nothing before it is skipped");
                assert!(cursor.skip_packet());
            }
        }
    }
    let found = cursor.take_notices().into_iter().find_map(|notice| match notice.kind {
        NoticeKind::EventsRecovered { count } => Some(count),
        _ => None,
    });
    (events, errors, found)
}

/// Generates impossible content sizes: too small for the header and context of a packet,
/// or too large for the packet.
fn impossible_size() -> impl Strategy<Value = u64> {
    let packet = 8 * PACKET as u64;
    prop_oneof![
        Just(0),
        0..200u64,
        Just(u64::MAX),
        packet + 1..1 << 40,
        any::<u64>().prop_map(move |size| size.max(packet + 1))
    ]
}

fn packets() -> impl Strategy<Value = Vec<Vec<(u64, bool, u8)>>> {
    let event = (0..50u64, any::<bool>(), prop_oneof![Just(0), any::<u8>()]);
    prop::collection::vec(prop::collection::vec(event, 1..9), 1..4)
}

proptest! {
    #![proptest_config(cases(150))]

    /// If padding consists of equal bytes of any value, only trailing events that look
    /// like it can be lost.
    #[test]
    fn events_of_a_packet_with_a_damaged_content_size_are_the_original_ones(
        preset in 0..4usize,
        packets in packets(),
        filling in prop_oneof![Just(0), Just(0xff), any::<u8>()],
        (which, size) in (any::<prop::sample::Index>(), impossible_size()),
    ) {
        let mut sound = write(schema(preset), &packets);
        sound.pad(|_| filling);
        let originals = sound.read();
        let which = which.index(packets.len());
        let trace = sound.damaged(which, size);
        let (events, errors, found) = read(&trace);
        prop_assert_eq!(errors.len(), 1);
        prop_assert!(errors[0].contains("of 4096 bits") || errors[0].contains("(4096 bits)")
            || errors[0].contains("header and context"), "{}", errors[0]);
        prop_assert_eq!(events, originals);
        prop_assert_eq!(found, Some(packets[which].len() as u64));
        read_all(&trace);
    }

    /// With arbitrary padding, either all events of the packet are found or none.
    #[test]
    fn padding_with_remains_of_other_packets_makes_no_events(
        preset in 0..4usize,
        packets in packets(),
        remains in prop::collection::vec(any::<u8>(), PACKET),
        (which, size) in (any::<prop::sample::Index>(), impossible_size()),
    ) {
        let mut sound = write(schema(preset), &packets);
        sound.pad(|i| remains[i]);
        let which = which.index(packets.len());
        let mut originals = sound.read();
        let trace = sound.damaged(which, size);
        let (events, errors, found) = read(&trace);
        prop_assert_eq!(errors.len(), 1);
        if found.is_none() {
            originals.retain(|event| event.0 != which as u64);
        }
        prop_assert_eq!(events, originals);
        read_all(&trace);
    }
}

/// With the narrow times of LTTng's compact headers, zeros are a valid time if the packet
/// lasts long enough after its last event, and event type 0 exists.
#[test]
fn zeros_after_the_last_event_are_padding_even_if_their_time_would_fit() {
    let second = 1_000_000_000;
    let sound = write(schema(0), &[vec![(5, false, 1), (second, true, 2), (7, false, 3)]]);
    let mut originals = sound.read();
    assert_eq!(read(&sound.damaged(0, 0)).0, originals);

    // The packet lasts for a second after its last event.
    let idle = write(schema(0), &[vec![(5, false, 1), (second, false, 2), (second, true, 3)]]);
    let last = idle.read().pop().expect("three events");
    let mut cut = idle.clone();
    let end = last.1 as usize / 8;
    cut.stream[end..].fill(0);
    originals = idle.read();
    originals.pop();
    let (events, errors, found) = read(&cut.damaged(0, 1));
    assert_eq!((events, errors.len(), found), (originals, 1, Some(2)));
}

/// Sound events next to unsound records are not trusted.
#[test]
fn no_event_is_recovered_if_one_record_is_unsound() {
    let sound = write(schema(1), &vec![vec![(5, false, 1), (5, false, 2), (5, false, 3)]; 2]);
    let all = sound.read();
    let mut spoilt = sound.clone();
    let id = all[1].1 as usize / 8;
    spoilt.stream[id] = 29; // An id that no event type has.
    let (events, errors, found) = read(&spoilt.damaged(0, u64::MAX));
    assert_eq!((events, errors.len(), found), (all[3..].to_vec(), 1, None));
}

/// Without times in the packet, nothing distinguishes its events from padding.
#[test]
fn without_times_of_the_packet_no_event_is_recovered() {
    let metadata = b"/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
        typealias integer { size = 8; } := u8;
        stream { packet.context := struct { u8 packet_size; u8 content_size; }; };
        event { name = e; fields := struct { u8 x; }; };";
    let trace = open(metadata, &[48, 8, 1, 2, 3, 4, 48, 32, 5, 6, 0, 0]);
    let mut cursor = trace.cursor(TracefileIndex(0));
    assert!(cursor.advance().is_err() && cursor.skip_packet());
    let mut values = Vec::new();
    while let Some(event) = cursor.next().expect("a sound packet") {
        values.push(event.field("x").and_then(|x| x.as_u64()));
    }
    assert_eq!(values, [Some(5), Some(6)]);
}

#[test]
fn seeking_finds_the_events_of_a_packet_with_a_damaged_content_size() {
    let packets = vec![vec![(10, false, 1), (20, true, 2), (30, false, 3)]; 3];
    let sound = write(schema(0), &packets);
    let originals = sound.read();
    let trace = sound.damaged(1, 0);
    let clock = &trace.schema().clocks[0];
    for first in 0..=originals.len() {
        let from = originals.get(first).map_or(2_000_000, |event| event.2.expect("a time"));
        let mut merge = Merge::new(std::slice::from_ref(&trace));
        merge.seek(clock.timestamp(from).expect("a time"));
        let mut clocks = Vec::new();
        while let Some(event) = merge.next() {
            clocks.push(event.cycles());
        }
        let expected: Vec<_> = originals[first..].iter().map(|event| event.2).collect();
        assert_eq!(clocks, expected, "from the event {first}");
        assert_eq!(merge.errors().len(), usize::from(first < 6), "from the event {first}");
    }
}
