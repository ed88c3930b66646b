//! The traces that tests read.

#![allow(dead_code)] // each test file uses a part

pub(crate) mod generated;

use std::fs;
use std::path::{Path, PathBuf};

use ltt_read::{OnFailure, OpenOptions};
use lttv_context::Traceset;

/// Returns the root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../..")
}

/// Returns the path of a bundled trace.
pub(crate) fn bundled(name: &str) -> PathBuf {
    root().join("examples/traces").join(name)
}

/// Returns the paths of the bundled traces, and of those in `../shared` if there are any.
pub(crate) fn all_traces() -> Vec<PathBuf> {
    let mut paths = entries(&root().join("examples/traces"));
    let shared = root().join("../shared/traces/ctf");
    let recorded = entries(&shared);
    if recorded.is_empty() {
        println!(
            "SKIPPED: there are no traces in ../shared/traces/ctf; only bundled ones are read"
        );
    }
    paths.extend(recorded);
    paths
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten();
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.is_dir());
    paths.sort();
    paths
}

/// Opens all traces at a path; `None` if there is none that can be opened.
pub(crate) fn open(path: &Path) -> Option<Traceset> {
    let options = OpenOptions::new().on_failure(OnFailure::Continue);
    let opened = options.open_all_of([path]).ok()?;
    (!opened.traces.is_empty()).then(|| Traceset::from(opened.traces))
}
