//! LTTV's viewers in a terminal.
//!
//! ```text
//! cargo run --release -p lttv-tui -- [TRACE…]
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod signals;

use std::error::Error;
use std::io::{self, stdout};
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
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, enable_raw_mode};
use signals::Wanted;

/// Look at traces in a terminal: events, processes, resources, statistics
///
/// Without TRACE the small kernel trace that comes with this program is read. Keys
/// are shown by `?`. A signal that ends the program leaves the terminal as it was; the
/// status is 128 and the number of the signal, as for programs that it kills.
#[derive(Debug, Parser)]
#[command(name = "lttv-tui", version, after_help = EXIT_STATUS)]
struct Cli {
    /// Directories of traces; all of them are shown together
    traces: Vec<PathBuf>,

    /// Use no colours, as with NO_COLOR in the environment
    #[arg(long)]
    mono: bool,
}

/// How long to wait for input when there is nothing to do.
const PATIENCE: Duration = Duration::from_millis(500);

fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => report::main_with_status("lttv-tui", |report| run(&cli, report)),
        Err(answer) => report::print_answer("lttv-tui", &answer),
    }
}

/// Returns the status if a signal ended the program.
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
    let wanted = Wanted::watch()?;
    let mut terminal = ratatui::try_init()?;
    let result = show(&mut app, &mut terminal, &wanted);
    let restored = ratatui::try_restore();
    if let Some(status) = wanted.status() {
        return Ok(Some(status));
    }
    if let Err(error) = result.and(restored) {
        return wanted.status_after_failure().map(Some).ok_or_else(|| error.into());
    }
    // On the screen there was room for one of them.
    for notice in &notices {
        report.warning(notice);
    }
    for failure in &failures {
        report.error(failure);
    }
    Ok(None)
}

/// Draws, looks for input, reads traces; again and again.
fn show(app: &mut App, terminal: &mut DefaultTerminal, wanted: &Wanted) -> io::Result<()> {
    while !app.is_over() && wanted.status().is_none() {
        let by_key = app.take_suspended();
        if by_key && !signals::can_be_continued() {
            app.tell("there is no shell here to continue the program");
        } else if by_key || wanted.take_stop() {
            suspend(terminal)?;
        }
        if app.take_spoilt() {
            clear(terminal)?;
        }
        terminal.draw(|frame| app.draw(frame))?;
        let drawn = Instant::now();
        let (mut has_changed, mut wait) = (false, Duration::ZERO);
        // Until there is something to show, or it is time to show what has come.
        while !event::poll(wait)? {
            let is_busy = app.service(SERVICE);
            has_changed |= is_busy;
            if has_changed && (!is_busy || drawn.elapsed() >= FRAME) {
                break;
            }
            wait = if is_busy { Duration::ZERO } else { PATIENCE };
            if wanted.is_something() {
                break;
            }
        }
        take_input(app)?;
    }
    Ok(())
}

/// Clears the screen, so that the next frame is drawn as a whole. [`DefaultTerminal::clear`]
/// would ask the terminal for its cursor, and fail if there is no answer, or it is not
/// found among keys.
fn clear(terminal: &mut DefaultTerminal) -> io::Result<()> {
    let size = terminal.size()?;
    terminal.resize(size.into())
}

/// Gives the terminal back, stops until the program is continued, and takes it again.
fn suspend(terminal: &mut DefaultTerminal) -> io::Result<()> {
    ratatui::try_restore()?;
    signals::stop()?;
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen)?;
    clear(terminal)
}

/// Takes all input that is there, so that a key held down does not pile up.
fn take_input(app: &mut App) -> io::Result<()> {
    while !app.is_over() && event::poll(Duration::ZERO)? {
        if let Event::Key(key) = event::read()?
            && key.kind != KeyEventKind::Release
        {
            app.key(key);
        }
    }
    Ok(())
}
