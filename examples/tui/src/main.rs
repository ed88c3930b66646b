//! LTTV's viewers in a terminal.
//!
//! ```text
//! cargo run --release -p lttv-tui -- [TRACE…]
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use lttv_examples::bundled::bundled_trace;
use lttv_examples::report::{self, EXIT_STATUS, Report};
use lttv_tui::app::{App, FRAME, SERVICE};
use lttv_tui::look::Look;
use lttv_tui::session::Session;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};

/// Look at traces in a terminal: events, processes, resources, statistics
///
/// Without TRACE the small kernel trace that comes with this program is read. Keys
/// are shown by `?`.
#[derive(Debug, clap::Parser)]
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
    report::main("lttv-tui", run)
}

fn run(cli: &Cli, report: &mut Report) -> Result<(), Box<dyn std::error::Error>> {
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
    let mut terminal = ratatui::try_init()?;
    let result = show(&mut app, &mut terminal);
    ratatui::try_restore()?;
    result?;
    // On the screen there was room for one of them.
    for notice in &notices {
        report.warning(notice);
    }
    for failure in &failures {
        report.error(failure);
    }
    Ok(())
}

/// Draws, looks for input, reads traces; again and again.
fn show(app: &mut App, terminal: &mut DefaultTerminal) -> std::io::Result<()> {
    while !app.is_over() {
        if app.take_spoilt() {
            terminal.clear()?;
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
        }
        take_input(app)?;
    }
    Ok(())
}

/// Takes all input that is there, so that a key held down does not pile up.
fn take_input(app: &mut App) -> std::io::Result<()> {
    while !app.is_over() && event::poll(Duration::ZERO)? {
        if let Event::Key(key) = event::read()?
            && key.kind != KeyEventKind::Release
        {
            app.key(key);
        }
    }
    Ok(())
}
