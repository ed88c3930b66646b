//! A recorder in a process of its own, which tests can end.
//!
//! It is this program of tests again, with one test that records if the environment says so.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use lttv_record::{Request, Tracer, record};

use super::machine::{Form, Imitated, wishes};

/// The variables that tell what to record: the folder of the machine, the tracer, and the command.
const MACHINE: &str = "LTTV_TEST_MACHINE";
const TRACER: &str = "LTTV_TEST_TRACER";
const COMMAND: &str = "LTTV_TEST_COMMAND";

/// Starts a recorder of a machine, which runs a line of shell.
pub(crate) fn start(root: &Path, tracer: Tracer, command: &str) -> Child {
    let mut recorder = Command::new(std::env::current_exe().expect("this program"));
    recorder.args(["--exact", "support::recorder::records_if_asked", "--nocapture"]);
    recorder.env(MACHINE, root).env(TRACER, tracer.name()).env(COMMAND, command);
    recorder.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("this program")
}

#[test]
fn records_if_asked() {
    let Some(root) = std::env::var_os(MACHINE) else {
        // The recorder of other tests.
        return;
    };
    let imitated = Imitated::at(Path::new(&root), Form::Pipes);
    let variable = |name| std::env::var(name).expect("a variable");
    let command = ["sh", "-c", &variable(COMMAND)].map(Into::into).to_vec();
    let request = Request {
        with: Some(variable(TRACER).parse().expect("a tracer")),
        command,
        time: Some(Duration::from_secs(20)),
        ..Request::new(imitated.output(), wishes())
    };
    let machine = imitated.machine();
    let recorded = record(&machine, &imitated.journals(), &request, &mut |_| {});
    let recorded = recorded.expect("a recording");
    let status = recorded.status.unwrap_or(0);
    std::process::exit(i32::from(status) + recorded.signal.map_or(0, |_| 1));
}
