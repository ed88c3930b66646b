//! Recordings of ftrace, compared with the text of another decoder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ltt_read::{Error, Merge, OpenOptions, Trace, find_traces, ftrace, open_all};

use crate::support::ftrace_text::{event_lines, loss_lines};
use crate::support::packed::unpacked;
use crate::support::shared::shared;

/// Opens a recording, which may be compressed as a whole.
fn open(path: &Path) -> Vec<Arc<Trace>> {
    match path.extension() {
        Some(end) if end == "zst" => ftrace::from_memory(unpacked(path)).unwrap(),
        _ => open_all(path).unwrap(),
    }
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

/// The recording that is part of the repository, opened in each way.
#[test]
fn a_recording_is_opened_by_its_path_and_by_that_of_its_directory() {
    let data = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ftrace"));
    let file = data.join("synthetic.dat");
    assert!(compare("synthetic", &file, &data.join("synthetic.txt")));
    for path in [data, &file] {
        let trace = Trace::open(path).unwrap();
        assert_eq!(trace.path(), file);
        assert_eq!(open_all(path).unwrap().len(), 1);
        assert_eq!(find_traces(path).unwrap(), std::slice::from_ref(&file));
        let schema = trace.schema();
        assert_eq!(schema.env_str("hostname"), Some("ltt-vm"));
        assert!(schema.env_str("kernel_release").is_some_and(|it| it.starts_with("6.12")));
        assert_eq!(&*schema.clocks[0].name, "global");
    }
    // A directory of traces may contain it, too.
    let opened = OpenOptions::new().open_all_of([data, &file]).unwrap();
    assert_eq!((opened.traces.len(), opened.notices.len()), (1, 1));
    let text = data.join("synthetic.txt");
    assert!(matches!(open_all(&text), Err(Error::NotATrace { .. })));
}

/// Seeking finds the event that reading everything finds.
#[test]
fn seeks_agree_with_reading() {
    let Some(shared) = shared("traces/ftrace") else { return };
    for name in ["v7-zlib", "flight", "instances"] {
        let file = shared.join(name).join("trace.dat");
        for verified in [0, u64::MAX] {
            let traces = OpenOptions::new().verify_times_up_to(verified).open_all(&file).unwrap();
            let mut merge = Merge::new(&traces);
            let mut times = Vec::new();
            while let Some(event) = merge.next() {
                times.push(event.timestamp().unwrap());
            }
            for at in (0..times.len()).step_by(times.len() / 50) {
                let first = times.partition_point(|time| *time < times[at]);
                merge.seek(times[at]);
                let mut count = 0;
                while let Some(event) = merge.next() {
                    assert_eq!(event.timestamp(), times.get(first + count).copied());
                    count += 1;
                    if count == 100 {
                        break;
                    }
                }
                assert_eq!(count, (times.len() - first).min(100), "{name}");
            }
            let span = traces.iter().filter_map(|trace| trace.time_span());
            let span = span.reduce(ltt_read::TimeSpan::join).unwrap();
            assert_eq!(span.end, *times.last().unwrap(), "{name}");
            assert!(span.start <= times[0]);
            assert!(merge.finish().is_ok());
        }
    }
}

#[test]
fn names_of_threads_are_read() {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ftrace/synthetic.dat");
    let bytes = fs::read(own).unwrap();
    let text = ftrace::from_memory(bytes.clone()).unwrap()[0].thread_names().unwrap();
    let text = text.expect("a text");
    // Cut anywhere, there is the text, an error that names it, or no trace.
    for end in (0..bytes.len()).step_by(97) {
        let Ok(traces) = ftrace::from_memory(bytes[..end].to_vec()) else { continue };
        match traces[0].thread_names() {
            Ok(found) => assert!(found.is_none_or(|found| found == text), "{end}"),
            Err(error) => assert!(error.to_string().contains("names of threads"), "{error}"),
        }
    }
    let Some(folder) = shared("traces/ftrace") else { return };
    for name in [
        "sched-v6/trace.dat.zst",
        "sched-v7/trace.dat.zst",
        "v7-none/trace.dat.zst",
        "v7-zlib/trace.dat",
    ] {
        let text = open(&folder.join(name)).swap_remove(0).thread_names().unwrap().unwrap();
        let lines: Vec<_> = text.split(|byte| *byte == b'\n').collect();
        assert!(lines.len() > 10, "{name}");
        for line in lines.into_iter().filter(|line| !matches!(line, [] | [0])) {
            let blank = line.iter().position(|byte| *byte == b' ').expect("a number and a name");
            assert!(blank > 0 && line[..blank].iter().all(u8::is_ascii_digit), "{name}: {line:?}");
        }
    }
}

#[test]
fn names_of_the_kernel_are_read() {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ftrace/synthetic.dat");
    let bytes = fs::read(own).unwrap();
    let traces = ftrace::from_memory(bytes.clone()).unwrap();
    let text = traces[0].kernel_symbols().unwrap().expect("a text");
    assert!(text.split(|byte| *byte == b'\n').all(|line| line.is_empty() || line.contains(&b' ')));
    // Cut anywhere, there is the text, an error that names it, or no trace.
    for end in (0..bytes.len()).step_by(97) {
        let Ok(traces) = ftrace::from_memory(bytes[..end].to_vec()) else { continue };
        match traces[0].kernel_symbols() {
            Ok(found) => assert!(found.is_none_or(|found| found == text), "{end}"),
            Err(error) => assert!(error.to_string().contains("kernel symbols"), "{error}"),
        }
    }
    let Some(folder) = shared("traces/ftrace") else { return };
    let open = |name: &str| open(&folder.join(name)).swap_remove(0);
    // All functions of a kernel, of which the others have a sixtieth.
    let all = open("kallsyms-full/trace.dat.zst").kernel_symbols().unwrap().unwrap();
    assert!(all.iter().filter(|byte| **byte == b'\n').count() > 178_000);
    for name in [
        "sched-v6/trace.dat.zst",
        "sched-v7/trace.dat.zst",
        "v7-none/trace.dat.zst",
        "v7-zlib/trace.dat",
    ] {
        let text = open(name).kernel_symbols().unwrap().unwrap();
        assert!(
            text.windows(8).any(|of| of == b" T vfs_o" || of == b" T vfs_r" || of == b" T ksys_"),
            "{name}"
        );
    }
}
