//! Recordings by programs that record as long as a command runs: `perf record` and `trace-cmd record`.
//!
//! Their command is a gate: it tells that the events are enabled, and ends when its standard input does. So the tracer
//! finishes its file by itself if the recorder is killed.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::choice::Choice;
use crate::error::RecordError;
use crate::journal::{Change, Journal};
use crate::machine::Machine;
use crate::program;
use crate::request::Request;
use crate::tracer::{Tracer, Unusable};
use crate::undo::start_time;
use crate::wait::Event;

/// The line that tells that the tracer has enabled the events.
const READY: &str = "lttv record: ready";

/// The line of shell that becomes the tracer. If the recorder is killed, the messages of the tracer are no longer
/// read, which must not end it before it has written its file and removed its buffers.
const START_TRACER: &str = "trap '' PIPE; exec \"$@\"";

/// The command that the tracer runs: it ends at the end of its input.
const GATE: &str = "echo 'lttv record: ready'; exec cat > /dev/null";

/// The time in which a tracer starts to record.
const START: Duration = Duration::from_secs(60);

/// The greatest number of bytes that a tracer's messages may have in memory.
const MAX_MESSAGES: u64 = 1 << 20;

/// A tracer that runs.
#[derive(Debug)]
pub(crate) struct Running {
    name: Tracer,
    output: PathBuf,
    gate: Option<ChildStdin>,
    ended: Receiver<Result<bool, std::io::Error>>,
    messages: Option<JoinHandle<Vec<u8>>>,
}

impl Running {
    /// Starts a tracer, and waits until it records.
    pub(crate) fn start(
        tracer: Tracer,
        machine: &Machine,
        request: &Request,
        choice: &Choice,
        journal: &mut Journal,
        sender: Sender<Event>,
    ) -> Result<Running, RecordError> {
        let path = machine.program(tracer).map_err(|(reason, remedies)| {
            RecordError::Unusable(Unusable { tracer, reason, remedies })
        })?;
        let mut args: Vec<OsString> = vec!["record".into()];
        let output = match tracer {
            Tracer::Perf => perf(request, &mut args),
            _ => trace_cmd(machine, request, journal, &mut args)?,
        };
        for event in &choice.events {
            args.extend(["-e".into(), event.into()]);
        }
        args.extend(["sh", "-c", GATE].map(OsString::from));
        let failed = RecordError::io("run", &path);
        let mut command = Command::new("sh");
        command
            .args(["-c", START_TRACER, "sh"])
            .arg(&path)
            .args(&args)
            .env("LC_ALL", "C")
            .current_dir(&request.output);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C ends the recording, not the tracer.
        command.process_group(0);
        let mut child = command.spawn().map_err(&failed)?;
        if let Some(start) = start_time(&machine.proc, child.id()) {
            journal.note(Change::Process(child.id(), start))?;
        }
        let pid = child.id() as i32;
        let (gate, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let spawn = |name: &str| thread::Builder::new().name(name.to_owned());
        let messages = spawn("messages").spawn(move || messages(stderr)).map_err(&failed)?;
        let (is_ready, ready) = channel();
        spawn("gate").spawn(move || wait_for_gate(stdout, &is_ready)).map_err(&failed)?;
        let (has_ended, ended) = channel();
        spawn("tracer").spawn(move || wait_for_end(child, &has_ended, &sender)).map_err(&failed)?;
        let running = Running { name: tracer, output, gate, ended, messages: Some(messages) };
        match ready.recv_timeout(START) {
            Ok(()) => Ok(running),
            // It has closed its output before the gate was open.
            Err(RecvTimeoutError::Disconnected) => Err(running.failure()),
            Err(RecvTimeoutError::Timeout) => {
                // It may have ended by now.
                _ = Pid::from_raw(pid).map(|pid| kill_process(pid, Signal::TERM));
                Err(running.failure())
            }
        }
    }

    /// Stops to record, and waits until the tracer has written its file. Returns the path.
    pub(crate) fn stop(mut self) -> Result<PathBuf, RecordError> {
        drop(self.gate.take());
        match self.ended.recv() {
            Ok(Ok(true)) if self.output.exists() => Ok(self.output.clone()),
            _ => Err(self.failure()),
        }
    }

    /// Stops to record, and removes the file that the tracer has written.
    pub(crate) fn abandon(mut self) {
        drop(self.gate.take());
        // It may have failed, and written nothing.
        _ = self.ended.recv();
        _ = std::fs::remove_file(&self.output);
    }

    /// Returns the error of a tracer that has ended or soon does.
    fn failure(mut self) -> RecordError {
        drop(self.gate.take());
        let said = self.messages.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        RecordError::Program { program: format!("{} record", self.name), said: program::end(&said) }
    }
}

/// Adds the options of perf. Returns the path of its file.
fn perf(request: &Request, args: &mut Vec<OsString>) -> PathBuf {
    let name = "perf.data";
    // Sizes are powers of two.
    let buffer = format!("{}K", request.buffer_kib.max(4).next_power_of_two());
    args.extend(["-a", "-k", "CLOCK_MONOTONIC", "-m", &buffer, "-o", name].map(OsString::from));
    if request.stacks {
        args.extend(["-g", "-F", "99", "-e", "cpu-clock"].map(OsString::from));
    }
    request.output.join(name)
}

/// Adds the options of trace-cmd, which records in an instance of its own. Returns the path of its file.
fn trace_cmd(
    machine: &Machine,
    request: &Request,
    journal: &mut Journal,
    args: &mut Vec<OsString>,
) -> Result<PathBuf, RecordError> {
    let (name, instance) = ("trace.dat", format!("lttv-{}", std::process::id()));
    journal.note(Change::Instance(machine.tracefs.join("instances").join(&instance)))?;
    let buffer = request.buffer_kib.to_string();
    args.extend(["-o", name, "-B", &instance, "-C", "mono", "-b", &buffer].map(OsString::from));
    Ok(request.output.join(name))
}

/// Reads the output of a tracer up to its end. Tells when the gate is open.
fn wait_for_gate(stdout: Option<impl Read>, is_ready: &Sender<()>) {
    let Some(stdout) = stdout else { return };
    let mut lines = BufReader::new(stdout);
    let mut line = Vec::new();
    // A tracer that writes no ends of lines must not fill the memory.
    while (&mut lines).take(MAX_MESSAGES).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        if String::from_utf8_lossy(&line).trim() == READY {
            // It may be told once.
            _ = is_ready.send(());
        }
        line.clear();
    }
}

/// Reads the messages of a tracer up to their end. Returns the first ones.
fn messages(stderr: Option<impl Read>) -> Vec<u8> {
    let Some(mut stderr) = stderr else { return Vec::new() };
    let mut said = Vec::new();
    // What cannot be read cannot be shown.
    _ = stderr.by_ref().take(MAX_MESSAGES).read_to_end(&mut said);
    _ = std::io::copy(&mut stderr, &mut std::io::sink());
    said
}

/// Waits for the end of a tracer.
fn wait_for_end(
    mut child: Child,
    has_ended: &Sender<Result<bool, std::io::Error>>,
    sender: &Sender<Event>,
) {
    let result = child.wait().map(|status| status.success());
    // One of them waits, or nobody after a failure.
    _ = has_ended.send(result);
    _ = sender.send(Event::TracerEnded);
}
