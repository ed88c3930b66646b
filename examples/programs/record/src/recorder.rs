//! A recording from its start to its end.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crate::choice::{Choice, Missing};
use crate::command::{self, SignalsCaught};
use crate::error::RecordError;
use crate::journal::{Change, Journal, Journals};
use crate::machine::Machine;
use crate::request::Request;
use crate::tracer::{Tracer, Unusable};
use crate::undo::undo;
use crate::wait::Event;
use crate::{gated, instance, lttng, tracefs};

/// The time that the command has to end after a signal before the recording stops.
const AFTER_SIGNAL: Duration = Duration::from_secs(2);

/// A recording that was made.
#[derive(Debug)]
pub struct Recorded {
    /// The tracer.
    pub tracer: Tracer,
    /// The file, or the folder of LTTng.
    pub path: PathBuf,
    /// The events that the tracer does not have.
    pub missing: Vec<Missing>,
    /// The exit status of the command, if it has ended: 128 and the number of the signal that ended it.
    pub status: Option<u8>,
    /// The signal that ended the recording.
    pub signal: Option<i32>,
}

/// A step of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The tracer records into a folder.
    Started(Tracer, PathBuf),
    /// The recording ends because of a signal.
    Interrupted,
    /// The recording has ended, and the command has not.
    CommandStillRuns,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Started(tracer, path) => write!(f, "{tracer} records into {}", path.display()),
            Step::Interrupted => f.write_str("the recording is ended"),
            Step::CommandStillRuns => {
                f.write_str("the recording is complete; the command still runs")
            }
        }
    }
}

/// Records as a request says. Restores everything but the recording, also after a failure. `tell` gets the steps.
///
/// # Errors
///
/// If no tracer can be used, or one fails, or a file cannot be written, or the command cannot be started.
pub fn record(
    machine: &Machine,
    journals: &Journals,
    request: &Request,
    tell: &mut dyn FnMut(Step),
) -> Result<Recorded, RecordError> {
    let tracer = tracer(machine, request)?;
    let choice = choice(machine, request, tracer)?;
    if fs::read_dir(&request.output).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(RecordError::OutputInUse(request.output.clone()));
    }
    let (sender, receiver) = channel();
    // From here on signals end the recording in order.
    let _signals = SignalsCaught::start(sender.clone())?;
    let mut journal = journals.create()?;
    let result = create(&request.output, &mut journal).and_then(|output| {
        let request = Request { output, ..request.clone() };
        let channels = (&sender, &receiver);
        run(machine, &request, tracer, &choice, &mut journal, channels, tell)
    });
    let restored = undo(machine, journal);
    let (recorded, command) = result?;
    restored?;
    let mut recorded = Recorded { missing: choice.missing, ..recorded };
    if let Some(command) = command {
        wait_for_command(&command, &receiver, &mut recorded, tell);
    }
    Ok(recorded)
}

/// Returns the tracer to use.
fn tracer(machine: &Machine, request: &Request) -> Result<Tracer, RecordError> {
    let unable = |tracer: Tracer| {
        let reason = match tracer {
            _ if request.calls && tracer != Tracer::Lttng => {
                "it does not record calls of functions"
            }
            _ if request.stacks && tracer != Tracer::Perf => "it does not sample stacks",
            _ => return machine.unusable(tracer),
        };
        Some(Unusable { tracer, reason: reason.to_owned(), remedies: Vec::new() })
    };
    if let Some(tracer) = request.with {
        return unable(tracer).map_or(Ok(tracer), |unusable| Err(RecordError::Unusable(unusable)));
    }
    let mut all = Vec::new();
    for tracer in Tracer::PREFERRED {
        match unable(tracer) {
            None => return Ok(tracer),
            Some(unusable) => all.push(unusable),
        }
    }
    Err(RecordError::NoTracer(all))
}

/// Returns the events to record.
fn choice(machine: &Machine, request: &Request, tracer: Tracer) -> Result<Choice, RecordError> {
    let choice = match tracer {
        _ if request.wishes.is_empty() => Choice::default(),
        Tracer::Lttng => Choice::of_lttng(&request.wishes, &lttng::available_events(machine)?),
        _ => Choice::of_kernel(&request.wishes, &tracefs::available_events(&machine.tracefs)?),
    };
    match choice.missing.iter().find(|missing| missing.is_required) {
        Some(Missing { events, consequence, .. }) => {
            let (events, consequence) = (events.clone(), consequence.clone());
            Err(RecordError::NoEvents { tracer, events, consequence })
        }
        None => Ok(choice),
    }
}

/// Creates the folder of the recording, with its parents. Returns its absolute path.
fn create(output: &Path, journal: &mut Journal) -> Result<PathBuf, RecordError> {
    let failed = RecordError::io("create", output);
    let output = std::path::absolute(output).map_err(&failed)?;
    let missing =
        output.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists());
    let missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
    for folder in missing.into_iter().rev() {
        journal.note(Change::Folder(folder.clone()))?;
        fs::create_dir(&folder).map_err(&failed)?;
    }
    Ok(output)
}

/// A tracer that runs.
#[derive(Debug)]
enum Running {
    Ftrace(Box<instance::Running>),
    Gated(gated::Running),
    Lttng(lttng::Running),
}

impl Running {
    /// Ends the recording, of which nothing is kept. What cannot be undone here is undone by the journal, which tells it.
    fn abandon(self) {
        match self {
            // It has written nothing but files of the journal.
            Running::Ftrace(_) => {}
            Running::Gated(running) => running.abandon(),
            Running::Lttng(running) => running.abandon(),
        }
    }
}

/// Starts a tracer, waits for the end, and stops it. Returns the command if it still runs.
fn run(
    machine: &Machine,
    request: &Request,
    tracer: Tracer,
    choice: &Choice,
    journal: &mut Journal,
    (sender, receiver): (&Sender<Event>, &Receiver<Event>),
    tell: &mut dyn FnMut(Step),
) -> Result<(Recorded, Option<command::Running>), RecordError> {
    let running = match tracer {
        Tracer::Ftrace => {
            let running = instance::Running::start(machine, request, choice, journal, sender)?;
            Running::Ftrace(Box::new(running))
        }
        Tracer::Perf | Tracer::TraceCmd => {
            let sender = sender.clone();
            Running::Gated(gated::Running::start(
                tracer, machine, request, choice, journal, sender,
            )?)
        }
        Tracer::Lttng => Running::Lttng(lttng::Running::start(machine, request, choice, journal)?),
    };
    tell(Step::Started(tracer, request.output.clone()));
    let command = match command::Running::start(&request.command, sender.clone()) {
        Ok(command) => command,
        Err(error) => {
            running.abandon();
            return Err(error);
        }
    };
    let ended = wait(request, &command, receiver, tell);
    let path = match running {
        Running::Ftrace(running) => running.stop(machine, journal)?,
        Running::Gated(running) => running.stop()?,
        Running::Lttng(running) => running.stop()?,
    };
    let Ended { status, signal } = ended?;
    let still_runs = status.is_none() && !request.command.is_empty();
    let recorded = Recorded { tracer, path, missing: Vec::new(), status, signal };
    Ok((recorded, still_runs.then_some(command)))
}

/// The end of a recording.
#[derive(Debug, Default)]
struct Ended {
    status: Option<u8>,
    signal: Option<i32>,
}

/// Waits for the end of the command, the time, or a signal.
fn wait(
    request: &Request,
    command: &command::Running,
    receiver: &Receiver<Event>,
    tell: &mut dyn FnMut(Step),
) -> Result<Ended, RecordError> {
    let mut ended = Ended::default();
    let mut deadline = request.time.and_then(|time| Instant::now().checked_add(time));
    loop {
        let event = match deadline {
            None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(end) => receiver.recv_timeout(end.saturating_duration_since(Instant::now())),
        };
        match event {
            Err(_) => return Ok(ended),
            Ok(Event::CommandEnded(status)) => {
                ended.status = status.ok().map(command::status);
                return Ok(ended);
            }
            // Stopping tells the failure.
            Ok(Event::ReaderFailed | Event::TracerEnded) => return Ok(ended),
            Ok(Event::Signal(signal)) => {
                tell(Step::Interrupted);
                command.forward(signal);
                let is_second = ended.signal.replace(signal).is_some();
                if is_second || request.command.is_empty() {
                    return Ok(ended);
                }
                deadline = Instant::now().checked_add(AFTER_SIGNAL);
            }
        }
    }
}

/// Waits for the end of the command after the recording. A signal ends the wait.
fn wait_for_command(
    command: &command::Running,
    receiver: &Receiver<Event>,
    recorded: &mut Recorded,
    tell: &mut dyn FnMut(Step),
) {
    tell(Step::CommandStillRuns);
    for event in receiver {
        match event {
            Event::CommandEnded(status) => {
                recorded.status = status.ok().map(command::status);
                return;
            }
            Event::Signal(signal) => {
                command.forward(signal);
                recorded.signal = Some(signal);
                return;
            }
            Event::ReaderFailed | Event::TracerEnded => {}
        }
    }
}
