//! Directories that are followed while a finished recording is copied to them: files come in the order
//! of their names, and none of their events is lost or read twice.

use std::fs;
use std::path::Path;
use std::time::Instant;

use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};
use ltt_read::{Follower, Merge};
use proptest::prelude::*;

/// Writes a stream of packets with two events each, one packet to a file.
fn write(dir: &Path, packets: u64) {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let fields = FieldClass::structure([("number", FieldClass::uint(64, ByteOrder::Little))]);
    let event = schema.add_event_type(StreamClassId(0), "e", fields);
    let writer = TraceWriter::create(dir, schema).unwrap().with_file_limit(1);
    let mut stream = writer
        .stream(StreamClassId(0), "c_0")
        .unwrap()
        .with_packet_context(FieldValue::fields([("cpu_id", 0)]));
    for packet in 0..packets {
        for number in [2 * packet, 2 * packet + 1] {
            let payload = FieldValue::fields([("number", number)]);
            stream.event(event, 1000 * packet + number, payload).unwrap();
        }
        stream.end_packet(1000 * packet + 900).unwrap();
    }
    stream.finish().unwrap();
}

/// Copies the files of some packets, one after the other, while the directory is followed. A number
/// that occurs again is copied under another name. Returns the numbers of the events, sorted.
fn followed(source: &Path, order: &[u64]) -> Vec<u64> {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("copy");
    fs::create_dir(&dir).unwrap();
    fs::copy(source.join("metadata"), dir.join("metadata")).unwrap();
    let mut follower = Follower::new([&dir]);
    let (mut merge, mut numbers) = (Merge::new(&[]), Vec::new());
    let mut read = |follower: &mut Follower| {
        merge.continue_with(follower.traces());
        while let Some(event) = merge.next() {
            numbers.extend(event.field("number").and_then(|number| number.as_u64()));
        }
    };
    for (place, packet) in order.iter().enumerate() {
        let from = source.join(format!("c_0_{packet}"));
        fs::copy(from, dir.join(format!("c_0_{place}"))).unwrap();
        // What is missing in two complete reads counts as lost.
        for _ in 0..3 {
            follower.poll(Instant::now()).unwrap();
            read(&mut follower);
        }
    }
    follower.complete().unwrap();
    read(&mut follower);
    numbers.sort_unstable();
    numbers
}

#[test]
fn packets_of_files_that_come_late_are_delivered() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 3);
    assert_eq!(followed(folder.path(), &[2, 0, 1]), [0, 1, 2, 3, 4, 5]);
}

proptest! {
    #![proptest_config(crate::support::config::cases(60))]

    #[test]
    fn packets_are_read_once_in_whatever_order_their_files_come(
        order in prop::collection::vec(0..6_u64, 1..12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), 6);
        let mut packets = order.clone();
        packets.sort_unstable();
        packets.dedup();
        let expected: Vec<u64> = packets.iter().flat_map(|n| [2 * n, 2 * n + 1]).collect();
        prop_assert_eq!(followed(folder.path(), &order), expected, "{:?}", order);
    }
}
