//! Recordings of ftrace, compared with the text of another decoder.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ltt_read::{Trace, ftrace, open_all};

use crate::support::ftrace_text::{event_lines, loss_lines};
use crate::support::shared::shared;

/// Opens a recording, which may be compressed as a whole.
fn open(path: &Path) -> Vec<Arc<Trace>> {
    match path.extension() {
        Some(end) if end == "zst" => ftrace::from_memory(unpacked(path)).unwrap(),
        _ => open_all(path).unwrap(),
    }
}

/// Returns the contents of a file, which may be compressed.
fn unpacked(path: &Path) -> Vec<u8> {
    let (bytes, mut contents) = (fs::read(path).unwrap(), Vec::new());
    match path.extension().and_then(|end| end.to_str()) {
        Some("zst") => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(&*bytes);
            _ = decoder.unwrap().read_to_end(&mut contents).unwrap();
        }
        Some("gz") => _ = flate2::read::GzDecoder::new(&*bytes).read_to_end(&mut contents).unwrap(),
        _ => return bytes,
    }
    contents
}

/// Returns the first of some files that exists.
fn first_of(paths: [PathBuf; 2]) -> PathBuf {
    paths.into_iter().find(|path| path.is_file()).expect("one of the files")
}

/// Compares a recording with its reference text. Returns `true` if they are equal.
fn compare(name: &str, trace: &Path, text: &Path) -> bool {
    let traces = open(trace);
    let text = String::from_utf8(unpacked(text)).unwrap();
    let is_loss =
        |line: &&str| line.rsplit_once(' ').is_some_and(|(_, last)| last.starts_with("lost="));
    let (mut losses, events): (Vec<&str>, Vec<&str>) = text.lines().partition(is_loss);
    losses.sort_unstable();
    let (found_events, found_losses) = (event_lines(&traces), loss_lines(&traces));
    let mut pairs = found_events.iter().zip(&events).chain(found_losses.iter().zip(&losses));
    if let Some((found, expected)) = pairs.find(|(found, expected)| found != *expected) {
        eprintln!("{name}: found\n{found}\nexpected\n{expected}");
        return false;
    }
    let counts = (found_events.len(), found_losses.len());
    if counts != (events.len(), losses.len()) {
        eprintln!("{name}: found {counts:?}, expected {:?}", (events.len(), losses.len()));
        return false;
    }
    true
}

#[test]
fn shared_recordings() {
    let (Some(traces), Some(texts)) = (shared("traces/ftrace"), shared("expected/ftrace")) else {
        return;
    };
    let mut different = Vec::new();
    let mut folders: Vec<_> = fs::read_dir(&traces).unwrap().map(|it| it.unwrap().path()).collect();
    folders.sort();
    for folder in folders {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let text = [".dump.txt.gz", ".dump.txt.zst"].map(|end| texts.join(format!("{name}{end}")));
        if !text.iter().any(|text| text.is_file()) {
            continue;
        }
        let trace = first_of(["trace.dat", "trace.dat.zst"].map(|file| folder.join(file)));
        if !compare(&name, &trace, &first_of(text)) {
            different.push(name);
        }
    }
    assert!(different.is_empty(), "{different:?}");
}
