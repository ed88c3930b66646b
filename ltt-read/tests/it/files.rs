//! Files of traces that are rotated, damaged, duplicated or unreadable. Each event is
//! read once, whatever the state of the other files.

use std::path::Path;

use crate::support;
use crate::support::recording::{
    EVENTS, STEP, Stream, cut, expected, numbers, read, rest_of, write_file,
};
use ltt_read::{Merge, NoticeKind, Timestamp, TracefileIndex, open_all};

/// Lists packets of several CPUs.
fn packets(cpus: u64, packets: std::ops::Range<u64>) -> Vec<(u64, u64)> {
    (0..cpus).flat_map(|cpu| packets.clone().map(move |packet| (cpu, packet))).collect()
}

/// Writes a stream in three archives of a session, with three packets each.
fn rotated(dir: &Path, indexed: bool) {
    for archive in 0..3 {
        let dir = dir.join(format!("archive-{archive}"));
        write_file(&dir, "c_0", 0, archive * 3..archive * 3 + 3, indexed);
    }
}

#[test]
fn reading_continues_after_a_truncated_file() {
    for indexed in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        rotated(dir.path(), indexed);
        cut(&dir.path().join("archive-0/c_0"), 1);
        let traces = open_all(dir.path()).unwrap();
        assert_eq!(traces[0].tracefiles().len(), 1);
        let mut all = expected(packets(1, 0..9));
        let (seen, errors) = read(&traces);
        // The last event of the truncated packet lacks a byte.
        all.retain(|n| *n != numbers(0, 2).last().unwrap());
        assert_eq!(seen, all);
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].contains("archive-0/c_0: packet 2"), "{errors:?}");
        // Seeks forwards and backwards, from anywhere.
        let mut merge = Merge::new(&traces);
        for (at, number) in all.iter().enumerate().rev() {
            let time = support::recording::time_of(*number);
            merge.seek(Timestamp::from_ns(time as i64));
            assert_eq!(rest_of(&mut merge), all[at..]);
        }
        // Seeks saved positions.
        let mut merge = Merge::new(&traces);
        let mut cuts = Vec::new();
        while merge.next().is_some() {
            cuts.push(merge.positions());
        }
        for (at, cut) in cuts.iter().enumerate() {
            merge.seek_positions(cut);
            assert_eq!(rest_of(&mut merge), all[at..]);
        }
    }
}

#[test]
fn reading_continues_in_the_next_file_after_a_packet_of_unsound_size() {
    let dir = tempfile::tempdir().unwrap();
    rotated(dir.path(), false);
    let path = dir.path().join("archive-1/c_0");
    let mut bytes = std::fs::read(&path).unwrap();
    let size = bytes.len() / 3;
    // Damages the content size of its second packet. The sizes are the third and fourth
    // number of 8 bytes after the packet header.
    let header = 4 + 16 + 4 + 8;
    let at = size + header + 16;
    bytes[at..at + 16].copy_from_slice(&[0xff; 16]);
    std::fs::write(&path, &bytes).unwrap();
    let traces = open_all(dir.path()).unwrap();
    let (seen, errors) = read(&traces);
    let sound = (0..9).filter(|packet| ![4, 5].contains(packet)).map(|packet| (0, packet));
    assert_eq!(seen, expected(sound));
    assert_eq!(errors.len(), 1, "{errors:?}");
    // A seek past the damage finds the later files.
    let mut merge = Merge::new(&traces);
    merge.seek(Timestamp::from_ns((7 * STEP) as i64));
    assert_eq!(rest_of(&mut merge).len() as u64, 3 * EVENTS);
}

#[test]
fn overlapping_snapshots_are_read_once() {
    for indexed in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        for (number, range) in [(0, 0..4), (1, 1..7), (2, 5..9)] {
            let dir = dir.path().join(format!("snapshot-{number}"));
            write_file(&dir, "c_0", 0, range.clone(), indexed);
            write_file(&dir, "c_1", 1, range, indexed);
        }
        let traces = open_all(dir.path()).unwrap();
        let all = expected(packets(2, 0..9));
        assert_eq!(read(&traces), (all.clone(), vec![]));
        let index = traces[0].packet_index(TracefileIndex(0));
        assert_eq!(index.entries().len(), 9);
        // A merge that seeks first agrees with one that has read all events.
        for at in (0..all.len()).rev() {
            let time = Timestamp::from_ns(support::recording::time_of(all[at]) as i64);
            let traces = open_all(dir.path()).unwrap();
            let mut merge = Merge::new(&traces);
            merge.seek(time);
            assert_eq!(rest_of(&mut merge), all[at..]);
        }
        let mut merge = Merge::new(&traces);
        let mut cuts = Vec::new();
        while merge.next().is_some() {
            cuts.push(merge.positions());
        }
        assert_eq!(cuts.len(), all.len());
        for (at, cut) in cuts.iter().enumerate() {
            let traces = open_all(dir.path()).unwrap();
            let mut merge = Merge::new(&traces);
            merge.seek_positions(cut);
            assert_eq!(rest_of(&mut merge), all[at..]);
        }
    }
}

#[test]
fn a_whole_copy_is_read_instead_of_a_truncated_packet() {
    let dir = tempfile::tempdir().unwrap();
    write_file(&dir.path().join("snapshot-0"), "c_0", 0, 0..4, false);
    write_file(&dir.path().join("snapshot-1"), "c_0", 0, 2..6, false);
    cut(&dir.path().join("snapshot-0/c_0"), 1);
    let traces = open_all(dir.path()).unwrap();
    assert_eq!(read(&traces), (expected(packets(1, 0..6)), vec![]));
    let mut merge = Merge::new(&traces);
    merge.seek(Timestamp::from_ns(1));
    assert_eq!(rest_of(&mut merge), expected(packets(1, 0..6)));
}

/// Returns the channel and CPU of each tracefile.
fn channels(dir: &Path) -> Vec<(String, Option<u32>)> {
    let traces = open_all(dir).unwrap();
    let tracefiles = traces.iter().flat_map(|trace| trace.tracefiles());
    tracefiles.map(|t| (t.channel().to_owned(), t.cpu())).collect()
}

fn named(names: &[(&str, u32)]) -> Vec<(String, Option<u32>)> {
    names.iter().map(|(channel, cpu)| ((*channel).to_owned(), Some(*cpu))).collect()
}

#[test]
fn rotating_streams_with_one_file_each_are_named_by_their_cpu() {
    let dir = tempfile::tempdir().unwrap();
    for cpu in 0..4 {
        write_file(dir.path(), &format!("c_{cpu}_0"), cpu, 0..2, false);
    }
    assert_eq!(channels(dir.path()), named(&[("c", 0), ("c", 1), ("c", 2), ("c", 3)]));
}

#[test]
fn a_channel_whose_name_ends_in_a_number_keeps_it() {
    let dir = tempfile::tempdir().unwrap();
    for cpu in 0..3 {
        write_file(dir.path(), &format!("c_7_{cpu}"), cpu, 0..2, false);
    }
    assert_eq!(channels(dir.path()), named(&[("c_7", 0), ("c_7", 1), ("c_7", 2)]));
}

#[test]
fn the_cpu_of_the_packets_overrides_that_of_the_name() {
    let dir = tempfile::tempdir().unwrap();
    write_file(dir.path(), "stream", 5, 0..2, false);
    write_file(dir.path(), "s_1", 65535, 0..2, false);
    assert_eq!(channels(dir.path()), named(&[("s", 65535), ("stream", 5)]));
}

#[test]
fn rotated_files_of_streams_are_one_tracefile_each() {
    let dir = tempfile::tempdir().unwrap();
    for cpu in 0..2 {
        for file in 0..3 {
            let range = file * 2..file * 2 + 2;
            write_file(dir.path(), &format!("c_{cpu}_{file}"), cpu, range, false);
        }
    }
    assert_eq!(channels(dir.path()), named(&[("c", 0), ("c", 1)]));
    let traces = open_all(dir.path()).unwrap();
    assert_eq!(read(&traces), (expected(packets(2, 0..6)), vec![]));
}

/// Writes the file of a stream that has no id.
fn write_without_id(dir: &Path, name: &str, cpu: u64, packets: std::ops::Range<u64>) {
    Stream { cpu, has_id: false, ..Stream::default() }.write(dir, name, packets);
}

#[test]
fn files_without_stream_ids_are_joined_by_names_and_sequence_numbers() {
    let dir = tempfile::tempdir().unwrap();
    for cpu in 0..2 {
        for file in 0..3 {
            let range = file * 2..file * 2 + 2;
            write_without_id(dir.path(), &format!("c_{cpu}_{file}"), cpu, range);
        }
    }
    assert_eq!(channels(dir.path()), named(&[("c", 0), ("c", 1)]));
    let traces = open_all(dir.path()).unwrap();
    assert_eq!(read(&traces), (expected(packets(2, 0..6)), vec![]));
    // Archives, in which the names are equal, and overlapping snapshots.
    for ranges in [[0..2, 2..4, 4..6], [0..3, 1..4, 3..6]] {
        let dir = tempfile::tempdir().unwrap();
        for (number, range) in ranges.into_iter().enumerate() {
            write_without_id(&dir.path().join(format!("{number}")), "c_1", 1, range);
        }
        assert_eq!(channels(dir.path()), named(&[("c", 1)]));
        let traces = open_all(dir.path()).unwrap();
        let all = expected((0..6).map(|packet| (1, packet)));
        assert_eq!(read(&traces), (all, vec![]));
    }
}

#[test]
fn files_without_stream_ids_stay_apart_unless_sequence_numbers_are_contiguous() {
    let dir = tempfile::tempdir().unwrap();
    // Two streams of a channel `c_7`, whose sequence numbers both start at 0.
    write_without_id(dir.path(), "c_7_0", 0, 0..2);
    write_without_id(dir.path(), "c_7_1", 1, 0..2);
    assert_eq!(channels(dir.path()), named(&[("c_7", 0), ("c_7", 1)]));
    // Unrelated names.
    let dir = tempfile::tempdir().unwrap();
    write_without_id(dir.path(), "a", 0, 0..2);
    write_without_id(dir.path(), "b", 0, 2..4);
    assert_eq!(channels(dir.path()).len(), 2);
}

/// Without sequence numbers, packets are equal if their times and bytes are.
#[test]
fn equal_packets_without_sequence_numbers_are_read_once() {
    let dir = tempfile::tempdir().unwrap();
    let stream = Stream { has_sequence: false, ..Stream::default() };
    stream.write(&dir.path().join("0"), "c_0", 0..4);
    stream.write(&dir.path().join("1"), "c_0", 2..6);
    let traces = open_all(dir.path()).unwrap();
    assert_eq!(read(&traces), (expected(packets(1, 0..6)), vec![]));
    // A packet with the same times but other bytes is not a duplicate.
    let path = dir.path().join("1/c_0");
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() / 4 - 1;
    bytes[last] ^= 0x40;
    std::fs::write(&path, &bytes).unwrap();
    let traces = open_all(dir.path()).unwrap();
    let (seen, errors) = read(&traces);
    assert_eq!((seen.len() as u64, errors.len()), (7 * EVENTS, 0));
}

#[test]
fn left_out_packets_are_noted() {
    let dir = tempfile::tempdir().unwrap();
    write_file(&dir.path().join("0"), "c_0", 0, 0..4, false);
    write_file(&dir.path().join("1"), "c_0", 0, 2..6, false);
    let traces = open_all(dir.path()).unwrap();
    let mut merge = Merge::new(&traces);
    rest_of(&mut merge);
    let [notice] = &merge.take_notices()[..] else { panic!("one notice") };
    let first = dir.path().join("0/c_0");
    let kind = NoticeKind::DuplicatePackets { count: 2, first: first.as_path().into() };
    assert_eq!((&notice.kind, &*notice.file), (&kind, &*dir.path().join("1/c_0")));
    assert_eq!((notice.packet, notice.offset), (0, 0));
}
