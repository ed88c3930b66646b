//! A viewer for the terminal frontend: a table of system calls.

use std::cmp::Reverse;

use ltt_read::Timestamp;
use lttv_context::framework::{Failure, Module, ModuleInfo};
use lttv_requests::SubmitError;
use lttv_tui::app::App;
use lttv_tui::keys::{Key, Move};
use lttv_tui::model::collected::Collected;
use lttv_tui::ratatui::buffer::Buffer;
use lttv_tui::ratatui::crossterm::event::KeyCode;
use lttv_tui::ratatui::layout::Rect;
use lttv_tui::session::Session;
use lttv_tui::time_text::length;
use lttv_tui::traceset_change::TracesetChange;
use lttv_tui::view::table::{Column, Table};
use lttv_tui::viewer::{Pane, Reply, Setup, Viewer, ViewerAction, ViewerKind};

use crate::calls::{Call, Calls};

/// The name of the module and of its kind of viewers.
pub(crate) const NAME: &str = "syscalls";

/// A module that adds the viewer to the frontend.
pub(crate) struct SyscallsModule;

impl Module<App> for SyscallsModule {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: NAME,
            summary: "a table of system calls",
            description: "Adds a viewer with the numbers and times of system calls.",
            requires: &[],
        }
    }

    fn init(&mut self, app: &mut App) -> Result<(), Failure> {
        Ok(app.register(kind())?)
    }

    fn destroy(&mut self, app: &mut App) {
        app.unregister(NAME);
    }
}

/// Returns the kind of the viewer.
fn kind() -> ViewerKind {
    let enter = [Key::new(KeyCode::Enter)];
    ViewerKind::new(NAME, "System calls", |setup| Box::new(SyscallsView::new(setup)))
        .summary("numbers and times of system calls in the time window")
        .action(ViewerAction::new("longest", "go to the longest call", enter))
        .action(ViewerAction::new("order", "sort by another column", [Key::char('s')]))
        .action(ViewerAction::new("failed", "only calls that failed, or all", [Key::char('f')]))
}

/// Returns the value of a call by which calls are ordered.
type Order = fn(&Call) -> u64;

/// The orders of rows: the value to sort by, and its name.
const ORDERS: [(Order, &str); 4] = [
    (|call| call.total, "total time"),
    (|call| call.longest.0, "longest time"),
    (|call| call.count, "count"),
    (|call| call.failed, "failures"),
];

const COLUMNS: [Column; 7] = [
    ("SYSTEM CALL", 24),
    ("COUNT", 8),
    ("FAILED", 8),
    ("TOTAL", 10),
    ("ON CPU", 10),
    ("MEAN", 10),
    ("LONGEST", 10),
];

/// The system calls that ended in the time window.
#[derive(Debug)]
struct SyscallsView {
    found: Collected<Calls>,
    table: Table,
    /// The start of the longest call of each row.
    longest: Vec<Option<Timestamp>>,
    /// The index of the order of rows.
    order: usize,
    is_only_failed: bool,
}

impl SyscallsView {
    fn new(setup: &mut Setup<'_>) -> Self {
        SyscallsView {
            // The requests end when the viewer is closed.
            found: Collected::new(setup.owner()),
            table: Table::default(),
            longest: Vec::new(),
            order: 0,
            is_only_failed: false,
        }
    }
}

fn row(name: &str, call: &Call) -> Vec<String> {
    vec![
        name.to_owned(),
        call.count.to_string(),
        call.failed.to_string(),
        length(call.total),
        length(call.on_cpu),
        length(call.total / call.count.max(1)),
        length(call.longest.0),
    ]
}

impl Viewer for SyscallsView {
    fn height(&self) -> (u16, u16) {
        (4, 2)
    }

    fn update(&mut self, session: &mut Session, area: Rect) -> Result<(), SubmitError> {
        let (kernel, window) = (session.kernel, session.tab.window());
        self.found.set_window(&mut session.scheduler, kernel, window)?;
        if let Some(now) = self.found.now() {
            let calls = now.found.by_name.iter();
            let is_shown = |call: &Call| !self.is_only_failed || call.failed > 0;
            let mut calls: Vec<_> = calls.filter(|(_, call)| is_shown(call)).collect();
            calls.sort_by_key(|(_, call)| Reverse(ORDERS[self.order].0(call)));
            self.longest = calls.iter().map(|(_, call)| call.longest.1).collect();
            self.table.fill(calls.into_iter().map(|(name, call)| row(name, call)));
        }
        self.table.fit(area);
        Ok(())
    }

    fn resume(&mut self, session: &mut Session) -> Result<(), SubmitError> {
        self.found.resume(&mut session.scheduler, session.kernel)
    }

    fn reset(&mut self, _: &mut Session, _: &TracesetChange) {
        self.found.clear();
    }

    fn draw(&self, _: &Session, pane: Pane, buffer: &mut Buffer) {
        self.table.draw(&COLUMNS, pane, buffer);
    }

    fn go(&mut self, to: Move, _: &mut Session) -> Result<bool, SubmitError> {
        self.table.go(to);
        Ok(true)
    }

    fn act(&mut self, action: &str, session: &mut Session) -> Result<Reply, SubmitError> {
        match action {
            "longest" => {
                let selected = self.table.selected().and_then(|row| self.longest.get(row));
                if let Some(Some(begin)) = selected {
                    session.tab.set_time(*begin, None);
                }
            }
            "order" => self.order = (self.order + 1) % ORDERS.len(),
            "failed" => self.is_only_failed = !self.is_only_failed,
            _ => {}
        }
        Ok(Reply::Done)
    }

    fn note(&self, _: &Session) -> String {
        let which = if self.is_only_failed { "with failures, " } else { "" };
        format!("{which}by {}", ORDERS[self.order].1)
    }

    fn progress(&self) -> f64 {
        self.found.progress()
    }
}
