//! The application in a terminal.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};

use self::signals::SignalState;
use crate::app::{App, FRAME, SERVICE};

mod mode;
mod signals;

/// The time to wait for input when there is nothing to do.
const IDLE_WAIT: Duration = Duration::from_millis(500);

/// The time to wait for input while traces are being recorded.
const FOLLOW_WAIT: Duration = Duration::from_millis(40);

/// The reason why viewers cannot be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoTerminal {
    /// Standard output is no terminal.
    #[error(
        "the terminal program needs a terminal, but its output goes to a file or another program; \
         to print events, use `lttv dump`"
    )]
    Output,
    /// There is no terminal to read keys from.
    #[error(
        "the terminal program needs a terminal, but there is none to read keys from; \
         with ssh, use `ssh -t`, and with a container, a terminal for it (`-it`)"
    )]
    Input,
}

/// Checks that the program has a terminal.
///
/// # Errors
///
/// If it has none.
pub fn check() -> Result<(), NoTerminal> {
    if !io::stdout().is_terminal() {
        return Err(NoTerminal::Output);
    }
    match io::stdin().is_terminal() || File::open("/dev/tty").is_ok() {
        true => Ok(()),
        false => Err(NoTerminal::Input),
    }
}

/// Runs an application in the terminal of the program until the user quits, and restores the
/// terminal. Clicks, drags and the wheel act on the viewers if `has_mouse`; otherwise the
/// terminal keeps the mouse. Returns the exit status of the program if a signal ended it: 128 plus the number
/// of the signal.
///
/// SIGHUP, SIGINT, SIGTERM and SIGTSTP are caught from then on.
///
/// # Errors
///
/// If the program has no terminal, or writing to it fails.
pub fn run(app: &mut App, has_mouse: bool) -> io::Result<Option<u8>> {
    check().map_err(io::Error::other)?;
    let signals = SignalState::watch()?;
    let mut terminal = mode::prepare(has_mouse)?;
    let result = show(app, &mut terminal, &signals);
    let restored = mode::restore();
    let result = result.and(restored);
    if result.is_err() {
        // It would print that it cannot show the cursor, and panic if the standard error is lost as well.
        std::mem::forget(terminal);
    }
    if let Some(status) = signals.status() {
        return Ok(Some(status));
    }
    match result {
        Ok(()) => Ok(None),
        Err(error) => signals.status_after_failure().map(Some).ok_or(error),
    }
}

/// Runs the main loop: draws, checks for input, and reads traces.
fn show(app: &mut App, terminal: &mut DefaultTerminal, signals: &SignalState) -> io::Result<()> {
    while !app.is_over() && signals.status().is_none() {
        let by_key = app.take_suspended();
        if by_key && !signals::can_be_continued() {
            app.tell("cannot suspend: no shell would continue the program");
        } else if by_key || signals.take_suspend() {
            mode::suspend(terminal)?;
        }
        if app.take_clear() {
            mode::clear(terminal)?;
        }
        if let Some(sequence) = app.take_copied() {
            mode::write(sequence.as_bytes())?;
        }
        terminal.draw(|frame| app.draw(frame))?;
        let drawn = Instant::now();
        let (mut has_changed, mut wait) = (false, Duration::ZERO);
        // Until there is something new to draw, or the frame's time is over.
        while !event::poll(wait)? {
            let is_busy = app.service(SERVICE);
            has_changed |= is_busy;
            if has_changed && (!is_busy || drawn.elapsed() >= FRAME) {
                break;
            }
            wait = match is_busy {
                true => Duration::ZERO,
                false if app.is_following() => FOLLOW_WAIT,
                false => IDLE_WAIT,
            };
            if signals.is_pending() {
                break;
            }
        }
        take_input(app)?;
    }
    Ok(())
}

/// Handles all pending input, so that keys of a held key do not accumulate.
fn take_input(app: &mut App) -> io::Result<()> {
    while !app.is_over() && event::poll(Duration::ZERO)? {
        match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => app.key(key),
            Event::Mouse(mouse) => app.mouse(mouse),
            _ => {}
        }
    }
    Ok(())
}
