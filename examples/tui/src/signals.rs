//! What ends or stops the program from outside: signals, and a terminal that goes away.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread::{Builder, sleep, spawn};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{getpgid, getpgrp, getppid, getsid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// So long the program has after a signal to end by itself. It does not if it waits for the
/// rest of a key, of which half has come, or cannot write.
const GRACE: Duration = Duration::from_secs(2);

/// The statuses of programs that a signal ended are this and its number.
const STATUS: i32 = 128;

/// What signals want of the program.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    /// The status to end with; 0 if it is not to end.
    status: AtomicU8,
    /// It is to stop until it is continued.
    stops: AtomicBool,
}

impl Wanted {
    /// Notes signals from now on, and ends the program when its terminal has gone.
    pub(crate) fn watch() -> io::Result<Self> {
        let wanted = Wanted::default();
        let noting = wanted.clone();
        // They are caught even if they were ignored when the program started: without a
        // terminal it is of no use.
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM, SIGTSTP])?;
        let note = move || signals.forever().for_each(|signal| noting.note(signal));
        Builder::new().name("signals".to_owned()).spawn(note)?;
        let end = || {
            if wait_for_hangup().is_ok() {
                // What reads keys would try again and again, and there is nothing to restore.
                exit(STATUS + SIGHUP);
            }
        };
        Builder::new().name("terminal".to_owned()).spawn(end)?;
        Ok(wanted)
    }

    /// The status to end with, if the program is to end.
    pub(crate) fn status(&self) -> Option<u8> {
        Some(self.0.status.load(Ordering::Relaxed)).filter(|status| *status > 0)
    }

    /// Whether it is to stop until it is continued. Asking resets it.
    pub(crate) fn take_stop(&self) -> bool {
        self.0.stops.swap(false, Ordering::Relaxed)
    }

    /// Whether it is to do one or the other.
    pub(crate) fn is_something(&self) -> bool {
        self.status().is_some() || self.0.stops.load(Ordering::Relaxed)
    }

    fn note(&self, signal: i32) {
        if signal == SIGTSTP {
            self.0.stops.store(true, Ordering::Relaxed);
            return;
        }
        let status = STATUS + signal;
        self.0.status.store(u8::try_from(status).unwrap_or(u8::MAX), Ordering::Relaxed);
        spawn(move || {
            sleep(GRACE);
            // Writing may take forever.
            let restore = spawn(ratatui::try_restore);
            sleep(GRACE / 4);
            drop(restore);
            exit(status);
        });
    }
}

/// Waits until the terminal that keys are read from has gone.
fn wait_for_hangup() -> io::Result<()> {
    let stdin = io::stdin();
    let terminal = if stdin.is_terminal() { None } else { Some(File::open("/dev/tty")?) };
    let terminal = terminal.as_ref().map_or_else(|| stdin.as_fd(), |terminal| terminal.as_fd());
    loop {
        // That it has gone is told in any case.
        let mut polled = [PollFd::from_borrowed_fd(terminal, PollFlags::empty())];
        match poll(&mut polled, None) {
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(_) if !polled[0].revents().is_empty() => return Ok(()),
            Ok(_) => {}
        }
    }
}

/// Stops the program until it is continued, as the terminal's key for that does where it is
/// not read by the program.
pub(crate) fn stop() -> io::Result<()> {
    emulate_default_handler(SIGTSTP)
}

/// Whether a shell is there that continues the program: its parent is of the same session,
/// and keeps it in a group of its own.
pub(crate) fn can_be_continued() -> bool {
    let Some(parent) = getppid() else { return false };
    let is_of_session = getsid(Some(parent)).ok() == getsid(None).ok();
    is_of_session && getpgid(Some(parent)).is_ok_and(|group| group != getpgrp())
}
