//! The bundled trace of LTTng 0.x equals the output of its generator.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Returns the contents of each file in a directory.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.unwrap());
    let file = |entry: fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, fs::read(entry.path()).unwrap())
    };
    entries.map(file).collect()
}

#[test]
fn the_bundled_trace_is_as_generated() {
    let made = tempfile::tempdir().unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_legacy_sample")).arg(made.path()).status();
    assert!(status.expect("it runs").success());
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/traces/legacy");
    let (made, bundled) = (files(made.path()), files(&bundled));
    assert!(made.contains_key("kernel_1"));
    assert!(made == bundled, "write it again, as described in docs/traces.md");
}
