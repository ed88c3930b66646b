//! Recordings that a context follows to their end.

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::time::Duration;

use lttv_context::{
    Bounds, GrowthError, Recording, RecordingError, RecordingState, TracesetContext,
};

const KERNEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");

/// Copies the files of the bundled trace to a directory, which must exist, in parts: those whose
/// numbers are in a range of the sorted names.
fn copy(to: &Path, files: std::ops::Range<usize>) {
    let mut names: Vec<_> =
        fs::read_dir(KERNEL).expect("the trace").map(|file| file.expect("a file")).collect();
    names.sort_by_key(|file| file.file_name() != "metadata");
    for file in names.iter().take(files.end).skip(files.start).filter(|file| file.path().is_file())
    {
        fs::copy(file.path(), to.join(file.file_name())).expect("a copy");
    }
}

#[test]
fn a_context_reads_all_events_of_a_recording_by_one_loop() {
    use RecordingState::{Busy, Ended, Idle};

    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("kernel");
    let mut recording = Recording::follow([folder.path()]);
    let mut context = TracesetContext::new(recording.traceset());
    let (mut events, mut states) = (0, Vec::new());
    let limit = Duration::from_millis(5);
    loop {
        let state = recording.poll(limit, &mut context).expect("all can be read");
        states.push(state);
        match (state, states.len()) {
            (Ended, _) => break,
            (_, 1) => {
                fs::create_dir(&dir).expect("a directory");
                copy(&dir, 0..1);
            }
            (_, 2) => copy(&dir, 1..usize::MAX),
            (Idle, _) => {
                recording.complete().expect("valid metadata");
                continue;
            }
            _ => {}
        }
        assert_eq!(context.watermark().is_some(), recording.traceset().is_growing());
        let read = context.read(&Bounds::all()).expect("no position");
        events += read.events;
    }
    assert_eq!(events, 6087);
    assert_eq!(states, [Idle, Busy, Busy, Idle, Busy, Ended]);
    assert_eq!(context.watermark(), None);
    assert_eq!(recording.poll(limit, &mut context).expect("the end"), Ended);
}

#[test]
fn an_error_is_returned_after_what_was_fetched_was_handed_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("no-trace");
    fs::write(&file, "text").expect("a file");
    let mut recording = Recording::follow([Path::new(KERNEL), &file]);
    let mut context = TracesetContext::new(recording.traceset());
    let mut poll = || recording.poll(Duration::ZERO, &mut context);
    assert!(matches!(poll(), Ok(RecordingState::Busy)));
    assert!(matches!(poll(), Err(RecordingError::Read(_))));
    assert!(matches!(poll(), Ok(RecordingState::Busy | RecordingState::Idle)));
    assert_eq!(context.contexts().traces().len(), 1);
}

#[test]
fn a_reader_that_cannot_grow_is_an_error() {
    let mut recording = Recording::follow([KERNEL]);
    let mut context = TracesetContext::new(recording.traceset());
    context.refuse_growth::<Cell<u8>>();
    let polled = recording.poll(Duration::ZERO, &mut context);
    assert!(matches!(polled, Err(RecordingError::Growth(GrowthError::Extensions(_)))));
}
