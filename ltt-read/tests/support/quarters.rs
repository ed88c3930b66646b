//! Traces of which a part is written.

use std::fs;
use std::path::Path;

/// Copies the metadata of a trace, and the first quarters of its other files.
#[allow(dead_code, reason = "only the tests of programs use it")]
pub(crate) fn copy_quarters(from: &Path, to: &Path, quarters: usize) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            let bytes = fs::read(&path).expect("a file");
            let name = path.file_name().expect("a name");
            let is_whole = name == "metadata" || quarters == 4;
            let len = if is_whole { bytes.len() } else { bytes.len() / 4 * quarters };
            fs::write(to.join(name), &bytes[..len]).expect("space");
        }
    }
}
