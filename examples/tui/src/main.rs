//! LTTV's viewers in a terminal.
//!
//! ```text
//! cargo run --release -p lttv-tui -- [TRACE…]
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use lttv_examples::bundled::bundled_trace;
use lttv_examples::report::{self, EXIT_STATUS, Report};
use lttv_tui::app::App;
use lttv_tui::layout::LayoutFile;
use lttv_tui::look::Look;
use lttv_tui::session::Session;
use lttv_tui::tab_notes::NotesPlace;
use lttv_tui::terminal;

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

    /// Keep the layout in this file: the viewers of each tab, their order, settings and filters
    ///
    /// By default it is lttv/layout.json in $XDG_STATE_HOME or ~/.local/state. It is written at
    /// the end if the layout has changed.
    #[arg(long, value_name = "FILE")]
    layout: Option<PathBuf>,

    /// Start with the default layout, and keep no changes
    #[arg(long, conflicts_with = "layout")]
    no_layout: bool,

    /// Keep notes in this file
    ///
    /// By default they are in the user's data directory, in a file of lttv/notes that is named
    /// after the contents of the traces. Notes are never in the directory of a trace.
    #[arg(long, value_name = "FILE")]
    notes: Option<PathBuf>,

    /// Print all notes on the traces as JSON, and do nothing else
    #[arg(long)]
    export_notes: bool,
}

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
    let mut session = Session::open(&traces)?;
    let notes = cli.notes.clone().map_or(NotesPlace::DataDirectory, NotesPlace::File);
    if cli.export_notes {
        session.open_notes(notes);
        let mut output = Vec::new();
        session.notes.export(&mut output)?;
        std::io::stdout().lock().write_all(&output)?;
        return Ok(None);
    }
    let (failures, notices) = (session.failures.clone(), session.notices.clone());
    let mut app = App::new(session, look);
    app.keep_notes(notes);
    let layout = match &cli.layout {
        _ if cli.no_layout => None,
        Some(path) => Some(LayoutFile::new(path)),
        None => LayoutFile::of_user(|name| std::env::var_os(name)),
    };
    let notes = layout.map_or_else(Vec::new, |file| app.restore_layout(file));
    let status = terminal::run(&mut app, !cli.no_mouse)?;
    if let Err(error) = app.save_layout() {
        match cli.layout {
            Some(_) => report.error(error),
            None => report.warning(error),
        }
    }
    if status.is_some() {
        return Ok(status);
    }
    // The screen shows only one of them.
    for notice in notices.iter().chain(&notes) {
        report.warning(notice);
    }
    for failure in &failures {
        report.error(failure);
    }
    Ok(None)
}
