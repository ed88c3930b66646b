//! The size of a recording.

use std::fs;
use std::path::Path;

/// The greatest depth of folders below a recording.
const MAX_DEPTH: u32 = 16;

/// Returns the size of a file, or of all files in a folder, in bytes. What cannot be read has none.
pub fn size(path: &Path) -> u64 {
    of(path, MAX_DEPTH)
}

fn of(path: &Path, depth: u32) -> u64 {
    let Ok(found) = fs::symlink_metadata(path) else { return 0 };
    if !found.is_dir() {
        return found.len();
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    match depth {
        0 => 0,
        _ => entries.map(|entry| of(&entry.path(), depth - 1)).fold(0, u64::saturating_add),
    }
}
