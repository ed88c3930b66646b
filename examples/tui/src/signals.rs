//! What ends or stops the program from outside: signals, and a terminal that goes away.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread::{Builder, sleep, spawn};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{getpgid, getpgrp, getppid, getsid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// So long the program has after a signal to end by itself. It does not if it waits for the
/// rest of a key, of which half has come, or cannot write.
const GRACE: Duration = Duration::from_secs(2);

/// The statuses of programs that a signal ended are this and its number.
const STATUS: i32 = 128;

/// The status after [`SIGHUP`].
const HUNG_UP: u8 = (STATUS + SIGHUP) as u8;

/// What signals and the terminal want of the program.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    flags: Arc<Flags>,
    /// `None` if the program has none.
    terminal: Arc<Option<Terminal>>,
}

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
        let terminal = Arc::new(Terminal::open().ok());
        let wanted = Wanted { flags: Arc::default(), terminal };
        let noting = wanted.clone();
        // They are caught even if they were ignored when the program started: without a
        // terminal it is of no use.
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM, SIGTSTP])?;
        let note = move || signals.forever().for_each(|signal| noting.note(signal));
        Builder::new().name("signals".to_owned()).spawn(note)?;
        let watched = wanted.clone();
        let end = move || {
            let Some(terminal) = &*watched.terminal else { return };
            loop {
                match terminal.goes_within(PollTimeout::NONE) {
                    // What reads keys would try again and again, and there is nothing to
                    // restore.
                    Ok(true) => exit(HUNG_UP.into()),
                    Ok(false) => {}
                    Err(_) => return,
                }
            }
        };
        Builder::new().name("terminal".to_owned()).spawn(end)?;
        Ok(wanted)
    }

    /// Returns the status to end with, if the program is to end.
    pub(crate) fn status(&self) -> Option<u8> {
        Some(self.flags.status.load(Ordering::Relaxed)).filter(|status| *status > 0)
    }

    /// Returns the status to end with after a failure to draw, if the reason is that the
    /// terminal has gone. The thread that waits for that may not have noticed it yet.
    pub(crate) fn status_after_failure(&self) -> Option<u8> {
        let terminal = self.terminal.as_ref().as_ref();
        let has_gone = terminal.is_none_or(|it| it.goes_within(PollTimeout::ZERO).unwrap_or(true));
        self.status().or(has_gone.then_some(HUNG_UP))
    }

    /// Whether it is to stop until it is continued. Asking resets it.
    pub(crate) fn take_stop(&self) -> bool {
        self.flags.stops.swap(false, Ordering::Relaxed)
    }

    /// Whether it is to do one or the other.
    pub(crate) fn is_something(&self) -> bool {
        self.status().is_some() || self.flags.stops.load(Ordering::Relaxed)
    }

    fn note(&self, signal: i32) {
        if signal == SIGTSTP {
            self.flags.stops.store(true, Ordering::Relaxed);
            return;
        }
        let status = STATUS + signal;
        self.flags.status.store(u8::try_from(status).unwrap_or(u8::MAX), Ordering::Relaxed);
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

/// The terminal that keys are read from.
#[derive(Debug)]
enum Terminal {
    Stdin(io::Stdin),
    Controlling(File),
}

impl Terminal {
    /// Opens the terminal. Once it has gone, the standard input is no terminal any more: this
    /// must come before.
    fn open() -> io::Result<Self> {
        let stdin = io::stdin();
        match stdin.is_terminal() {
            true => Ok(Terminal::Stdin(stdin)),
            false => File::open("/dev/tty").map(Terminal::Controlling),
        }
    }

    /// Returns whether the terminal goes within a time. It may return early.
    fn goes_within(&self, most: PollTimeout) -> io::Result<bool> {
        let terminal = match self {
            Terminal::Stdin(stdin) => stdin.as_fd(),
            Terminal::Controlling(file) => file.as_fd(),
        };
        // A hangup is reported without being asked for.
        let mut polled = [PollFd::new(terminal, PollFlags::empty())];
        match poll(&mut polled, most) {
            Err(Errno::EINTR) => Ok(false),
            Err(error) => Err(error.into()),
            Ok(_) => Ok(polled[0].any().unwrap_or(true)),
        }
    }
}

/// Stops the program until it is continued, as the terminal's key for that does where it is
/// not read by the program.
pub(crate) fn stop() -> io::Result<()> {
    emulate_default_handler(SIGTSTP)
}

/// Returns whether a shell is there that continues the program: its parent is of the same
/// session, and keeps it in a group of its own.
pub(crate) fn can_be_continued() -> bool {
    // Sessions and groups from outside of a container have the number 0 in it.
    let parent = getppid();
    let is_of_session = getsid(Some(parent)) == getsid(None);
    is_of_session && getpgid(Some(parent)).is_ok_and(|group| group != getpgrp())
}
