//! The interrupts viewer.

use lttv_requests::SubmitError;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::table::{self, Column};
use super::{Scroll, Viewer};
use crate::keys::Action;
use crate::look::Look;
use crate::model::collected::Collected;
use crate::model::interrupts::{Interrupt, InterruptKey, Interrupts};
use crate::session::Session;
use crate::time_text::length;

/// How often each interrupt came in the time window, and how long it took.
#[derive(Debug, Default)]
pub struct InterruptsView {
    found: Collected<Interrupts>,
    scroll: Scroll,
    rows: Vec<Vec<String>>,
    /// Where the longest handler of each row began.
    longest: Vec<i64>,
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

fn row(key: &InterruptKey, of: &Interrupt, time: u64) -> Vec<String> {
    let kind = key.kind.label().to_uppercase();
    let ns = |ns: f64| length(ns.round() as u64);
    let extreme = |of: Option<(f64, i64)>| of.map_or_else(String::new, |(value, _)| ns(value));
    let durations = &of.durations;
    let seconds = time as f64 / 1e9;
    vec![
        format!("{kind} {} {}", key.number, of.name),
        key.cpu.to_string(),
        durations.count.to_string(),
        format!("{:.1}", durations.count as f64 / seconds),
        ns(durations.total),
        ns(durations.mean()),
        ns(durations.deviation()),
        extreme(durations.max),
        extreme(durations.min),
        ns(of.periods.mean()),
        ns(of.periods.deviation()),
        format!("{:.1}", of.frequencies.deviation()),
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
        self.rows.clear();
        self.longest.clear();
        if let Some(now) = self.found.now() {
            let time = now.time();
            self.rows.extend(now.found.all().map(|(key, of)| row(key, of, time)));
            let longest = |of: &Interrupt| of.durations.max.map_or(0, |(_, begin)| begin);
            self.longest.extend(now.found.all().map(|(_, of)| longest(of)));
        }
        self.scroll.fit(self.rows.len(), area.height.saturating_sub(1));
        Ok(())
    }

    fn draw(&self, session: &Session, look: Look, area: Rect, buffer: &mut Buffer) {
        let Scroll { top, selected, .. } = self.scroll;
        let selected = Some(selected).filter(|_| session.focus == self.title());
        table::draw(&COLUMNS, &self.rows, top, selected, look, area, buffer);
    }

    fn action(&mut self, action: Action, session: &mut Session) -> Result<bool, SubmitError> {
        if action == Action::Enter {
            if let Some(begin) = self.longest.get(self.scroll.selected) {
                session.tab.set_time(ltt_read::Timestamp::from_ns(*begin), None);
            }
            return Ok(true);
        }
        Ok(self.scroll.action(action, self.rows.len()))
    }

    fn note(&self, _: &Session) -> String {
        "those that ended in the window; Enter goes to the longest".to_owned()
    }

    fn progress(&self) -> f64 {
        self.found.progress()
    }
}
