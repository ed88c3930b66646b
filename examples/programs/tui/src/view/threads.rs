//! The viewer of user-space threads: a row for each thread.

use ltt_read::Timestamp;
use lttv_state::kernel::KernelState;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Position, Rect};

use super::table::{Column, Table, TableRow};
use super::table_view::{TableContent, TableView};
use super::{canvas, chart_spot, marker, put, split};
use crate::keys::Key;
use crate::model::axis::Axis;
use crate::model::collected::Soon;
use crate::model::thread_ids::has_thread_ids;
use crate::model::threads::{Thread, ThreadKey, Threads};
use crate::session::Session;
use crate::time_text::length;
use crate::viewer::{Pane, Spot, ViewerAction, ViewerKind};

/// The events of each thread of user-space traces over time.
#[derive(Debug)]
struct ThreadRows {
    rows: Vec<Row>,
    /// The greatest number of events in a column.
    most: u32,
    /// The text about contexts that the traces lack, without which there are no rows.
    needs: Option<&'static str>,
}

/// The data of a row.
#[derive(Debug)]
struct Row {
    key: ThreadKey,
    label: String,
    /// The numbers of events by column.
    columns: Vec<u32>,
    /// The time at which its longest gap starts.
    gap: Option<Timestamp>,
}

/// Returns the kind of the viewer.
pub fn kind() -> ViewerKind {
    let gap = "the longest gap";
    ViewerKind::new("threads", "Threads", |setup| Box::new(TableView::<ThreadRows>::new(setup)))
        .summary("the events of each thread of user-space traces over time")
        .action(ViewerAction::new("gap", gap, [Key::new(KeyCode::Enter)]))
}

/// Returns what the traces need so that there are rows for threads; `None` if nothing.
fn needs(session: &Session) -> Option<&'static str> {
    let traces = session.traceset().traces();
    let user: Vec<_> = traces.iter().filter(|trace| !KernelState::follows(trace)).collect();
    match () {
        () if user.is_empty() => Some("needs a user-space trace: a kernel trace has Control flow"),
        () if user.iter().any(|trace| has_thread_ids(trace)) => None,
        () => Some("needs thread ids: lttng add-context -u -t vtid -t vpid -t procname"),
    }
}

/// The columns left of the chart: those of a narrow screen come first.
const COLUMNS: [Column; 5] =
    [("COMMAND", 14), ("TID", 7), ("PID", 7), ("EVENTS", 7), ("MAX GAP", 10)];

impl Row {
    fn new(key: &ThreadKey, of: &Thread) -> Self {
        let TableRow { name, cells, .. } = row(key, of);
        let label = format!("{name} ({})", cells[1]);
        let gap = of.gap.map(|(_, from)| from);
        Row { key: *key, label, columns: of.columns.clone(), gap }
    }
}

/// Returns the texts of a row.
fn row(key: &ThreadKey, of: &Thread) -> TableRow {
    let id = |id: Option<i64>| id.map_or_else(|| "?".to_owned(), |id| id.to_string());
    let name = if of.name.is_empty() { "?".to_owned() } else { of.name.clone() };
    let gap = of.gap.map_or_else(|| "-".to_owned(), |(gap, _)| length(gap));
    TableRow {
        cells: vec![name.clone(), id(key.vtid), id(of.vpid), of.events.to_string(), gap],
        name,
        ids: [key.vtid, of.vpid].into_iter().flatten().collect(),
        busy: of.events,
        identity: vec![key.trace.0 as u64, key.vtid.map_or(u64::MAX, i64::cast_unsigned)],
    }
}

impl TableContent for ThreadRows {
    type Found = Threads;

    const NAME: &'static str = "threads";
    const COLUMNS: &'static [Column] = &COLUMNS;
    const HEIGHT: (u16, u16) = (4, 4);

    fn new(session: &Session) -> Self {
        ThreadRows { rows: Vec::new(), most: 0, needs: needs(session) }
    }

    fn axis(session: &Session) -> Axis {
        session.axis()
    }

    fn fill(&mut self, table: &mut Table, now: &Soon<Threads>) {
        table.fill(now.found.all().map(|(key, of)| row(key, of)));
        self.rows.clear();
        self.rows.extend(now.found.all().map(|(key, of)| Row::new(key, of)));
        self.most = now.found.most();
    }

    /// Makes the row the thread that other viewers use.
    fn select(&self, row: Option<usize>, session: &mut Session) {
        let row = row.and_then(|at| self.rows.get(at));
        session.thread = row.map(|row| (row.key, row.label.clone()));
        session.process = None;
    }

    fn target(&self, row: usize) -> Option<Timestamp> {
        self.rows.get(row)?.gap
    }

    fn draw(&self, table: &Table, session: &Session, pane: Pane, buffer: &mut Buffer) {
        let Pane { area, look, .. } = pane;
        let (left, chart) = split(session, area);
        canvas(look, chart, buffer);
        let scale = format!("events in a column: 1–{}", self.most.max(1));
        put(buffer, chart, chart.x, chart.y, &scale, look.canvas());
        table.draw(&COLUMNS, Pane { area: left, ..pane }, buffer);
        for (at, y) in table.visible().zip(area.y + 1..area.bottom()) {
            let Some(row) = self.rows.get(at) else { continue };
            for (count, x) in row.columns.iter().zip(chart.left()..chart.right()) {
                let Some(cell) = buffer.cell_mut((x, y)).filter(|_| *count > 0) else { continue };
                // Never the full height, so that rows stay separate.
                let eighths = (u64::from(*count) * 7).div_ceil(u64::from(self.most.max(1)));
                let (sign, style) = look.bar(eighths.clamp(1, 7) as usize);
                cell.set_char(sign).set_style(style);
            }
        }
        let below = Rect { y: chart.y + 1, height: chart.height.saturating_sub(1), ..chart };
        marker(session, look, below, buffer);
    }

    fn spot(session: &Session, area: Rect, at: Position) -> Spot {
        chart_spot(session, area, at)
    }

    fn note(&self, table: &Table, _: &Session) -> String {
        match self.needs {
            Some(needs) => needs.to_owned(),
            None => {
                format!("{} with events in the window, {}", self.rows.len(), table.order().title())
            }
        }
    }
}
