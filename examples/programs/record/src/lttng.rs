//! Recordings by the program `lttng`, in a session of its own.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::choice::{Choice, is_syscall};
use crate::error::RecordError;
use crate::journal::{Change, Journal};
use crate::machine::Machine;
use crate::program;
use crate::request::Request;
use crate::tracer::{Tracer, Unusable};

/// The number of parts of the buffer of a CPU.
const SUB_BUFFERS: u64 = 8;

/// The name of the channel.
const CHANNEL: &str = "lttv";

/// A session that records.
#[derive(Debug)]
pub(crate) struct Running {
    program: PathBuf,
    lock: File,
    session: String,
    output: PathBuf,
}

/// Returns the names of the events that the kernel tracer has.
pub(crate) fn available_events(machine: &Machine) -> Result<BTreeSet<String>, RecordError> {
    let listed = lttng(&path(machine)?, &["list", "--kernel"], None)?;
    // Each line has a name and its properties in parentheses.
    let lines = listed.lines().filter(|line| line.starts_with(' ') && line.contains('('));
    Ok(lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect())
}

impl Running {
    /// Creates a session and starts it.
    pub(crate) fn start(
        machine: &Machine,
        request: &Request,
        choice: &Choice,
        journal: &mut Journal,
    ) -> Result<Running, RecordError> {
        let program = path(machine)?;
        let session = format!("lttv-record-{}", std::process::id());
        let of_session = format!("--session={session}");
        journal.note(Change::Session(session.clone()))?;
        let lock = journal.lock()?;
        let lttng = |args: &[&str]| {
            let lock = lock.try_clone().map_err(RecordError::io("run", &program))?;
            self::lttng(&program, args, Some(lock))
        };
        let output = std::path::absolute(&request.output)
            .map_err(RecordError::io("create", &request.output))?;
        lttng(&["create", &session, &format!("--output={}", output.display())])?;
        let channel = format!("--channel={CHANNEL}");
        // Sizes are powers of two.
        let size = (request.buffer_kib / SUB_BUFFERS).max(4).next_power_of_two();
        let (size, count) =
            (format!("--subbuf-size={size}K"), format!("--num-subbuf={SUB_BUFFERS}"));
        let (calls, events): (Vec<&str>, Vec<&str>) =
            choice.events.iter().map(String::as_str).partition(|name| is_syscall(name));
        if !choice.events.is_empty() {
            lttng(&["enable-channel", "--kernel", &of_session, &size, &count, CHANNEL])?;
            if !events.is_empty() {
                let list = events.join(",");
                lttng(&["enable-event", "--kernel", &of_session, &channel, &list])?;
            }
            if !calls.is_empty() {
                let all = ["enable-event", "--kernel", &of_session, &channel, "--syscall", "--all"];
                lttng(&all)?;
            }
            let contexts = ["--type=tid", "--type=pid", "--type=procname"];
            let add = ["add-context", "--kernel", &of_session, &channel];
            lttng(&[&add[..], &contexts].concat())?;
        }
        if request.calls {
            lttng(&["enable-channel", "--userspace", &of_session, &size, &count, CHANNEL])?;
            let functions = "lttng_ust_cyg_profile*,lttng_ust_statedump*";
            lttng(&["enable-event", "--userspace", &of_session, &channel, functions])?;
            let contexts = ["--type=vtid", "--type=vpid", "--type=procname"];
            let add = ["add-context", "--userspace", &of_session, &channel];
            lttng(&[&add[..], &contexts].concat())?;
        }
        lttng(&["start", &session])?;
        Ok(Running { program, lock, session, output })
    }

    /// Stops the session, which writes what its buffers contain. Returns the folder.
    pub(crate) fn stop(self) -> Result<PathBuf, RecordError> {
        let lock = self.lock.try_clone().map_err(RecordError::io("run", &self.program))?;
        lttng(&self.program, &["stop", &self.session], Some(lock))?;
        lttng(&self.program, &["destroy", &self.session], Some(self.lock))?;
        Ok(self.output)
    }

    /// Destroys the session, and removes what it has written.
    pub(crate) fn abandon(self) {
        // The journal destroys it if this does not, and tells the reason.
        _ = lttng(&self.program, &["destroy", &self.session], Some(self.lock));
        for folder in DOMAINS {
            // The folder was empty before, and not each session has both.
            _ = std::fs::remove_dir_all(self.output.join(folder));
        }
    }
}

/// The folders in which a session records.
const DOMAINS: [&str; 2] = ["kernel", "ust"];

/// Destroys a session, if it exists.
pub(crate) fn destroy(machine: &Machine, session: &str) -> Result<Option<String>, String> {
    let program = path(machine).map_err(|error| error.to_string())?;
    match lttng(&program, &["destroy", session], None) {
        Ok(_) => Ok(Some(format!("destroyed the session {session} of LTTng"))),
        // Without its daemon there is no session, either.
        Err(_) if lttng(&program, &["list", session], None).is_err() => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Runs `lttng`, which starts no daemon that would remain.
fn lttng(program: &Path, args: &[&str], lock: Option<File>) -> Result<String, RecordError> {
    program::output(program, &[&["--no-sessiond"], args].concat(), lock)
}

fn path(machine: &Machine) -> Result<PathBuf, RecordError> {
    let tracer = Tracer::Lttng;
    machine
        .program(tracer)
        .map_err(|(reason, remedies)| RecordError::Unusable(Unusable { tracer, reason, remedies }))
}
