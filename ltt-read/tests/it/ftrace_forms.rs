//! All forms of fields and records of ftrace, in both byte orders and with both word sizes.

use std::sync::Arc;

use ltt_read::schema::ByteOrder::{Big, Little};
use ltt_read::schema::Scope;
use ltt_read::{Merge, NoticeKind, Trace, TracefileIndex, ftrace};

use crate::support::ftrace_file::{FtraceFile, Machine, format};
use crate::support::ftrace_text::event_lines;

/// Each kind of machine.
fn machines() -> impl Iterator<Item = Machine> {
    let all = [(Little, 8, 4096), (Little, 4, 1024), (Big, 8, 1024), (Big, 4, 16384)];
    all.into_iter().map(|(order, long, page_size)| Machine { order, long, page_size })
}

/// Opens a recording in each version.
fn versions(file: &FtraceFile) -> impl Iterator<Item = Arc<Trace>> {
    let files = [file.version_6(), file.version_7(false), file.version_7(true)];
    files.into_iter().map(|file| {
        let traces = ftrace::from_memory(file).unwrap();
        assert_eq!(traces.len(), 1);
        assert!(traces[0].warnings().is_empty(), "{:?}", traces[0].warnings());
        traces[0].clone()
    })
}

/// Returns a recording of two events, one of which has fields of each form.
fn all_forms(machine: Machine) -> FtraceFile {
    let long = machine.long;
    let fields = [
        ("u8 small", 8, 1, 0),
        ("s16 negative", 10, 2, 1),
        ("bool flag", 12, 1, 0),
        ("unsigned int wide", 16, 8, 0),
        ("char comm[8]", 24, 8, 0),
        ("u16 table[2][2]", 32, 8, 0),
        ("__data_loc char[] text", 40, 4, 0),
        ("__rel_loc u16[] numbers", 44, 4, 0),
        ("uuid_t id", 48, 16, 0),
        ("const char * pointer", 64, long, 0),
        ("__data_loc u8[] outside", 72, 4, 0),
        ("u32 rest[]", 96, 0, 0),
    ];
    let number = |value, size| machine.number(value, size);
    let mut record = machine.common(300, -5);
    record.extend([vec![200, 0], number(-2_i64 as u64 & 0xffff, 2), vec![1, 9, 9, 9]].concat());
    record.extend(number(1 << 60 | 7, 8));
    record.extend(b"name\0xyz");
    (1..5).for_each(|value| record.extend(number(value, 2)));
    record.extend(number(6 << 16 | 80, 4));
    record.extend(number(4 << 16 | (86 - 48), 4));
    record.extend(0..16);
    record.extend(number(0xffff_ff00, long));
    record.resize(72, 0);
    record.extend(number(100 << 16 | 50, 4));
    record.resize(80, 0);
    record.extend(b"t\"x\n\0y");
    record.extend([number(500, 2), number(600, 2)].concat());
    record.resize(96, 0);
    record.extend([number(11, 4), number(12, 4)].concat());
    let events = [machine.event(5, &record), machine.event(1, &machine.common(301, 3))];
    FtraceFile {
        system: "test",
        machine,
        formats: vec![format("all", 300, &fields), format("none", 301, &[])],
        cpus: vec![(2, machine.page(1000, &events, None))],
    }
}

#[test]
fn fields_of_each_form() {
    for machine in machines() {
        let file = all_forms(machine);
        for trace in versions(&file) {
            assert_eq!(
                event_lines(&[trace]),
                [
                    "1005 2 test:all common_flags=1 common_preempt_count=2 common_pid=-5 small=200 \
                     negative=-2 flag=1 wide=1152921504606846983 comm=\"name\" table=[1,2,3,4] \
                     text=\"t\\\"x\\n\" numbers=[500,600] \
                     id=0x000102030405060708090a0b0c0d0e0f pointer=4294967040 outside=[] rest=[11,12]",
                    "1006 2 test:none common_flags=1 common_preempt_count=2 common_pid=3",
                ]
            );
        }
    }
}

/// The fields of conversions are those of the recording, with lengths before arrays.
#[cfg(feature = "writer")]
#[test]
fn conversions_have_the_same_fields() {
    use ltt_read::schema::{Format, StreamClassId};
    use ltt_read::writer::{MemoryTrace, Retargeted, StreamCopier, Transfer};

    for machine in machines() {
        let trace = versions(&all_forms(machine)).next().unwrap();
        for format in [Format::Ctf1, Format::Ctf2] {
            let transfer = Transfer::new(&trace, Retargeted::new(trace.schema(), format).schema);
            let transfer = Arc::new(transfer);
            let mut target = MemoryTrace::new(transfer.target().clone());
            let stream = target.stream(StreamClassId(0), "stream").unwrap();
            let mut copier = StreamCopier::new(&transfer, StreamClassId(0), stream);
            let mut cursor = trace.cursor(TracefileIndex(0));
            let mut expected = Vec::new();
            while let Some(event) = cursor.next().unwrap() {
                assert!(copier.event(&event).unwrap());
                expected.push((event.timestamp(), members(&event)));
            }
            target.add(copier.into_stream().unwrap()).unwrap();
            let copy = target.open().unwrap();
            let mut cursor = copy.cursor(TracefileIndex(0));
            let mut found = Vec::new();
            while let Some(event) = cursor.next().unwrap() {
                let mut members = members(&event);
                members.retain(|(name, _)| !name.ends_with("_length"));
                found.push((event.timestamp(), members));
            }
            assert_eq!(found, expected, "{format:?}");
        }
    }
}

/// Returns the names and values of the context and the payload of an event; bytes as arrays.
#[cfg(feature = "writer")]
fn members(event: &ltt_read::Event<'_>) -> Vec<(String, String)> {
    let scopes = [Scope::CommonContext, Scope::Payload];
    let structs = scopes.into_iter().filter_map(|scope| event.scope(scope));
    let text = |value: ltt_read::Value<'_>| match value {
        ltt_read::Value::Blob(bytes) => format!("{bytes:?}"),
        other => other.to_string(),
    };
    let members = structs.flat_map(|of| {
        let members =
            of.members().map(|(info, value)| (info.name().unwrap().to_owned(), text(value)));
        members.collect::<Vec<_>>()
    });
    members.collect()
}

#[test]
fn records_of_each_kind() {
    for machine in machines() {
        let number = |value, size| machine.number(value, size);
        let event = |delta, id| machine.event(delta, &machine.common(id, 1));
        let long = [machine.common(10, 1), vec![7; 200]].concat();
        let extend = |kind, high, low| [machine.header(kind, low), number(high, 4)].concat();
        let time = 0x0800_0000_0000_1000;
        let first = [
            event(0, 10),
            // Discarded, with its size and time.
            [machine.header(29, 1), number(8, 4), vec![0; 4]].concat(),
            event(2, 10),
            extend(30, 3, 4),
            event(0, 10),
            machine.event(1, &long),
            extend(31, 0x9000, 6),
            event(3, 10),
            event(1, 999),
            // The rest of the page is unused.
            [machine.header(29, 0), vec![1; 8]].concat(),
        ];
        let second = [event(1, 10)];
        let pages = [
            machine.page(time, &first, None),
            machine.page(time + (1 << 50), &[], Some(None)),
            machine.page(time + (1 << 51), &second, Some(Some(77))),
        ];
        let file = FtraceFile {
            system: "test",
            machine,
            formats: vec![format("x", 10, &[])],
            cpus: vec![(0, pages.concat()), (5, machine.page(time + 1, &second, None))],
        };
        let extended = time + 3 + (3 << 27) + 4;
        let absolute = 0x0800_0000_0000_0000 | ((0x9000 << 27) + 6);
        let expected = [
            time,
            time + 3,
            extended,
            extended + 1,
            absolute + 3,
            absolute + 4,
            time + (1 << 51) + 1,
        ];
        for trace in versions(&file) {
            let mut cursor = trace.cursor(TracefileIndex(0));
            let mut times = Vec::new();
            while let Some(event) = cursor.next().unwrap() {
                times.push(event.timestamp().unwrap().as_ns() as u64);
                let position = event.position();
                // Reading again from the position finds the same event.
                let mut again = trace.cursor(TracefileIndex(0));
                again.seek(position).unwrap();
                let found = again.next().unwrap().unwrap();
                assert_eq!(found.timestamp(), event.timestamp());
                assert_eq!(found.type_id(), event.type_id());
            }
            assert_eq!(times, expected);
            let losses: Vec<_> = cursor.take_notices().into_iter().map(|it| it.kind).collect();
            let [
                NoticeKind::DiscardedEvents { count: None, .. },
                NoticeKind::DiscardedEvents { count: Some(77), .. },
            ] = losses[..]
            else {
                panic!("{losses:?}");
            };
            assert_eq!(trace.losses(TracefileIndex(0)).len(), 2);
            assert_eq!(trace.tracefile(TracefileIndex(1)).cpu(), Some(5));
        }
    }
}

#[test]
fn events_without_a_description_are_kept() {
    let machine = machines().next().unwrap();
    let record = [machine.common(999, 1), vec![1, 2, 3, 4]].concat();
    let file = FtraceFile {
        system: "test",
        machine,
        formats: vec![format("x", 10, &[])],
        cpus: vec![(0, machine.page(1, &[machine.event(0, &record)], None))],
    };
    for trace in versions(&file) {
        let mut cursor = trace.cursor(TracefileIndex(0));
        let event = cursor.next().unwrap().unwrap();
        assert_eq!(event.event_type().name(), "unknown");
        assert_eq!(event.field("id").and_then(|id| id.as_u64()), Some(999));
        assert_eq!(event.field("data").unwrap().to_string(), "hex\"01020304\"");
        assert!(event.has_scope(Scope::CommonContext));
    }
}

/// Without events, there are no tracefiles.
#[test]
fn an_empty_recording() {
    let machine = machines().next().unwrap();
    let file = FtraceFile { system: "test", machine, formats: Vec::new(), cpus: Vec::new() };
    for trace in versions(&file) {
        assert!(trace.tracefiles().is_empty());
        assert!(Merge::new(&[trace]).next().is_none());
    }
}
