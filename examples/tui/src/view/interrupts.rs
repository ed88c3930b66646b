//! The interrupts viewer.

use ltt_read::Timestamp;
use lttv_requests::SubmitError;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Position, Rect};

use super::needs::{Need, needs};
use super::order_of;
use super::table::{Column, Table, TableRow};
use crate::keys::{Key, Move};
use crate::model::collected::Collected;
use crate::model::interrupts::{Interrupt, InterruptKey, Interrupts};
use crate::model::row_order::RowOrder;
use crate::model::row_search::{Found, RowQuery, Step};
use crate::session::Session;
use crate::time_text::length;
use crate::traceset_change::TracesetChange;
use crate::viewer::{Contents, Fault, Pane, Reply, Setup, Spot, Viewer, ViewerAction, ViewerKind};

/// The numbers and durations of interrupts in the time window.
#[derive(Debug)]
pub struct InterruptsView {
    found: Collected<Interrupts>,
    table: Table,
    /// The start of the longest handler of each row.
    longest: Vec<Timestamp>,
}

/// Returns the kind of the viewer.
pub fn kind() -> ViewerKind {
    let longest = "go to the longest";
    ViewerKind::new("interrupts", "Interrupts", |setup| Box::new(InterruptsView::new(setup)))
        .summary("numbers, durations and periods of interrupts in the time window")
        .action(ViewerAction::new("longest", longest, [Key::new(KeyCode::Enter)]))
}

impl InterruptsView {
    fn new(setup: &mut Setup<'_>) -> Self {
        let found = Collected::new(setup.owner());
        InterruptsView { found, table: Table::default(), longest: Vec::new() }
    }
}

const COLUMNS: [Column; 12] = [
    ("INTERRUPT", 22),
    ("CPU", 3),
    ("COUNT", 7),
    ("Hz", 8),
    ("TOTAL", 10),
    ("MEAN", 10),
    ("DEVIATION", 10),
    ("LONGEST", 10),
    ("SHORTEST", 10),
    ("PERIOD", 10),
    ("DEV PERIOD", 10),
    ("DEV Hz", 8),
];

/// Returns a row; `time` is the time span in ns.
fn row(key: &InterruptKey, of: &Interrupt, time: u64) -> TableRow {
    let kind = key.kind.label().to_uppercase();
    let ns = |ns: f64| length(ns.round() as u64);
    let durations = &of.durations;
    let name = format!("{kind} {} {}", key.number, of.name);
    let cells = vec![
        name.clone(),
        key.cpu.to_string(),
        durations.count().to_string(),
        format!("{:.1}", durations.frequency(time)),
        length(durations.total()),
        ns(durations.mean()),
        ns(durations.deviation()),
        length(durations.greatest().value),
        length(durations.least().value),
        ns(of.periods.mean()),
        ns(of.periods.deviation()),
        format!("{:.1}", of.frequencies.deviation() / 1e3),
    ];
    TableRow {
        cells,
        name,
        ids: vec![key.number.into()],
        busy: durations.total(),
        identity: vec![key.trace.0 as u64, key.cpu.into()],
    }
}

impl Viewer for InterruptsView {
    fn height(&self) -> (u16, u16) {
        (4, 2)
    }

    fn update(&mut self, session: &mut Session, area: Rect) -> Result<(), SubmitError> {
        let (kernel, window) = (session.kernel, session.tab.window());
        self.found.set_window(&mut session.scheduler, kernel, window)?;
        self.longest.clear();
        if let Some(now) = self.found.now() {
            let time = now.time();
            self.table.fill(now.found.all().map(|(key, of)| row(key, of, time)));
            let longest = now.found.all().map(|(_, of)| of.durations.greatest().begin());
            self.longest.extend(longest);
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

    fn spot(&self, _: &Session, area: Rect, at: Position) -> Spot {
        Spot::of_row(self.table.row(area, at))
    }

    fn go(&mut self, to: Move, _: &mut Session) -> Result<bool, SubmitError> {
        self.table.go(to);
        Ok(true)
    }

    fn act(&mut self, action: &str, session: &mut Session) -> Result<Reply, SubmitError> {
        if action == "longest"
            && let Some(begin) = self.table.selected().and_then(|at| self.longest.get(at))
        {
            session.tab.set_time(*begin, None);
        }
        Ok(Reply::Done)
    }

    fn selected_text(&self, _: &Session) -> Option<String> {
        self.table.selected_text()
    }

    fn contents(&self, _: &Session) -> Contents {
        Contents::Table(self.table.contents("interrupts", &COLUMNS))
    }

    fn has_named_rows(&self) -> bool {
        true
    }

    fn find_row(&mut self, query: &RowQuery, step: Step, _: &mut Session) -> Option<Found> {
        self.table.find(query, step)
    }

    fn sort_rows(&mut self) {
        self.table.set_order(self.table.order().next_of(&RowOrder::OF_TABLES));
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        vec![("order", self.table.order().name().to_owned())]
    }

    fn restore(&mut self, name: &str, value: &str, _: &mut Session) -> Result<(), Fault> {
        if name == "order" {
            self.table.set_order(order_of(value)?);
        }
        Ok(())
    }

    fn note(&self, session: &Session) -> String {
        needs(session, Need::Interrupts).unwrap_or_else(|| {
            let order = self.table.order().title();
            format!("handlers that ended in the window, {order}; Enter goes to the longest")
        })
    }

    fn progress(&self) -> f64 {
        self.found.progress()
    }
}
