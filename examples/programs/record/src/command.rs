//! The command whose work is recorded, and the signals that end a recording.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};

use rustix::process::{Pid, Signal, getpgrp, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use crate::error::RecordError;
use crate::wait::Event;

/// The signals that end a recording.
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// The handling of signals, as long as it exists.
#[derive(Debug)]
pub(crate) struct SignalsCaught {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl SignalsCaught {
    /// Sends signals to a receiver from now on.
    pub(crate) fn start(sender: Sender<Event>) -> Result<SignalsCaught, RecordError> {
        let mut signals = Signals::new(SIGNALS).map_err(RecordError::Signals)?;
        let handle = signals.handle();
        let run = move || {
            for signal in signals.forever() {
                // After the recording nobody waits for signals.
                _ = sender.send(Event::Signal(signal));
            }
        };
        let thread = thread::Builder::new().name("signals".to_owned()).spawn(run);
        let thread = Some(thread.map_err(RecordError::Signals)?);
        Ok(SignalsCaught { handle, thread })
    }
}

impl Drop for SignalsCaught {
    fn drop(&mut self) {
        self.handle.close();
        // It ends with the handle.
        _ = self.thread.take().map(JoinHandle::join);
    }
}

/// A command that runs.
#[derive(Debug)]
pub(crate) struct Running {
    pid: Option<Pid>,
}

impl Running {
    /// Starts a command with the environment and the files of this process. `sender` gets its end.
    pub(crate) fn start(
        command: &[OsString],
        sender: Sender<Event>,
    ) -> Result<Running, RecordError> {
        let [program, args @ ..] = command else { return Ok(Running { pid: None }) };
        let failed = |error| RecordError::Command { command: program.clone(), error };
        let mut child = Command::new(program).args(args).spawn().map_err(failed)?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let wait = move || {
            // Nobody may wait for it any more.
            _ = sender.send(Event::CommandEnded(child.wait()));
        };
        thread::Builder::new().name("command".to_owned()).spawn(wait).map_err(failed)?;
        Ok(Running { pid })
    }

    /// Sends a signal to the command, unless the terminal does so.
    pub(crate) fn forward(&self, signal: i32) {
        let is_of_terminal = signal == SIGINT
            && rustix::termios::tcgetpgrp(io::stdin()).is_ok_and(|group| group == getpgrp());
        if let (Some(pid), Some(signal), false) =
            (self.pid, Signal::from_named_raw(signal), is_of_terminal)
        {
            // It may have ended by now.
            _ = kill_process(pid, signal);
        }
    }
}

/// Returns the exit status of a command as shells tell it: 128 and the number of the signal that ended it.
pub(crate) fn status(of: ExitStatus) -> u8 {
    let number = of.code().unwrap_or_else(|| 128 + of.signal().unwrap_or(0));
    u8::try_from(number).unwrap_or(u8::MAX)
}
