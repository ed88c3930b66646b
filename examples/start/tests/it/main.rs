//! The tests of the programs to start from, in one program, since each program is linked on its own.

mod embedding;
mod service_states;
mod text_dump;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The bundled traces.
const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces");

/// Returns the path of an example. Builds all of them once, since `cargo test --test it` alone does
/// not: with the features of a test of the whole workspace, which so compiles the libraries once.
fn program(name: &str) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let folder = BUILT.get_or_init(|| {
        let test = std::env::current_exe().expect("a test knows its own path");
        let folder = test.ancestors().nth(2).expect("tests are in target/PROFILE/deps");
        let profile = match folder.file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => "dev",
            Some(name) => name,
        };
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
        cargo.args(["build", "--quiet", "--profile", profile, "--workspace", "--all-features"]);
        let examples = ["text_dump", "count_by_type", "embed_*", "service_states"];
        cargo.args(examples.iter().flat_map(|name| ["--example", name]));
        assert!(cargo.status().expect("cargo runs this test").success(), "cannot build examples");
        folder.join("examples")
    });
    folder.join(name)
}

/// Runs an example.
fn run(name: &str, args: &[&str]) -> Output {
    Command::new(program(name)).args(args).output().expect("the program")
}

/// Returns the output of an example, which must succeed.
fn output(name: &str, args: &[&str]) -> String {
    let done = run(name, args);
    assert!(done.status.success(), "{name} {args:?}: {}", text(&done.stderr));
    text(&done.stdout)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Returns the path of a bundled trace.
fn trace(name: &str) -> String {
    Path::new(TRACES).join(name).display().to_string()
}
