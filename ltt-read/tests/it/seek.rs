//! Order, seeking, positions and notices, compared with a naive list of all events.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use crate::support::config::cases;
use crate::support::timeline::{Event, Timeline, timeline};
use ltt_read::tuning::{EventSink, TimeSearch};
use ltt_read::{
    Cursor, Error, Merge, NoticeKind, Timestamp, Trace, TracefileIndex, TracefileNumber,
};
use proptest::prelude::*;

fn numbers(events: &[Event]) -> Vec<u32> {
    events.iter().map(|e| e.number).collect()
}

fn number(event: ltt_read::Event<'_>) -> u32 {
    event.field("number").and_then(|v| v.as_u64()).expect("a number") as u32
}

/// Reads the remaining events of a cursor.
fn rest(cursor: &mut Cursor) -> Result<Vec<u32>, TestCaseError> {
    let mut found = Vec::new();
    while let Some(event) = cursor.next().map_err(unexpected)? {
        found.push(number(event));
    }
    Ok(found)
}

fn unexpected(error: Error) -> TestCaseError {
    TestCaseError::fail(error.to_string())
}

/// A sink that wants a third of the events and stops at every other one of these.
#[derive(Default)]
struct Third {
    passed: Vec<u32>,
    heard: u32,
}

impl EventSink for Third {
    fn accepts(&mut self, _: TracefileNumber, event: &ltt_read::Event<'_>) -> bool {
        let number = number(*event);
        let is_wanted = number.is_multiple_of(3);
        self.passed.extend((!is_wanted).then_some(number));
        is_wanted
    }

    fn receive(
        &mut self,
        merge: &Merge,
        tracefile: TracefileNumber,
        event: &ltt_read::Event<'_>,
    ) -> ControlFlow<()> {
        assert_eq!(merge.current_tracefile(), Some(tracefile));
        assert_eq!(merge.current().map(|event| event.position()), Some(event.position()));
        self.passed.push(number(*event));
        self.heard += 1;
        if self.heard.is_multiple_of(2) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Reads all events from a time on, with a sink that wants a third of them.
fn with_sink(merge: &mut Merge, time: Timestamp) -> Result<Vec<u32>, TestCaseError> {
    merge.seek(time);
    let mut third = Third::default();
    loop {
        let before = third.passed.len();
        let told = merge.drive(5, &mut third);
        prop_assert_eq!(told, (third.passed.len() - before) as u64);
        if told == 0 {
            return Ok(third.passed);
        }
    }
}

/// Seeks every time that may matter, with one cursor and one merge that are reused.
fn check_times(timeline: &Timeline, trace: &Arc<Trace>) -> Result<(), TestCaseError> {
    let mut merge = Merge::new(std::slice::from_ref(trace));
    let mut cursors: Vec<_> =
        (0..trace.tracefiles().len()).map(|n| trace.cursor(TracefileIndex(n))).collect();
    prop_assert_eq!(cursors.len(), timeline.streams.len());
    for time in timeline.interesting_times() {
        for (stream, cursor) in cursors.iter_mut().enumerate() {
            cursor.seek_time(time).map_err(unexpected)?;
            let expected = timeline.events_from(stream, time);
            prop_assert_eq!(rest(cursor)?, numbers(&expected), "stream {} from {}", stream, time);
        }
        merge.seek(time);
        for expected in timeline.merged_from(time) {
            prop_assert_eq!(merge.next().map(number), Some(expected.number), "from {}", time);
        }
        prop_assert!(merge.next().is_none());
        prop_assert_eq!(with_sink(&mut merge, time)?, numbers(&timeline.merged_from(time)));
        for events in [1, 3] {
            let mut search = TimeSearch::new(std::slice::from_ref(trace), time);
            while !search.run(events) {}
            merge.seek_result(search);
            let after = timeline.merged_from(time);
            let found: Vec<_> = std::iter::from_fn(|| merge.next().map(number)).collect();
            prop_assert_eq!(found, numbers(&after), "by {} events, from {}", events, time);
        }
    }
    prop_assert!(merge.errors().is_empty());
    Ok(())
}

/// Saves the positions of all events and between them, and seeks each of them.
fn check_positions(timeline: &Timeline, trace: &Arc<Trace>) -> Result<(), TestCaseError> {
    for stream in 0..trace.tracefiles().len() {
        let all = numbers(&timeline.events(stream));
        let mut cursor = trace.cursor(TracefileIndex(stream));
        let mut cuts = vec![(cursor.position(), 0)];
        let mut packets = Vec::new();
        while let Some(event) = cursor.next().map_err(unexpected)? {
            cuts.push((event.position(), packets.len()));
            packets.push((event.packet().clone(), event.cycles()));
            cuts.push((cursor.position(), packets.len()));
        }
        cuts.push((cursor.position(), packets.len()));
        prop_assert!(cuts.is_sorted());
        let mut other = trace.cursor(TracefileIndex(stream));
        // One event at a time: most are of the packet that has been entered.
        for (cut, first) in cuts.iter().chain(cuts.iter().rev()) {
            other.seek(*cut).map_err(unexpected)?;
            let found = other.next().map_err(unexpected)?;
            prop_assert_eq!(found.map(number), all.get(*first).copied(), "after {:?}", cut);
            let found = found.map(|event| (event.packet().clone(), event.cycles()));
            prop_assert_eq!(found.as_ref(), packets.get(*first), "after {:?}", cut);
        }
        for (cut, first) in cuts {
            other.seek(cut).map_err(unexpected)?;
            for i in first..all.len() {
                let Some(event) = other.next().map_err(unexpected)? else {
                    return Err(TestCaseError::fail(format!("no event after {i} from {cut:?}")));
                };
                prop_assert_eq!(number(event), all[i]);
                let found = (event.packet().clone(), event.cycles());
                prop_assert_eq!(&found, &packets[i], "event {} from {:?}", i, cut);
            }
            prop_assert!(other.next().map_err(unexpected)?.is_none());
        }
    }
    Ok(())
}

fn check_notices(timeline: &Timeline, trace: &Arc<Trace>) -> Result<(), TestCaseError> {
    for stream in 0..trace.tracefiles().len() {
        let mut cursor = trace.cursor(TracefileIndex(stream));
        prop_assert_eq!(rest(&mut cursor)?, numbers(&timeline.events(stream)));
        let kinds: Vec<_> = cursor.take_notices().into_iter().map(|n| n.kind).collect();
        prop_assert_eq!(kinds, timeline.notices(stream));
    }
    Ok(())
}

/// A change of an index file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Damage {
    None,
    Absent,
    Cut,
    Magic,
    Version,
    LastEntryMissing,
    PacketSize,
    /// The start of the last packet.
    LastTime,
    /// The start of a packet between others, if there is one.
    MiddleTime,
}

const DAMAGES: [Damage; 9] = {
    use Damage::*;
    [None, Absent, Cut, Magic, Version, LastEntryMissing, PacketSize, LastTime, MiddleTime]
};

/// Changes an index file. Returns `true` if it still exists and differs.
fn damage(path: &Path, damage: Damage) -> bool {
    const HEADER: usize = 16;
    const ENTRY: usize = 72;
    const BEGIN: usize = 24;
    let before = fs::read(path).expect("an index");
    let mut index = before.clone();
    let entries = (index.len() - HEADER) / ENTRY;
    match damage {
        Damage::None => {}
        Damage::Absent => {
            fs::remove_file(path).expect("it is there");
            return false;
        }
        Damage::Cut => index.truncate(index.len() - 1),
        Damage::Magic => index[0] ^= 1,
        Damage::Version => index[7] ^= 2,
        Damage::LastEntryMissing => index.truncate(index.len() - ENTRY),
        Damage::PacketSize => index[HEADER + 14] ^= 1,
        Damage::LastTime => index[HEADER + (entries - 1) * ENTRY + BEGIN + 7] ^= 16,
        Damage::MiddleTime if entries > 2 => {
            index[HEADER + ENTRY + BEGIN..][..8].fill(0);
        }
        Damage::MiddleTime => {}
    }
    fs::write(path, &index).expect("it can be written");
    index != before
}

fn check_indexes(timeline: &Timeline, damages: &[Damage]) -> Result<(), TestCaseError> {
    let dir = tempfile::tempdir().expect("a directory");
    timeline.write(dir.path()).map_err(|e| TestCaseError::fail(e.to_string()))?;
    let entries = fs::read_dir(dir.path().join("index")).expect("index files");
    let mut unusable = 0;
    for (entry, kind) in entries.zip(damages.iter().cycle()) {
        let damaged = damage(&entry.expect("an entry").path(), *kind);
        let there = *kind != Damage::Absent;
        unusable += usize::from(damaged || there && !timeline.is_indexable());
    }
    let trace = timeline.transformed(Trace::open(dir.path()).map_err(unexpected)?);
    check_times(timeline, &trace)?;
    let notices =
        (0..trace.tracefiles().len()).flat_map(|n| trace.packet_index(TracefileIndex(n)).notices());
    let ignored = notices.filter(|n| matches!(n.kind, NoticeKind::IndexIgnored { .. })).count();
    prop_assert_eq!(ignored, unusable);
    Ok(())
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn times(timeline in timeline(true)) {
        check_times(&timeline, &timeline.in_memory(timeline.data()))?;
    }

    #[test]
    fn times_of_clocks_that_go_back(timeline in timeline(false)) {
        check_times(&timeline, &timeline.in_memory(timeline.data()))?;
    }

    #[test]
    fn positions(timeline in timeline(false)) {
        check_positions(&timeline, &timeline.in_memory(timeline.data()))?;
    }

    #[test]
    fn notices(timeline in timeline(false)) {
        check_notices(&timeline, &timeline.in_memory(timeline.data()))?;
    }

    #[test]
    fn order_of_files_does_not_matter(
        (timeline, files) in timeline(true).prop_flat_map(|timeline| {
            let files = Just(timeline.data()).prop_shuffle();
            (Just(timeline), files)
        })
    ) {
        let trace = timeline.in_memory(files);
        let names: Vec<_> = trace.tracefiles().iter().map(|t| (t.channel(), t.cpu())).collect();
        let streams = 0..timeline.streams.len() as u32;
        prop_assert_eq!(names, streams.map(|s| ("chan", Some(s))).collect::<Vec<_>>());
        let mut merge = Merge::new(&[trace]);
        for expected in timeline.merged_from(ltt_read::Timestamp::MIN) {
            prop_assert_eq!(merge.next().map(number), Some(expected.number));
        }
        prop_assert!(merge.next().is_none());
    }

    #[test]
    fn index_files(
        timeline in timeline(true),
        damages in prop::collection::vec(prop::sample::select(DAMAGES.to_vec()), 1..4),
    ) {
        check_indexes(&timeline, &damages)?;
    }
}

/// Opens a trace whose packet and event times have 8 bits.
const NARROW: &str = "/* CTF 1.8 */
typealias integer { size = 8; } := u8;
clock { name = c; };
typealias integer { size = 8; map = clock.c.value; } := time;
trace { major = 1; minor = 8; byte_order = le; };
stream {
    packet.context := struct { time timestamp_begin; time timestamp_end; u8 packet_size; };
    event.header := struct { time timestamp; };
};
event { name = e; fields := struct { u8 number; }; };
";

#[test]
fn packets_with_narrow_times_are_entered_with_the_clock_before_them() {
    let mut stream = Vec::new();
    // The times are 200, 240, 280, 320 and so on, so the clock wraps in every packet or
    // two.
    for packet in 0..4u32 {
        let time = |n: u32| ((packet * 2 + n) * 40 + 200) as u8;
        stream.extend([time(0), time(1), 56, time(0), 0, time(1), 1]);
    }
    let file = [("stream".to_owned(), stream)];
    let trace = Trace::from_memory(NARROW.as_bytes(), file).expect("a trace");
    let mut cursor = trace.cursor(TracefileIndex(0));
    let mut seen = Vec::new();
    while let Ok(Some(event)) = cursor.next() {
        seen.push((event.position(), event.cycles(), event.packet().clone()));
    }
    let cycles: Vec<_> = seen.iter().map(|s| s.1).collect();
    assert_eq!(cycles, (0..8).map(|n| Some(n * 40 + 200)).collect::<Vec<_>>());
    for (position, cycles, packet) in &seen {
        cursor.seek(*position).expect("a sound packet");
        let event = cursor.next().expect("a sound event").expect("an event");
        assert_eq!((event.cycles(), event.packet()), (*cycles, packet));
    }
}

#[test]
fn rotated_files_without_times_follow_in_the_order_of_their_numbers() {
    let metadata = "/* CTF 1.8 */
typealias integer { size = 8; } := u8;
trace { major = 1; minor = 8; byte_order = le;
    packet.header := struct { u8 stream_id; u8 stream_instance_id; }; };
stream { id = 0; packet.context := struct { u8 packet_size; }; };
event { name = e; stream_id = 0; fields := struct { u8 number; }; };
";
    let file = |n: u8| (format!("chan_0_{n}"), vec![0, 7, 32, n]);
    let trace = Trace::from_memory(metadata.as_bytes(), (0..12).map(file)).expect("a trace");
    assert_eq!(trace.tracefiles().len(), 1);
    assert_eq!(rest(&mut trace.cursor(TracefileIndex(0))).ok(), Some((0..12).collect()));
}

/// An event without a timestamp is before all times, for every seek.
#[test]
fn events_without_a_time_come_before_all_others() {
    let metadata = "/* CTF 1.8 */
typealias integer { size = 8; } := u8;
trace { major = 1; minor = 8; byte_order = le; };
event { name = e; fields := struct { u8 number; }; };
";
    let file = [("stream".to_owned(), vec![0, 1, 2])];
    let trace = Trace::from_memory(metadata.as_bytes(), file).expect("a trace");
    let mut merge = Merge::new(&[trace]);
    for (time, expected) in [(0, 0), (i64::MIN, 3), (i64::MIN + 1, 0), (i64::MAX, 0)] {
        merge.seek(ltt_read::Timestamp::from_ns(time));
        let mut events = 0;
        while merge.next().is_some() {
            events += 1;
        }
        assert_eq!(events, expected, "from {time}");
    }
}

#[test]
fn a_new_merge_reads_nothing() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces/kernel");
    let traces = ltt_read::open_all(path).expect("the bundled trace");
    let mut merge = Merge::new(&traces);
    assert_eq!(merge.packets_entered(), 0);
    assert!(merge.next().is_some());
    assert_eq!(merge.packets_entered(), traces[0].tracefiles().len() as u64);
}

proptest! {
    #![proptest_config(cases(32))]

    /// Positions of a merge, saved before every event, lead back to that event.
    #[test]
    fn positions_of_a_merge(timeline in timeline(false)) {
        let trace = timeline.in_memory(timeline.data());
        let all = timeline.merged_from(ltt_read::Timestamp::MIN);
        let mut merge = Merge::new(std::slice::from_ref(&trace));
        let mut saved = vec![merge.positions()];
        for i in 0..=all.len() {
            let event = merge.next().map(number);
            prop_assert_eq!(event, all.get(i).map(|e| e.number));
            saved.push(merge.positions());
            merge.unread();
            if i % 3 == 0 {
                prop_assert_eq!(&merge.positions(), saved.last().expect("one"));
                merge.unread();
            }
            prop_assert_eq!(merge.next().map(number), event);
        }
        for (i, positions) in saved.iter().enumerate() {
            merge.seek_positions(positions);
            for expected in &all[i.saturating_sub(1)..] {
                prop_assert_eq!(merge.next().map(number), Some(expected.number));
            }
            prop_assert!(merge.next().is_none());
        }
        prop_assert!(merge.errors().is_empty());
    }
}
