//! Truncated, changed and unfinished files. They are refused, or answers from them are
//! right.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::format_reader;
use crate::naive_history;
use crate::naive_history::{Span, ns, spans};
use lttv_state::history::{
    Access, Builder, History, HistoryError, HistoryIdentity, Settings, Timestamp,
};
use lttv_state::tree::Quark;
use proptest::prelude::*;

/// Builds a history of all kinds of values, in blocks of the given size.
fn build(path: &Path, block_intervals: u32) -> History {
    build_with(path, block_intervals, 600)
}

/// Builds a history of the changes before `end`.
fn build_with(path: &Path, block_intervals: u32, end: i64) -> History {
    let mut settings = Settings::default();
    settings.block_intervals = Some(block_intervals);
    settings.identity.producer = "test".into();
    settings.identity.source = vec![1, 2, 3];
    let mut builder = Builder::create(path, ns(0), settings).unwrap();
    let quarks: Vec<Quark> =
        (0..9).map(|i| builder.add(&format!("a/{i}/state")).unwrap()).collect();
    let mut random = 1u64;
    for t in 1..end {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let quark = quarks[(random >> 33) as usize % quarks.len()];
        let number = random >> 40;
        if t == 300 {
            builder.set_resume_note(ns(t), b"half is read, half is read, half is read").unwrap();
        }
        match (random >> 37) % 8 {
            0 => builder.set(quark, ns(t), None::<i32>),
            1 => builder.set(quark, ns(t), number as i64),
            2 => builder.set(quark, ns(t), number as f64),
            3 => builder.set(quark, ns(t), format!("text {}", number % 50).as_str()),
            4 => builder.set(quark, ns(t), &number.to_le_bytes()[..3]),
            5 => builder.set(quark, ns(t), number),
            _ => builder.set(quark, ns(t), (number % 5) as i32),
        }
        .unwrap();
    }
    builder.close(ns(end + 101)).unwrap()
}

/// Returns all intervals of a history, or the first error.
fn content(history: &History) -> Result<Vec<(String, Vec<Span>)>, HistoryError> {
    let tree = history.tree();
    tree.quarks().map(|quark| Ok((tree.path(quark), spans(history, quark)?))).collect()
}

fn read(bytes: Vec<u8>) -> Result<Vec<(String, Vec<Span>)>, HistoryError> {
    content(&History::from_bytes(bytes)?)
}

fn small() -> (Vec<u8>, Vec<(String, Vec<Span>)>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h");
    let history = build(&path, 100);
    assert!(history.blocks() > 4);
    (std::fs::read(&path).unwrap(), content(&history).unwrap())
}

#[test]
fn files_truncated_at_any_byte_are_refused() {
    let (bytes, whole) = small();
    assert_eq!(read(bytes.clone()).unwrap(), whole);
    for len in 0..bytes.len() {
        let error = read(bytes[..len].to_vec()).unwrap_err();
        assert!(matches!(error, HistoryError::Unfinished), "{len} bytes: {error}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(read(longer).is_err());
}

#[test]
fn every_flipped_bit_is_detected() {
    let (bytes, _) = small();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            // All bytes are checked, so that every change is detected.
            let error = read(damaged).expect_err(&format!("bit {bit} of byte {at}"));
            match error {
                HistoryError::Damaged { offset, .. } => assert!(offset <= at as u64),
                HistoryError::Unfinished
                | HistoryError::NotAHistory
                | HistoryError::Version { .. } => {}
                error => panic!("bit {bit} of byte {at}: {error}"),
            }
        }
    }
}

/// Undamaged blocks can be queried, and queries that need the damaged one fail.
#[test]
fn damage_in_one_block_leaves_the_others_readable() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h");
    let whole = build(&path, 100);
    let mut bytes = std::fs::read(&path).unwrap();
    // This is well within the third fifth of the blocks.
    let at = bytes.len() / 2;
    bytes[at] ^= 0x10;
    let damaged = History::from_bytes(bytes).unwrap();
    assert!(matches!(damaged.verify(), Err(HistoryError::Damaged { block: Some(_), .. })));
    let (mut right, mut refused) = (0, 0);
    for quark in whole.tree().quarks() {
        for t in 0..=700 {
            match damaged.at(quark, ns(t)) {
                Ok(interval) => {
                    assert_eq!(interval, whole.at(quark, ns(t)).unwrap());
                    right += 1;
                }
                Err(HistoryError::Damaged { .. }) => refused += 1,
                Err(error) => panic!("{error}"),
            }
        }
    }
    assert!(right > 1000 && refused > 100, "{right} right, {refused} refused");
}

/// Damage with right checksums, as in a crafted file. Any answer is allowed, but every
/// query has to end.
#[test]
fn damage_with_right_checksums_does_no_harm() {
    let (bytes, _) = small();
    let mut random = 7u64;
    for _ in 0..3000 {
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) as usize
        };
        let mut damaged = bytes.clone();
        for _ in 0..1 + next() % 3 {
            let at = next() % bytes.len();
            damaged[at] ^= 1 << (next() % 8);
        }
        naive_history::repair_checksums(&mut damaged);
        if let Ok(history) = History::from_bytes(damaged) {
            let _ = content(&history);
            for t in [history.start(), history.end().saturating_sub(1), history.end(), ns(350)] {
                let _ = history.state_at(t);
                for quark in history.tree().quarks().take(100) {
                    let _ = history.at(quark, t);
                }
            }
        }
    }
}

/// The sum of the stored numbers of intervals overflows.
#[test]
fn false_numbers_of_intervals_are_added_without_overflow() {
    let (mut bytes, _) = small();
    let number =
        |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    // Index: frame head, end of the history, attributes, blocks, and an entry for each
    // block.
    let index = number(&bytes, bytes.len() - 20) as usize;
    let blocks = number(&bytes, index + 16 + 12) as usize;
    assert!(blocks > 1);
    for block in 0..blocks {
        // Entry: offset, length, and the first and last time of the block.
        let count = index + 16 + 16 + block * (16 + 76) + 16 + 16;
        bytes[count..count + 8].fill(0xff);
    }
    naive_history::repair_checksums(&mut bytes);
    let history = History::from_bytes(bytes).unwrap();
    assert_eq!(history.intervals_count(), u64::MAX);
}

/// The names of a block are shorter than they are declared to be.
#[test]
fn names_of_a_false_length_are_damage() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h");
    let mut builder = Builder::create(&path, ns(0), Settings::default()).unwrap();
    builder.add("house/door").unwrap();
    builder.close(ns(100)).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let header = 20 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    // The names follow the head of the block, and start with their length: two numbers and a
    // name for each attribute.
    let names = header + format_reader::FRAME_HEAD + format_reader::HEAD;
    assert_eq!(usize::from(bytes[names]), 2 * 2 + "house".len() + "door".len());
    bytes[names] += 1;
    naive_history::repair_checksums(&mut bytes);
    let error = History::from_bytes(bytes).unwrap_err();
    assert!(matches!(error, HistoryError::Damaged { block: Some(0), .. }), "{error}");
}

#[test]
fn a_stale_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h");
    let history = build(&path, 100);
    let same = history.identity().clone();
    History::open_for(&path, &same).unwrap();
    let others = [
        HistoryIdentity { producer: "other".into(), ..same.clone() },
        HistoryIdentity { version: 1, ..same.clone() },
        HistoryIdentity { options: 1, ..same.clone() },
        HistoryIdentity { source: vec![1, 2], ..same.clone() },
    ];
    for other in others {
        match History::open_for(&path, &other) {
            Err(HistoryError::Stale { expected, found }) => {
                assert_eq!((*expected, *found), (other, same.clone()));
            }
            result => panic!("{result:?}"),
        }
    }
}

#[test]
fn other_files_are_not_histories() {
    for bytes in [&b"text"[..], b"a text that is longer than any header", &[0; 100]] {
        assert!(matches!(History::from_bytes(bytes.to_vec()), Err(HistoryError::NotAHistory)));
    }
    assert!(matches!(History::open("/nowhere/h"), Err(HistoryError::Io { .. })));
}

#[test]
fn mapped_and_read_files_have_the_same_content() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h");
    let mapped = content(&build(&path, 50)).unwrap();
    let read = History::open_with(&path, Access::Read).unwrap();
    assert_eq!(content(&read).unwrap(), mapped);
}

#[test]
fn a_file_appears_when_it_is_complete() {
    let dir = tempfile::tempdir().unwrap();
    let (path, partial) = (dir.path().join("h"), dir.path().join("h.partial"));
    let mut builder = Builder::create(&path, ns(0), Settings::default()).unwrap();
    let quark = builder.add("a").unwrap();
    builder.set(quark, ns(10), 1).unwrap();
    builder.flush().unwrap();
    assert!(!path.exists() && partial.exists());
    assert!(matches!(History::open(&partial), Err(HistoryError::Unfinished)));
    builder.close(ns(20)).unwrap();
    assert!(path.exists() && !partial.exists());
    let builder = Builder::create(&path, ns(0), Settings::default()).unwrap();
    builder.abandon().unwrap();
    assert!(path.exists() && !partial.exists());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Writing stops at each byte. The recovered history is a state of the build, and
    /// building on from there leads to the same final history.
    #[test]
    fn torn_files_are_resumed(cut in 0.0f64..1.0, block_intervals in 1u32..200) {
        let dir = tempfile::tempdir().unwrap();
        let (path, partial) = (dir.path().join("h"), dir.path().join("h.partial"));
        let whole = build(&path, block_intervals);
        let all = content(&whole).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        bytes.truncate((bytes.len() as f64 * cut) as usize);
        std::fs::write(&partial, &bytes).unwrap();

        let mut settings = Settings::default();
        settings.identity = whole.identity().clone();
        settings.block_intervals = Some(block_intervals);
        let recovered = match History::recover(&path) {
            Ok(recovered) => recovered,
            Err(HistoryError::Unfinished) => {
                prop_assert!(bytes.len() < 100);
                return Ok(());
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        prop_assert!(!recovered.is_complete());
        let horizon = recovered.end().as_ns() - 1;
        for (path, spans) in content(&recovered).unwrap() {
            let (_, expected) = all.iter().find(|(p, _)| *p == path).unwrap();
            prop_assert_eq!(spans, up_to(expected, recovered.end()));
        }

        let mut builder = Builder::resume(&path, settings).unwrap();
        prop_assert_eq!(builder.now(), ns(horizon));
        let earliest = builder.earliest().as_ns();
        prop_assert_eq!(earliest, if recovered.blocks() > 0 { horizon + 1 } else { 0 });
        // All attributes are added in the same order, and then all missing changes.
        for (path, _) in &all {
            builder.add(path).unwrap();
        }
        for (t, path, span) in changes(&all) {
            if t >= earliest {
                let quark = builder.add(path).unwrap();
                builder.set(quark, ns(t), span.2.value()).unwrap();
            }
        }
        prop_assert_eq!(content(&builder.close(ns(701)).unwrap()).unwrap(), all.clone());
        prop_assert_eq!(content(&History::open(&path).unwrap()).unwrap(), all);
    }

    /// A file of an earlier state of the source, part of which was wrong. Only what is
    /// settled is kept.
    #[test]
    fn finished_files_are_extended(
        known in 1..700i64,
        settled in 0..702i64,
        mark in prop::option::of(1..700i64),
        block_intervals in 1u32..200,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("h");
        let all = content(&build(&dir.path().join("whole"), block_intervals)).unwrap();
        let mut settings = Settings::default();
        settings.block_intervals = Some(block_intervals);
        settings.identity.source = b"earlier".to_vec();
        let mut builder = Builder::create(&path, ns(0), settings.clone()).unwrap();
        let mut mark = mark.filter(|t| *t < known);
        let marked = mark;
        for (t, path, span) in changes(&all).into_iter().filter(|(t, ..)| *t <= known) {
            if let Some(mark) = mark.take_if(|mark| *mark <= t) {
                builder.set_resume_note(ns(mark), &mark.to_le_bytes()).unwrap();
            }
            let quark = builder.add(path).unwrap();
            match t < settled {
                true => builder.set(quark, ns(t), span.2.value()).unwrap(),
                false => builder.set(quark, ns(t), "not so").unwrap(),
            }
        }
        if let Some(mark) = mark {
            builder.set_resume_note(ns(mark), &mark.to_le_bytes()).unwrap();
        }
        let finished = builder.close(ns(known + 1)).unwrap();
        prop_assert_eq!(finished.resume_note().map(|mark| mark.time), marked.map(ns));

        settings.identity.source = b"later".to_vec();
        let mut builder = Builder::extend(&path, settings.clone(), ns(settled)).unwrap();
        let earliest = builder.earliest().as_ns();
        prop_assert!(earliest <= settled.max(0));
        match builder.resume_note() {
            None => prop_assert!(marked.is_none_or(|mark| mark > settled)),
            Some(mark) => {
                let time = mark.time.as_ns();
                prop_assert_eq!(Some(time), marked);
                prop_assert_eq!(&mark.note, &time.to_le_bytes());
                // It would also be enough to make the changes from there on.
                let missing = earliest..time;
                prop_assert!(changes(&all).iter().all(|(t, ..)| *t == 0 || !missing.contains(t)));
            }
        }
        for (t, path, span) in changes(&all).into_iter().filter(|(t, ..)| *t >= earliest) {
            let quark = builder.add(path).unwrap();
            builder.set(quark, ns(t), span.2.value()).unwrap();
        }
        let extended = builder.close(ns(701)).unwrap();
        // Attributes may have other quarks.
        let sorted = |history: &History| {
            let mut content = content(history).unwrap();
            content.sort_by(|a, b| a.0.cmp(&b.0));
            content
        };
        let mut expected = all.clone();
        expected.sort_by(|a, b| a.0.cmp(&b.0));
        prop_assert_eq!(sorted(&extended), expected.clone());
        prop_assert_eq!(sorted(&History::open_for(&path, &settings.identity).unwrap()), expected);
    }
}

#[test]
fn other_producers_files_are_not_extended() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h");
    let mut settings = Settings::default();
    settings.identity = build(&path, 100).identity().clone();
    let bytes = std::fs::read(&path).unwrap();
    settings.identity.version += 1;
    assert!(matches!(Builder::extend(&path, settings, ns(100)), Err(HistoryError::Stale { .. })));
    let nothing = Builder::extend(dir.path().join("nothing"), Settings::default(), ns(100));
    assert!(matches!(nothing, Err(HistoryError::Io { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

const SECTOR: usize = 512;

/// The file of a builder and its history, of which a crash can leave parts.
struct Crash {
    dir: tempfile::TempDir,
    bytes: Vec<u8>,
    all: Vec<(String, Vec<Span>)>,
    /// The lengths of the file after each write of the builder.
    writes: Vec<usize>,
}

impl Crash {
    fn new() -> Crash {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("h");
        let all = content(&build_with(&path, 40, 190)).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        // The header, each block, the index, and the trailer.
        let mut writes = vec![format_reader::File::recover(&bytes[..SECTOR / 4]).unwrap().at];
        while let Some((_, content)) = format_reader::frame(&bytes, *writes.last().unwrap()) {
            writes.push(writes.last().unwrap() + format_reader::FRAME_HEAD + content.0.len());
        }
        writes.push(bytes.len());
        assert!(writes.len() > 6 && bytes.len() / SECTOR > 6, "{writes:?}");
        Crash { dir, bytes, all, writes }
    }

    /// Panics if `image`, as the unfinished file, leads to other intervals than those up to
    /// some time. Returns the number of recovered blocks; `None` if recovery is refused.
    fn check(&self, image: &[u8], what: &dyn Fn() -> String) -> Option<usize> {
        let path = self.dir.path().join("h");
        let partial = self.dir.path().join("h.partial");
        // Some file systems sync a file that replaces the content of another one.
        _ = std::fs::remove_file(&partial);
        std::fs::write(&partial, image).unwrap();
        let is_expected = |error: &HistoryError| {
            matches!(
                error,
                HistoryError::Unfinished | HistoryError::NotAHistory | HistoryError::Damaged { .. }
            )
        };
        match read(image.to_vec()) {
            Ok(found) => assert_eq!(found, self.all, "{}", what()),
            Err(error) => assert!(is_expected(&error), "{}: {error}", what()),
        }
        let recovered = match History::recover(&path) {
            Ok(recovered) => recovered,
            Err(error) => {
                assert!(is_expected(&error), "{}: {error}", what());
                return None;
            }
        };
        let found = content(&recovered).unwrap();
        assert!(found.len() <= self.all.len());
        for ((path, found), (of, all)) in found.iter().zip(&self.all) {
            assert_eq!((path, found), (of, &up_to(all, recovered.end())), "{}", what());
        }
        let reader = format_reader::File::recover(image).unwrap();
        assert_eq!((recovered.blocks(), recovered.end()), (reader.blocks, ns(reader.end + 1)));
        Some(recovered.blocks())
    }

    /// Returns the number of blocks that are complete in the first bytes of the file.
    fn blocks(&self, len: usize) -> Option<usize> {
        let complete = self.writes[..self.writes.len() - 2].iter().filter(|end| **end <= len);
        complete.count().checked_sub(1)
    }
}

/// A file is truncated at any byte.
#[test]
fn every_prefix_is_unfinished_and_recovered() {
    let crash = Crash::new();
    for len in 0..=crash.bytes.len() {
        let image = &crash.bytes[..len];
        let opened = read(image.to_vec());
        let is_whole = len == crash.bytes.len();
        assert_eq!(is_whole, opened.is_ok());
        assert!(is_whole || matches!(opened, Err(HistoryError::Unfinished)));
        assert_eq!(crash.check(image, &|| format!("{len} bytes")), crash.blocks(len));
    }
}

/// A file has its length already, but only some of its first sectors are written.
#[test]
fn every_torn_prefix_is_unfinished_and_recovered() {
    let crash = Crash::new();
    for written in (0..crash.bytes.len()).step_by(SECTOR) {
        let mut image = crash.bytes[..written].to_vec();
        while image.len() < crash.bytes.len() {
            image.push(0);
            let what = || format!("{written} of {} bytes", image.len());
            match read(image.clone()) {
                Err(HistoryError::Unfinished) => {}
                Err(HistoryError::NotAHistory) => assert_eq!(written, 0, "{}", what()),
                result => panic!("{}: {result:?}", what()),
            }
            // What was not written may be zero anyway.
            let blocks = crash.check(&image, &what);
            assert!(crash.blocks(written) <= blocks, "{}", what());
        }
    }
}

/// After each write, any of its sectors and of those before may be missing.
#[test]
fn missing_sectors_are_detected() {
    let crash = Crash::new();
    let sectors = crash.bytes.len().div_ceil(SECTOR);
    let mut random = 3u64;
    for len in &crash.writes {
        for round in 0..500u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // A single missing one, or about half of them.
            let missing = if round < 64 { 1 << round } else { random >> 32 };
            let mut image = crash.bytes[..*len].to_vec();
            for sector in (0..sectors.min(64)).filter(|sector| missing >> sector & 1 == 1) {
                image.chunks_mut(SECTOR).skip(sector).take(1).for_each(|sector| sector.fill(0));
            }
            crash.check(&image, &|| format!("{len} bytes without sectors {missing:b}"));
        }
    }
}

/// Returns the changes that lead to some intervals, in the order of time.
fn changes(all: &[(String, Vec<Span>)]) -> Vec<(i64, &str, &Span)> {
    let spans = all.iter().flat_map(|(path, spans)| spans.iter().map(move |span| (path, span)));
    let mut changes: Vec<_> = spans.map(|(path, span)| (span.0, path.as_str(), span)).collect();
    changes.sort_by_key(|(t, ..)| *t);
    changes
}

fn up_to(spans: &[Span], end: Timestamp) -> Vec<Span> {
    let end = end.as_ns();
    let spans = spans.iter().filter(|span| span.0 < end);
    spans.map(|(start, of, value)| (*start, *of.min(&end), value.clone())).collect()
}

const VICTIM: &str = "HISTORY_VICTIM";

/// Returns the value of an attribute that is set at a time.
fn state(quark: usize, t: i64) -> i64 {
    (t / 3 + quark as i64) * 7 % 1000
}

const VICTIM_QUARKS: usize = 20;

/// The process that the next test kills; not a test itself.
#[test]
fn victim() {
    let Some(path) = std::env::var_os(VICTIM).map(PathBuf::from) else { return };
    let mut settings = Settings::default();
    settings.block_intervals = Some(2000);
    let resumed = Builder::resume(&path, settings.clone());
    let mut builder = resumed.or_else(|_| Builder::create(&path, ns(0), settings)).unwrap();
    let quarks: Vec<Quark> =
        (0..VICTIM_QUARKS).map(|i| builder.add(&format!("q/{i}")).unwrap()).collect();
    for t in builder.earliest().as_ns()..300_000 {
        let i = t as usize % VICTIM_QUARKS;
        builder.set(quarks[i], ns(t), state(i, t)).unwrap();
    }
    builder.close(ns(300_001)).unwrap();
    std::process::exit(0);
}

/// A builder that is killed between the header of its file and the first block leaves a
/// history in which nothing has happened, not even at its start.
#[test]
fn a_file_without_blocks_is_resumed_from_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h");
    drop(Builder::create(&path, ns(5), Settings::default()).unwrap());
    assert_eq!(History::recover(&path).unwrap().blocks(), 0);
    let mut builder = Builder::resume(&path, Settings::default()).unwrap();
    assert_eq!((builder.now(), builder.earliest()), (ns(5), ns(5)));
    let quark = builder.add("a").unwrap();
    builder.set(quark, ns(5), 1).unwrap();
    let history = builder.close(ns(10)).unwrap();
    assert_eq!(history.at(quark, ns(5)).unwrap().value, 1.into());
}

/// A process is killed at any time, many times over. Each next one resumes its history.
#[test]
fn killed_processes_leave_histories_that_can_be_resumed() {
    let rounds = 200;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h");
    let mut random = u64::from(std::process::id()) | 1;
    let (mut readable, mut finished) = (0, 0);
    for round in 0..rounds {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "history_damage::victim", "--nocapture"])
            .env(VICTIM, &path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        std::thread::sleep(Duration::from_micros(1000 + (random >> 33) % 30_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let history = match History::recover(&path) {
            Ok(history) => history,
            // It was killed before it wrote anything.
            Err(HistoryError::Io { .. } | HistoryError::Unfinished) => continue,
            Err(error) => panic!("round {round}: {error}"),
        };
        readable += 1;
        check_victim(&history);
        if history.is_complete() {
            finished += 1;
            std::fs::remove_file(&path).unwrap();
        }
    }
    eprintln!("{readable} of {rounds} left a history to read, {finished} a whole one");
    assert!(readable > rounds / 4);
}

fn check_victim(history: &History) {
    history.verify().unwrap();
    let tree = history.tree();
    for i in 0..VICTIM_QUARKS {
        let Some(quark) = tree.find(Quark::ROOT, &format!("q/{i}")).unwrap() else {
            assert_eq!(history.blocks(), 0);
            continue;
        };
        let last_time = history.end().as_ns() - 1;
        for t in (0..last_time).step_by(997).chain([last_time]) {
            // The last time up to `t` at which the attribute was set.
            let last = (t.min(299_999) - i as i64).div_euclid(VICTIM_QUARKS as i64);
            let expected = match last {
                ..0 => None,
                _ => Some(state(i, last * VICTIM_QUARKS as i64 + i as i64)),
            };
            let found = history.at(quark, ns(t)).unwrap();
            assert_eq!(found.value, expected.into(), "q/{i} at {t} of {last_time}");
        }
    }
}
