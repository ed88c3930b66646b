//! Fingerprints distinguish traces that have changed from those that were only copied or
//! touched, and both from those that have grown.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};
use ltt_read::{ClockTransform, Timestamp, Trace, TracefileIndex};
use lttv_context::{Fingerprint, Traceset};

const CPUS: u64 = 2;
/// A number of events that makes a file larger than its samples.
const EVENTS: u64 = 30_000;

fn write(dir: &Path, events: u64) {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let name = FieldClass::structure([
        ("n", FieldClass::uint(64, ByteOrder::Little)),
        ("name", FieldClass::string()),
    ]);
    let tick = schema.add_event_type(StreamClassId(0), "tick", name);
    let trace = TraceWriter::create(dir, schema).expect("a directory");
    for cpu in 0..CPUS {
        let stream = trace.stream(StreamClassId(0), &format!("c_{cpu}")).expect("a stream");
        let mut stream = stream.with_stream_id(cpu).with_packet_limit(4096).with_padding();
        for n in 0..events {
            let value = FieldValue::structure([n.into(), "worker".into()]);
            stream.event(tick, n * 100 + cpu, value).expect("an event");
        }
        stream.finish().expect("a file");
    }
}

fn open(dir: &Path) -> Traceset {
    Traceset::open(dir).expect("a trace")
}

fn fingerprint(traceset: &Traceset) -> Vec<u8> {
    Fingerprint::of(traceset).into_bytes()
}

fn unchanged_before(bytes: &[u8], traceset: &Traceset) -> Option<Timestamp> {
    Fingerprint::from_bytes(bytes).unchanged_before(traceset)
}

fn stream(dir: &Path) -> PathBuf {
    dir.join("c_1")
}

/// Returns the time of modification of a file.
fn modified(path: &Path) -> SystemTime {
    fs::metadata(path).and_then(|file| file.modified()).expect("a time")
}

fn touch(path: &Path, time: SystemTime) {
    let file = File::options().write(true).open(path).expect("a file");
    file.set_modified(time).expect("a time that can be set");
}

/// Replaces names in a file by others of the same length, from a byte on, and sets the time of
/// modification to another or, if `is_forged`, to the same one.
fn alter(path: &Path, from: usize, names: usize, is_forged: bool) {
    let before = modified(path);
    let mut bytes = fs::read(path).expect("a file");
    let mut at = from;
    for _ in 0..names {
        let found = bytes[at..].windows(6).position(|name| name == b"worker").expect("a name");
        at += found;
        bytes[at..at + 6].copy_from_slice(b"WORKER");
    }
    fs::write(path, bytes).expect("a file");
    touch(path, if is_forged { before } else { before + Duration::from_secs(1) });
}

/// Samples match only what was not touched.
#[test]
fn a_fingerprint_of_samples_is_that_of_the_same_files() {
    let dir = tempfile::tempdir().expect("a directory");
    write(dir.path(), EVENTS);
    let bytes = Fingerprint::of_samples(&open(dir.path())).into_bytes();
    let matches = || Fingerprint::from_bytes(&bytes).matches(&open(dir.path()));
    assert!(matches());
    let whole = fingerprint(&open(dir.path()));
    assert_ne!(bytes, whole);
    let time = modified(&stream(dir.path()));
    touch(&stream(dir.path()), time + Duration::from_secs(1));
    assert!(!matches());
    touch(&stream(dir.path()), time);
    assert!(matches());
    // A sample is at the start of each file.
    alter(&stream(dir.path()), 0, 1, true);
    assert!(!matches());
    write(dir.path(), EVENTS + 1);
    assert!(!matches());
}

#[test]
fn a_modified_trace_is_detected() {
    for (names, is_forged) in [(1, false), (10_000, false), (10_000, true)] {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), EVENTS);
        let before = fingerprint(&open(dir.path()));
        assert!(Fingerprint::from_bytes(&before).matches(&open(dir.path())));
        alter(&stream(dir.path()), 300_000, names, is_forged);
        let after = open(dir.path());
        assert!(!Fingerprint::from_bytes(&before).matches(&after), "{names} names, {is_forged}");
        assert_eq!(unchanged_before(&before, &after), None);
        assert_ne!(fingerprint(&after), before);
        assert_ne!(Fingerprint::from_bytes(&before).into_current_bytes(&after), before);
    }
}

/// The documented limit: only a strict comparison finds a small change between the samples of a
/// file whose time of modification was set back.
#[test]
fn a_strict_comparison_detects_a_forged_time() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), EVENTS);
    let before = fingerprint(&open(dir.path()));
    let (path, sound) = (stream(dir.path()), fs::read(stream(dir.path())).unwrap());
    let time = modified(&path);
    let mut unseen = 0;
    for from in (300_000..330_000).step_by(1000) {
        alter(&path, from, 1, true);
        let after = open(dir.path());
        unseen += u32::from(Fingerprint::from_bytes(&before).matches(&after));
        assert!(!Fingerprint::from_bytes(&before).strict().matches(&after));
        fs::write(&path, &sound).unwrap();
        touch(&path, time);
    }
    assert!(0 < unseen && unseen < 30, "{unseen} of 30");
    assert!(Fingerprint::from_bytes(&before).strict().matches(&open(dir.path())));
}

#[test]
fn a_small_file_is_compared_completely() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 1000);
    let before = fingerprint(&open(dir.path()));
    alter(&stream(dir.path()), 10_000, 1, true);
    assert!(!Fingerprint::from_bytes(&before).matches(&open(dir.path())));
}

#[test]
fn a_copied_or_touched_trace_is_the_same() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), EVENTS);
    let before = fingerprint(&open(dir.path()));
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(dir.path()).unwrap() {
        let entry = entry.unwrap();
        let to = copy.path().join(entry.file_name());
        fs::copy(entry.path(), &to).unwrap();
        touch(&to, SystemTime::UNIX_EPOCH + Duration::from_secs(1));
    }
    let copied = open(copy.path());
    let known = Fingerprint::from_bytes(&before);
    assert!(known.matches(&copied) && known.clone().strict().matches(&copied));
    assert_eq!(unchanged_before(&before, &copied), Some(Timestamp::MAX));
    // The bytes stay the same, so that they can be compared.
    assert_eq!(known.clone().into_current_bytes(&copied), before);
    assert_ne!(fingerprint(&copied), before);
    // A file with another name counts as another file.
    fs::rename(copy.path().join("c_1"), copy.path().join("c_2")).unwrap();
    assert!(!known.matches(&open(copy.path())));
}

#[test]
fn changed_metadata_is_detected() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 1000);
    let before = fingerprint(&open(dir.path()));
    let path = dir.path().join("metadata");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("tick", "tock")).unwrap();
    let after = open(dir.path());
    assert!(!Fingerprint::from_bytes(&before).matches(&after));
    assert_eq!(unchanged_before(&before, &after), None);
    // Text appended to metadata counts as growth.
    fs::write(&path, format!("{text}\n/* more */\n")).unwrap();
    let after = open(dir.path());
    assert!(!Fingerprint::from_bytes(&before).matches(&after));
    assert_eq!(unchanged_before(&before, &after), Some(Timestamp::MAX));
}

#[test]
fn growth_is_distinguished_from_change() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), EVENTS);
    let whole: Vec<(PathBuf, Vec<u8>)> = (0..CPUS)
        .map(|cpu| dir.path().join(format!("c_{cpu}")))
        .map(|path| (path.clone(), fs::read(&path).unwrap()))
        .collect();
    for (path, bytes) in &whole {
        fs::write(path, &bytes[..400 * 1024]).unwrap();
    }
    let half = open(dir.path());
    let before = fingerprint(&half);
    for (path, bytes) in &whole {
        fs::write(path, bytes).unwrap();
    }
    let now = open(dir.path());
    assert!(!Fingerprint::from_bytes(&before).matches(&now));
    let unchanged = unchanged_before(&before, &now).expect("it has grown");
    let new = now.traces()[0].packet_index(TracefileIndex(0)).entries()[100].start;
    assert!(unchanged <= new && unchanged > Timestamp::MIN);
    // The file has grown, but its earlier part has also changed.
    alter(&stream(dir.path()), 200_000, 1, false);
    assert_eq!(unchanged_before(&before, &open(dir.path())), None);
    // The file is shorter than before.
    fs::write(&whole[1].0, &whole[1].1[..300 * 1024]).unwrap();
    assert_eq!(unchanged_before(&before, &open(dir.path())), None);
}

/// The old format: the identifier, tracefiles, files, and of each file the name, the first time
/// and the size.
#[test]
fn old_and_invalid_fingerprints_fit_no_traces() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 1000);
    let traceset = open(dir.path());
    let trace = &traceset.traces()[0];
    let mut old = trace.uuid().map_or([0; 16], |uuid| uuid.0).to_vec();
    old.extend_from_slice(&(CPUS as u32).to_le_bytes());
    for number in 0..CPUS as usize {
        let begin = trace.packet_index(TracefileIndex(number)).entries()[0].start.as_ns();
        old.extend_from_slice(&1u32.to_le_bytes());
        old.extend_from_slice(&crc32fast::hash(format!("c_{number}").as_bytes()).to_le_bytes());
        old.extend_from_slice(&begin.to_le_bytes());
        old.extend_from_slice(&trace.tracefiles()[number].size().to_le_bytes());
    }
    let now = fingerprint(&traceset);
    let refuses = |bytes: &[u8]| {
        assert!(!Fingerprint::from_bytes(bytes).matches(&traceset));
        assert_eq!(unchanged_before(bytes, &traceset), None);
    };
    refuses(&old);
    refuses(b"");
    refuses(&[&now[..], &[0]].concat());
    for length in 0..now.len() {
        refuses(&now[..length]);
    }
    // A count of any size is only compared, so it allocates nothing.
    for at in 4..now.len() {
        let mut changed = now.clone();
        changed[at] ^= 0xff;
        let _ = unchanged_before(&changed, &traceset);
    }
    let mut other = traceset.clone();
    other.add(trace.clone());
    assert!(!Fingerprint::from_bytes(&now).matches(&other));
    assert!(!Fingerprint::from_bytes(&fingerprint(&other)).matches(&traceset));
}

/// Results with other times are those of other traces: histories of them are built again.
#[test]
fn transforms_of_clocks_are_part_of_the_fingerprint() {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let traces = dirs.each_ref().map(|dir| {
        write(dir.path(), 1000);
        open(dir.path()).traces()[0].clone()
    });
    let transformed = |transforms: [ClockTransform; 2]| -> Traceset {
        let traces = traces.iter().zip(transforms);
        let traces =
            traces.map(|(trace, of)| trace.with_clock_transforms(|_| of).expect("a trace"));
        traces.collect()
    };
    let plain: Traceset = traces.iter().cloned().collect();
    let (same, offset) = (ClockTransform::IDENTITY, ClockTransform::from_offset);
    let at = Timestamp::from_ns;
    let slope = |change| {
        ClockTransform::new(at(0), at(0), ClockTransform::ONE + change).expect("a slope near 1")
    };
    let all = [
        [same, same],
        [offset(1), same],
        [same, offset(1)],
        [offset(1), offset(1)],
        [offset(-1), offset(1)],
        [offset(1), offset(-1)],
        [offset(2), offset(1)],
        [slope(1), same],
        [slope(2), same],
        [slope(2).then(&offset(1)).expect("in range"), same],
    ];
    for (number, transforms) in all.into_iter().enumerate() {
        let bytes = fingerprint(&transformed(transforms));
        assert_eq!(bytes == fingerprint(&plain), number == 0);
        for (other_number, other) in all.into_iter().enumerate() {
            let (other, is_same) = (transformed(other), number == other_number);
            assert_eq!(fingerprint(&other) == bytes, is_same, "{number} and {other_number}");
            assert_eq!(Fingerprint::from_bytes(&bytes).matches(&other), is_same);
            assert_eq!(Fingerprint::from_bytes(&bytes).strict().matches(&other), is_same);
            let unchanged = is_same.then_some(Timestamp::MAX);
            assert_eq!(unchanged_before(&bytes, &other), unchanged);
        }
    }
}

/// Transforms do not depend on each other: a transform of a transformed trace counts from the
/// recorded times.
#[test]
fn transforms_that_are_undone_leave_no_trace_in_the_fingerprint() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 1000);
    let trace = open(dir.path()).traces()[0].clone();
    let with = |trace: &Trace, offset| {
        trace.with_clock_transforms(|_| ClockTransform::from_offset(offset)).expect("a trace")
    };
    let of = |trace: Arc<Trace>| fingerprint(&Traceset::from(vec![trace]));
    assert_eq!(of(with(&with(&trace, 7), 0)), of(trace.clone()));
    assert_eq!(of(with(&with(&trace, 7), 5)), of(with(&trace, 5)));
    assert_ne!(of(with(&with(&trace, 7), 5)), of(with(&trace, 12)));
}
