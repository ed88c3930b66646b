//! Reads without an order between tracefiles find the same as a merge, whatever the pieces, and whatever
//! the damage.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::support::config::cases;
use crate::support::sample;
use ltt_read::tuning::Upcoming;
use ltt_read::{Error, Event, Merge, Notice, Position, Timestamp};
use lttv_context::{Traceset, UnorderedReader};
use lttv_hooks::Flow;
use proptest::prelude::*;

/// An event: trace, tracefile, place in it and time.
type Known = (usize, usize, Position, Option<Timestamp>);

fn known(event: &Event<'_>) -> Known {
    let place = event.position();
    (event.trace_index().0, event.tracefile_index().0, place, event.timestamp())
}

/// The findings of a read, in an order that does not depend on how it was read.
#[derive(Debug, PartialEq)]
struct Findings {
    events: Vec<Known>,
    errors: Vec<String>,
    notices: Vec<String>,
}

impl Findings {
    fn new(mut events: Vec<Known>, errors: &[Error], notices: &[Notice]) -> Self {
        events.sort();
        let [mut errors, mut notices] = [
            errors.iter().map(Error::to_string).collect::<Vec<_>>(),
            notices.iter().map(Notice::to_string).collect(),
        ];
        errors.sort();
        notices.sort();
        Findings { events, errors, notices }
    }

    /// Reads in order of time.
    fn of_merge(traceset: &Traceset) -> Self {
        let mut merge = Merge::new(traceset.traces());
        let mut events = Vec::new();
        while let Some(event) = merge.next() {
            events.push(known(&event));
        }
        let notices = merge.take_notices();
        Self::new(events, merge.errors(), &notices)
    }

    fn of(reader: &UnorderedReader) -> Self {
        let each = |events: &mut Vec<Known>, event: &Event<'_>| events.push(known(event));
        // Some of what comes next is fetched.
        let ahead = |parts: &mut dyn Iterator<Item = Upcoming>| {
            parts.step_by(2).take(5).for_each(|part| part.fetch());
        };
        let read = reader.read_with_ahead(each, |_| Flow::Continue(()), ahead);
        // Counting finds as many, and the same damage.
        let count = reader.count(|_| Flow::Continue(()), |_| ());
        let texts = |all: &[Error]| all.iter().map(Error::to_string).collect::<Vec<_>>();
        assert_eq!((count.events, texts(&count.errors)), (read.events, texts(&read.errors)));
        assert_eq!(count.notices, read.notices);
        let events = read.parts.concat();
        assert_eq!(read.events, events.len() as u64);
        assert_eq!((read.errors_omitted, read.notices_omitted), (0, 0));
        Self::new(events, &read.errors, &read.notices)
    }
}

fn traceset(path: &Path) -> Traceset {
    Traceset::from(ltt_read::open_all(path).expect("a trace"))
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn samples(sample in sample(), threads in 1_usize..5, piece in 1_u64..3000, times: [prop::sample::Index; 2]) {
        let reader = UnorderedReader::new(&sample.traceset).threads(threads).piece_bytes(piece);
        let all = Findings::of_merge(&sample.traceset);
        prop_assert_eq!(&Findings::of(&reader), &all);
        let of_events: Vec<_> = all.events.iter().filter_map(|event| event.3).collect();
        if of_events.is_empty() {
            return Ok(());
        }
        // Windows, also where clocks go back.
        let [a, b] = times.map(|time| *time.get(&of_events));
        let (begin, end) = (a.min(b), a.max(b));
        let found = Findings::of(&reader.clone().since(begin).until(end)).events;
        let within = |time: &Timestamp| begin <= *time && *time < end;
        let expected = all.events.iter().filter(|event| event.3.as_ref().is_some_and(within));
        prop_assert_eq!(found, expected.copied().collect::<Vec<_>>());
        // Tracefiles.
        let found = Findings::of(&reader.only(|_, tracefile| tracefile.0 % 2 == 1)).events;
        let expected = all.events.iter().filter(|event| event.1 % 2 == 1);
        prop_assert_eq!(found, expected.copied().collect::<Vec<_>>());
    }

    #[test]
    fn damage(
        bytes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in prop::option::of((any::<prop::sample::Index>(), 0_usize..5000)),
        threads in 1_usize..5,
        piece in 1_u64..40_000,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let from = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"));
        let mut files = Vec::new();
        for entry in fs::read_dir(from).expect("a trace") {
            let path = entry.expect("a file").path();
            if path.is_file() {
                let name = path.file_name().expect("a name");
                let to = folder.path().join(name);
                let content = fs::read(&path).expect("a file");
                if name != "metadata" {
                    files.push((to.clone(), content.clone()));
                }
                fs::write(to, content).expect("a copy");
            }
        }
        files.sort();
        for (file, at, value) in bytes {
            let number = file.index(files.len());
            let content = &mut files[number].1;
            let at = at.index(content.len());
            content[at] = value;
        }
        if let Some((file, bytes)) = cut {
            let number = file.index(files.len());
            let content = &mut files[number].1;
            content.truncate(content.len().saturating_sub(bytes));
        }
        for (path, content) in &files {
            fs::write(path, content).expect("a file");
        }
        let traceset = traceset(folder.path());
        let reader = UnorderedReader::new(&traceset).threads(threads).piece_bytes(piece);
        prop_assert_eq!(Findings::of(&reader), Findings::of_merge(&traceset));
    }
}

#[test]
fn a_stop_ends_the_read() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    let reader = UnorderedReader::new(traceset(Path::new(path))).threads(1).piece_bytes(1);
    let all = reader.read(|(): &mut (), _| (), |_| Flow::Continue(()));
    let some = reader.read(|(): &mut (), _| (), |_| Flow::Break(()));
    assert_eq!(all.events, 6087);
    assert!(some.events > 0 && some.events < all.events && some.parts.len() == 1);
}

/// Numbers of threads and sizes of pieces have no limit.
#[test]
fn any_number_of_threads_and_size_of_pieces_will_do() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    let traceset = traceset(Path::new(path));
    for threads in [0, 1, 1 << 61, usize::MAX] {
        for bytes in [None, Some(1 << 20), Some(u64::MAX)] {
            let reader = UnorderedReader::new(&traceset).threads(threads);
            let reader = bytes.into_iter().fold(reader, UnorderedReader::piece_bytes);
            let read = reader.read(|(): &mut (), _| (), |_| Flow::Continue(()));
            assert_eq!(read.events, 6087);
        }
    }
}

/// All parts of a small trace are passed before the first event, and none of a range of times.
#[test]
fn what_comes_next_is_passed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    let traceset = traceset(Path::new(path));
    let sizes = traceset.traces()[0].tracefiles().iter().map(|tracefile| tracefile.size());
    let files = sizes.filter(|size| *size > 0).count();
    let parts_of = |reader: UnorderedReader, each_time: usize| {
        let (parts, began) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let read = reader.read_with_ahead(
            |_: &mut (), _| _ = began.compare_exchange(0, 1 + parts.load(SeqCst), SeqCst, SeqCst),
            |_| Flow::Continue(()),
            |ahead| _ = parts.fetch_add(ahead.take(each_time).count(), SeqCst),
        );
        assert!(read.errors.is_empty());
        (began.into_inner().saturating_sub(1), parts.into_inner())
    };
    let reader = || UnorderedReader::new(&traceset).threads(2);
    assert_eq!(parts_of(reader(), usize::MAX), (files, files));
    let (before, all) = parts_of(reader().threads(1), 1);
    assert_eq!((before, all), (1, 1), "the pieces are small, and those of all are passed at once");
    assert!(files > 1);
    assert_eq!(parts_of(reader().since(Timestamp::from_ns(0)), usize::MAX).1, 0);
}
