//! Damaged recordings of ftrace.

use std::sync::Arc;

use ltt_read::schema::ByteOrder::Little;
use ltt_read::{
    DecodeError, Error, Event, Merge, NoticeKind, Trace, TracefileIndex, Visitor, ftrace,
};
use proptest::prelude::*;

use crate::support::ftrace_file::{FtraceFile, Machine, format};
use crate::support::read_all::read_all;

const MACHINE: Machine = Machine { order: Little, long: 8, page_size: 256 };

/// Returns a recording of two CPUs with some pages, of 12 events each.
pub(crate) fn recording() -> FtraceFile {
    let fields = [("__data_loc char[] text", 8, 4, 0), ("int n", 12, 4, 1)];
    let page = |time: u64| {
        let record = [
            MACHINE.common(7, 1),
            MACHINE.number(3 << 16 | 16, 4),
            MACHINE.number(time, 4),
            b"abc\0".to_vec(),
        ];
        let record = record.concat();
        let events: Vec<_> = (0..9).map(|_| MACHINE.event(1, &record)).collect();
        MACHINE.page(time, &events, None)
    };
    let pages = |first: u64| (0..5).map(|at| page(first + 100 * at)).collect::<Vec<_>>().concat();
    let formats = vec![format("x", 7, &fields)];
    FtraceFile {
        system: "test",
        machine: MACHINE,
        formats,
        cpus: vec![(0, pages(1000)), (1, pages(1050))],
    }
}

#[derive(Default)]
struct Nothing(u64);

impl Visitor for Nothing {
    fn string(&mut self, _: &ltt_read::FieldInfo, value: ltt_read::StrValue<'_>) {
        self.0 += value.bytes.len() as u64;
    }
}

/// Reads all fields of all events. Returns the times, and the number of errors.
fn read(traces: &[Arc<Trace>]) -> (Vec<i64>, usize) {
    let (mut merge, mut times) = (Merge::new(traces), Vec::new());
    let visit = |event: &Event<'_>| event.visit_body(&mut Nothing::default());
    while let Some(event) = merge.next() {
        visit(&event);
        times.push(event.timestamp().unwrap().as_ns());
    }
    (times, merge.errors().len())
}

#[test]
fn files_that_were_cut_are_read_up_to_the_cut() {
    let file = recording();
    for whole in [file.version_6(), file.version_7(false), file.version_7(true)] {
        let (all, errors) = read(&ftrace::from_memory(whole.clone()).unwrap());
        assert_eq!((all.len(), errors), (90, 0));
        for len in 0..whole.len() {
            let Ok(traces) = ftrace::from_memory(whole[..len].to_vec()) else { continue };
            let (times, errors) = read(&traces);
            assert!(times.iter().all(|time| all.contains(time)));
            let is_reported = errors > 0 || traces.iter().any(|it| !it.warnings().is_empty());
            assert!(is_reported, "{len} of {} bytes: {} events", whole.len(), times.len());
        }
    }
}

#[test]
fn sizes_need_not_count_the_number_of_chunks() {
    let traces = ftrace::from_memory(recording().converted()).unwrap();
    assert_eq!(traces[0].warnings(), []);
    let expected = ftrace::from_memory(recording().version_7(true)).unwrap();
    assert_eq!(read(&traces), read(&expected));
}

#[test]
fn a_damaged_page_leaves_the_others() {
    let file = recording();
    let mut whole = file.version_6();
    let first = whole.len() - 10 * MACHINE.page_size;
    // The size of the second page of CPU 0 exceeds the page.
    whole[first + MACHINE.page_size + 8] = 0xff;
    whole[first + MACHINE.page_size + 9] = 0xff;
    let traces = ftrace::from_memory(whole).unwrap();
    let mut cursor = traces[0].cursor(TracefileIndex(0));
    let mut events = 0;
    while cursor.next().is_ok_and(|event| event.is_some()) {
        events += 1;
    }
    assert_eq!(events, 9);
    assert!(cursor.skip_packet());
    while cursor.next().unwrap().is_some() {
        events += 1;
    }
    assert_eq!(events, 36);
    let (times, errors) = read(&traces);
    assert_eq!((times.len(), errors), (81, 1));
}

#[test]
fn damaged_chunks_leave_the_others() {
    let file = recording();
    let mut whole = file.version_7(true);
    let magic = [0x78, 0x01];
    let chunks: Vec<_> = (0..whole.len()).filter(|at| whole[*at..].starts_with(&magic)).collect();
    // Sections, three chunks of each CPU, and the options.
    assert_eq!(chunks.len(), 2 + 6 + 1);
    whole[chunks[3]] = 0;
    let traces = ftrace::from_memory(whole).unwrap();
    let mut merge = Merge::new(&traces);
    let mut events = 0;
    while merge.next().is_some() {
        events += 1;
    }
    assert_eq!(events, 90 - 18);
    let notices = merge.take_notices();
    assert!(matches!(notices[..], [ref notice] if notice.kind == NoticeKind::PacketSkipped));
    let damaged = DecodeError::DamagedCompression;
    assert!(matches!(merge.errors(), [Error::Decode { kind, .. }] if *kind == damaged));
}

#[test]
fn faults_before_the_pages_name_the_section() {
    let whole = recording().version_6();
    for (at, section) in [(10, "file header"), (20, "header page"), (300, "formats of events")] {
        let error = ftrace::from_memory(whole[..at].to_vec()).unwrap_err();
        assert!(
            matches!(error, Error::Section { section: found, .. } if found == section),
            "{error}"
        );
    }
    assert!(matches!(ftrace::from_memory(Vec::new()), Err(Error::NotATrace { .. })));
}

/// Buffers whose tables of pages are the same bytes would take memory for each.
#[test]
fn there_are_only_so_many_buffers() {
    let whole = recording().version_6();
    let find = |word: &[u8]| whole.windows(word.len()).position(|found| found == word).unwrap();
    let (options, pages) = (find(b"options  \0") + 10, find(b"flyrecord\0"));
    let with_buffers = |count: usize| {
        let place = (pages + 16 * count) as u64;
        let option = [&[3, 0, 10, 0, 0, 0][..], &place.to_le_bytes(), b"n\0"].concat();
        let buffers = option.repeat(count);
        ftrace::from_memory([&whole[..options], &buffers, &whole[options..]].concat())
    };
    assert_eq!(with_buffers(3).unwrap().len(), 4);
    let traces = with_buffers(1024).unwrap();
    assert_eq!(traces.len(), 1024);
    let too_many = "too many buffers";
    assert!(traces[0].warnings().iter().any(|it| it.message.contains(too_many)));
    let error = with_buffers(1025).unwrap_err();
    assert!(error.to_string().contains(too_many), "{error}");
}

/// Returns a small recording in one of the versions.
fn small(version: usize) -> Vec<u8> {
    let file = recording();
    match version {
        0 => file.version_6(),
        1 => file.version_7(false),
        2 => file.version_7(true),
        _ => include_bytes!("../data/ftrace/synthetic.dat").to_vec(),
    }
}

proptest! {
    #![proptest_config(crate::support::config::cases(500))]

    #[test]
    fn changed_bytes_do_no_harm(
        version in 0..4_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = small(version);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let Ok(traces) = ftrace::from_memory(bytes) else { return Ok(()) };
        for trace in &traces {
            read_all(trace);
            _ = trace.time_span();
        }
    }
}
