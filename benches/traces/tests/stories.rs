//! The recordings of the stories in the user guide equal the output of their generator.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Returns the contents of each file in a directory.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.unwrap());
    let files = entries.filter(|entry| entry.path().is_file());
    let file = |entry: fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, fs::read(entry.path()).unwrap())
    };
    files.map(file).collect()
}

#[test]
fn the_recordings_are_as_generated_and_small() {
    let made = tempfile::tempdir().unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_stories")).arg(made.path()).status();
    assert!(status.expect("it runs").success());
    let stories = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/stories");
    for name in ["noisy-neighbour", "slow-build"] {
        let (made, written) = (files(&made.path().join(name)), files(&stories.join(name)));
        assert!(made.contains_key("channel0_1"));
        assert!(made == written, "{name}: write it again, as described in docs/traces.md");
        let bytes: usize = written.values().map(Vec::len).sum();
        assert!(bytes <= 150_000, "{name} has {bytes} bytes");
    }
}
