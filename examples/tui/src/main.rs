//! LTTV's viewers in a terminal.
//!
//! ```text
//! cargo run --release -p lttv-tui -- [TRACE…]
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod signals;
mod terminal;

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use lttv_examples::bundled::bundled_trace;
use lttv_examples::report::{self, EXIT_STATUS, Report};
use lttv_tui::app::{App, FRAME, SERVICE};
use lttv_tui::look::Look;
use lttv_tui::session::Session;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use signals::SignalState;

/// Browse traces in a terminal: events, processes, resources, statistics
///
/// Without TRACE, opens the bundled kernel trace. The key `?` shows all keys. If a signal ends
/// the program, the terminal is restored, and the exit status is 128 plus the number of the
/// signal.
#[derive(Debug, Parser)]
#[command(name = "lttv-tui", version, after_help = EXIT_STATUS)]
struct Cli {
    /// Directories of traces, which are shown together
    traces: Vec<PathBuf>,

    /// Use no colours, as with NO_COLOR in the environment
    #[arg(long)]
    mono: bool,

    /// Let the terminal keep the mouse, for example to select text
    ///
    /// Otherwise clicks, drags and the wheel act on the viewers. Most terminals still select
    /// text while Shift is pressed.
    #[arg(long)]
    no_mouse: bool,
}

/// The time to wait for input when there is nothing to do.
const IDLE_WAIT: Duration = Duration::from_millis(500);

fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => report::main_with_status("lttv-tui", |report| run(&cli, report)),
        Err(answer) => report::print_answer("lttv-tui", &answer),
    }
}

/// Runs the program. Returns the exit status if a signal ended it.
fn run(cli: &Cli, report: &mut Report) -> Result<Option<u8>, Box<dyn Error>> {
    let mut traces = cli.traces.clone();
    if traces.is_empty() {
        traces.push(bundled_trace()?);
    }
    let look = match cli.mono {
        true => Look::Mono,
        false => Look::of_environment(|name| std::env::var(name).ok()),
    };
    let session = Session::open(&traces)?;
    let (failures, notices) = (session.failures.clone(), session.notices.clone());
    let mut app = App::new(session, look);
    let signals = SignalState::watch()?;
    let mut screen = terminal::prepare(!cli.no_mouse)?;
    let result = show(&mut app, &mut screen, &signals);
    let restored = terminal::restore();
    if let Some(status) = signals.status() {
        return Ok(Some(status));
    }
    if let Err(error) = result.and(restored) {
        return signals.status_after_failure().map(Some).ok_or_else(|| error.into());
    }
    // The screen shows only one of them.
    for notice in &notices {
        report.warning(notice);
    }
    for failure in &failures {
        report.error(failure);
    }
    Ok(None)
}

/// Runs the main loop: draws, checks for input, and reads traces.
fn show(app: &mut App, terminal: &mut DefaultTerminal, signals: &SignalState) -> io::Result<()> {
    while !app.is_over() && signals.status().is_none() {
        let by_key = app.take_suspended();
        if by_key && !signals::can_be_continued() {
            app.tell("cannot suspend: no shell would continue the program");
        } else if by_key || signals.take_suspend() {
            terminal::suspend(terminal)?;
        }
        if app.take_clear() {
            terminal::clear(terminal)?;
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
            wait = if is_busy { Duration::ZERO } else { IDLE_WAIT };
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
