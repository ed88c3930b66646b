//! The disk performance viewer.

use super::needs::{Need, needs};
use super::table::{Column, Table, TableRow};
use super::table_view::{TableContent, TableView};
use crate::model::collected::Soon;
use crate::model::disks::Disks;
use crate::session::Session;
use crate::viewer::ViewerKind;

/// The bytes and requests of each block device in the time window.
#[derive(Debug)]
struct DiskRows;

/// Returns the kind of the viewer.
pub fn kind() -> ViewerKind {
    ViewerKind::new("disks", "Disk performance", |setup| {
        Box::new(TableView::<DiskRows>::new(setup))
    })
    .summary("bytes and requests of block devices in the time window")
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

impl TableContent for DiskRows {
    type Found = Disks;

    const NAME: &'static str = "disks";
    const COLUMNS: &'static [Column] = &COLUMNS;
    const HEIGHT: (u16, u16) = (3, 1);

    fn new(_: &Session) -> Self {
        DiskRows
    }

    fn fill(&mut self, table: &mut Table, now: &Soon<Disks>) {
        let seconds = now.time() as f64 / 1e9;
        table.fill(now.found.all().map(|((trace, number), disk)| {
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

    fn note(&self, table: &Table, session: &Session) -> String {
        let none = "no request to a block device was completed in the window";
        needs(session, Need::Disks).unwrap_or_else(|| match table.is_empty() {
            true => none.to_owned(),
            false => table.order().title().to_owned(),
        })
    }
}
