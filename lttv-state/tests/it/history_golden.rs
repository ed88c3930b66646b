//! History files that are kept in `golden`, by version of the format. Each has a listing of
//! its content beside it. Both the library and the reader of `format_reader` have to read
//! what the listing contains, and builders have to write the same files again.
//!
//! LZ4 can compress the same bytes in different ways. Written files are therefore compared
//! after decompression, and without the offsets, lengths and checksums that depend on it.
//!
//! With `LTTV_GOLDEN=write` in the environment, missing files are written. Existing ones are
//! never changed: a change of the format needs a new version.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::format_reader;
use crate::format_reader::bytes::Input;
use crate::format_reader::{FRAME_HEAD, File, HEAD, Head, TRAILER, VERSION, frame};
use lttv_state::history::{Builder, History, HistoryError, HistoryIdentity, Settings, Timestamp};
use lttv_state::tree::Quark;
use lttv_state::value::StateValue;

type Build = fn(&Path);

const FILES: [(&str, Build); 8] = [
    ("values", values),
    ("empty", empty),
    ("unchanged", unchanged),
    ("names", names),
    ("negative-times", negative_times),
    ("all-times", all_times),
    ("attributes", attributes),
    ("blocks", blocks),
];

fn ns(n: i64) -> Timestamp {
    Timestamp::from_ns(n)
}

/// Returns the end of a history whose last time is `last`.
fn after(last: i64) -> Timestamp {
    ns(last.saturating_add(1))
}

fn settings() -> Settings {
    let mut settings = Settings::default();
    // Blocks end only where a test flushes.
    settings.block_intervals = Some(1_000_000);
    settings
}

/// Writes all kinds of values, in chunks of all encodings.
fn values(path: &Path) {
    let mut builder = Builder::create(path, ns(0), settings()).unwrap();
    let long = "long ".repeat(60);
    let nan = f64::from_bits(0x7ff8_0000_0000_0001);
    let lists: [(&str, &[StateValue<'_>]); 9] = [
        (
            "i32",
            &[
                StateValue::I32(0),
                StateValue::I32(i32::MIN),
                StateValue::I32(i32::MAX),
                StateValue::I32(-1),
            ],
        ),
        (
            "i64",
            &[
                StateValue::I64(0),
                StateValue::I64(i64::MIN),
                StateValue::I64(i64::MAX),
                StateValue::I64(-1),
            ],
        ),
        ("u64", &[StateValue::U64(0), StateValue::U64(u64::MAX), StateValue::U64(1 << 63)]),
        (
            "f64",
            &[0.0, -0.0, 1.5, f64::INFINITY, f64::NEG_INFINITY, nan, 5e-324].map(StateValue::F64),
        ),
        ("text", &["", "a", "\u{e9}\u{2192}\u{1f600}", "same", &long].map(StateValue::Str)),
        ("blob", &[&b""[..], b"\xff\xfe\0", b"same", b"a"].map(StateValue::Blob)),
        ("constant", &[StateValue::I32(7)]),
        (
            "nulls",
            &[
                StateValue::I64(-3),
                StateValue::Null,
                StateValue::I64(4),
                StateValue::Null,
                StateValue::I64(-2),
            ],
        ),
        (
            "mixed",
            &[
                StateValue::I32(1),
                StateValue::I64(1),
                StateValue::U64(1),
                StateValue::F64(1.0),
                StateValue::Str("1"),
                StateValue::Blob(b"1"),
                StateValue::Null,
            ],
        ),
    ];
    let mut times = 10..;
    for (name, values) in lists {
        let quark = builder.add(name).unwrap();
        for (value, t) in values.iter().zip(&mut times) {
            builder.set(quark, ns(t), *value).unwrap();
        }
    }
    // Successive intervals of one value: null.
    let unchanged = builder.add("unchanged").unwrap();
    for value in [StateValue::I32(1), StateValue::Null] {
        builder.set(unchanged, ns(90), value).unwrap();
    }
    // A chunk with a summary and several buckets of end times.
    let often = builder.add("often").unwrap();
    for i in 0..90i64 {
        builder.set(often, ns(100 + i * 30), (i % 2) as i32).unwrap();
    }
    // A dictionary, since the distance of its few values is great.
    let far = builder.add("far").unwrap();
    for i in 0..20i64 {
        builder.set(far, ns(3_000 + i), (i % 2) << 40).unwrap();
    }
    builder.flush().unwrap();
    // Entries of more than 8 bytes.
    let wide = builder.add("wide").unwrap();
    let mut random = 1u64;
    for i in 1..20i64 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        builder.set(wide, ns(i << 40), random).unwrap();
    }
    builder.close(after(20 << 40)).unwrap();
}

fn empty(path: &Path) {
    Builder::create(path, ns(5), settings()).unwrap().close(after(5)).unwrap();
}

/// Writes attributes that never change.
fn unchanged(path: &Path) {
    let mut builder = Builder::create(path, ns(0), settings()).unwrap();
    builder.add("a/b/c").unwrap();
    builder.add("a/d").unwrap();
    builder.close(after(100)).unwrap();
}

fn names(path: &Path) {
    let mut builder = Builder::create(path, ns(0), settings()).unwrap();
    let long = "n".repeat(400);
    let names =
        [" ", "0", "..", "a/b", "\\", "\0", "\r\n", "\"", "e\u{301}", "\u{e9}", "\u{1f600}", &long];
    let mut parent = Quark::ROOT;
    for (i, name) in names.iter().enumerate() {
        let quark = builder.add_child(parent, name).unwrap();
        builder.set(quark, ns(i as i64), *name).unwrap();
        builder.add_child(Quark::ROOT, name).unwrap();
        if i % 3 == 0 {
            parent = quark;
        }
    }
    builder.close(after(20)).unwrap();
}

fn negative_times(path: &Path) {
    let mut builder = Builder::create(path, ns(-1_000), settings()).unwrap();
    let quark = builder.add("a").unwrap();
    let other = builder.add("b").unwrap();
    for t in [-1_000, -999, -500, -1] {
        if t > -999 {
            builder.flush().unwrap();
        }
        builder.set(quark, ns(t), t).unwrap();
    }
    builder.set(other, ns(-1), 1).unwrap();
    builder.close(after(-1)).unwrap();
}

fn all_times(path: &Path) {
    let mut builder = Builder::create(path, ns(i64::MIN), settings()).unwrap();
    let quark = builder.add("a").unwrap();
    for (i, t) in [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX].iter().enumerate() {
        builder.set(quark, ns(*t), i as i32).unwrap();
    }
    builder.close(after(i64::MAX)).unwrap();
}

fn attributes(path: &Path) {
    let mut builder = Builder::create(path, ns(0), settings()).unwrap();
    let quarks: Vec<Quark> =
        (0..150).map(|i| builder.add(&format!("group {}/{i}", i % 9)).unwrap()).collect();
    for (i, quark) in quarks.iter().enumerate().filter(|(i, _)| i % 3 > 0) {
        builder.set(*quark, ns(i as i64), i as i32).unwrap();
    }
    builder.close(after(200)).unwrap();
}

/// Writes more blocks than a group of the presence index has, names and texts in most of
/// them, intervals that last over many, and a note.
fn blocks(path: &Path) {
    let mut settings = settings();
    settings.identity = HistoryIdentity {
        producer: "golden \u{e9}".into(),
        version: 3,
        options: 0x0123_4567_89ab_cdef,
        source: vec![1, 2, 255],
    };
    let mut builder = Builder::create(path, ns(1_000), settings).unwrap();
    let seldom = builder.add("seldom").unwrap();
    let often = builder.add("often").unwrap();
    for block in 0..66i64 {
        let t = 1_000 + block * 100;
        builder.set(often, ns(t), block % 5).unwrap();
        if block % 20 == 3 {
            builder.set(seldom, ns(t + 7), format!("block {block}").as_str()).unwrap();
            builder.add(&format!("late/{block}")).unwrap();
        }
        if block == 40 {
            builder.set_resume_note(ns(t + 8), b"note, note, note, note, note, note").unwrap();
        }
        builder.flush().unwrap();
    }
    builder.close(after(8_000)).unwrap();
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the content of a history as the library reads it, for comparison.
fn listing_of_library(history: &History) -> String {
    let mut out = String::new();
    let identity = history.identity();
    let HistoryIdentity { producer, version, options, source } = identity;
    let (start, end) = (history.start(), history.end());
    // Listings and files contain last times instead of ends.
    let last = if end == Timestamp::MAX { i64::MAX } else { end.as_ns() - 1 };
    writeln!(out, "history {} {last}, {} blocks", start.as_ns(), history.blocks()).unwrap();
    write_identity(&mut out, producer, (*version).into(), *options, source);
    if let Some(mark) = history.resume_note() {
        writeln!(out, "note at {}: {}", mark.time.as_ns(), hex(&mark.note)).unwrap();
    }
    let tree = history.tree();
    for quark in tree.quarks() {
        let parent = tree.parent(quark).filter(|parent| *parent != Quark::ROOT);
        write_name(&mut out, quark.index(), parent.map(Quark::index), tree.name(quark).unwrap());
        let intervals: Vec<_> =
            history.intervals(quark, start..end).unwrap().map(Result::unwrap).collect();
        for (i, interval) in intervals.iter().enumerate() {
            let last = intervals.get(i + 1).map_or(last, |next| next.start.as_ns() - 1);
            assert_eq!(interval.end, after(last));
            let value = match interval.value {
                StateValue::Null => "null".into(),
                StateValue::I32(v) => format!("i32 {v}"),
                StateValue::I64(v) => format!("i64 {v}"),
                StateValue::U64(v) => format!("u64 {v}"),
                StateValue::F64(v) => format!("f64 {:016x}", v.to_bits()),
                StateValue::Str(v) => format!("text \"{}\"", v.escape_default()),
                StateValue::Blob(v) => format!("blob {}", hex(v)),
            };
            writeln!(out, "{} {last} {}", interval.start.as_ns(), value.trim_end()).unwrap();
        }
    }
    out
}

/// Returns the content of a file as the documented format defines it, for comparison.
fn listing_of_reader(file: &File) -> String {
    let mut out = String::new();
    writeln!(out, "history {} {}, {} blocks", file.start, file.end, file.blocks).unwrap();
    write_identity(&mut out, &file.producer, file.version, file.options, &file.source);
    if let Some((time, note)) = &file.note {
        writeln!(out, "note at {time}: {}", hex(note)).unwrap();
    }
    for (quark, attribute) in file.attributes.iter().enumerate() {
        write_name(&mut out, quark, attribute.parent, &attribute.name);
        for (interval, _) in file.all_of(quark) {
            use format_reader::Value;
            let value = match file.value(interval.value) {
                Value::Null => "null".into(),
                Value::I32(v) => format!("i32 {v}"),
                Value::I64(v) => format!("i64 {v}"),
                Value::U64(v) => format!("u64 {v}"),
                Value::F64(bits) => format!("f64 {bits:016x}"),
                Value::Text(v) => format!("text \"{}\"", v.escape_default()),
                Value::Blob(v) => format!("blob {}", hex(&v)),
            };
            writeln!(out, "{} {} {}", interval.start, interval.end, value.trim_end()).unwrap();
        }
    }
    out
}

fn write_identity(out: &mut String, producer: &str, version: u64, options: u64, source: &[u8]) {
    let (producer, source) = (producer.escape_default(), hex(source));
    writeln!(out, "producer \"{producer}\" {version}, options {options:x}, source [{source}]")
        .unwrap();
}

fn write_name(out: &mut String, quark: usize, parent: Option<usize>, name: &str) {
    let name = name.escape_default();
    match parent {
        None => writeln!(out, "\nattribute {quark} \"{name}\"").unwrap(),
        Some(parent) => writeln!(out, "\nattribute {quark} below {parent} \"{name}\"").unwrap(),
    }
}

/// Returns all that a finished file contains, after decompression, in parts. Offsets,
/// lengths and checksums that depend on the compression are left out; reading the file
/// checks them.
fn decompressed(bytes: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    _ = File::read(bytes);
    let header_len = 20 + Input(&bytes[12..]).u32();
    let mut parts = vec![("header", bytes[..header_len].to_vec())];
    let index_at = Input(&bytes[bytes.len() - TRAILER + 8..]).u64() as usize;
    let mut at = header_len;
    // All of the head but its `name_bytes`.
    let head = |head: &[u8]| [&head[..52], &head[60..]].concat();
    while at < index_at {
        let (_, mut content) = frame(bytes, at).unwrap();
        at += FRAME_HEAD + content.0.len();
        parts.push(("head of a block", head(&content.0[..HEAD])));
        let name_bytes = Head::read(&mut content).name_bytes;
        let names = content.take(name_bytes);
        if !names.is_empty() {
            parts.push(("names", Input(names).sized_lz4()));
        }
        parts.push(("rest of a block", content.0.to_vec()));
    }
    let (_, mut index) = frame(bytes, index_at).unwrap();
    let counts = index.take(16);
    parts.push(("counts in the index", counts.to_vec()));
    for _ in 0..Input(&counts[12..]).u32() {
        parts.push(("block entry", head(&index.take(16 + HEAD)[16..])));
    }
    let before_tree = index.0;
    let (attributes, blocks) = (Input(&counts[8..]).u32(), Input(&counts[12..]).u32());
    for group in 0..blocks.div_ceil(64) {
        index.take((blocks - group * 64).min(64).div_ceil(8) * attributes);
    }
    _ = format_reader::segment_tree::SegmentTree::read(&mut index, 0);
    let len = before_tree.len() - index.0.len();
    parts.push(("presence rows and segment tree", before_tree[..len].to_vec()));
    if !index.0.is_empty() {
        parts.push(("times of the note", index.take(16).to_vec()));
        parts.push(("note", index.sized_lz4()));
    }
    parts
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn golden(name: &str) -> PathBuf {
    folder().join(format!("{name}.v{VERSION}.history"))
}

#[test]
fn both_readers_find_what_the_listings_contain() {
    for (name, _) in FILES {
        let path = golden(name);
        let Ok(bytes) = std::fs::read(&path) else { panic!("{} is missing", path.display()) };
        let file = File::read(&bytes);
        file.tree.as_ref().unwrap().check(&file);
        let history = History::from_bytes(bytes).unwrap();
        history.verify().unwrap();
        let listing = std::fs::read_to_string(path.with_extension("txt")).unwrap();
        for (reader, found) in
            [("format reader", listing_of_reader(&file)), ("library", listing_of_library(&history))]
        {
            for (line, (found, expected)) in found.lines().zip(listing.lines()).enumerate() {
                assert_eq!(found, expected, "{name}, {reader}, line {}", line + 1);
            }
            assert_eq!(found.lines().count(), listing.lines().count(), "{name}, {reader}");
        }
    }
}

#[test]
fn builders_write_the_golden_files() {
    let write_missing = std::env::var_os("LTTV_GOLDEN").is_some_and(|value| value == "write");
    let dir = tempfile::tempdir().unwrap();
    for (name, build) in FILES {
        let built = dir.path().join(name);
        build(&built);
        let built = std::fs::read(built).unwrap();
        let path = golden(name);
        if write_missing && !path.exists() {
            std::fs::create_dir_all(folder()).unwrap();
            std::fs::write(&path, &built).unwrap();
            let listing = listing_of_reader(&File::read(&built));
            std::fs::write(path.with_extension("txt"), listing).unwrap();
        }
        let Ok(expected) = std::fs::read(&path) else {
            panic!("{} is missing: LTTV_GOLDEN=write writes it", path.display());
        };
        let (built, expected) = (decompressed(&built), decompressed(&expected));
        for (i, (built, expected)) in built.iter().zip(&expected).enumerate() {
            assert_eq!(
                built, expected,
                "{name}: part {i} differs; a change of the format needs a new version"
            );
        }
        assert_eq!(built.len(), expected.len(), "{name}");
    }
}

#[test]
fn the_golden_files_contain_all_encodings() {
    let mut chunks: Vec<(u64, u64)> = Vec::new();
    for (name, _) in FILES {
        chunks.extend(File::read(&std::fs::read(golden(name)).unwrap()).encodings);
    }
    let some =
        |is: &dyn Fn(u64, u64) -> bool| chunks.iter().any(|(tag, buckets)| is(*tag, *buckets));
    let width = |tag: u64| tag >> 9 & 127;
    let is_packed = |tag: u64| tag & 1 == 0;
    for kind in 0..=6 {
        assert!(some(&|tag, _| is_packed(tag) && tag >> 2 & 7 == kind), "kind {kind}");
    }
    assert!(some(&|tag, _| !is_packed(tag)), "dictionary");
    assert!(some(&|tag, _| is_packed(tag) && tag & 2 > 0), "nulls");
    assert!(some(&|tag, _| width(tag) == 0) && some(&|tag, _| width(tag) == 64), "widths");
    assert!(some(&|tag, _| tag >> 16 & 1 == 1), "summary");
    assert!(some(&|tag, _| (tag >> 17) + width(tag) > 64), "wide entries");
    assert!(some(&|_, buckets| buckets == 1) && some(&|_, buckets| buckets > 2), "buckets");
}

/// Files of earlier versions stay in the folder, and are refused because of their version.
#[test]
fn other_versions_are_refused() {
    let mut files = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "history") {
            continue;
        }
        files += 1;
        let mut bytes = std::fs::read(&path).unwrap();
        let version = Input(&bytes[8..]).u32();
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(name.ends_with(&format!(".v{version}.history")), "{name}");
        let other = if version == VERSION { version + 1 } else { version };
        bytes[8..12].copy_from_slice(&(other as u32).to_le_bytes());
        match History::from_bytes(bytes) {
            Err(HistoryError::Version { found, known }) => {
                assert_eq!((found as usize, known as usize), (other, VERSION), "{name}");
            }
            result => panic!("{name}: {result:?}"),
        }
    }
    assert!(files >= FILES.len());
}
