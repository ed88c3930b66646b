//! Recordings of perf that are followed while they are written: the events are those of the whole recording.

use std::fs::{self, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use ltt_read::{Error, Follower, Merge, NoticeKind, Timestamp, Trace, open_all, perf};

use crate::support::packed::unpacked;
use crate::support::perf_text::{event_lines, line};
use crate::support::shared::shared;

/// The events that were read so far.
struct Read {
    merge: Merge,
    lines: Vec<String>,
    latest: Option<Timestamp>,
    /// The number of events that came before an earlier time.
    late: usize,
}

impl Read {
    fn new() -> Read {
        Read { merge: Merge::new(&[]), lines: Vec::new(), latest: None, late: 0 }
    }

    fn go_on(&mut self, follower: &mut Follower) {
        self.merge.continue_with(follower.traces());
        while let Some(event) = self.merge.next() {
            self.late +=
                usize::from(event.timestamp().is_some_and(|time| Some(time) < self.latest));
            self.latest = self.latest.max(event.timestamp());
            self.lines.push(line(&event));
        }
        follower.release(&self.merge);
    }

    /// Returns the sorted lines, and the error after them.
    fn end(mut self) -> (Vec<String>, Option<Error>) {
        assert!(!self.merge.is_pending());
        let notices = self.merge.take_notices();
        let is_late =
            notices.iter().any(|notice| matches!(notice.kind, NoticeKind::LateEvents { .. }));
        assert!(self.late == 0 || is_late, "{} events are late", self.late);
        self.lines.sort();
        (self.lines, self.merge.finish().err())
    }
}

/// Sends a recording in parts of some sizes. Returns its lines, how many there were before the end, and the error.
fn streamed(bytes: &[u8], sizes: &[usize]) -> (Vec<String>, usize, Option<Error>) {
    let (sender, stream) = sync_channel(1);
    let mut follower = Follower::new([""; 0]).with_stream("-", stream);
    let (mut read, mut rest) = (Read::new(), bytes);
    for size in sizes.iter().cycle() {
        let part = rest.split_off(..(*size).min(rest.len())).expect("a part");
        if part.is_empty() {
            break;
        }
        sender.send(Ok(part.to_vec())).expect("a receiver");
        follower.poll(Instant::now()).expect("a sound recording");
        assert!(!follower.has_ended());
        read.go_on(&mut follower);
    }
    let before = read.lines.len();
    drop(sender);
    follower.poll(Instant::now()).expect("a sound recording");
    assert!(follower.has_ended());
    read.go_on(&mut follower);
    let (lines, error) = read.end();
    (lines, before, error)
}

/// Returns the sorted lines of a whole recording, and the error after them.
fn expected(bytes: &[u8]) -> (Vec<String>, Option<Error>) {
    let (mut lines, error) = event_lines(&perf::from_memory(bytes.to_vec()).expect("a recording"));
    lines.sort();
    (lines, error)
}

/// Returns a plain recording as it is before its end: without a size and without descriptions.
fn unended(path: &Path) -> Vec<u8> {
    let mut bytes = unpacked(path);
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    let end = number(40) + number(48);
    bytes.truncate(end as usize);
    bytes[48..56].fill(0);
    bytes
}

#[test]
fn streams_are_read_like_the_whole() {
    let data = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/perf"));
    let pipe = fs::read(data.join("pipe-z.data")).expect("the recording");
    let plain = unended(&data.join("task.data"));
    for bytes in [&pipe, &plain] {
        let (lines, error) = expected(bytes);
        assert!(lines.len() > 50 && error.is_none());
        for sizes in [&[1][..], &[13, 1000, 2], &[1 << 16], &[usize::MAX]] {
            let (found, _, error) = streamed(bytes, sizes);
            assert!(error.is_none() && found == lines, "{sizes:?}: {error:?}");
        }
    }
    let Some(folder) = shared("traces/perf-data") else { return };
    for name in ["pipe", "pipe-z", "k72-perf-pipe-z", "lpd-fibo.compressed2.pipe"] {
        let bytes = unpacked(&folder.join(name).join("perf.data.zst"));
        let (lines, error) = expected(&bytes);
        assert!(error.is_none());
        let (found, before, error) = streamed(&bytes, &[4096]);
        assert!(error.is_none() && found == lines, "{name}: {error:?}");
        // Of compressed data, the last part is kept back.
        assert!(before > lines.len() / 20 || name != "pipe", "{name}: {before} of {}", lines.len());
    }
    for name in ["sched", "lost", "kernel", "callgraph", "zstd"] {
        let bytes = unended(&folder.join(name).join("perf.data.zst"));
        let (lines, error) = expected(&bytes);
        assert!(error.is_none());
        let (found, before, error) = streamed(&bytes, &[1 << 15]);
        assert!(error.is_none() && found == lines, "{name}: {error:?}");
        assert!(before > lines.len() / 20, "{name}: {before} of {}", lines.len());
    }
}

/// Streams that end anywhere deliver what is whole, and tell what is missing.
#[test]
fn streams_that_are_cut_tell_what_is_missing() {
    let data = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/perf"));
    let pipe = fs::read(data.join("pipe-z.data")).expect("the recording");
    let plain = unended(&data.join("task.data"));
    for bytes in [&pipe, &plain] {
        for end in (0..bytes.len()).step_by(211) {
            let (sender, stream) = sync_channel(1);
            let mut follower = Follower::new([""; 0]).with_stream("-", stream);
            sender.send(Ok(bytes[..end].to_vec())).expect("a receiver");
            drop(sender);
            let mut read = Read::new();
            let mut polled = Vec::new();
            for _ in 0..3 {
                polled.extend(follower.poll(Instant::now()).err());
            }
            read.go_on(&mut follower);
            let whole = perf::from_memory(bytes[..end].to_vec());
            let Ok(whole) = whole else {
                assert!(!polled.is_empty() && read.lines.is_empty(), "{end}");
                continue;
            };
            assert!(polled.is_empty(), "{end}: {polled:?}");
            let (mut lines, error) = event_lines(&whole);
            lines.sort();
            let (found, found_error) = read.end();
            assert!(found == lines, "{end}");
            let texts = [error, found_error].map(|error| {
                error.map(|error| error.to_string().split(": ").last().unwrap_or("").to_owned())
            });
            assert_eq!(texts[0], texts[1], "{end}");
        }
    }
}

#[test]
fn streams_that_fail_have_ended() {
    let (sender, stream) = sync_channel(2);
    let mut follower = Follower::new([""; 0]).with_stream("-", stream);
    sender.send(Ok(b"/* CTF 1.8 */ and more than that".to_vec())).expect("a receiver");
    assert!(matches!(follower.poll(Instant::now()), Err(Error::NotATrace { .. })));
    let (sender, stream) = sync_channel(2);
    let mut follower = Follower::new([""; 0]).with_stream("-", stream);
    sender.send(Err(io::Error::other("gone"))).expect("a receiver");
    let error = follower.poll(Instant::now()).expect_err("an error");
    assert!(matches!(&error, Error::Io { path, .. } if path == Path::new("-")), "{error}");
    _ = follower.poll(Instant::now());
    assert!(follower.has_ended() && follower.traces().is_empty());
}

/// A file is followed until perf writes its size to the header.
#[test]
fn files_are_followed_to_their_end() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("perf.data");
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/perf/task.data"));
    let (bytes, whole) = (unended(source), fs::read(source).expect("the recording"));
    let begin = u64::from_le_bytes(bytes[40..48].try_into().expect("8 bytes")) as usize;
    let mut follower = Follower::new([&path]).with_silence(Duration::from_millis(50));
    let (mut read, start) = (Read::new(), Instant::now());
    assert!(!follower.poll(start).expect("no file yet") && !follower.has_ended());
    fs::write(&path, &bytes[..begin]).expect("the header");
    let mut file = OpenOptions::new().append(true).open(&path).expect("the file");
    let mut at = start;
    for part in bytes[begin..].chunks(777) {
        file.write_all(part).expect("room");
        at += Duration::from_millis(20);
        follower.poll(at).expect("a sound recording");
        read.go_on(&mut follower);
    }
    assert!(read.lines.len() > 20, "{} events", read.lines.len());
    assert!(follower.traces()[0].warnings()[0].message.contains("at the end of a file"));
    // After the limit of silence, everything that is there is delivered, and only then.
    at += Duration::from_millis(20);
    follower.poll(at).expect("a sound recording");
    follower.poll(at + Duration::from_millis(60)).expect("a sound recording");
    read.go_on(&mut follower);
    let (lines, _) = expected(&bytes);
    // Of the same time as the last event, one of another CPU might come.
    assert!(read.lines.len() + 1 >= lines.len(), "{} of {}", read.lines.len(), lines.len());
    assert!(!follower.has_ended());
    // perf adds the features, and then the size.
    file.write_all(&whole[bytes.len()..]).expect("room");
    let mut file = OpenOptions::new().write(true).open(&path).expect("the file");
    file.seek(SeekFrom::Start(48)).expect("a header");
    file.write_all(&whole[48..56]).expect("a header");
    follower.poll(at + Duration::from_millis(80)).expect("a sound recording");
    assert!(follower.has_ended());
    read.go_on(&mut follower);
    let (found, error) = read.end();
    assert!(found == lines && error.is_none());
}

/// Recordings that have ended are read as a whole, with their names.
#[test]
fn recordings_that_have_ended_are_complete() {
    let data = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data"));
    for path in
        [data.join("perf/task.data"), data.join("ftrace/synthetic.dat"), data.join("ftrace")]
    {
        let mut follower = Follower::new([&path]);
        assert!(follower.poll(Instant::now()).expect("a recording"));
        assert_eq!(follower.has_ended(), path.is_file());
        let mut merge = Merge::new(&[]);
        merge.continue_with(follower.traces());
        let mut events = 0;
        while merge.next().is_some() {
            events += 1;
        }
        let mut whole = Merge::new(&open_all(&path).expect("a recording"));
        let mut expected = 0;
        while whole.next().is_some() {
            expected += 1;
        }
        assert!(events == expected && events > 0, "{events} of {expected}");
        assert!(!follower.poll(Instant::now()).expect("nothing new"));
    }
}

/// trace-cmd writes its file when recording ends: it is read when it is complete.
#[test]
fn recordings_of_ftrace_are_read_when_they_are_complete() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("trace.dat");
    let file = crate::ftrace_damage::recording();
    for bytes in [file.version_6(), file.version_7(false), file.version_7(true)] {
        _ = fs::remove_file(&path);
        let mut follower = Follower::new([&path]);
        let (mut errors, mut texts) = (0, Vec::new());
        for end in [20, bytes.len() / 2, bytes.len() - 300, bytes.len() - 1] {
            fs::write(&path, &bytes[..end]).expect("room");
            if let Err(error) = follower.poll(Instant::now()) {
                errors += 1;
                texts.push(error.to_string());
            }
            assert!(follower.traces().is_empty() && !follower.has_ended());
        }
        // It is told once, not each time.
        assert!(errors == 1 && texts[0].contains("has not written all"), "{texts:?}");
        fs::write(&path, &bytes).expect("room");
        follower.poll(Instant::now()).expect("a recording");
        assert!(follower.has_ended());
        assert_eq!(follower.traces().len(), 1);
        assert_eq!(count(follower.traces()), 90);
    }
    // What will never be complete is read at the end.
    fs::remove_file(&path).expect("the file");
    let bytes = file.version_7(false);
    fs::write(&path, &bytes[..bytes.len() - 1]).expect("room");
    let mut follower = Follower::new([&path]);
    follower.poll(Instant::now()).expect_err("not complete");
    follower.complete().expect("a recording");
    assert_eq!(count(follower.traces()), 90);
}

fn count(traces: &[std::sync::Arc<Trace>]) -> usize {
    let (mut merge, mut events) = (Merge::new(traces), 0);
    while merge.next().is_some() {
        events += 1;
    }
    events
}
