//! Traces that are delivered in parts: the events are those of the whole trace, in its order.

use std::sync::Arc;

use crate::support::arriving::{Arriving, metadata, packets};
use crate::support::config::cases;
use crate::support::timeline::{Timeline, timeline, timeline_of};
use ltt_read::order::{DeliveryKey, OrderPosition, OrderedReader};
use ltt_read::schema::{ByteOrder, FieldClass, FieldKind, Format, Schema, Scope, StreamClassId};
use ltt_read::writer::{FieldValue, StreamWriter, metadata_text, presets};
use ltt_read::{
    ClockTransform, Error, GrowingTrace, Merge, NoticeKind, Timestamp, Trace, TraceIndex,
    TracefileIndex, TracefileNumber,
};
use proptest::prelude::*;

/// The number of an event, its time in ns, and the number of its tracefile.
type Seen = (u64, i64, usize);

/// Reads the events of a merge up to its end, or up to where it is pending.
fn read(merge: &mut Merge, seen: &mut Vec<Seen>) {
    while let Some(event) = merge.next() {
        let number = event.field("number").and_then(|number| number.as_u64()).expect("a number");
        let time = event.timestamp().expect("a time").as_ns();
        seen.push((number, time, event.tracefile_index().0));
    }
    // All that is final was delivered.
    assert_eq!(merge.is_pending(), merge.watermark().is_some());
    assert!(
        seen.last()
            .is_none_or(|(_, time, _)| merge.watermark().is_none_or(|end| *time <= end.as_ns()))
    );
}

fn losses(notices: Vec<ltt_read::Notice>) -> Vec<NoticeKind> {
    let losses = notices.into_iter().map(|notice| notice.kind).filter(NoticeKind::is_loss);
    let mut losses: Vec<_> = losses.collect();
    losses.sort_by_key(|kind| format!("{kind:?}"));
    losses
}

/// A step of delivery.
#[derive(Debug, Clone)]
enum Step {
    Packets { stream: usize, count: usize },
    Metadata,
    Read,
    Release,
    Complete,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let packets =
        (0..8usize, 1..3usize).prop_map(|(stream, count)| Step::Packets { stream, count });
    let step = prop_oneof![
        8 => packets,
        1 => Just(Step::Metadata),
        4 => Just(Step::Read),
        2 => Just(Step::Release),
        1 => Just(Step::Complete),
    ];
    prop::collection::vec(step, 0..60)
}

/// Delivers a trace in steps. Returns its events, and its losses.
fn deliver(timeline: &Timeline, steps: &[Step], known: usize) -> (Vec<Seen>, Vec<NoticeKind>) {
    let whole = timeline.in_memory(timeline.data());
    let mut left = packets(&whole);
    let mut trace = GrowingTrace::new("growing", metadata(&timeline.schema, known).as_bytes())
        .expect("valid metadata");
    let names = whole.tracefiles().iter().map(|tracefile| tracefile.name());
    let tracefiles: Vec<_> = names.map(|name| trace.add_tracefile(name)).collect();
    let mut merge = Merge::new(&[trace.version().clone()]);
    let mut seen = Vec::new();
    let last = [Step::Metadata, Step::Packets { stream: usize::MAX, count: usize::MAX }];
    for step in steps.iter().chain(&last) {
        match *step {
            Step::Packets { stream: usize::MAX, .. } => {
                for (tracefile, packets) in tracefiles.iter().zip(&mut left) {
                    packets.drain(..).for_each(|packet| trace.append(*tracefile, packet));
                }
            }
            Step::Packets { stream, count } => {
                let stream = stream % left.len();
                let count = count.min(left[stream].len());
                let run = left[stream].drain(..count);
                trace.append(tracefiles[stream], run.flatten().collect());
            }
            Step::Metadata => {
                let text = metadata(&timeline.schema, usize::MAX);
                trace.extend_metadata(text.as_bytes()).expect("longer metadata");
            }
            Step::Read => {
                merge.continue_with(&[trace.version().clone()]);
                read(&mut merge, &mut seen);
            }
            Step::Release => trace.release(&merge, 0),
            Step::Complete => {
                for (tracefile, packets) in tracefiles.iter().zip(&left) {
                    if packets.is_empty() {
                        trace.complete(*tracefile);
                    }
                }
            }
        }
    }
    trace.complete_all();
    merge.continue_with(&[trace.version().clone()]);
    read(&mut merge, &mut seen);
    assert!(!merge.is_pending());
    let notices = losses(merge.take_notices());
    merge.finish().expect("sound data");
    (seen, notices)
}

fn expected(timeline: &Timeline) -> (Vec<Seen>, Vec<NoticeKind>) {
    let whole = timeline.in_memory(timeline.data());
    let mut merge = Merge::new(&[whole]);
    let mut seen = Vec::new();
    read(&mut merge, &mut seen);
    (seen, losses(merge.take_notices()))
}

proptest! {
    #![proptest_config(cases(400))]

    /// Any schedule of delivery leads to the events of the whole trace, in the same order.
    #[test]
    fn parts_are_read_like_the_whole(
        mut timeline in timeline(true), steps in steps(), known in 0..4usize,
    ) {
        timeline.transform = ClockTransform::IDENTITY;
        // Streams complete while metadata is missing would be damaged.
        let complete = |step: &Step| known < 4 && matches!(step, Step::Complete);
        let steps: Vec<_> = steps.into_iter().filter(|step| !complete(step)).collect();
        prop_assert_eq!(deliver(&timeline, &steps, known), expected(&timeline));
    }

    /// Tracefiles that become complete one by one lead to the same events.
    #[test]
    fn complete_tracefiles_hold_up_nothing(mut timeline in timeline(true), steps in steps()) {
        timeline.transform = ClockTransform::IDENTITY;
        prop_assert_eq!(deliver(&timeline, &steps, 4), expected(&timeline));
    }

    /// If clocks go back, each stream is still read once and in its order.
    #[test]
    fn streams_whose_clocks_go_back_are_read_once(
        mut timeline in timeline(false), steps in steps(),
    ) {
        timeline.transform = ClockTransform::IDENTITY;
        let (mut seen, losses) = deliver(&timeline, &steps, 4);
        let (mut all, expected_losses) = expected(&timeline);
        seen.sort_by_key(|(.., tracefile)| *tracefile);
        all.sort_by_key(|(.., tracefile)| *tracefile);
        prop_assert_eq!(seen, all);
        prop_assert_eq!(losses, expected_losses);
    }
}

const CLASS: StreamClassId = StreamClassId(0);

/// Returns a schema of LTTng with one event type, with a number and a text.
fn schema() -> Schema {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let fields =
        [("number", FieldClass::uint(32, ByteOrder::Little)), ("text", FieldClass::string())];
    schema.add_event_type(CLASS, "tick", FieldClass::structure(fields));
    schema
}

/// Writes a packet of the only event type with events at these times, numbered from 0.
fn packet(schema: &Schema, stream: u64, times: &[u64], end: u64) -> Vec<u8> {
    let schema = Arc::new(schema.clone());
    let mut writer = StreamWriter::new(schema, CLASS, "chan_0", Vec::new())
        .unwrap()
        .with_stream_id(stream)
        .with_packet_context(FieldValue::fields([("cpu_id", stream)]));
    writer.begin_packet(times.first().copied().unwrap_or(end)).unwrap();
    for (number, time) in (0u64..).zip(times) {
        let fields = FieldValue::structure([number.into(), "some text".into()]);
        writer.event(ltt_read::schema::EventTypeId(0), *time, fields).unwrap();
    }
    writer.end_packet(end).unwrap();
    writer.finish().unwrap()
}

/// Reads the times of the next events, in cycles.
fn cycles(merge: &mut Merge) -> Vec<u64> {
    let mut seen = Vec::new();
    while let Some(event) = merge.next() {
        seen.extend(event.cycles());
    }
    seen
}

#[test]
fn a_silent_tracefile_holds_up_others_until_it_is_known_to_be_silent() {
    let schema = schema();
    let text = metadata_text(&schema).unwrap();
    let mut trace = GrowingTrace::new("growing", text.as_bytes()).unwrap();
    let [busy, silent] = ["chan_0", "chan_1"].map(|name| trace.add_tracefile(name));
    trace.append(busy, packet(&schema, 0, &[10, 20, 30], 35));
    let mut merge = Merge::new(&[trace.version().clone()]);
    assert_eq!(cycles(&mut merge), [0_u64; 0]);
    assert!(merge.is_pending());
    assert_eq!(merge.watermark(), Some(Timestamp::MIN)); // of the silent one
    let time = trace.time_of(0, 20).expect("a clock");
    trace.silent_until(silent, time);
    merge.continue_with(&[trace.version().clone()]);
    assert_eq!(merge.watermark(), Some(time));
    // At equal times, the first tracefile comes first.
    assert_eq!(cycles(&mut merge), [10, 20]);
    // Beacons only raise the time.
    trace.silent_until(silent, trace.time_of(0, 15).expect("a clock"));
    merge.continue_with(&[trace.version().clone()]);
    assert_eq!(cycles(&mut merge), [0_u64; 0]);
    trace.append(silent, packet(&schema, 1, &[25], 40));
    merge.continue_with(&[trace.version().clone()]);
    assert_eq!(cycles(&mut merge), [25, 30]);
    assert_eq!(merge.watermark(), trace.time_of(0, 35));
    assert!(merge.take_notices().is_empty());
}

#[test]
fn events_that_come_late_are_delivered_at_once_with_a_notice() {
    let schema = schema();
    let text = metadata_text(&schema).unwrap();
    let mut trace = GrowingTrace::new("growing", text.as_bytes()).unwrap();
    let [busy, silent] = ["chan_0", "chan_1"].map(|name| trace.add_tracefile(name));
    trace.append(busy, packet(&schema, 0, &[10, 20, 30], 35));
    let expected = trace.time_of(0, 50).expect("a clock");
    trace.silent_until(silent, expected);
    let mut merge = Merge::new(&[trace.version().clone()]);
    assert_eq!(cycles(&mut merge), [10, 20, 30]);
    trace.append(silent, packet(&schema, 1, &[15, 60], 70));
    trace.append(busy, packet(&schema, 0, &[90], 95));
    merge.continue_with(&[trace.version().clone()]);
    assert_eq!(cycles(&mut merge), [15, 60]);
    let kinds: Vec<_> = merge.take_notices().into_iter().map(|notice| notice.kind).collect();
    let time = trace.time_of(0, 15).expect("a clock");
    assert_eq!(kinds, [NoticeKind::LateEvents { time, expected }]);
}

#[test]
fn handles_stay_valid_and_current_events_readable_when_the_schema_grows() {
    let before = schema();
    let mut after = before.clone();
    // An event type with many lengths, each of which needs a slot.
    let names: Vec<_> = (0..20).map(|n| (format!("n{n}"), format!("s{n}"))).collect();
    let fields = names.iter().flat_map(|(length, text)| {
        let length_class = FieldClass::uint(8, ByteOrder::Little);
        [(length.as_str(), length_class), (text.as_str(), presets::text_sequence(length))]
    });
    after.add_event_type(CLASS, "other", FieldClass::structure(fields));
    let mut trace = GrowingTrace::new("t", metadata_text(&before).unwrap().as_bytes()).unwrap();
    let stream = trace.add_tracefile("chan_0");
    let tick = ltt_read::schema::EventTypeId(0);
    let number = trace.version().field(tick, Scope::Payload, "number").expect("declared");
    trace.append(stream, packet(&before, 0, &[10, 20, 30], 35));
    let mut cursor = trace.version().cursor(TracefileIndex(0));
    assert!(cursor.advance().unwrap());
    assert!(trace.extend_metadata(metadata_text(&after).unwrap().as_bytes()).unwrap());
    cursor.continue_with(trace.version());
    for expected in 0..3 {
        let event = cursor.event();
        assert_eq!(event.integer(&number), Some(expected));
        let text = event.field("text").and_then(|text| text.as_str()).expect("a text");
        assert_eq!(text.to_str_lossy(), "some text");
        assert_eq!(cursor.advance().unwrap(), expected < 2);
    }
    let other = trace.version().event_types_named("other").next().expect("declared");
    assert_eq!(other.index(), 1);
    // A writer continues the metadata, but never changes what is declared.
    let mut changed = before.clone();
    changed.event_types[0].identity.name = Some("tock".into());
    let refused = trace.extend_metadata(metadata(&changed, 1).as_bytes());
    assert!(matches!(refused, Ok(false)), "{refused:?}");
    changed.event_types.push(after.event_types[1].clone());
    let refused = trace.extend_metadata(metadata(&changed, 2).as_bytes());
    assert!(matches!(refused, Err(Error::MetadataChanged { .. })), "{refused:?}");
}

#[test]
fn damaged_packets_are_skipped_and_what_follows_is_read() {
    let schema = schema();
    let text = metadata_text(&schema).unwrap();
    let mut trace = GrowingTrace::new("t", text.as_bytes()).unwrap();
    let stream = trace.add_tracefile("chan_0");
    let mut merge = Merge::new(&[trace.version().clone()]);
    trace.append(stream, packet(&schema, 0, &[10], 15));
    trace.append(stream, packet(&schema, 0, &[12], 18)[..40].to_vec());
    merge.continue_with(&[trace.version().clone()]);
    assert_eq!(cycles(&mut merge), [10]);
    assert!(merge.is_pending());
    trace.append(stream, packet(&schema, 0, &[20], 25));
    merge.continue_with(&[trace.version().clone()]);
    assert_eq!(cycles(&mut merge), [20]);
    let error = merge.take_errors().pop().expect("the damage").to_string();
    assert!(error.starts_with("t/chan_0: packet 1, byte "), "{error}");
}

#[test]
fn released_data_is_not_needed_and_positions_in_it_lead_to_what_is_kept() {
    let schema = schema();
    let text = metadata_text(&schema).unwrap();
    let mut trace = GrowingTrace::new("t", text.as_bytes()).unwrap();
    let stream = trace.add_tracefile("chan_0");
    let mut merge = Merge::new(&[trace.version().clone()]);
    let first = merge.positions();
    for time in 1..50 {
        trace.append(stream, packet(&schema, 0, &[10 * time, 10 * time + 1], 10 * time + 5));
        merge.continue_with(&[trace.version().clone()]);
        assert_eq!(cycles(&mut merge), [10 * time, 10 * time + 1]);
        trace.release(&merge, 0);
        // The packet that was read last is kept.
        assert_eq!(trace.version().tracefiles()[0].files().count(), 1);
    }
    merge.continue_with(&[trace.version().clone()]);
    merge.seek_positions(&first);
    assert_eq!(cycles(&mut merge), [490, 491]);
}

#[test]
fn times_do_not_depend_on_the_clock_of_packets_that_were_released() {
    const T: u64 = 1 << 30;
    let empty: (u64, u64, &[u64]) = (T, T, &[]);
    // The second packet declares no begin: the high bits of its times are those of the first.
    let whole = timeline_of(&[&[empty, (T, T + 5, &[T + 3, T + 4])]], true, false);
    let mut arriving = Arriving::new(&whole.in_memory(whole.data()), usize::MAX);
    arriving.add_tracefiles();
    let versions = |arriving: &mut Arriving| vec![arriving.growing.version().clone()];
    let mut behind = Merge::new(&versions(&mut arriving));
    let mut ahead = Merge::new(&versions(&mut arriving));
    arriving.append(0, 1);
    arriving.append(0, 1);
    ahead.continue_with(&versions(&mut arriving));
    assert!(ahead.next().is_some());
    arriving.growing.release(&ahead, 0);
    arriving.complete();
    let times = |merge: &mut Merge| {
        let mut seen = Vec::new();
        read(merge, &mut seen);
        seen.into_iter().map(|(_, time, _)| time).collect::<Vec<_>>()
    };
    let expected: Vec<_> = whole.events(0).iter().map(|event| whole.time(event).as_ns()).collect();
    behind.continue_with(&versions(&mut arriving));
    assert_eq!(times(&mut behind), expected);
    behind.seek(Timestamp::MIN);
    assert_eq!(times(&mut behind), expected);
    assert_eq!(times(&mut Merge::new(&versions(&mut arriving))), expected);
}

/// Returns the times that a merge reads of the last version of a trace, in ns.
fn times(merge: &mut Merge, arriving: &mut Arriving) -> Vec<i64> {
    merge.continue_with(&[arriving.growing.version().clone()]);
    let mut seen = Vec::new();
    read(merge, &mut seen);
    seen.into_iter().map(|(_, time, _)| time).collect()
}

#[test]
fn times_continue_after_packets_without_end_that_a_seek_skipped() {
    const T: u64 = 1 << 30;
    let packets: &[(u64, u64, &[u64])] = &[(T, T, &[T, T]), (T + 9, T + 9, &[T + 9])];
    let whole = timeline_of(&[packets], true, true);
    let expected = whole.at(T + 9);
    for seeks_end in [false, true] {
        let mut arriving = Arriving::new(&whole.in_memory(whole.data()), usize::MAX);
        arriving.add_tracefiles();
        arriving.append(0, 1);
        let mut merge = Merge::new(&[arriving.growing.version().clone()]);
        merge.seek(if seeks_end { Timestamp::MAX } else { expected });
        assert_eq!(times(&mut merge, &mut arriving), [0_i64; 0]);
        arriving.complete();
        assert_eq!(times(&mut merge, &mut arriving), [expected.as_ns()]);
    }
}

#[test]
fn times_continue_after_packets_without_end_that_were_released() {
    const T: u64 = 1 << 30;
    let packets: &[(u64, u64, &[u64])] =
        &[(T, T, &[T, T + 1]), (T + 9, T + 9, &[T + 9]), (T + 10, T + 20, &[T + 11, T + 12])];
    for no_end in [false, true] {
        let whole = timeline_of(&[packets], true, no_end);
        let at = |cycles: &[u64]| cycles.iter().map(|at| whole.at(*at).as_ns()).collect::<Vec<_>>();
        let mut arriving = Arriving::new(&whole.in_memory(whole.data()), usize::MAX);
        arriving.add_tracefiles();
        let mut ahead = Merge::new(&[arriving.growing.version().clone()]);
        for _ in packets {
            arriving.append(0, 1);
            times(&mut ahead, &mut arriving);
            arriving.growing.release(&ahead, 0);
        }
        arriving.complete();
        let versions = [arriving.growing.version().clone()];
        let mut merge = Merge::new(&versions);
        assert_eq!(times(&mut merge, &mut arriving), at(&[T + 11, T + 12]), "{no_end}");
        merge.seek(whole.at(T + 12));
        assert_eq!(times(&mut merge, &mut arriving), at(&[T + 12]), "{no_end}");
        let index = versions[0].packet_index(TracefileIndex(0));
        assert_eq!(index.entries().len(), 1);
    }
}

#[test]
fn the_index_continues_the_clock_of_packets_that_were_released() {
    let mut schema = schema();
    let context = schema.stream_classes[0].packet_context.take().expect("the preset has one");
    let members = context.members().iter().map(|member| {
        let mut class = (*member.class).clone();
        if let ("timestamp_begin" | "timestamp_end", FieldKind::Integer(fixed, _)) =
            (&*member.name, &mut class.kind)
        {
            fixed.bits = 32;
        }
        (&*member.name, class)
    });
    schema.stream_classes[0].packet_context = Some(Arc::new(FieldClass::structure(members)));
    let text = metadata_text(&schema).unwrap();
    let times: [u64; 3] = [3 << 30, (1 << 32) + 5, (1 << 32) + 9];
    let mut writer = StreamWriter::new(Arc::new(schema), CLASS, "chan_0", Vec::new())
        .unwrap()
        .with_packet_context(FieldValue::fields([("cpu_id", 0u64)]));
    for time in times {
        writer.begin_packet(time).unwrap();
        let fields = FieldValue::structure([0u64.into(), "some text".into()]);
        writer.event(ltt_read::schema::EventTypeId(0), time, fields).unwrap();
        writer.end_packet(time).unwrap();
    }
    let files = [("chan_0".to_owned(), writer.finish().unwrap())];
    let whole = Trace::from_memory(text.as_bytes(), files.to_vec()).unwrap();
    let mut trace = GrowingTrace::new("t", text.as_bytes()).unwrap();
    let stream = trace.add_tracefile("chan_0");
    let mut merge = Merge::new(&[trace.version().clone()]);
    for (time, packet) in times.into_iter().zip(packets(&whole).remove(0)) {
        trace.append(stream, packet);
        merge.continue_with(&[trace.version().clone()]);
        assert_eq!(cycles(&mut merge), [time]);
        trace.release(&merge, 0);
        let version = trace.version().clone();
        let starts = version.packet_index(stream).entries().iter().map(|entry| entry.start);
        assert_eq!(starts.collect::<Vec<_>>(), [trace.time_of(0, time).expect("a clock")]);
    }
}

#[test]
fn positions_of_a_pending_merge_are_after_what_was_delivered() {
    let schema = schema();
    let text = metadata_text(&schema).unwrap();
    let mut trace = GrowingTrace::new("t", text.as_bytes()).unwrap();
    let stream = trace.add_tracefile("chan_0");
    trace.append(stream, packet(&schema, 0, &[10, 20], 25));
    let mut merge = Merge::new(&[trace.version().clone()]);
    assert_eq!(cycles(&mut merge), [10, 20]);
    let pending = merge.positions();
    trace.append(stream, packet(&schema, 0, &[30], 35));
    let mut other = Merge::new(&[trace.version().clone()]);
    other.seek_positions(&pending);
    assert_eq!(cycles(&mut other), [30]);
}

#[test]
fn a_merge_that_waits_for_a_declaration_can_return_to_the_start() {
    let schema = schema();
    let mut trace = GrowingTrace::new("t", metadata(&schema, 0).as_bytes()).unwrap();
    let stream = trace.add_tracefile("chan_0");
    let begin = 1 << 30;
    trace.append(stream, packet(&schema, 0, &[], begin));
    trace.append(stream, packet(&schema, 0, &[begin, begin], begin));
    let mut merge = Merge::new(&[trace.version().clone()]);
    let start = merge.positions();
    assert_eq!(cycles(&mut merge), [0_u64; 0]);
    let pending = merge.positions();
    trace.extend_metadata(metadata(&schema, 1).as_bytes()).unwrap();
    merge.seek_positions(&start);
    merge.continue_with(&[trace.version().clone()]);
    assert_eq!(cycles(&mut merge), [begin, begin]);
    merge.seek_positions(&pending);
    assert_eq!(cycles(&mut merge), [begin, begin]);
    merge.seek(Timestamp::MIN);
    assert_eq!(cycles(&mut merge), [begin, begin]);
    let tracefiles = [(TraceIndex(0), TracefileIndex(0))];
    let mut reader = OrderedReader::new(&[trace.version().clone()], &tracefiles, false);
    for place in [start[0], pending[0]] {
        let key = DeliveryKey::new(Timestamp::MIN, TracefileNumber(0));
        reader.seek_position(&OrderPosition::before_event(key, None, place));
        assert_eq!(cycles(reader.parts().0), [begin, begin]);
    }
}

#[test]
fn a_seek_into_a_packet_that_waits_for_a_declaration_loses_none_of_its_events() {
    let mut schema = schema();
    let tock = FieldClass::structure([("number", FieldClass::uint(8, ByteOrder::Little))]);
    schema.add_event_type(CLASS, "tock", tock);
    let events = |types: &[u32]| {
        let mut writer =
            StreamWriter::new(Arc::new(schema.clone()), CLASS, "chan_0", Vec::new()).unwrap();
        writer.begin_packet(10).unwrap();
        for (time, event_type) in (10..).step_by(10).zip(types) {
            let fields = match event_type {
                0 => FieldValue::structure([1u64.into(), "some text".into()]),
                _ => FieldValue::structure([1u64.into()]),
            };
            writer.event(ltt_read::schema::EventTypeId(*event_type), time, fields).unwrap();
        }
        writer.end_packet(100).unwrap();
        writer.finish().unwrap()
    };
    for types in [&[0, 1, 0, 0], &[1, 0, 0, 0], &[0, 0, 0, 1]] {
        let mut trace = GrowingTrace::new("t", metadata(&schema, 1).as_bytes()).unwrap();
        let stream = trace.add_tracefile("chan_0");
        trace.append(stream, events(types));
        let version = trace.version().clone();
        let time = trace.time_of(0, 25).expect("a clock");
        let mut seeking = Merge::new(std::slice::from_ref(&version));
        seeking.seek(time);
        let mut search = ltt_read::tuning::TimeSearch::new(std::slice::from_ref(&version), time);
        while !search.run(1) {}
        let mut searching = Merge::new(&[version]);
        searching.seek_result(search);
        for mut merge in [seeking, searching] {
            let mut seen = cycles(&mut merge);
            assert!(merge.is_pending());
            let mut trace = GrowingTrace::new("t", metadata(&schema, 2).as_bytes()).unwrap();
            let stream = trace.add_tracefile("chan_0");
            trace.append(stream, events(types));
            merge.continue_with(&[trace.version().clone()]);
            seen.extend(cycles(&mut merge));
            // What the packet has before the time may follow: its end was not known.
            seen.retain(|cycles| *cycles >= 25);
            assert_eq!(seen, [30, 40], "{types:?}");
        }
    }
}
