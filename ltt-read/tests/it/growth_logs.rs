//! Logs of how LTTng wrote traces, replayed step by step while a follower reads them.
//!
//! Skipped, with a message, if the logs are not there.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::support::shared::shared;
use flate2::read::GzDecoder;
use ltt_read::schema::Scope;
use ltt_read::{Event, Follower, Merge, NoticeKind, open_all};

/// An event in words, with its stream.
type Line = (Option<u64>, String);

fn line(event: &Event<'_>) -> Line {
    let scopes = [Scope::CommonContext, Scope::SpecificContext, Scope::Payload];
    let values = scopes.map(|scope| {
        let text = |(info, value): (&ltt_read::FieldInfo, ltt_read::Value<'_>)| {
            format!("{:?}={value:?}", info.name())
        };
        event.scope(scope).map(|root| root.members().map(text).collect::<Vec<_>>())
    });
    let text = format!("{:?} {} {values:?}", event.cycles(), event.event_type().name());
    (event.packet().stream_id, text)
}

/// One operation of a log on a file.
struct Operation {
    kind: u8,
    path: PathBuf,
    offset: u64,
    data: Vec<u8>,
    to: PathBuf,
}

/// Reads a growth log: operations on files in a directory.
fn operations(log: &Path) -> Vec<Operation> {
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(log).expect("a log")).read_to_end(&mut bytes).expect("gzip");
    let mut rest = bytes.strip_prefix(b"LVGROW01").expect("a growth log");
    let mut take = |count: usize| {
        let (taken, after) = rest.split_at(count.min(rest.len()));
        rest = after;
        taken.to_vec()
    };
    let number = |bytes: Vec<u8>| bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte));
    let text = |bytes: Vec<u8>| PathBuf::from(String::from_utf8(bytes).expect("a path"));
    let mut operations = Vec::new();
    while let [kind] = take(1)[..] {
        take(8); // the time in µs
        let len = number(take(2)) as usize;
        let path = text(take(len));
        let mut operation =
            Operation { kind, path, offset: 0, data: Vec::new(), to: PathBuf::new() };
        match kind {
            3 => {
                operation.offset = number(take(8));
                let len = number(take(4)) as usize;
                operation.data = take(len);
            }
            4 => operation.offset = number(take(8)),
            5 => {
                let len = number(take(2)) as usize;
                operation.to = text(take(len));
            }
            _ => {}
        }
        operations.push(operation);
    }
    operations
}

impl Operation {
    /// Carries the operation out, a write in two halves. Calls `between` after each half.
    fn apply(&self, root: &Path, mut between: impl FnMut()) {
        let path = root.join(&self.path);
        match self.kind {
            1 => fs::create_dir_all(path).expect("a directory"),
            2 => drop(File::create(path).expect("a file")),
            3 => {
                let mut file = OpenOptions::new().write(true).open(path).expect("a file");
                file.seek(SeekFrom::Start(self.offset)).expect("a place");
                let (first, second) = self.data.split_at(self.data.len() / 2);
                file.write_all(first).expect("space");
                between();
                file.write_all(second).expect("space");
            }
            4 => {
                let file = OpenOptions::new().write(true).open(path).expect("a file");
                file.set_len(self.offset).expect("a size");
            }
            5 => fs::rename(path, root.join(&self.to)).expect("a new name"),
            6 => fs::remove_file(path).expect("a file"),
            7 => fs::remove_dir(path).expect("a directory"),
            _ => panic!("unknown operation {}", self.kind),
        }
        between();
    }
}

/// Replays a log with the follower running. Returns the events of each stream, and the number
/// of events in the final directory that were not delivered in the order of their stream.
fn replay(log: &Path, every: usize) -> (BTreeMap<Option<u64>, Vec<String>>, Vec<Line>) {
    let dir = tempfile::tempdir().expect("a directory");
    let mut follower = Follower::new([dir.path()]).with_silence(Duration::from_secs(1));
    let mut merge = Merge::new(&[]);
    let mut seen: BTreeMap<_, Vec<String>> = BTreeMap::new();
    let (start, mut steps) = (Instant::now(), 0);
    let mut poll = |follower: &mut Follower, merge: &mut Merge| {
        merge.continue_with(follower.traces());
        while let Some(event) = merge.next() {
            let (stream, text) = line(&event);
            seen.entry(stream).or_default().push(text);
        }
        follower.release(merge);
    };
    for operation in operations(log) {
        operation.apply(dir.path(), || {
            steps += 1;
            if steps % every == 0 {
                let now = start + Duration::from_millis(100 * steps as u64);
                follower.poll(now).expect("files can be read");
                poll(&mut follower, &mut merge);
            }
        });
    }
    follower.poll(start + Duration::from_secs(3600)).expect("files can be read");
    follower.complete().expect("valid metadata");
    poll(&mut follower, &mut merge);
    let late = merge.take_notices().into_iter();
    let late: Vec<_> =
        late.filter(|notice| matches!(notice.kind, NoticeKind::LateEvents { .. })).collect();
    assert!(late.is_empty(), "{late:?}");
    merge.finish().expect("sound data");
    let mut merge = Merge::new(&open_all(dir.path()).expect("a trace"));
    let mut all = Vec::new();
    while let Some(event) = merge.next() {
        all.push(line(&event));
    }
    (seen, all)
}

#[test]
fn growth_logs_are_read_once_and_in_order() {
    let Some(growth) = shared("live/growth") else { return };
    let mut logs: Vec<_> = fs::read_dir(growth)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().ends_with(".grow.gz"))
        .collect();
    logs.sort();
    assert!(!logs.is_empty());
    for log in logs {
        for every in [1, 2, 7] {
            let (seen, all) = replay(&log, every);
            let mut of_stream: BTreeMap<_, Vec<&String>> = BTreeMap::new();
            all.iter().for_each(|(stream, text)| of_stream.entry(*stream).or_default().push(text));
            // What a tracer removed was delivered before; what remains was delivered, too.
            for (stream, expected) in &of_stream {
                let seen = seen.get(stream).map(Vec::as_slice).unwrap_or_default();
                let mut rest = seen.iter();
                let found = expected.iter().all(|text| rest.any(|seen| seen == *text));
                assert!(found, "{}: stream {stream:?}, every {every}", log.display());
            }
            for (stream, seen) in &seen {
                let mut once = seen.clone();
                once.sort();
                once.dedup();
                assert_eq!(once.len(), seen.len(), "{}: stream {stream:?}", log.display());
            }
            let count: usize = seen.values().map(Vec::len).sum();
            eprintln!("{}: {count} events, {} remain", log.display(), all.len());
            assert!(count >= all.len() && count > 0);
        }
    }
}
