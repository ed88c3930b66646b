//! A directory generated from arbitrary bytes: traces, links, indexes, damage. All ways
//! to open and read it must agree.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ltt_read::tuning::EventSink;
use ltt_read::{
    Cursor, Event, Merge, OnFailure, OpenOptions, Opened, Timestamp, Trace, TracefileIndex,
    TracefileNumber, find_traces,
};

const METADATA: [&[u8]; 4] = [
    include_bytes!("../../fuzz/metadata/lttng.tsdl"),
    include_bytes!("../../fuzz/metadata/dynamic.tsdl"),
    include_bytes!("../../fuzz/metadata/all-classes.ctf2"),
    b"garbage",
];

const NAMES: [&str; 16] = [
    "a",
    "b",
    "kernel",
    "index",
    "metadata",
    "c_0",
    "c_1",
    "c_0_0",
    "c_0_1",
    "c_1_0",
    "s",
    ".hidden",
    "control",
    "metadata_0",
    "facilities_0",
    "c_0.idx",
];

/// The greatest number of steps in which a directory is generated.
const STEPS: usize = 48;
/// The greatest number of events that are read.
const EVENTS: u64 = 1 << 14;

/// A temporary directory that is removed when dropped.
struct TempDir(PathBuf);

impl TempDir {
    fn new() -> std::io::Result<TempDir> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let name = format!("ltt-read-directory-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path)?;
        Ok(TempDir(path))
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

/// A source of bytes, which are 0 after the last.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit.max(1)
    }

    fn some(&mut self) -> &'a [u8] {
        let len = usize::from(self.byte()).min(self.0.len());
        let (some, rest) = self.0.split_at(len);
        self.0 = rest;
        some
    }
}

/// Generates a directory from bytes, opens and reads it in all ways, and compares the
/// results.
///
/// # Panics
///
/// If the results of two ways differ.
pub(crate) fn check(data: &[u8]) {
    let Ok(root) = TempDir::new() else { return };
    let mut bytes = Bytes(data);
    let dirs = make(&root.0, &mut bytes);
    let paths: Vec<_> =
        (0..1 + bytes.below(3)).map(|_| dirs[bytes.below(dirs.len())].clone()).collect();

    let lenient = OpenOptions::new().on_failure(OnFailure::Continue);
    let Opened { traces, failures, .. } =
        lenient.open_all_of(&paths).expect("failures are in the result");
    match OpenOptions::new().open_all_of(&paths) {
        Ok(strict) => {
            assert!(failures.is_empty(), "only one of two ways fails: {failures:?}");
            assert!(strict.failures.is_empty());
            assert_eq!(strict.traces.len(), traces.len());
            assert_eq!(times(&mut Merge::new(&strict.traces)), times(&mut Merge::new(&traces)));
        }
        Err(_) => assert!(!failures.is_empty(), "only one of two ways fails"),
    }
    if let [path] = &paths[..] {
        assert!(find_traces(path).is_ok() || !failures.is_empty());
    }
    for trace in &traces {
        let parts = trace.tracefiles().iter().flat_map(|t| t.parts());
        let mut files: Vec<_> = parts.map(|(path, bytes)| (path, bytes.as_ptr())).collect();
        let all = files.len();
        files.sort();
        files.dedup();
        assert_eq!(files.len(), all, "a file is read twice");
    }
    read(&traces, &mut bytes);
}

/// Generates the contents of a directory. Returns all directories in it.
fn make(root: &Path, bytes: &mut Bytes<'_>) -> Vec<PathBuf> {
    let mut dirs = vec![root.to_owned()];
    let mut entries = vec![root.to_owned()];
    for _ in 0..STEPS {
        if bytes.0.is_empty() {
            break;
        }
        let step = bytes.byte();
        let path = dirs[bytes.below(dirs.len())].join(NAMES[bytes.below(NAMES.len())]);
        let entry = entries[bytes.below(entries.len())].clone();
        // Impossible steps are ignored.
        let done = match step % 8 {
            0 => fs::create_dir(&path).map(|()| dirs.push(path.clone())),
            1 => {
                let path = path.with_file_name("metadata");
                fs::write(path, METADATA[bytes.below(METADATA.len())])
            }
            2 => fs::write(&path, bytes.some()),
            3 => {
                let (cpu, first) = (bytes.below(4) as u8, bytes.below(8) as u64);
                fs::write(&path, stream(cpu, first..first + bytes.below(5) as u64))
            }
            4 => link(&entry, &path),
            5 => fs::copy(&entry, &path).map(drop),
            6 => fs::read(&entry).and_then(|mut content| {
                content.truncate(bytes.below(256).min(content.len()));
                fs::write(&entry, content)
            }),
            _ => fs::read(&entry).and_then(|mut content| {
                let at = bytes.below(content.len());
                content.iter_mut().skip(at).take(2).for_each(|byte| *byte ^= bytes.byte());
                fs::write(&entry, content)
            }),
        };
        if done.is_ok() && path.exists() {
            entries.push(path);
        }
    }
    dirs
}

#[cfg(unix)]
fn link(to: &Path, path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(to, path)
}

#[cfg(not(unix))]
fn link(to: &Path, path: &Path) -> std::io::Result<()> {
    fs::copy(to, path).map(drop)
}

/// Writes sound packets with these numbers, for the first of the metadata texts.
fn stream(cpu: u8, packets: std::ops::Range<u64>) -> Vec<u8> {
    let mut stream = Vec::new();
    for packet in packets {
        let begin = stream.len();
        stream.extend(0xc1fc_1fc1_u32.to_le_bytes());
        stream.extend(0u32.to_le_bytes());
        stream.extend((packet * 1000 + 10).to_le_bytes());
        stream.extend((packet * 1000 + 500).to_le_bytes());
        let sizes = stream.len();
        stream.extend([0; 4]);
        stream.extend([packet as u8, 0, cpu]);
        for event in 0..3 {
            let time = packet as u32 * 1000 + 20 + event * 10;
            stream.extend((time << 5).to_le_bytes());
            stream.extend(7u32.to_le_bytes());
            stream.extend([1, 2, 0]);
        }
        let bits = ((stream.len() - begin) * 8) as u16;
        stream[sizes..sizes + 2].copy_from_slice(&bits.to_le_bytes());
        stream[sizes + 2..sizes + 4].copy_from_slice(&bits.to_le_bytes());
    }
    stream
}

/// Reads the times of the remaining events of a merge.
fn times(merge: &mut Merge) -> Vec<Option<Timestamp>> {
    let mut times = Vec::new();
    while let Some(event) = merge.next() {
        times.push(event.timestamp());
        if times.len() as u64 == EVENTS {
            break;
        }
    }
    times
}

/// Reads traces in all ways.
fn read(traces: &[Arc<Trace>], bytes: &mut Bytes<'_>) {
    let mut merge = Merge::new(traces);
    let mut cuts = Vec::new();
    let mut all = Vec::new();
    while (all.len() as u64) < EVENTS {
        let Some(event) = merge.next() else { break };
        all.push(event.timestamp());
        if all.len().is_power_of_two() {
            cuts.push((all.len() - 1, merge.positions()));
        }
    }
    if all.len() as u64 == EVENTS {
        return;
    }
    let mut counted = Merge::new(traces);
    assert_eq!(counted.drive(EVENTS, &mut Nothing), all.len() as u64);
    for (at, cut) in cuts {
        merge.seek_positions(&cut);
        assert_eq!(times(&mut merge).len(), all.len() - at, "from a saved position");
    }
    let is_honest = traces.iter().all(|trace| {
        (0..trace.tracefiles().len())
            .all(|number| is_honest(&mut trace.cursor(TracefileIndex(number))))
    });
    for trace in traces {
        for number in 0..trace.tracefiles().len() {
            let entries = trace.packet_index(TracefileIndex(number)).entries();
            let mut places = entries.iter().map(|entry| (entry.file, entry.offset));
            let mut last = None;
            assert!(places.all(|place| last.replace(place) < Some(place)), "packets out of order");
        }
    }
    if !is_honest {
        return;
    }
    let known: Vec<_> = all.iter().flatten().copied().collect();
    for _ in 0..4 {
        let time = |bytes: &mut Bytes<'_>| match known.get(bytes.below(known.len())) {
            Some(time) => time.as_ns().saturating_add(bytes.below(3) as i64 - 1),
            None => i64::from(bytes.byte()),
        };
        let (begin, end) = (time(bytes), time(bytes));
        let is_in = |time: &&Timestamp| (begin..end).contains(&time.as_ns());
        let expected = known.iter().filter(is_in).count();
        merge.seek(Timestamp::from_ns(begin));
        let window = times(&mut merge);
        let window = window.iter().flatten().take_while(|time| time.as_ns() < end).count();
        assert_eq!(window, expected, "events from {begin} to before {end}");
    }
}

/// Returns `true` if times never go back and no event is outside of its packet's times.
/// Then a window contains exactly the events whose times are in it.
fn is_honest(cursor: &mut Cursor) -> bool {
    let mut last = Timestamp::MIN;
    let mut bounds = (Timestamp::MIN, Timestamp::MIN);
    loop {
        match cursor.advance() {
            Ok(true) => {
                let Some(time) = cursor.event().timestamp() else { return false };
                let packet = cursor.packet().and_then(|packet| packet.start.zip(packet.end));
                let Some((begin, end)) = packet else { return false };
                if time < last || time < begin || time > end || begin < bounds.0 || end < bounds.1 {
                    return false;
                }
                (last, bounds) = (time, (begin, end));
            }
            Ok(false) => return true,
            Err(_) if cursor.skip_packet() => {}
            Err(_) => return true,
        }
    }
}

/// A sink that wants no event.
struct Nothing;

impl EventSink for Nothing {
    fn accepts(&mut self, _: TracefileNumber, _: &Event<'_>) -> bool {
        false
    }

    fn receive(
        &mut self,
        _: &Merge,
        _: TracefileNumber,
        _: &Event<'_>,
    ) -> std::ops::ControlFlow<()> {
        std::ops::ControlFlow::Continue(())
    }
}
