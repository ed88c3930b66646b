//! Traces of LTTng 0.x. Written traces of every machine type are read back. Damage is
//! reported with its place, and events outside of it are read.

use std::sync::Arc;

use crate::support::read_all::{Seen, read_all, read_tracefile, visit_event};
use ltt_read::legacy::from_memory;
use ltt_read::legacy::{LegacyMarker, LegacyWriter};
use ltt_read::schema::{ByteOrder, Format, Scope};
use ltt_read::writer::FieldValue;
use ltt_read::{Merge, NoticeKind, Timestamp, Trace, TracefileIndex, UserProcess};
use proptest::prelude::*;

type Files = Vec<(String, Vec<u8>)>;

/// Fields of every kind.
const FORMAT: &str = "a %d b #1u%u c %ld name %s d #n2u%hu p %p e %llu ch %c text %s h #8d%ld";

fn values(seed: u64, text: &str) -> Vec<FieldValue> {
    let (small, text) = (seed % 100, FieldValue::from(text.replace('\0', " ")));
    let mut values: Vec<FieldValue> =
        vec![FieldValue::Sint(-(small as i64)), small.into(), small.into()];
    values.extend([text.clone(), (seed % 65536).into(), (seed as u32).into(), seed.into()]);
    values.extend([(b'a' as u64 + seed % 26).into(), text, FieldValue::Sint(seed as i64)]);
    values
}

fn machines() -> impl Strategy<Value = LegacyWriter> {
    let orders = prop_oneof![Just(ByteOrder::Little), Just(ByteOrder::Big)];
    let pointers = prop_oneof![Just(4u8), Just(8)];
    let alignments = prop_oneof![Just(0u8), Just(1), Just(2), Just(4), Just(8)];
    let blocks = prop_oneof![Just(1usize), Just(300), Just(65536)];
    (orders, pointers, alignments, blocks, any::<bool>()).prop_map(
        |(order, pointer, align, block, sized)| {
            let writer =
                LegacyWriter::new().with_machine(order, pointer, align).with_sub_buffer_size(block);
            let writer = writer.with_clock(1_000_000_000, 1 << 40);
            if sized { writer.with_sizes() } else { writer }
        },
    )
}

/// Generates events: the marker, the distance from the previous event, and the data.
fn events() -> impl Strategy<Value = Vec<(usize, u64, u64, String)>> {
    let gap = prop_oneof![0u64..1000, Just((1 << 27) - 1), Just(1 << 27), 0u64..1 << 40];
    prop::collection::vec((0usize..40, gap, any::<u64>(), "[a-z\u{0}é]{0,40}"), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn written_events_are_read_back(writer in machines(), events in events()) {
        let mut writer = writer;
        // There are more markers than ids in short headers, and some have equal names.
        let markers: Vec<LegacyMarker> = (0..40)
            .map(|i| {
                let format = if i % 3 == 0 { " " } else { FORMAT };
                writer.marker("kernel", &format!("event{}", i % 30), format).unwrap()
            })
            .collect();
        let mut now = 1 << 40;
        for (marker, gap, seed, text) in &events {
            now += gap;
            let values = if marker % 3 == 0 { Vec::new() } else { values(*seed, text) };
            writer.event(2, markers[*marker], now, &values).unwrap();
        }
        let trace = from_memory(writer.finish()).unwrap();
        prop_assert_eq!(trace.schema().format, Format::Legacy);
        prop_assert_eq!(trace.warnings(), []);
        let kernel = trace.tracefiles().iter().position(|t| t.channel() == "kernel");
        prop_assert_eq!(kernel.is_some(), !events.is_empty());
        let Some(kernel) = kernel else { return Ok(()) };
        prop_assert_eq!(trace.tracefiles()[kernel].cpu(), Some(2));
        let mut cursor = trace.cursor(TracefileIndex(kernel));
        let mut now = 1 << 40;
        for (marker, gap, seed, text) in &events {
            now += gap;
            let event = cursor.next().unwrap().expect("as many as were written");
            prop_assert_eq!(event.cycles(), Some(now));
            prop_assert_eq!(event.event_type().id, *marker as u64);
            prop_assert_eq!(event.event_type().name(), format!("event{}", marker % 30));
            if marker % 3 != 0 {
                let text = text.replace('\0', " ");
                let field = |name: &str| event.field(name).unwrap();
                prop_assert_eq!(field("a").as_i64(), Some(-((seed % 100) as i64)));
                prop_assert_eq!(field("d").as_u64(), Some(seed % 65536));
                prop_assert_eq!(field("p").as_u64(), Some(seed & 0xffff_ffff));
                prop_assert_eq!(field("e").as_u64(), Some(*seed));
                prop_assert_eq!(field("h").as_i64(), Some(*seed as i64));
                let name = field("name").as_str().unwrap();
                prop_assert_eq!(name.to_str(), Some(&*text));
                let handle = trace.field(event.type_id(), Scope::Payload, "e").unwrap();
                prop_assert_eq!(event.integer(&handle), Some(*seed));
            }
        }
        prop_assert!(cursor.next().unwrap().is_none());
        read_all(&trace);
    }
}

/// Writes a trace of two CPUs with several sub-buffers and an extended header of each
/// kind.
fn sample() -> Files {
    let mut writer =
        LegacyWriter::new().with_machine(ByteOrder::Little, 4, 4).with_sub_buffer_size(300);
    let switch = writer.marker("kernel", "switch", "prev %d next %d state #2d%ld").unwrap();
    let open = writer.marker("fs", "open", "fd %d filename %s").unwrap();
    for i in 0..40u64 {
        let cpu = (i % 2) as u32;
        writer.event(cpu, switch, i * 1000, &[i.into(), (i + 1).into(), 0.into()]).unwrap();
        if i % 8 == 0 {
            writer.event(0, open, i * 1000, &[i.into(), "/etc/passwd".into()]).unwrap();
        }
    }
    writer.event(1, switch, 1 << 30, &[1.into(), 2.into(), 3.into()]).unwrap();
    writer.lose("kernel", 1, 7, 2);
    writer.finish()
}

fn open(files: Files) -> Arc<Trace> {
    from_memory(files).expect("a trace")
}

/// Reads the events of one tracefile up to its first error.
fn events_of(trace: &Arc<Trace>, channel: &str, cpu: u32) -> Seen {
    let mut seen = Seen::default();
    let found = trace.tracefiles().iter();
    let found = found.zip(0..).find(|(t, _)| t.channel() == channel && t.cpu() == Some(cpu));
    if let Some((_, number)) = found {
        read_tracefile(&mut trace.cursor(TracefileIndex(number)), &mut seen, visit_event);
    }
    seen
}

#[test]
fn a_whole_trace_is_read_in_every_way() {
    let trace = open(sample());
    assert_eq!(trace.schema().version, (2, 6));
    let names: Vec<_> = trace.tracefiles().iter().map(|t| t.name()).collect();
    assert_eq!(names, ["fs_0", "kernel_0", "kernel_1", "metadata_0"]);
    read_all(&trace);
    assert_eq!(events_of(&trace, "kernel", 1).events, 21);

    // Reads by a merge, and after seeks of any time.
    let mut merge = Merge::new(std::slice::from_ref(&trace));
    let mut times = Vec::new();
    while let Some(event) = merge.next() {
        times.push(event.timestamp().unwrap());
    }
    assert!(times.is_sorted());
    assert_eq!((times.len(), merge.errors().len()), (8 + 46, 0));
    for time in [0, 1, 5_000, 39_000, 39_001, 1 << 30, 1 << 31] {
        merge.seek(Timestamp::from_ns(time));
        let rest = std::iter::from_fn(|| merge.next().map(|_| ())).count();
        let expected = times.iter().filter(|t| t.as_ns() >= time).count();
        assert_eq!(rest, expected, "from {time}");
    }
}

/// A marker may give two of its values the same name. The name then refers to the first
/// of them.
#[test]
fn of_two_fields_of_one_name_the_first_is_found() {
    let mut writer = LegacyWriter::new();
    let marker = writer.marker("kernel", "twice", "a %d b %d a %d").unwrap();
    writer.event(0, marker, 1 << 20, &[1u64.into(), 2u64.into(), 3u64.into()]).unwrap();
    let trace = open(writer.finish());
    let kernel = trace.tracefiles().iter().position(|t| t.channel() == "kernel").unwrap();
    let mut cursor = trace.cursor(TracefileIndex(kernel));
    let event = cursor.next().unwrap().expect("one event");
    let field = |name| trace.field(event.type_id(), Scope::Payload, name).expect("a field");
    assert_eq!([field("a"), field("b")].map(|field| event.integer(&field)), [Some(1), Some(2)]);
    assert_eq!(event.field("a").and_then(|value| value.as_i64()), Some(1));
    let payload = event.scope(Scope::Payload).expect("a payload");
    let members: Vec<_> =
        payload.members().map(|(info, value)| (info.name(), value.as_i64())).collect();
    assert_eq!(members, [(Some("a"), Some(1)), (Some("b"), Some(2)), (Some("a"), Some(3))]);
}

#[test]
fn losses_are_noted_from_the_counters_of_sub_buffers() {
    let trace = open(sample());
    let mut merge = Merge::new(&[trace]);
    while merge.next().is_some() {}
    let notices = merge.take_notices();
    let kinds: Vec<_> = notices.iter().map(|n| &n.kind).collect();
    let [
        NoticeKind::LostPackets { count: 2, .. },
        NoticeKind::DiscardedEvents { count: Some(7), .. },
    ] = kinds[..]
    else {
        panic!("{kinds:?}");
    };
    // The counters of a first sub-buffer count from the trace's start.
    let mut writer = LegacyWriter::new();
    let marker = writer.marker("kernel", "tick", "").unwrap();
    writer.event(0, marker, 5, &[]).unwrap();
    writer.lose("kernel", 0, 3, 0);
    let mut cursor = open(writer.finish()).cursor(TracefileIndex(0));
    while cursor.advance().unwrap() {}
    let notices = cursor.take_notices();
    assert!(
        matches!(notices[0].kind, NoticeKind::DiscardedEvents { count: Some(3), .. }),
        "{notices:?}"
    );
}

#[test]
fn cpus_may_be_missing_and_foreign_files_are_left_out() {
    let mut files: Files = sample().into_iter().filter(|(name, _)| name != "kernel_0").collect();
    files.push(("notes.txt".to_owned(), b"hello".to_vec()));
    files.push(("backup_7".to_owned(), vec![1; 5000]));
    files.push(("vm_state_0".to_owned(), Vec::new()));
    let trace = open(files);
    let names: Vec<_> = trace.tracefiles().iter().map(|t| t.name()).collect();
    assert_eq!(names, ["fs_0", "kernel_1", "metadata_0"]);
    let [warning] = trace.warnings() else { panic!("{:?}", trace.warnings()) };
    assert_eq!(warning.message, "backup_7: not a tracefile");
    assert_eq!(events_of(&trace, "kernel", 1).events, 21);
}

#[test]
fn flight_recorders_and_processes_have_names_of_their_own() {
    let mut files = sample();
    for (name, _) in &mut files {
        match name.as_str() {
            "kernel_1" => *name = "flight-kernel_1".to_owned(),
            "kernel_0" => *name = "process/user/daemon-12.13.1400".to_owned(),
            _ => {}
        }
    }
    let trace = open(files);
    assert_eq!(events_of(&trace, "kernel", 1).events, 21);
    let process = trace.tracefiles().iter().find_map(|t| t.user_process());
    assert_eq!(process, Some(UserProcess { tid: 12, pgid: 13, creation: 1400 }));
}

#[test]
fn truncation_at_every_byte_keeps_the_events_before() {
    let whole = sample();
    let (number, (name, bytes)) =
        whole.iter().enumerate().find(|(_, (name, _))| name == "kernel_1").unwrap();
    let mut last = 0;
    // Most of a page is padding, in which every truncation is equivalent.
    let cuts = (0..bytes.len()).filter(|cut| cut % 4096 < 400 || cut % 97 == 0);
    for cut in cuts {
        let mut files = whole.clone();
        files[number].1.truncate(cut);
        let trace = open(files);
        let seen = events_of(&trace, "kernel", 1);
        assert!(seen.events >= last, "cut at {cut} lost an event");
        last = seen.events;
        assert_eq!(seen.errors.is_empty(), cut % 4096 == 0, "cut at {cut}: {:?}", seen.errors);
        let named = seen.errors.iter().all(|e| e.starts_with(&format!("{name}: packet ")));
        assert!(named, "{:?}", seen.errors);
        assert_eq!(events_of(&trace, "kernel", 0).events, 20);
    }
    assert_eq!(last, 21);
}

#[test]
fn a_flip_of_every_bit_is_survived() {
    let whole = sample();
    for (number, (name, bytes)) in whole.iter().enumerate() {
        for bit in 0..bytes.len() * 8 {
            if bit / 8 % 4096 > 420 {
                continue; // padding
            }
            let mut files = whole.clone();
            files[number].1[bit / 8] ^= 1 << (bit % 8);
            match from_memory(files) {
                Ok(trace) if bit % 7 == 0 => drop(read_all(&trace)),
                Ok(trace) => {
                    (0..trace.tracefiles().len()).for_each(|t| {
                        let mut seen = Seen::default();
                        read_tracefile(
                            &mut trace.cursor(TracefileIndex(t)),
                            &mut seen,
                            visit_event,
                        );
                    });
                }
                // Without a sound sub-buffer of metadata there is no trace.
                Err(error) => assert!(name == "metadata_0", "{name} bit {bit}: {error}"),
            }
        }
    }
}

#[test]
fn errors_name_their_place() {
    let message = |change: fn(&mut Vec<u8>)| {
        let mut files = sample();
        change(&mut files.iter_mut().find(|(name, _)| name == "kernel_1").unwrap().1);
        let seen = events_of(&open(files), "kernel", 1);
        seen.errors.into_iter().next().unwrap_or_default()
    };
    assert_eq!(message(|b| b[16] = 0), "kernel_1: packet 0, byte 16: not an LTTng 0.x sub-buffer");
    assert_eq!(
        message(|b| b[21] = 9),
        "kernel_1: packet 0, byte 20: sub-buffers of version 2.9 are not supported"
    );
    assert_eq!(
        message(|b| b[21] = 5),
        "kernel_1: packet 0, byte 68: the version or byte order of this sub-buffer differs from \
         that of the trace"
    );
    assert_eq!(
        message(|b| b[23] = 3),
        "kernel_1: packet 0, byte 23: an alignment of 3 bytes is not a power of two"
    );
    assert_eq!(
        message(|b| b[72] = 9),
        "kernel_1: packet 0, byte 68: no event type of this stream has the id 9"
    );
    assert_eq!(
        message(|b| b[74] = 9),
        "kernel_1: packet 0, byte 68: event header declares 9 bytes, its fields need 10"
    );
    // A missing or inconsistent sub-buffer ends the tracefile.
    assert!(
        message(|b| b[56..60].fill(0)).starts_with("kernel_1: packet 0, byte 68: packet content")
    );
    assert!(message(|b| b[52..56].fill(0)).starts_with("kernel_1: packet 0, byte 68: packet size"));
}
