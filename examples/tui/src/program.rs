//! The program: its arguments, and its start and end.
//!
//! `lttv-tui` and the subcommand `tui` of `lttv` are this function with their own names.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

use lttv_examples::bundled::bundled_trace;
use lttv_examples::report::Report;

use crate::app::App;
use crate::layout::LayoutFile;
use crate::look::Look;
use crate::session::Session;
use crate::tab_notes::NotesPlace;
use crate::terminal;

/// The arguments of the program.
#[derive(Debug, Clone, clap::Args)]
pub struct TuiArgs {
    /// Directories of traces, which are shown together
    pub traces: Vec<PathBuf>,

    /// Use no colours, as with NO_COLOR in the environment
    #[arg(long)]
    pub mono: bool,

    /// Let the terminal keep the mouse, for example to select text
    ///
    /// Otherwise clicks, drags and the wheel act on the viewers. Most terminals still select
    /// text while Shift is pressed.
    #[arg(long)]
    pub no_mouse: bool,

    /// Keep the layout in this file: the viewers of each tab, their order, settings and filters
    ///
    /// By default it is lttv/layout.json in $XDG_STATE_HOME or ~/.local/state. It is written at
    /// the end if the layout has changed.
    #[arg(long, value_name = "FILE")]
    pub layout: Option<PathBuf>,

    /// Start with the default layout, and keep no changes
    #[arg(long, conflicts_with = "layout")]
    pub no_layout: bool,

    /// Keep notes in this file
    ///
    /// By default they are in the user's data directory, in a file of lttv/notes that is named
    /// after the contents of the traces. Notes are never in the directory of a trace.
    #[arg(long, value_name = "FILE")]
    pub notes: Option<PathBuf>,

    /// Print all notes on the traces as JSON, and do nothing else
    #[arg(long)]
    pub export_notes: bool,
}

/// Shows the viewers until the user quits. Returns the exit status if a signal ended the
/// program: 128 plus the number of the signal.
///
/// # Errors
///
/// If there is no terminal, no trace can be opened, or writing to the terminal fails. Traces
/// that cannot be opened beside others, and a layout that cannot be saved, are reported.
pub fn run(args: &TuiArgs, report: &mut Report) -> Result<Option<u8>, Box<dyn Error>> {
    if !args.export_notes {
        terminal::check()?;
    }
    let mut traces = args.traces.clone();
    if traces.is_empty() {
        traces.push(bundled_trace()?);
    }
    let mut session = Session::open(&traces)?;
    let notes = args.notes.clone().map_or(NotesPlace::DataDirectory, NotesPlace::File);
    if args.export_notes {
        session.open_notes(notes);
        let mut output = Vec::new();
        session.notes.export(&mut output)?;
        std::io::stdout().lock().write_all(&output)?;
        return Ok(None);
    }
    let (failures, notices) = (session.failures.clone(), session.notices.clone());
    let mut app = App::new(session, args.look());
    app.keep_notes(notes);
    let unread = args.layout_file().map_or_else(Vec::new, |file| app.restore_layout(file));
    let status = terminal::run(&mut app, !args.no_mouse)?;
    if let Err(error) = app.save_layout() {
        match args.layout {
            Some(_) => report.error(error),
            None => report.warning(error),
        }
    }
    if status.is_some() {
        return Ok(status);
    }
    // The screen shows only one of them.
    for notice in notices.iter().chain(&unread) {
        report.warning(notice);
    }
    for failure in &failures {
        report.error(failure);
    }
    Ok(None)
}

impl TuiArgs {
    /// Returns the colours of the terminal.
    fn look(&self) -> Look {
        match self.mono {
            true => Look::Mono,
            false => Look::of_environment(|name| std::env::var(name).ok()),
        }
    }

    /// Returns the file of the layout; `None` if none is kept.
    fn layout_file(&self) -> Option<LayoutFile> {
        match &self.layout {
            _ if self.no_layout => None,
            Some(path) => Some(LayoutFile::new(path)),
            None => LayoutFile::of_user(|name| std::env::var_os(name)),
        }
    }
}
