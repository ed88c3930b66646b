//! The program: its arguments, and its start and end.
//!
//! `lttv-tui` and the subcommand `tui` of `lttv` are this function with their own names.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use lttv_common::archives;
use lttv_common::bundled::bundled_trace;
use lttv_common::cache::CacheArgs;
use lttv_common::cancel;
use lttv_common::clocks::Corrections;
use lttv_common::definitions::DefineArgs;
use lttv_common::follow::{FollowArgs, Place};
use lttv_common::report::{self, Report, Usage};
use lttv_common::settings::{self, KeyBinding, Settings};
use lttv_common::text::palette::Color;
use lttv_context::Recording;
use lttv_filter::{TimeRangeText, TimeText, Zone};

use crate::app::App;
use crate::keys::Key;
use crate::layout::LayoutFile;
use crate::look::Look;
use crate::prompt::{History, HistoryError};
use crate::session::{MEMORY, Session};
use crate::tab_notes::NotesPlace;
use crate::terminal;

/// Browse traces in a terminal: events, processes, resources, statistics
///
/// The key `?` shows all keys. If a signal ends the program, the terminal is restored, and the
/// exit status is 128 plus the number of the signal.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct TuiArgs {
    /// Directories of traces, which are shown together, or net://HOST/host/NAME/SESSION
    pub traces: Vec<PathBuf>,

    /// The options of traces that are being recorded.
    #[command(flatten)]
    pub follow: FollowArgs,

    /// The place of saved states.
    #[command(flatten)]
    pub cache: CacheArgs,

    /// Start of the first time window
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub begin: Option<TimeText>,

    /// End of the first time window, which includes events at this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub end: Option<TimeText>,

    /// Same as --begin=FROM --end=TO; each may be empty
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["begin", "end"])]
    pub timerange: Option<TimeRangeText>,

    /// Start with this filter; with several, events have to pass all of them
    #[arg(short = 'e', long = "filter", value_name = "EXPR", allow_hyphen_values = true)]
    pub filters: Vec<String>,

    /// Take and show times in UTC instead of the local time zone
    #[arg(long)]
    pub utc: bool,

    /// Use of colours [default: auto, unless the configuration file says otherwise]
    #[arg(long, value_name = "WHEN", value_enum)]
    pub color: Option<Color>,

    /// Use no colours, as --color=never
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

    /// Start with the default layout, and keep no changes, nor a history of prompts
    #[arg(long, conflicts_with = "layout")]
    pub no_layout: bool,

    /// Keep no history of prompts
    ///
    /// By default the last answers to each kind of prompts are in prompts.json beside the file
    /// of the layout, and the arrow keys show them.
    #[arg(long)]
    pub no_history: bool,

    /// Keep notes in this file
    ///
    /// By default they are in the user's data directory, in a file of lttv/notes that is named
    /// after the contents of the traces. Notes are never in the directory of a trace.
    #[arg(long, value_name = "FILE")]
    pub notes: Option<PathBuf>,

    /// Print all notes on the traces as JSON, and do nothing else
    #[arg(long)]
    pub export_notes: bool,

    /// The periods to show.
    #[command(flatten)]
    pub define: DefineArgs,

    /// The corrections of clocks.
    #[command(flatten)]
    pub clocks: Corrections,
}

const EXAMPLES: &str = "\
Examples:
  lttv tui TRACE
  lttv tui TRACE --timerange +1s..+1.5s -e 'comm == firefox'
  lttv tui net://localhost/host/HOST/SESSION
  lttv tui --follow ~/lttng-traces/auto-20261125-120000";

/// Shows the viewers until the user quits. Returns the exit status if a signal ended the
/// program: 128 plus the number of the signal.
///
/// # Errors
///
/// If there is no terminal, no trace can be opened, or writing to the terminal fails. Traces
/// that cannot be opened beside others, and a layout that cannot be saved, are reported.
pub fn run(args: &TuiArgs, report: &mut Report) -> Result<Option<u8>, Box<dyn Error>> {
    let keys = bindings(settings::current())?;
    if !args.export_notes {
        terminal::check()?;
    }
    let mut traces = args.traces.clone();
    if traces.is_empty() {
        traces.push(bundled_trace()?);
    }
    let traces = archives::all_unpacked(traces)?;
    let opened = match args.recording(&traces)? {
        Some(recording) => follow(&traces, recording)?,
        None => {
            let correct = |traceset| args.clocks.corrected(traceset, report);
            Some(Session::open_with(&traces, correct)?)
        }
    };
    let Some(mut session) = opened else { return Ok(None) };
    let notes = args.notes.clone().map_or(NotesPlace::DataDirectory, NotesPlace::File);
    if args.export_notes {
        session.open_notes(notes);
        let mut output = Vec::new();
        session.notes.export(&mut output)?;
        std::io::stdout().lock().write_all(&output)?;
        return Ok(None);
    }
    session.use_saved_states(args.cache.cache(CacheArgs::LIMIT));
    session.define(args.define.read()?)?;
    args.prepare(&mut session)?;
    let (failures, notices) = (session.failures.clone(), session.notices.clone());
    let mut app = App::new(session, args.look());
    keys.into_iter().for_each(|(key, like)| app.bind(key, like));
    // The notes of a directory are found by the contents of its traces, which still change.
    if !app.is_following() || args.notes.is_some() {
        app.keep_notes(notes);
    }
    let mut unread = args.layout_file().map_or_else(Vec::new, |file| app.restore_layout(file));
    match args.history() {
        Ok(history) => app.keep_history(history),
        Err(error) => unread.push(ltt_read::ErrorChain(&error).to_string()),
    }
    let status = terminal::run(&mut app, !args.no_mouse)?;
    if let Err(error) = app.save_layout() {
        match args.layout {
            Some(_) => report.error(error),
            None => report.warning(ltt_read::ErrorChain(&error)),
        }
    }
    if let Err(error) = app.save_history() {
        report.warning(ltt_read::ErrorChain(&error));
    }
    for path in app.unfinished_exports() {
        let path = path.display();
        report.error(format!("{path}: not written, since the program ended before"));
    }
    if status.is_some() {
        return Ok(status);
    }
    // The screen shows only one of them.
    for notice in notices.iter().chain(&unread) {
        report.warning(notice);
    }
    for failure in &failures {
        report.error(failure.as_str());
    }
    Ok(None)
}

/// Waits for the first event of a recording, and opens a session that follows it. Returns `None`
/// after Ctrl-C.
fn follow(traces: &[PathBuf], recording: Recording) -> Result<Option<Session>, Box<dyn Error>> {
    let interrupt = cancel::on_interrupt()?;
    let name = traces.iter().map(|path| path.file_name().unwrap_or(path.as_os_str()));
    let name = name.map(|name| name.to_string_lossy()).collect::<Vec<_>>().join("+");
    report::line(&format!("lttv-tui: waiting for the first event of {name}; Ctrl-C ends"));
    let session = Session::follow(name, recording, || interrupt.load(Ordering::Relaxed));
    // From here on, Ctrl-C is a key.
    interrupt.store(false, Ordering::Relaxed);
    session
}

/// Returns the keys that the user's settings change, and those whose action they have.
fn bindings(settings: &Settings) -> Result<Vec<(Key, Option<Key>)>, Usage> {
    let key = |of: &KeyBinding, name: &str| {
        name.parse::<Key>().map_err(|error| Usage::new(of.error(format_args!("keys: {error}"))))
    };
    let binding = |of: &KeyBinding| {
        let like = (!of.like.is_empty()).then(|| key(of, &of.like)).transpose()?;
        Ok((key(of, &of.key)?, like))
    };
    settings.keys().iter().map(binding).collect()
}

impl TuiArgs {
    /// Opens the recording of traces that are being recorded; `None` if they are complete.
    fn recording(&self, traces: &[PathBuf]) -> Result<Option<Recording>, Box<dyn Error>> {
        let place = Place::new(traces, self.follow)?;
        match &place {
            Place::Recorded => return Ok(None),
            Place::Daemon(daemon) => {
                let reason = format_args!("`lttv dump net://{daemon}` lists the sessions");
                return Err(Usage::new(format_args!("no session is named: {reason}")).into());
            }
            Place::Growing | Place::Session { .. } => {}
        }
        let reason = "the traces are still being recorded";
        if self.begin.is_some() || self.end.is_some() || self.timerange.is_some() {
            return Err(Usage::new(format_args!("a time window has no use here: {reason}")).into());
        }
        self.clocks.refuse(reason)?;
        place.recording(traces, self.follow, Some(MEMORY))
    }

    /// Returns the colours of the terminal.
    fn look(&self) -> Look {
        let variable = |name: &str| std::env::var(name).ok();
        match self.color.or(settings::current().color()).unwrap_or_default() {
            _ if self.mono => Look::Mono,
            Color::Never => Look::Mono,
            Color::Auto => Look::of_environment(variable),
            Color::Always => Look::of_environment(|name| match name {
                "NO_COLOR" => None,
                name => variable(name),
            }),
        }
    }

    /// Sets the time zone, the time window and the filter of a session.
    ///
    /// # Errors
    ///
    /// If a time or a filter is wrong.
    fn prepare(&self, session: &mut Session) -> Result<(), Usage> {
        session.set_zone(if self.utc { Zone::UTC } else { settings::current().zone() });
        let range = match &self.timerange {
            Some(range) => range.clone(),
            None => TimeRangeText { from: self.begin.clone(), to: self.end.clone() },
        };
        if range != TimeRangeText::default() {
            let shown = session.show_range(range);
            shown.map_err(|error| Usage::new(format_args!("the time window: {error}")))?;
            session.forget_windows();
        }
        if !self.filters.is_empty() {
            let filter = match &self.filters[..] {
                [filter] => filter.clone(),
                several => {
                    several.iter().map(|text| format!("({text})")).collect::<Vec<_>>().join(" && ")
                }
            };
            session.set_filter(&filter).map_err(|error| Usage::filter("--filter:", &error))?;
        }
        Ok(())
    }

    /// Returns the file of the layout; `None` if none is kept.
    fn layout_file(&self) -> Option<LayoutFile> {
        match &self.layout {
            _ if self.no_layout => None,
            Some(path) => Some(LayoutFile::new(path)),
            None => LayoutFile::of_user(|name| std::env::var_os(name)),
        }
    }

    /// Returns the history of prompts, beside the file of the layout.
    fn history(&self) -> Result<History, HistoryError> {
        match self.layout_file().filter(|_| !self.no_history) {
            Some(file) => History::open(file.path().with_file_name("prompts.json")),
            None => Ok(History::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ratatui::crossterm::event::KeyCode;

    use super::*;

    #[test]
    fn keys_of_the_settings_have_the_action_of_others() {
        let of = |text| bindings(&Settings::parse(Path::new("c.toml"), text).unwrap());
        let found = of("[keys]\nF5 = \"Ctrl-L\"\nx = \"\"").unwrap();
        let f5 = (Key::new(KeyCode::F(5)), Some(Key::control('l')));
        assert_eq!(found, [f5, (Key::char('x'), None)]);
        for wrong in ["[keys]\nHyper-x = \"q\"", "[keys]\nx = \"Hyper-x\""] {
            let error = of(wrong).unwrap_err().to_string();
            assert!(error.starts_with("c.toml:2: keys: `Hyper-x` is no key"), "{error}");
        }
    }
}
