//! Tests the program `lttv` as its users see it: command lines, settings, help, and the
//! subcommands that need no test of their own.

use crate::support;
mod colors;
mod columns;
mod completions;
mod dump;
mod help;
mod man;
mod run;
mod settings;
mod times;
mod widths;
mod windows;

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use crate::support::Run;

/// The bundled traces.
const KERNEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
const UST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/ust");

/// Creates the command of the program, in UTC and without settings of the user.
fn command(args: &[&str]) -> Command {
    let mut command = Command::new(support::lttv());
    command.args(args).env("TZ", "UTC").env("HOME", "/nonexistent").stdin(Stdio::null());
    for name in ["XDG_CONFIG_HOME", "LTTV_CONFIG", "NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(name);
    }
    command
}

fn finished(command: &mut Command) -> Run {
    let output = command.output().expect("the program can be run");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Run { stdout: output.stdout, stderr, status: output.status.code() }
}

fn lttv(args: &[&str]) -> Run {
    finished(&mut command(args))
}

/// Runs the program with some environment variables.
fn lttv_with(args: &[&str], variables: &[(&str, &OsStr)]) -> Run {
    finished(command(args).envs(variables.iter().copied()))
}

/// Returns the output of a run without errors.
fn text(run: &Run) -> String {
    assert_eq!(run.status, Some(0), "{run:?}");
    String::from_utf8(run.stdout.clone()).expect("UTF-8")
}

/// Checks that a command line is refused with this message.
fn assert_refused(args: &[&str], message: &str) {
    let run = lttv(args);
    assert_eq!(run.status, Some(2), "{args:?}: {run:?}");
    assert!(run.stderr.contains(message), "{args:?}: {}", run.stderr);
    assert!(run.stdout.is_empty(), "{args:?}");
}
