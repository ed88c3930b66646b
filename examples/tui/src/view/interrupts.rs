//! The interrupts viewer.

use ltt_read::Timestamp;
use lttv_requests::SubmitError;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Viewer;
use super::table::{Column, Table};
use crate::keys::Action;
use crate::look::Look;
use crate::model::collected::Collected;
use crate::model::interrupts::{Interrupt, InterruptKey, Interrupts};
use crate::session::Session;
use crate::time_text::length;

/// The numbers and durations of interrupts in the time window.
#[derive(Debug, Default)]
pub struct InterruptsView {
    found: Collected<Interrupts>,
    table: Table,
    /// The start of the longest handler of each row.
    longest: Vec<Timestamp>,
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

/// Returns the texts of a row; `time` is the time span in ns.
fn row(key: &InterruptKey, of: &Interrupt, time: u64) -> Vec<String> {
    let kind = key.kind.label().to_uppercase();
    let ns = |ns: f64| length(ns.round() as u64);
    let durations = &of.durations;
    vec![
        format!("{kind} {} {}", key.number, of.name),
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
    ]
}

impl Viewer for InterruptsView {
    fn title(&self) -> &'static str {
        "Interrupts"
    }

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

    fn draw(&self, session: &Session, look: Look, area: Rect, buffer: &mut Buffer) {
        let has_focus = session.focus == self.title();
        self.table.draw(&COLUMNS, has_focus, look, area, buffer);
    }

    fn action(&mut self, action: Action, session: &mut Session) -> Result<bool, SubmitError> {
        if action == Action::Enter {
            if let Some(begin) = self.longest.get(self.table.selected()) {
                session.tab.set_time(*begin, None);
            }
            return Ok(true);
        }
        Ok(self.table.action(action))
    }

    fn note(&self, _: &Session) -> String {
        "handlers that ended in the window; Enter goes to the longest".to_owned()
    }

    fn progress(&self) -> f64 {
        self.found.progress()
    }
}
