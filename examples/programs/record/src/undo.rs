//! The undoing of what a recording changed.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::error::RecordError;
use crate::journal::{Change, Journal, Journals};
use crate::lttng;
use crate::machine::Machine;

/// The time in which files of a killed recorder are closed, and a tracer ends.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time between two tries.
const STEP: Duration = Duration::from_millis(20);

/// The result of [`clean`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cleaned {
    /// The changes that were undone, in words.
    pub undone: Vec<String>,
    /// The number of recordings that still run.
    pub running: usize,
}

/// Undoes what killed recorders have left.
///
/// # Errors
///
/// If a journal cannot be read, or a change cannot be undone. The others have been undone, and the journal remains.
pub fn clean(machine: &Machine, journals: &Journals) -> Result<Cleaned, RecordError> {
    let (abandoned, running) = journals.abandoned()?;
    let mut cleaned = Cleaned { running, ..Cleaned::default() };
    for journal in abandoned {
        cleaned.undone.extend(undo(machine, journal)?);
    }
    Ok(cleaned)
}

/// Undoes the changes of a journal, the last one first, and removes it. Returns what was there to be undone.
pub(crate) fn undo(machine: &Machine, journal: Journal) -> Result<Vec<String>, RecordError> {
    let (mut undone, mut failures) = (Vec::new(), Vec::new());
    for change in journal.changes().iter().rev() {
        match change.undo(machine) {
            Ok(Some(text)) => undone.push(text),
            Ok(None) => {}
            Err(failure) => failures.push(failure),
        }
    }
    match failures.is_empty() {
        true => journal.remove().map(|()| undone),
        false => Err(RecordError::NotRestored(failures.join("; "))),
    }
}

impl Change {
    /// Undoes the change. Returns what was undone, or nothing if the change was not made or undone before.
    fn undo(&self, machine: &Machine) -> Result<Option<String>, String> {
        match self {
            Change::Folder(path) => match fs::remove_dir(path) {
                Ok(()) => Ok(Some(format!("removed the empty folder {}", path.display()))),
                // What is in it is the recording.
                Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(None),
                Err(error) => unless_gone(path, error),
            },
            Change::File(path) => match fs::remove_file(path) {
                Ok(()) => Ok(Some(format!("removed {}", path.display()))),
                Err(error) => unless_gone(path, error),
            },
            Change::Instance(path) => remove_instance(machine, path),
            Change::Session(name) => lttng::destroy(machine, name),
            Change::Process(pid, start) => Ok(end_process(machine, *pid, *start)),
        }
    }
}

fn unless_gone(path: &Path, error: io::Error) -> Result<Option<String>, String> {
    match error.kind() {
        ErrorKind::NotFound => Ok(None),
        _ => Err(format!("cannot remove {}: {error}", path.display())),
    }
}

/// Removes an instance of ring buffers, which first stops.
fn remove_instance(machine: &Machine, path: &Path) -> Result<Option<String>, String> {
    // Without rights, the removal tells it.
    _ = crate::tracefs::write(&path.join("tracing_on"), "0");
    let begin = Instant::now();
    loop {
        match machine.instances.remove(path) {
            Ok(()) => return Ok(Some(format!("removed {}", path.display()))),
            // The files of a killed recorder are closed soon.
            Err(error) if error.kind() == ErrorKind::ResourceBusy && begin.elapsed() < PATIENCE => {
                sleep(STEP);
            }
            Err(error) => return unless_gone(path, error),
        }
    }
}

/// Waits until the program of a tracer has ended, which it does by itself when its recorder is gone, and ends it if it
/// does not.
fn end_process(machine: &Machine, pid: u32, start: u64) -> Option<String> {
    let begin = Instant::now();
    let mut was_there = false;
    while start_time(&machine.proc, pid) == Some(start) {
        was_there = true;
        if begin.elapsed() >= PATIENCE {
            let id = i32::try_from(pid).ok().and_then(Pid::from_raw);
            // It may have ended by now.
            _ = id.map(|id| kill_process(id, Signal::TERM));
            break;
        }
        sleep(STEP);
    }
    was_there.then(|| format!("waited for the end of process {pid}"))
}

/// Returns the time at which a process has started, in ticks since the start of the machine; `None` if it has ended.
pub(crate) fn start_time(proc: &Path, pid: u32) -> Option<u64> {
    let stat = fs::read(proc.join(pid.to_string()).join("stat")).ok()?;
    // The name, in parentheses, may contain anything.
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let text = String::from_utf8_lossy(&stat[after_name..]);
    let mut words = text.split_whitespace();
    let is_dead = matches!(words.next()?, "Z" | "X");
    words.nth(18)?.parse().ok().filter(|_| !is_dead)
}
