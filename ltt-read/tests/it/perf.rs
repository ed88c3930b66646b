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
        let trace = first_of(["perf.data", "perf.data.zst"].map(|file| folder.join(file)));
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

/// Directories of `perf record --threads` say that they are not supported.
#[test]
fn directories_of_threads_are_refused() {
    let directory = std::env::temp_dir().join(format!("ltt-read-perf-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/perf/task.data"));
    fs::copy(source, directory.join("data")).unwrap();
    fs::write(directory.join("data.0"), []).unwrap();
    let errors = [Trace::open(&directory).map(drop), open_all(&directory).map(drop)];
    fs::remove_dir_all(&directory).unwrap();
    for error in errors {
        let Err(Error::NotATrace { reason, .. }) = error else { panic!("{error:?}") };
        assert!(reason.contains("--threads"));
    }
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
