//! Recorded data that is not part of the repository.

use std::io::Write;
use std::path::PathBuf;

/// Returns a folder of the shared data beside the repository. If it does not exist, prints that
/// the test is skipped.
pub(crate) fn shared(folder: &str) -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")).join(folder);
    if path.is_dir() {
        return Some(path);
    }
    // Written directly, since output of passing tests is captured otherwise.
    _ = writeln!(std::io::stderr(), "skipped: there is no ../shared/{folder}");
    None
}
