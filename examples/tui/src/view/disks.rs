//! The disk performance viewer.

use lttv_requests::SubmitError;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::needs::{Need, needs};
use super::order_of;
use super::table::{Column, Table, TableRow};
use crate::keys::Move;
use crate::model::collected::Collected;
use crate::model::disks::Disks;
use crate::model::row_order::RowOrder;
use crate::model::row_search::{Found, RowQuery, Step};
use crate::session::Session;
use crate::traceset_change::TracesetChange;
use crate::viewer::{Contents, Fault, Pane, Setup, Spot, Viewer, ViewerKind};

/// The bytes and requests of each block device in the time window.
#[derive(Debug)]
pub struct DisksView {
    found: Collected<Disks>,
    table: Table,
}

/// Returns the kind of the viewer.
pub fn kind() -> ViewerKind {
    ViewerKind::new("disks", "Disk performance", |setup| Box::new(DisksView::new(setup)))
        .summary("bytes and requests of block devices in the time window")
}

impl DisksView {
    fn new(setup: &mut Setup<'_>) -> Self {
        DisksView { found: Collected::new(setup.owner()), table: Table::default() }
    }
}

const COLUMNS: [Column; 8] = [
    ("DISK", 20),
    ("READ bytes", 14),
    ("READ bytes/s", 14),
    ("READS", 8),
    ("WRITTEN bytes", 14),
    ("WRITTEN bytes/s", 15),
    ("WRITES", 8),
    ("OTHERS", 8),
];

impl Viewer for DisksView {
    fn height(&self) -> (u16, u16) {
        (3, 1)
    }

    fn update(&mut self, session: &mut Session, area: Rect) -> Result<(), SubmitError> {
        let (kernel, window) = (session.kernel, session.tab.window());
        self.found.set_window(&mut session.scheduler, kernel, window)?;
        if let Some(now) = self.found.now() {
            let seconds = now.time() as f64 / 1e9;
            self.table.fill(now.found.all().map(|((trace, number), disk)| {
                let rate = |bytes: u64| format!("{:.0}", bytes as f64 / seconds);
                let name = format!("{} ({number})", disk.name);
                let cells = vec![
                    name.clone(),
                    disk.read.1.to_string(),
                    rate(disk.read.1),
                    disk.read.0.to_string(),
                    disk.written.1.to_string(),
                    rate(disk.written.1),
                    disk.written.0.to_string(),
                    disk.others.to_string(),
                ];
                let busy = disk.read.1.saturating_add(disk.written.1);
                TableRow { cells, name, ids: vec![], busy, identity: vec![trace.0 as u64] }
            }));
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

    fn selected_text(&self, _: &Session) -> Option<String> {
        self.table.selected_text()
    }

    fn contents(&self, _: &Session) -> Contents {
        Contents::Table(self.table.contents("disks", &COLUMNS))
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
        let none = "no request to a block device was completed in the window";
        needs(session, Need::Disks).unwrap_or_else(|| match self.table.is_empty() {
            true => none.to_owned(),
            false => self.table.order().title().to_owned(),
        })
    }

    fn progress(&self) -> f64 {
        self.found.progress()
    }
}
