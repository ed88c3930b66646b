//! The viewer as a user sees it.

use std::process::Command;

#[test]
fn keys_open_and_move_the_viewer() {
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
    let checked = Command::new(env!("CARGO_BIN_EXE_syscalls")).args(["--check", trace]).output();
    let checked = checked.expect("the program can be run");
    assert!(checked.status.success(), "{checked:?}");
}
