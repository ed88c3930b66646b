//! The disk performance viewer.

use lttv_requests::SubmitError;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Viewer;
use super::table::{Column, Table};
use crate::keys::Action;
use crate::look::Look;
use crate::model::collected::Collected;
use crate::model::disks::Disks;
use crate::session::Session;

/// The bytes and requests of each block device in the time window.
#[derive(Debug, Default)]
pub struct DisksView {
    found: Collected<Disks>,
    table: Table,
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
    fn title(&self) -> &'static str {
        "Disk performance"
    }

    fn height(&self) -> (u16, u16) {
        (3, 1)
    }

    fn update(&mut self, session: &mut Session, area: Rect) -> Result<(), SubmitError> {
        let (kernel, window) = (session.kernel, session.tab.window());
        self.found.set_window(&mut session.scheduler, kernel, window)?;
        if let Some(now) = self.found.now() {
            let seconds = now.time() as f64 / 1e9;
            self.table.fill(now.found.all().map(|((_, number), disk)| {
                let rate = |bytes: u64| format!("{:.0}", bytes as f64 / seconds);
                vec![
                    format!("{} ({number})", disk.name),
                    disk.read.1.to_string(),
                    rate(disk.read.1),
                    disk.read.0.to_string(),
                    disk.written.1.to_string(),
                    rate(disk.written.1),
                    disk.written.0.to_string(),
                    disk.others.to_string(),
                ]
            }));
        }
        self.table.fit(area);
        Ok(())
    }

    fn draw(&self, session: &Session, look: Look, area: Rect, buffer: &mut Buffer) {
        let has_focus = session.focus == self.title();
        self.table.draw(&COLUMNS, has_focus, look, area, buffer);
    }

    fn action(&mut self, action: Action, _: &mut Session) -> Result<bool, SubmitError> {
        Ok(self.table.action(action))
    }

    fn note(&self, _: &Session) -> String {
        let none = "no request to a block device was completed in the window";
        if self.table.is_empty() { none.to_owned() } else { String::new() }
    }

    fn progress(&self) -> f64 {
        self.found.progress()
    }
}
