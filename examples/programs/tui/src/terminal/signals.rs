//! Reasons from outside to end or suspend the program: signals, and a lost terminal.

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

/// The time after a signal in which the program can end by itself. It does not if it waits
/// for the rest of a key sequence or for output.
const GRACE: Duration = Duration::from_secs(2);

/// The exit status after a signal, minus the number of the signal.
const STATUS: i32 = 128;

/// The exit status after [`SIGHUP`].
const HUNG_UP: u8 = (STATUS + SIGHUP) as u8;

/// The signals received so far, and the state of the terminal.
#[derive(Debug, Clone)]
pub(super) struct SignalState {
    flags: Arc<Flags>,
    /// The terminal; `None` if the program has none.
    terminal: Arc<Option<Terminal>>,
}

/// The requests of signals.
#[derive(Debug, Default)]
struct Flags {
    /// The exit status; 0 if the program continues.
    status: AtomicU8,
    /// `true` if the program must be suspended.
    suspend: AtomicBool,
}

impl SignalState {
    /// Records signals from now on, and ends the program when its terminal is lost.
    pub(super) fn watch() -> io::Result<Self> {
        let terminal = Arc::new(Terminal::open().ok());
        let state = SignalState { flags: Arc::default(), terminal };
        let recorder = state.clone();
        // Also catch signals that were ignored when the program started: without a terminal
        // it is useless.
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM, SIGTSTP])?;
        let record = move || signals.forever().for_each(|signal| recorder.record(signal));
        Builder::new().name("signals".to_owned()).spawn(record)?;
        let watched = state.clone();
        let end = move || {
            let Some(terminal) = &*watched.terminal else { return };
            loop {
                match terminal.is_lost_within(PollTimeout::NONE) {
                    // The reader of keys would retry forever, and there is no terminal to restore.
                    Ok(true) => exit(HUNG_UP.into()),
                    Ok(false) => {}
                    Err(_) => return,
                }
            }
        };
        Builder::new().name("terminal".to_owned()).spawn(end)?;
        Ok(state)
    }

    /// Returns the exit status if the program must end.
    pub(super) fn status(&self) -> Option<u8> {
        Some(self.flags.status.load(Ordering::Relaxed)).filter(|status| *status > 0)
    }

    /// Returns the exit status after a failure to draw, if the reason is a lost terminal. The
    /// thread that waits for this may not have noticed it yet.
    pub(super) fn status_after_failure(&self) -> Option<u8> {
        let terminal = self.terminal.as_ref().as_ref();
        let has_gone =
            terminal.is_none_or(|it| it.is_lost_within(PollTimeout::ZERO).unwrap_or(true));
        self.status().or(has_gone.then_some(HUNG_UP))
    }

    /// Returns `true` if the program must be suspended. Resets the request.
    pub(super) fn take_suspend(&self) -> bool {
        self.flags.suspend.swap(false, Ordering::Relaxed)
    }

    /// Returns `true` if the program must end or be suspended.
    pub(super) fn is_pending(&self) -> bool {
        self.status().is_some() || self.flags.suspend.load(Ordering::Relaxed)
    }

    /// Records a signal. Ends the program later if it does not end by itself.
    fn record(&self, signal: i32) {
        if signal == SIGTSTP {
            self.flags.suspend.store(true, Ordering::Relaxed);
            return;
        }
        let status = STATUS + signal;
        self.flags.status.store(u8::try_from(status).unwrap_or(u8::MAX), Ordering::Relaxed);
        spawn(move || {
            sleep(GRACE);
            // Writing may block.
            let restore = spawn(super::mode::restore);
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
    /// Opens the terminal. Must be called before the terminal can be lost: a lost terminal is
    /// not recognised as a terminal.
    fn open() -> io::Result<Self> {
        let stdin = io::stdin();
        match stdin.is_terminal() {
            true => Ok(Terminal::Stdin(stdin)),
            false => File::open("/dev/tty").map(Terminal::Controlling),
        }
    }

    /// Returns whether the terminal is lost within a time. May return early.
    fn is_lost_within(&self, most: PollTimeout) -> io::Result<bool> {
        let terminal = match self {
            Terminal::Stdin(stdin) => stdin.as_fd(),
            Terminal::Controlling(file) => file.as_fd(),
        };
        // A hangup is always reported.
        let mut polled = [PollFd::new(terminal, PollFlags::empty())];
        match poll(&mut polled, most) {
            Err(Errno::EINTR) => Ok(false),
            Err(error) => Err(error.into()),
            Ok(_) => Ok(polled[0].any().unwrap_or(true)),
        }
    }
}

/// Returns `true` if a shell will continue the program: if its parent is in the same
/// session but in another process group.
pub(super) fn can_be_continued() -> bool {
    // In a container, sessions and groups from outside have the number 0.
    let parent = getppid();
    let is_of_session = getsid(Some(parent)) == getsid(None);
    is_of_session && getpgid(Some(parent)).is_ok_and(|group| group != getpgrp())
}
