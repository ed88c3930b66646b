//! Files that are not regular files or absurdly large, in the places of files of a trace.

#![cfg(unix)]

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use ltt_read::schema::{FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};
use ltt_read::{Error, Merge, NoticeKind, Timestamp, Trace};

const EVENTS: u64 = 20;

fn write(dir: &Path) {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let tick = schema.add_event_type(StreamClassId(0), "tick", FieldClass::structure([]));
    let trace = TraceWriter::create(dir, schema).expect("a trace").with_index();
    let stream = trace.stream(StreamClassId(0), "chan_0").expect("a stream");
    let mut stream =
        stream.with_stream_id(0).with_packet_context(FieldValue::fields([("cpu_id", 0u64)]));
    for time in 0..EVENTS {
        stream.event(tick, 100 + time, FieldValue::Struct(Vec::new())).expect("an event");
    }
    stream.finish().expect("a file");
}

/// Replaces a file by something of another kind. Returns `false` if this system cannot
/// create it.
fn replace(path: &Path, kind: &str) -> bool {
    fs::remove_file(path).expect("it is there");
    match kind {
        "pipe" => Command::new("mkfifo").arg(path).status().is_ok_and(|status| status.success()),
        "device" => symlink("/dev/zero", path).is_ok(),
        "sparse" => File::create(path).and_then(|file| file.set_len(8 << 30)).is_ok(),
        _ => unreachable!("no other kind is asked for"),
    }
}

/// Runs a function that must not block forever.
fn within_a_minute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(Duration::from_secs(60)).expect("it hangs")
}

const KINDS: [&str; 3] = ["pipe", "device", "sparse"];

#[test]
fn index_files_that_are_not_regular_files_are_not_read() {
    for kind in KINDS {
        let dir = tempfile::tempdir().expect("a directory");
        write(dir.path());
        if !replace(&dir.path().join("index/chan_0.idx"), kind) {
            eprintln!("skipped: no {kind} can be made here");
            continue;
        }
        let path = dir.path().to_owned();
        let (events, ignored) = within_a_minute(move || {
            let traces = [Trace::open(path).expect("a sound trace")];
            let mut merge = Merge::new(&traces);
            let first = merge.next().and_then(|event| event.timestamp()).expect("a time");
            merge.seek(Timestamp::from_ns(first.as_ns() + 5));
            let events = std::iter::from_fn(|| merge.next().map(drop)).count() as u64;
            let is_ignored =
                |notice: &ltt_read::Notice| matches!(notice.kind, NoticeKind::IndexIgnored { .. });
            (events, merge.take_notices().iter().filter(|notice| is_ignored(notice)).count())
        });
        assert_eq!((events, ignored), (EVENTS - 5, 1), "{kind}");
    }
}

#[test]
fn metadata_that_is_not_a_regular_file_is_an_error() {
    for kind in KINDS {
        let dir = tempfile::tempdir().expect("a directory");
        write(dir.path());
        if !replace(&dir.path().join("metadata"), kind) {
            eprintln!("skipped: no {kind} can be made here");
            continue;
        }
        let path = dir.path().to_owned();
        let error = within_a_minute(move || Trace::open(path)).expect_err("no metadata");
        assert!(matches!(error, Error::Io { .. }), "{kind}: {error}");
    }
}

#[test]
fn metadata_that_is_not_a_regular_file_is_named_by_the_search() {
    for kind in ["pipe", "device", "directory"] {
        let dir = tempfile::tempdir().expect("a directory");
        write(dir.path());
        let metadata = dir.path().join("metadata");
        if kind == "directory" {
            fs::remove_file(&metadata).expect("it is there");
            fs::create_dir(&metadata).expect("a directory");
        } else if !replace(&metadata, kind) {
            eprintln!("skipped: no {kind} can be made here");
            continue;
        }
        let path = dir.path().to_owned();
        let error = within_a_minute(move || ltt_read::open_all(path)).expect_err("no metadata");
        let text = format!("cannot read {}: not a regular file", metadata.display());
        assert_eq!(ltt_read::ErrorChain(&error).to_string(), text, "{kind}");
    }
}

#[test]
fn directories_named_metadata_do_not_hide_traces() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("metadata")).expect("a directory");
    fs::create_dir(dir.path().join("trace")).expect("a directory");
    write(&dir.path().join("trace"));
    assert_eq!(ltt_read::open_all(dir.path()).expect("a trace").len(), 1);
}
