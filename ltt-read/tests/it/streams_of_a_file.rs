//! Files that have packets of several streams, such as those of several CPUs in turn, are read as a
//! tracefile for each stream: like the same packets in a file for each stream.

use std::fs;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use ltt_read::{DecodeError, Error, Follower, Merge, NoticeKind, Timestamp, Trace, TracefileIndex};
use proptest::prelude::*;

/// The declarations of packets about their streams.
#[derive(Debug, Clone, Copy)]
struct Declared {
    class: bool,
    id: bool,
    cpu: bool,
    sequence: bool,
}

const CPU: Declared = Declared { class: false, id: false, cpu: true, sequence: true };

/// All that tell streams apart.
fn declared() -> impl Strategy<Value = Declared> {
    (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>())
        .prop_map(|(class, id, cpu, sequence)| Declared { class, id, cpu, sequence })
        .prop_filter("nothing that tells streams apart", |it| it.id || it.cpu)
}

impl Declared {
    fn metadata(self, tracer: &str) -> String {
        let u = |size: u32, name: &str| format!("integer {{ size = {size}; align = 8; }} {name}; ");
        let clock = |name: &str| {
            format!("integer {{ size = 64; align = 8; map = clock.c.value; }} {name}; ")
        };
        let optional = |is: bool, text: String| if is { text } else { String::new() };
        let header = u(8, "start")
            + &optional(self.class, u(8, "stream_id"))
            + &optional(self.id, u(16, "stream_instance_id"));
        let context = clock("timestamp_begin")
            + &clock("timestamp_end")
            + &u(64, "content_size")
            + &u(64, "packet_size")
            + &optional(self.sequence, u(64, "packet_seq_num"))
            + &optional(self.cpu, u(32, "cpu_id"));
        let stream = |id: &str| {
            let number = u(32, "number");
            let time = clock("timestamp");
            let of = if id.is_empty() { "" } else { "stream_" };
            let event_of = optional(!id.is_empty(), format!("{of}{id}"));
            format!(
                "stream {{ {id} packet.context := struct {{ {context} }};
                   event.header := struct {{ {time} }}; }};
                 event {{ name = \"e\"; {event_of} fields := struct {{ {number} }}; }};"
            )
        };
        let streams = match self.class {
            true => (0..4).map(|id| stream(&format!("id = {id};"))).collect(),
            false => stream(""),
        };
        format!(
            "/* CTF 1.8 */
             trace {{ major = 1; minor = 8; byte_order = le; packet.header := struct {{ {header} }}; }};
             env {{ {tracer} }};
             clock {{ name = c; freq = 1000000000; }};
             {streams}"
        )
    }

    /// Returns the bytes of a packet of a stream, which fills `size` bytes at least.
    fn packet(self, stream: u32, sequence: u64, times: &[u64], size: usize) -> Vec<u8> {
        let mut bytes = vec![0x55];
        if self.class {
            bytes.push(stream as u8 % 4);
        }
        if self.id {
            bytes.extend((stream as u16).to_le_bytes());
        }
        let (first, last) = (times.first().unwrap_or(&0), times.last().unwrap_or(&0));
        bytes.extend(first.to_le_bytes());
        bytes.extend(last.to_le_bytes());
        let sizes = bytes.len();
        bytes.extend([0; 16]);
        if self.sequence {
            bytes.extend(sequence.to_le_bytes());
        }
        if self.cpu {
            bytes.extend(stream.to_le_bytes());
        }
        for time in times {
            bytes.extend(time.to_le_bytes());
            bytes.extend(stream.wrapping_mul(1_000_000).wrapping_add(*time as u32).to_le_bytes());
        }
        let content = bytes.len() as u64 * 8;
        bytes.resize(bytes.len().max(size), 0);
        let total = bytes.len() as u64 * 8;
        bytes[sizes..sizes + 8].copy_from_slice(&content.to_le_bytes());
        bytes[sizes + 8..sizes + 16].copy_from_slice(&total.to_le_bytes());
        bytes
    }
}

/// Packets in the order of a file: the stream and the bytes of each.
type Packets = Vec<(u32, Vec<u8>)>;

/// Creates packets of streams in a given order. Each has some events, at other times than all others; the
/// packets of a stream follow each other, those of different streams overlap.
fn packets(declared: Declared, order: &[(u32, u64)]) -> Packets {
    let (mut sequences, mut latest) = ([0; 4], [0; 4]);
    let packets = (0_u64..).zip(order).map(|(number, &(stream, events))| {
        let at = stream as usize;
        let first = latest[at].max(number * 40) / 4 * 4 + 4 + u64::from(stream);
        let times: Vec<u64> = (0..=events).map(|event| first + 12 * event).collect();
        latest[at] = *times.last().unwrap();
        sequences[at] += 1;
        (stream, declared.packet(stream, sequences[at] - 1, &times, 0))
    });
    packets.collect()
}

fn one(declared: Declared, packets: &Packets) -> Arc<Trace> {
    let bytes = packets.iter().flat_map(|(_, bytes)| bytes).copied().collect();
    let metadata = declared.metadata("");
    Trace::from_memory(metadata.as_bytes(), [("c_0".to_owned(), bytes)]).unwrap()
}

fn split(declared: Declared, packets: &Packets) -> Arc<Trace> {
    let files = (0..4).map(|stream| {
        let of = packets.iter().filter(|packet| packet.0 == stream);
        (format!("c_{stream}"), of.flat_map(|(_, bytes)| bytes).copied().collect())
    });
    Trace::from_memory(declared.metadata("").as_bytes(), files).unwrap()
}

/// Reads on to the end: the time, the CPU and the number of each event.
fn rest(merge: &mut Merge) -> Vec<(Option<Timestamp>, Option<u32>, Option<u64>)> {
    let mut events = Vec::new();
    while let Some(event) = merge.next() {
        let number = event.field("number").and_then(|number| number.as_u64());
        events.push((event.timestamp(), event.tracefile().cpu(), number));
    }
    events
}

/// CPUs are told by packets, or else by names of files, of which there is one.
fn comparable(
    declared: Declared,
    events: Vec<(Option<Timestamp>, Option<u32>, Option<u64>)>,
) -> Vec<(Option<Timestamp>, Option<u32>, Option<u64>)> {
    let cpu = |cpu: Option<u32>| cpu.filter(|_| declared.cpu);
    events.into_iter().map(|(time, of, number)| (time, cpu(of), number)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// In order, from any time and from any position, one file gives the events of a file for each stream.
    #[test]
    fn one_file_is_read_like_a_file_for_each_stream(
        declared in declared(),
        order in prop::collection::vec((0..4_u32, 0..4_u64), 1..14),
    ) {
        let packets = packets(declared, &order);
        let (one, split) = (one(declared, &packets), split(declared, &packets));
        prop_assert_eq!(one.tracefiles().len(), split.tracefiles().len());
        let sizes = |trace: &Trace| trace.tracefiles().iter().map(|t| t.size()).collect::<Vec<_>>();
        let (mut a, mut b) = (sizes(&one), sizes(&split));
        a.sort_unstable();
        b.sort_unstable();
        prop_assert_eq!(a, b);
        let read = |trace: &Arc<Trace>, from: Option<Timestamp>| {
            let mut merge = Merge::new(std::slice::from_ref(trace));
            if let Some(from) = from {
                merge.seek(from);
            }
            let events = rest(&mut merge);
            let notices = merge.take_notices().len();
            (comparable(declared, events), merge.finish().is_ok(), notices)
        };
        let all = read(&split, None);
        prop_assert_eq!(read(&one, None), all.clone());
        prop_assert!(all.0.is_sorted() && all.1 && all.2 == 0);
        prop_assert_eq!(one.time_span(), split.time_span());
        for (time, ..) in &all.0 {
            prop_assert_eq!(read(&one, *time), read(&split, *time));
        }
        for tracefile in (0..one.tracefiles().len()).map(TracefileIndex) {
            let (mut cursor, mut from) = (one.cursor(tracefile), Vec::new());
            from.push(cursor.position());
            let mut events = Vec::new();
            while let Some(event) = cursor.next().unwrap() {
                events.push(event.timestamp());
                from.push(cursor.position());
            }
            for (number, position) in from.into_iter().enumerate() {
                let mut cursor = one.cursor(tracefile);
                cursor.seek(position).unwrap();
                let next = cursor.next().unwrap().map(|event| event.timestamp());
                prop_assert_eq!(next, events.get(number).copied());
            }
        }
    }

    /// A file that grows by any number of bytes at a time gives them, too.
    #[test]
    fn a_growing_file_has_a_tracefile_for_each_stream(
        declared in declared(),
        order in prop::collection::vec((0..4_u32, 0..4_u64), 1..10),
        steps in prop::collection::vec(1..400_usize, 1..20),
    ) {
        let packets = packets(declared, &order);
        let bytes: Vec<u8> = packets.iter().flat_map(|(_, bytes)| bytes).copied().collect();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("metadata"), declared.metadata("")).unwrap();
        let mut file = fs::File::create(folder.path().join("c_0")).unwrap();
        let mut follower = Follower::new([folder.path()]);
        let (mut merge, mut events, mut left) = (Merge::new(&[]), Vec::new(), &bytes[..]);
        for step in steps.iter().cycle() {
            let (now, later) = left.split_at((*step).min(left.len()));
            file.write_all(now).unwrap();
            left = later;
            follower.poll(Instant::now()).unwrap();
            merge.continue_with(follower.traces());
            events.extend(rest(&mut merge));
            follower.release(&merge);
            if left.is_empty() {
                break;
            }
        }
        follower.complete().unwrap();
        merge.continue_with(follower.traces());
        events.extend(rest(&mut merge));
        let lost = merge.take_notices().iter().filter(|notice| notice.kind.is_loss()).count();
        prop_assert!(merge.finish().is_ok() && lost == 0);
        // A stream whose first packet comes late may be late as well.
        let (mut events, mut all) = (
            comparable(declared, events),
            comparable(declared, rest(&mut Merge::new(&[split(declared, &packets)]))),
        );
        events.sort_unstable();
        all.sort_unstable();
        prop_assert_eq!(events, all);
    }
}

#[test]
fn a_loss_is_that_of_the_stream_whose_counter_tells_it() {
    let first = |stream| CPU.packet(stream, 0, &[10, 20], 0);
    let packets = vec![
        (0, first(0)),
        (1, first(1)),
        (0, CPU.packet(0, 1, &[30], 0)),
        (1, CPU.packet(1, 5, &[40], 0)),
    ];
    let trace = one(CPU, &packets);
    let lost = |at: usize| {
        let losses = trace.losses(TracefileIndex(at));
        for loss in &losses {
            let has = |t: &ltt_read::Tracefile| t.has_byte(&loss.file, loss.offset);
            assert_eq!(trace.tracefiles().iter().position(has), Some(at));
            assert_eq!(loss.packet, 3);
        }
        losses.into_iter().map(|loss| loss.kind).collect::<Vec<_>>()
    };
    assert_eq!(lost(0), []);
    assert!(matches!(lost(1)[..], [NoticeKind::LostPackets { count: 4, .. }]));
    assert_eq!(trace.tracefiles()[0].files().count(), 1);
    assert_eq!(trace.tracefiles()[0].parts().len(), 2);
}

#[test]
fn a_damaged_cpu_makes_no_stream() {
    let packets: Packets = (0..4).map(|at| (0, CPU.packet(0, at, &[10 * at + 10], 0))).collect();
    let whole = one(CPU, &packets);
    let mut damaged = packets;
    // The CPU is before the time and the number of the event.
    let at = damaged[2].1.len() - 16;
    damaged[2].1[at..at + 4].fill(0xff);
    let trace = one(CPU, &damaged);
    assert_eq!(trace.tracefiles().len(), 1);
    let mut merge = Merge::new(std::slice::from_ref(&trace));
    assert_eq!(rest(&mut merge), rest(&mut Merge::new(&[whole])));
    merge.finish().unwrap();
}

/// Damage is told once, at its place in the file, and ends no other stream.
#[test]
fn damage_is_told_at_its_place_in_the_file() {
    let mut packets = packets(CPU, &[(0, 1), (1, 1), (0, 1), (1, 1), (0, 1)]);
    // The packet of CPU 1 has a content size beyond its size.
    packets[3].1[17..25].copy_from_slice(&u64::MAX.to_le_bytes());
    let trace = one(CPU, &packets);
    let mut merge = Merge::new(std::slice::from_ref(&trace));
    let events = rest(&mut merge);
    // Its times tell its events nevertheless.
    assert_eq!(events.len(), 10);
    let errors = merge.take_errors();
    let place = errors[0].place().unwrap();
    assert_eq!((errors.len(), place.packet), (1, 3));
    let before: usize = packets[..3].iter().map(|(_, bytes)| bytes.len()).sum();
    assert!(place.offset / 8 >= before as u64);
}

/// The files of large traces of LTTng have one stream each: only their first packets are compared. If a
/// later one is of another stream, reading tells it.
#[test]
fn a_packet_of_another_stream_is_an_error_where_not_all_are_compared() {
    let tracer = "tracer_name = \"lttng-modules\"; tracer_major = 2; tracer_minor = 13;";
    let large = |stream, sequence, time| CPU.packet(stream, sequence, &[time], 6 << 20);
    let packets = [large(0, 0, 10), large(0, 1, 20), large(1, 0, 30), large(0, 2, 40)];
    let read = |packets: &[Vec<u8>]| {
        let file = ("c_0".to_owned(), packets.concat());
        let trace = Trace::from_memory(CPU.metadata(tracer).as_bytes(), [file]).unwrap();
        let mut merge = Merge::new(std::slice::from_ref(&trace));
        let events = rest(&mut merge).len();
        (trace.tracefiles().len(), events, merge.take_errors())
    };
    let (tracefiles, events, errors) = read(&packets);
    assert_eq!((tracefiles, events), (1, 3));
    let other = DecodeError::OtherStream { class: 0, id: None, cpu: Some(1) };
    assert!(matches!(errors[..], [Error::Decode { kind, .. }] if kind == other), "{errors:?}");
    assert!(errors[0].to_string().ends_with("(class 0, CPU 1) than those before it"));
    // In turn, they are told apart.
    let (tracefiles, events, errors) = read(&[&packets[1..2], &packets[2..]].concat());
    assert_eq!((tracefiles, events, errors.len()), (2, 3, 0));
}

/// The number of tracefiles is bounded, whatever the packets of a small file declare.
#[test]
fn a_file_of_too_many_streams_is_an_error() {
    let packets: Packets = (0..10_000).map(|cpu| (cpu, CPU.packet(cpu, 0, &[10], 0))).collect();
    let trace = one(CPU, &packets);
    assert_eq!(trace.tracefiles().len(), 1);
    let mut merge = Merge::new(std::slice::from_ref(&trace));
    assert_eq!(rest(&mut merge).len(), 1);
    assert!(merge.finish().is_err());
}
