//! `docs/history-format.md`, against the files that a builder writes. They are read with the
//! reader that was written from that document.

use std::path::Path;

use crate::format_reader;
use crate::format_reader::File;
use lttv_state::history::{Builder, History, HistoryError, HistoryIdentity, Settings, Timestamp};
use lttv_state::tree::Quark;
use lttv_state::value::StateValue;

fn ns(n: i64) -> Timestamp {
    Timestamp::from_ns(n)
}

/// A history of all kinds of values, of many blocks, in which some attributes change all the
/// time, and others seldom or never.
fn build(path: &Path, block_intervals: u32) -> History {
    let identity = HistoryIdentity {
        producer: "format test".into(),
        version: 3,
        options: 0x0123_4567_89ab_cdef,
        source: vec![1, 2, 3],
    };
    let mut settings = Settings::default();
    settings.identity = identity;
    settings.block_intervals = Some(block_intervals);
    let mut builder = Builder::create(path, ns(-1_000), settings).unwrap();
    let quarks: Vec<Quark> =
        (0..90).map(|i| builder.add(&format!("group {}/{i}", i % 7)).unwrap()).collect();
    builder.add("never set").unwrap();
    let mut state = 1u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut t = -1_000;
    for step in 0..30_000u64 {
        t += random(3) as i64 * if step % 5_000 == 0 { 1 << 40 } else { 1 };
        // Low numbers change often, and high ones seldom.
        let of = random(90).min(random(90)).min(random(90));
        let quark = quarks[of as usize];
        let text = format!("text {}", random(300));
        let value = match (of % 8, random(10)) {
            (7, _) if random(50) > 0 => continue,
            (_, 0) => StateValue::Null,
            (0, _) => StateValue::I32(random(9) as i32 - 4),
            (1, _) => StateValue::I64(random(1 << 30) as i64 - (1 << 29)),
            (2, _) => StateValue::U64(u64::MAX - random(3)),
            (3, _) => StateValue::F64([0.0, -0.0, f64::NAN, 1.5e300][random(4) as usize]),
            (4, _) => StateValue::Str(&text),
            (5, _) => StateValue::Blob(text.as_bytes()),
            (6, 1..4) => StateValue::I32(-1),
            (6, _) => StateValue::Str(&text),
            _ => StateValue::I64([i64::MIN, i64::MAX][random(2) as usize]),
        };
        builder.set(quark, ns(t), value).unwrap();
        if step == 20_000 {
            builder.set_resume_note(ns(t), b"as far as here").unwrap();
            t += 1;
        }
    }
    builder.add("late/attribute").unwrap();
    builder.close(ns(t + 6)).unwrap()
}

fn value(of: StateValue<'_>) -> format_reader::Value {
    match of {
        StateValue::Null => format_reader::Value::Null,
        StateValue::I32(v) => format_reader::Value::I32(v),
        StateValue::I64(v) => format_reader::Value::I64(v),
        StateValue::U64(v) => format_reader::Value::U64(v),
        StateValue::F64(v) => format_reader::Value::F64(v.to_bits()),
        StateValue::Str(v) => format_reader::Value::Text(v.into()),
        StateValue::Blob(v) => format_reader::Value::Blob(v.into()),
    }
}

/// Panics unless a file contains the attributes of a history and all their intervals.
fn check(file: &File, history: &History) {
    assert_eq!((ns(file.start), ns(file.end + 1)), (history.start(), history.end()));
    let identity = history.identity();
    assert_eq!(file.producer, identity.producer);
    assert_eq!(file.source, identity.source);
    assert_eq!((file.version, file.options), (u64::from(identity.version), identity.options));
    let mark = history.resume_note().map(|mark| (mark.time.as_ns(), mark.note.clone()));
    assert_eq!(file.note, mark);
    let tree = history.tree();
    assert_eq!((file.attributes.len(), file.blocks), (tree.len(), history.blocks()));
    for (quark, attribute) in tree.quarks().zip(&file.attributes) {
        let expected = tree.parent(quark).filter(|parent| *parent != Quark::ROOT);
        assert_eq!(attribute.parent, expected.map(Quark::index));
        assert_eq!(Some(&attribute.name[..]), tree.name(quark));
        let intervals = file.all_of(quark.index());
        let expected = history.intervals(quark, history.start()..history.end()).unwrap();
        let expected: Vec<_> = expected.map(Result::unwrap).collect();
        assert_eq!(intervals.len(), expected.len());
        for ((interval, _), expected) in intervals.iter().zip(expected) {
            let found = (ns(interval.start), ns(interval.end + 1), file.value(interval.value));
            assert_eq!(found, (expected.start, expected.end, value(expected.value)));
        }
    }
}

#[test]
fn files_are_as_documented() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history");
    for block_intervals in [40, 1_000, 100_000] {
        let history = build(&path, block_intervals);
        let file = File::read(&std::fs::read(&path).unwrap());
        assert!(file.note.is_some());
        check(&file, &history);
        file.tree.as_ref().unwrap().check(&file);
    }
}

/// Any part of a file, as far as it has been written, is read as documented.
#[test]
fn unfinished_files_are_as_documented() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history");
    build(&path, 2_000);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    for len in (0..bytes.len()).step_by(bytes.len() / 23) {
        std::fs::write(dir.path().join("history.partial"), &bytes[..len]).unwrap();
        match (File::recover(&bytes[..len]), History::recover(&path)) {
            (None, Err(HistoryError::Unfinished)) => assert!(len < 100),
            (Some(file), Ok(history)) => check(&file, &history),
            (file, history) => panic!("{len} bytes: {file:?}, {history:?}"),
        }
    }
}

#[test]
fn the_example_is_the_file_that_is_written() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/history-format.md");
    let document = std::fs::read_to_string(document).unwrap();
    let (_, example) = document.split_once("## An example").unwrap();
    let listing = example.split("```").nth(1).unwrap();
    let mut expected = Vec::new();
    for line in listing.lines().skip(1) {
        let mut columns = line.split("  ");
        let offset = usize::from_str_radix(columns.next().unwrap(), 16).unwrap();
        assert_eq!(offset, expected.len(), "{line}");
        let bytes = columns.next().unwrap().split_whitespace();
        expected.extend(bytes.map(|byte| u8::from_str_radix(byte, 16).unwrap()));
    }

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history");
    let mut builder = Builder::create(&path, ns(0), Settings::default()).unwrap();
    let door = builder.add("door").unwrap();
    builder.set(door, ns(100), "open").unwrap();
    builder.set(door, ns(250), "closed").unwrap();
    builder.close(ns(1_001)).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), expected);
    let file = File::read(&expected);
    assert_eq!((file.attributes[0].parent, &file.attributes[0].name[..]), (None, "door"));
    let text = |text: &str| format_reader::Value::Text(text.into());
    let intervals = file.all_of(0).into_iter();
    let intervals: Vec<_> = intervals.map(|(i, _)| (i.start, i.end, file.value(i.value))).collect();
    let expected = [
        (0, 99, format_reader::Value::Null),
        (100, 249, text("open")),
        (250, 1_000, text("closed")),
    ];
    assert_eq!(intervals, expected);
}
