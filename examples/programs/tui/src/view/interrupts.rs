//! The interrupts viewer.

use ltt_read::Timestamp;
use ratatui::crossterm::event::KeyCode;

use super::needs::{Need, needs};
use super::table::{Column, Table, TableRow};
use super::table_view::{TableContent, TableView};
use crate::keys::Key;
use crate::model::collected::Soon;
use crate::model::interrupts::{Interrupt, InterruptKey, Interrupts};
use crate::session::Session;
use crate::time_text::length;
use crate::viewer::{ViewerAction, ViewerKind};
use lttv_state::durations::Spread;

/// The numbers and durations of interrupts in the time window.
#[derive(Debug)]
struct InterruptRows {
    /// The start of the longest handler of each row.
    longest: Vec<Timestamp>,
}

/// Returns the kind of the viewer.
pub fn kind() -> ViewerKind {
    let longest = "go to the longest";
    ViewerKind::new("interrupts", "Interrupts", |setup| {
        Box::new(TableView::<InterruptRows>::new(setup))
    })
    .summary("numbers, durations and periods of interrupts in the time window")
    .action(ViewerAction::new("longest", longest, [Key::new(KeyCode::Enter)]))
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
    let Interrupt { durations, periods, frequencies, .. } = of;
    // Without a measurement, there is no number.
    let cell = |of: &Spread, text: String| if of.count() > 0 { text } else { String::new() };
    let ns = |of: &Spread, ns: f64| cell(of, length(ns.round() as u64));
    let name = format!("{kind} {} {}", key.number, of.name);
    let cells = vec![
        name.clone(),
        key.cpu.to_string(),
        durations.count().to_string(),
        format!("{:.1}", durations.frequency(time)),
        length(durations.total()),
        ns(durations, durations.mean()),
        ns(durations, durations.deviation()),
        cell(durations, length(durations.greatest().value)),
        cell(durations, length(durations.least().value)),
        ns(periods, periods.mean()),
        ns(periods, periods.deviation()),
        cell(frequencies, format!("{:.1}", frequencies.deviation() / 1e3)),
    ];
    TableRow {
        cells,
        name,
        ids: vec![key.number.into()],
        busy: durations.total(),
        identity: vec![key.trace.0 as u64, key.cpu.into()],
    }
}

impl TableContent for InterruptRows {
    type Found = Interrupts;

    const NAME: &'static str = "interrupts";
    const COLUMNS: &'static [Column] = &COLUMNS;
    const HEIGHT: (u16, u16) = (4, 2);

    fn new(_: &Session) -> Self {
        InterruptRows { longest: Vec::new() }
    }

    fn fill(&mut self, table: &mut Table, now: &Soon<Interrupts>) {
        let time = now.time();
        table.fill(now.found.all().map(|(key, of)| row(key, of, time)));
        self.longest.clear();
        self.longest.extend(now.found.all().map(|(_, of)| of.durations.greatest().begin()));
    }

    fn target(&self, row: usize) -> Option<Timestamp> {
        self.longest.get(row).copied()
    }

    fn note(&self, table: &Table, session: &Session) -> String {
        needs(session, Need::Interrupts).unwrap_or_else(|| {
            let order = table.order().title();
            format!("handlers that ended in the window, {order}; Enter goes to the longest")
        })
    }
}
