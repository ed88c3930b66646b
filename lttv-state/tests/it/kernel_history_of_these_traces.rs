//! The stored history of traces is identified by their content.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, SystemTime};

use lttv_context::Traceset;
use lttv_state::history::HistoryError;
use lttv_state::kernel_history::{HistoryTarget, open, record};

const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");

/// Copies the bundled trace.
fn copy(to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(TRACE).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
}

#[test]
fn a_history_fits_copies_of_its_traces_but_not_changed_ones() {
    let directory = tempfile::tempdir().unwrap();
    let (trace, file) = (directory.path().join("trace"), directory.path().join("history"));
    copy(&trace);
    let traceset = Traceset::open(&trace).unwrap();
    _ = record(&traceset, HistoryTarget::File(&file), |_| ControlFlow::Continue(())).unwrap();
    let stored = open(&file, &traceset).unwrap().intervals_count();

    let copied = directory.path().join("copy");
    copy(&copied);
    let changed = fs::File::options().write(true).open(copied.join("metadata")).unwrap();
    changed.set_modified(SystemTime::now() + Duration::from_secs(60)).unwrap();
    let of_copy = open(&file, &Traceset::open(&copied).unwrap()).unwrap();
    assert_eq!(of_copy.intervals_count(), stored);

    // Gives a thread another name of the same length.
    let mut renamed = 0;
    for entry in fs::read_dir(&copied).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = fs::read(&path).unwrap();
        let places: Vec<_> = (0..bytes.len().saturating_sub(7))
            .filter(|at| &bytes[*at..at + 7] == b"futexer" && !path.ends_with("metadata"))
            .collect();
        for at in &places {
            bytes[*at..at + 7].copy_from_slice(b"FUTEXER");
        }
        renamed += places.len();
        fs::write(&path, bytes).unwrap();
    }
    assert!(renamed > 0);
    let altered = Traceset::open(&copied).unwrap();
    assert!(matches!(open(&file, &altered), Err(HistoryError::Stale { .. })));
    let anew = record(&altered, HistoryTarget::File(&file), |_| ControlFlow::Continue(())).unwrap();
    assert!(matches!(anew.rebuilt, Some(HistoryError::Stale { .. })));
    assert!(open(&file, &altered).is_ok());
    assert!(matches!(open(&file, &traceset), Err(HistoryError::Stale { .. })));
}
