//! The module joins the read of those of `lttv run`.

use std::fs;
use std::process::{Command, Output};

const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");

fn run(more: &[&str]) -> Output {
    let modules = ["-m", "switches", "-m", "textDump", "-m", "statistics", "-t", TRACE];
    let mut program = Command::new(env!("CARGO_BIN_EXE_text_module"));
    let output = program.args(modules).args(more).output().expect("the program can be run");
    assert!(output.status.success(), "{output:?}");
    output
}

#[test]
fn the_module_writes_beside_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("modules.txt");
    run(&["--noevent", "-o", path.to_str().expect("a path")]);
    let text = fs::read_to_string(path).expect("the output");
    let (_, table) = text.split_once("Switches by program\n").expect("the table of the module");
    assert!(table.lines().count() > 5, "{table}");
}

#[test]
fn all_events_are_written() {
    let text = String::from_utf8(run(&[]).stdout).expect("UTF-8");
    let of_events = text.lines().filter(|line| line.contains("traces/kernel/kernel/"));
    assert_eq!(of_events.count(), 6087);
}
