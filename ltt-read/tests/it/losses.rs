//! The losses that packets declare: without reading events, for sound and damaged files.

use std::fs;
use std::path::Path;

use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};
use ltt_read::{Notice, NoticeKind, OpenOptions, Timestamp, Trace, TracefileIndex};
use proptest::prelude::*;

/// A packet: the events lost in it, the packets missing before it, and its events.
#[derive(Debug, Clone, Copy)]
struct Packet {
    discarded: u64,
    missing: u64,
    events: u64,
}

/// The length of a packet, and the distance to the next one, in ns.
const LENGTH: u64 = 1000;
const DISTANCE: u64 = 1500;

fn packets() -> impl Strategy<Value = Vec<Packet>> {
    let rarely = |most: u64| prop_oneof![3 => Just(0), 1 => 1..=most];
    let packet = (rarely(1000), rarely(3), 0..20u64);
    let packet =
        packet.prop_map(|(discarded, missing, events)| Packet { discarded, missing, events });
    prop::collection::vec(packet, 1..12)
}

/// Writes a trace with one stream.
fn write(path: &Path, packets: &[Packet], indexed: bool) {
    let mut schema = presets::lttng_kernel(Format::Ctf2);
    let payload = FieldClass::structure([("value", FieldClass::uint(8, ByteOrder::Little))]);
    let event = schema.add_event_type(StreamClassId(0), "event", payload);
    let mut trace = TraceWriter::create(path, schema).unwrap();
    if indexed {
        trace = trace.with_index();
    }
    let mut stream = trace.stream(StreamClassId(0), "channel_0").unwrap();
    let (mut discarded, mut sequence) = (7, 5);
    for (number, packet) in (0..).zip(packets) {
        let begin = number * DISTANCE;
        (discarded, sequence) = (discarded + packet.discarded, sequence + packet.missing);
        stream.set_packet_sequence(sequence);
        stream.begin_packet(begin).unwrap();
        for at in 0..packet.events {
            let value = FieldValue::structure([FieldValue::from(9u8)]);
            stream.event(event, begin + at + 1, value).unwrap();
        }
        stream.set_discarded(discarded);
        stream.end_packet(begin + LENGTH).unwrap();
        sequence += 1;
    }
    stream.finish().unwrap();
}

/// The origin of the preset's clock, in ns since the epoch.
const ORIGIN: i64 = 1_600_000_000_000_000_000;

/// Returns the losses by definition.
fn expected(packets: &[Packet]) -> Vec<NoticeKind> {
    let mut losses = Vec::new();
    // The counters of the first packet may have started at any number.
    for (number, packet) in (0..).zip(packets).skip(1) {
        let at = |ns: u64| Some(Timestamp::from_ns(ORIGIN + ns as i64));
        let start = at((number - 1) * DISTANCE + LENGTH);
        if packet.missing > 0 {
            let end = at(number * DISTANCE);
            losses.push(NoticeKind::LostPackets { count: packet.missing, start, end });
        }
        if packet.discarded > 0 {
            let (count, end) = (Some(packet.discarded), at(number * DISTANCE + LENGTH));
            losses.push(NoticeKind::DiscardedEvents { count, start, end });
        }
    }
    losses
}

/// Returns the losses that reading all events reports.
fn read(trace: &std::sync::Arc<Trace>) -> Vec<Notice> {
    let mut cursor = trace.cursor(TracefileIndex(0));
    loop {
        match cursor.advance() {
            Ok(true) => {}
            Err(_) if cursor.skip_packet() => {}
            Ok(false) | Err(_) => break,
        }
    }
    assert_eq!(cursor.notices_omitted(), 0);
    cursor.take_notices().into_iter().filter(|notice| notice.kind.is_loss()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn losses_are_those_of_the_counters_and_those_of_a_read(
        packets in packets(),
        indexed: bool,
        damage in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &packets, indexed);
        let trace = Trace::open(dir.path()).unwrap();
        let losses = trace.losses(TracefileIndex(0));
        let kinds: Vec<_> = losses.iter().map(|notice| notice.kind.clone()).collect();
        prop_assert_eq!(kinds, expected(&packets));
        prop_assert_eq!(&losses, &read(&trace));
        check_from(dir.path(), &losses, packets.len())?;
        // Of a damaged file, both know the same.
        let Some((place, byte)) = damage else { return Ok(()) };
        let file = dir.path().join("channel_0");
        let mut bytes = fs::read(&file).unwrap();
        let at = place.index(bytes.len());
        bytes[at] = byte;
        fs::write(&file, &bytes[..bytes.len() - usize::from(byte) % 64]).unwrap();
        let Ok(trace) = Trace::open(dir.path()) else { return Ok(()) };
        if !trace.tracefiles().is_empty() {
            let losses = trace.losses(TracefileIndex(0));
            prop_assert_eq!(&losses, &read(&trace));
            if !indexed {
                check_damaged_from(&trace, &losses)?;
            }
        }
    }
}

/// The losses of a damaged file from any time on are the last ones of all, and those before them ended earlier.
fn check_damaged_from(
    trace: &std::sync::Arc<Trace>,
    losses: &[Notice],
) -> Result<(), TestCaseError> {
    let ends: Vec<_> = losses.iter().filter_map(end).collect();
    let near = ends.iter().flat_map(|end| [end.as_ns(), end.as_ns().saturating_add(1)]);
    for time in near.chain([i64::MIN, ORIGIN, i64::MAX]).map(Timestamp::from_ns) {
        let found = trace.losses_from(TracefileIndex(0), time);
        prop_assert!(losses.ends_with(&found), "{:?} of {:?} from {:?}", found, losses, time);
        let (before, _) = losses.split_at(losses.len() - found.len());
        let is_before = |notice| end(notice).is_some_and(|end| end < time);
        prop_assert!(before.iter().all(is_before), "{:?} of {:?} from {:?}", found, losses, time);
    }
    Ok(())
}

/// Returns the end of a loss.
fn end(notice: &Notice) -> Option<Timestamp> {
    match notice.kind {
        NoticeKind::LostPackets { end, .. } | NoticeKind::DiscardedEvents { end, .. } => end,
        _ => unreachable!("a loss"),
    }
}

/// The losses from any time on are the last ones of all, and those before them ended earlier; whether
/// the times of packets are verified or not.
fn check_from(path: &Path, losses: &[Notice], packets: usize) -> Result<(), TestCaseError> {
    for verified in [u64::MAX, 0] {
        let trace = OpenOptions::new().verify_times_up_to(verified).open(path).unwrap();
        let times = (0..packets as i64).flat_map(|number| {
            [0, 1, LENGTH as i64, LENGTH as i64 + 1].map(|ns| number * DISTANCE as i64 + ns)
        });
        let times = times.map(|ns| Timestamp::from_ns(ORIGIN + ns));
        for time in times.chain([Timestamp::MIN, Timestamp::MAX]) {
            let found = trace.losses_from(TracefileIndex(0), time);
            prop_assert!(losses.ends_with(&found));
            let (before, _) = losses.split_at(losses.len() - found.len());
            prop_assert!(before.iter().all(|notice| end(notice).is_some_and(|end| end < time)));
            // No more than the losses of the first packet that ends then are earlier.
            let earlier = found.iter().filter(|it| end(it).is_some_and(|end| end < time));
            prop_assert!(earlier.count() <= 1);
        }
    }
    Ok(())
}

#[test]
fn more_losses_than_a_cursor_keeps_notices_are_all_returned() {
    let dir = tempfile::tempdir().unwrap();
    let packets = vec![Packet { discarded: 1, missing: 1, events: 0 }; 2000];
    write(dir.path(), &packets, false);
    let trace = Trace::open(dir.path()).unwrap();
    assert_eq!(trace.losses(TracefileIndex(0)).len(), 2 * 1999);
}
