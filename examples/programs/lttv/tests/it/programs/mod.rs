//! Common properties of all programs: exit status, standard streams, protection of input files,
//! and hostile traces.

use crate::support;
mod damage;
mod escapes;
mod exit_status;
mod outputs;
mod streams;
mod traces;

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output};

/// The bundled kernel trace.
const KERNEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");

/// All commands that print a trace: the arguments before the trace.
const COMMANDS: [&[&str]; 16] = [
    &["run", "-m", "textDump", "-t"],
    &["dump"],
    &["stats"],
    &["wait"],
    &["irq"],
    &["disk"],
    &["info"],
    &["state", "--method=checkpoint", "--at=-0s"],
    &["history", "info"],
    &["chart", "flow", "--svg"],
    &["chart", "usage"],
    &["critical-path"],
    &["latency"],
    &["usage"],
    &["calls", "--pair", "run", SWITCH, SWITCH],
    &["chart", "flame", "--pair", "run", SWITCH, SWITCH],
];

/// An expression for the events that begin and end calls.
const SWITCH: &str = r#"event.name == "sched_switch""#;

/// Runs a program in a shell, with `redirect` after its arguments.
fn shell(args: &[impl AsRef<OsStr>], redirect: &str) -> Output {
    let script = format!("\"$@\" {redirect}");
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh"]).arg(support::lttv()).args(args);
    command.env("TZ", "UTC").output().expect("there is a shell")
}

fn run(args: &[impl AsRef<OsStr>]) -> Output {
    shell(args, "")
}

/// Returns the arguments with which a program prints a trace.
fn reading<'a>(args: &'a [&'a str], trace: &'a Path) -> Vec<&'a OsStr> {
    args.iter().map(OsStr::new).chain([trace.as_os_str()]).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
