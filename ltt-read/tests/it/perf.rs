//! Recordings of perf, compared with the text of another decoder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ltt_read::{Error, Merge, Trace, find_traces, open_all, perf};

use crate::support::packed::unpacked;
use crate::support::perf_text::{event_lines, losses};
use crate::support::shared::shared;

/// Opens a recording, which may be compressed as a whole.
fn open(path: &Path) -> Arc<Trace> {
    match path.extension() {
        Some(end) if end == "zst" => perf::from_memory(unpacked(path)).unwrap(),
        _ => Trace::open(path).unwrap(),
    }
}

/// Returns the first of some files that exists.
fn first_of(paths: [PathBuf; 2]) -> Option<PathBuf> {
    paths.into_iter().find(|path| path.is_file())
}

/// Sorts lines by time; those of the same time by their text, because their order is not defined.
/// Those without a time come first.
fn sorted<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<(u64, &'a str)> {
    let mut lines: Vec<_> = lines
        .map(|line| {
            let (time, rest) = line.split_once(' ').unwrap();
            match time {
                "-" | "0" | "18446744073709551615" => (0, rest),
                _ => (time.parse().unwrap(), rest),
            }
        })
        .collect();
    lines.sort_unstable();
    lines
}

/// Compares a recording with its reference text. Returns `true` if they are equal.
fn compare(name: &str, trace: &Path, text: &Path) -> bool {
    let (lines, error) = event_lines(&open(trace));
    // Messages of perf itself follow the records of this pipe.
    assert_eq!(error.is_some(), name == "lpd-sleep.compressed2.pipe", "{name}: {error:?}");
    // The size of the stack that was copied is no field: all bytes of the copy are.
    let text = String::from_utf8(unpacked(text)).unwrap().replace(" stack_user=8192", "");
    let (found, expected) = (sorted(lines.iter().map(String::as_str)), sorted(text.lines()));
    if let Some((found, expected)) = found.iter().zip(&expected).find(|(a, b)| a != b) {
        eprintln!("{name}: found\n{found:?}\nexpected\n{expected:?}");
        return false;
    }
    if found.len() != expected.len() {
        eprintln!("{name}: found {}, expected {}", found.len(), expected.len());
    }
    found.len() == expected.len()
}

#[test]
fn shared_recordings() {
    let (Some(traces), Some(texts)) = (shared("traces/perf-data"), shared("expected/perf-data"))
    else {
        return;
    };
    let mut different = Vec::new();
    let mut folders: Vec<_> = fs::read_dir(&traces).unwrap().map(|it| it.unwrap().path()).collect();
    folders.sort();
    for folder in folders {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let text = [".dump.txt.gz", ".dump.txt.zst"].map(|end| texts.join(format!("{name}{end}")));
        let paths = ["perf.data", "perf.data.zst"].map(|file| folder.join(file));
        let trace = paths.into_iter().find(|path| path.exists());
        let Some((trace, text)) = trace.zip(first_of(text)) else { continue };
        if !compare(&name, &trace, &text) {
            different.push(name);
        }
    }
    assert!(different.is_empty(), "{different:?}");
}

/// Recordings of which there are only the numbers of events.
#[test]
fn counts_by_name() {
    let (Some(traces), Some(texts)) = (shared("traces/perf-data"), shared("expected/perf-data"))
    else {
        return;
    };
    let trace = open(&traces.join("k72-perf-z/perf.data.zst"));
    let mut counts = BTreeMap::new();
    for line in event_lines(&trace).0 {
        *counts.entry(line.split(' ').nth(2).unwrap().to_owned()).or_insert(0) += 1;
    }
    let found: String = counts.iter().map(|(name, count)| format!("{count} {name}\n")).collect();
    assert_eq!(found, fs::read_to_string(texts.join("k72-perf-z.counts.txt")).unwrap());
}

#[test]
fn losses_are_counted_once() {
    let Some(traces) = shared("traces/perf-data") else { return };
    assert_eq!(losses(&open(&traces.join("lost/perf.data.zst"))), (8, 495));
}

/// The recording that is part of the repository, opened in each way.
#[test]
fn a_recording_is_opened_by_its_path() {
    let data = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/perf"));
    let file = data.join("task.data");
    assert!(compare("task", &file, &data.join("task.txt")));
    let trace = Trace::open(&file).unwrap();
    assert_eq!(trace.path(), file);
    let schema = trace.schema();
    assert!(schema.env_str("kernel_release").is_some_and(|it| it.starts_with("6.12")));
    assert_eq!(schema.env_str("tracer_name"), Some("perf"));
    assert_eq!(&*schema.clocks[0].name, "perf");
    assert_eq!(open_all(data).unwrap().len(), 2);
    assert_eq!(find_traces(data).unwrap().len(), 2);
    let text = data.join("task.txt");
    assert!(matches!(open_all(&text), Err(Error::NotATrace { .. })));
}

/// Seeking finds the event that reading everything finds.
#[test]
fn seeks_agree_with_reading() {
    let Some(shared) = shared("traces/perf-data") else { return };
    for name in ["sched", "lost", "pipe-z"] {
        let trace = open(&shared.join(name).join("perf.data.zst"));
        let mut merge = Merge::new(std::slice::from_ref(&trace));
        let mut times = Vec::new();
        while let Some(event) = merge.next() {
            times.extend(event.timestamp());
        }
        for at in (0..times.len()).step_by(times.len() / 50) {
            let first = times.partition_point(|time| *time < times[at]);
            merge.seek(times[at]);
            let mut count = 0;
            while let Some(event) = merge.next() {
                let Some(time) = event.timestamp() else { continue };
                assert_eq!(Some(&time), times.get(first + count), "{name}");
                count += 1;
                if count == 100 {
                    break;
                }
            }
            assert_eq!(count, (times.len() - first).min(100), "{name}");
        }
        assert_eq!(trace.time_span().map(|span| span.end), times.last().copied(), "{name}");
    }
}

/// A directory of `perf record --threads` is one trace, whichever path leads to it.
#[test]
fn directories_of_threads_are_one_trace() {
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/perf/task.data"));
    let bytes = fs::read(source).unwrap();
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let (begin, size) = (number(40), number(48));
    let records = &bytes[begin..begin + size];
    let mut first = bytes.clone();
    // The records are divided among two files of threads; the first file keeps none of its own but their place.
    let mut middle = 0;
    while middle < size / 2 {
        middle += usize::from(u16::from_le_bytes([records[middle + 6], records[middle + 7]]));
    }
    first[48..56].copy_from_slice(&8_u64.to_le_bytes());
    first[begin..begin + 8].copy_from_slice(&[68, 0, 0, 0, 0, 0, 8, 0]);
    // The places of the features follow the records.
    first.copy_within(begin + size.., begin + 8);
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("perf.data");
    fs::create_dir(&folder).unwrap();
    for (name, contents) in [
        ("data", &first[..]),
        ("data.0", &records[..middle]),
        ("data.1", &[]),
        ("data.10", &records[middle..]),
    ] {
        fs::write(folder.join(name), contents).unwrap();
    }
    let text = |trace: &Arc<Trace>| {
        let (mut lines, error) = event_lines(trace);
        assert!(error.is_none());
        lines.sort();
        lines
    };
    let expected = text(&Trace::open(source).unwrap());
    for path in [&folder, &folder.join("data"), &directory.path().to_owned()] {
        let traces = open_all(path).unwrap();
        assert_eq!(traces.len(), 1);
        assert!(text(&traces[0]) == expected, "{}", path.display());
    }
    assert!(text(&Trace::open(&folder).unwrap()) == expected);
    // A file that was cut is named.
    fs::write(folder.join("data.0"), &records[..middle - 1]).unwrap();
    let (_, error) = event_lines(&Trace::open(&folder).unwrap());
    assert!(error.unwrap().to_string().contains("data.0"));
}

/// The build ids are those of files with samples, most of which are mapped in this part of a recording.
#[test]
fn build_ids_of_files_are_read() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/perf/perf.data");
    let trace = Trace::open(path).unwrap();
    let ids = trace.build_ids();
    assert!(ids.len() > 5);
    assert!(ids.iter().all(|of| of.id.len() == 20 && of.path.starts_with(['/', '['])));
    let text = event_lines(&trace).0.join("\n");
    assert!(
        ids.iter().filter(|of| text.contains(&format!("filename=\"{}\"", of.path))).count() > 5
    );
    let libc = ids.iter().filter(|of| of.path.ends_with("/libc.so.6")).count();
    assert_eq!(libc, 1);
}
