//! The viewer of user-space threads: a row for each thread.

use ltt_read::Timestamp;
use lttv_requests::SubmitError;
use lttv_state::kernel::KernelState;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Position, Rect};

use super::table::{Column, Table, TableRow};
use super::{canvas, chart_spot, marker, order_of, put, split};
use crate::keys::{Key, Move};
use crate::model::collected::Collected;
use crate::model::row_order::RowOrder;
use crate::model::row_search::{Found, RowQuery, Step};
use crate::model::thread_ids::has_thread_ids;
use crate::model::threads::{Thread, ThreadKey, Threads};
use crate::session::Session;
use crate::time_text::length;
use crate::traceset_change::TracesetChange;
use crate::viewer::{Contents, Fault, Pane, Reply, Setup, Spot, Viewer, ViewerAction, ViewerKind};

/// The events of each thread of user-space traces over time.
#[derive(Debug)]
pub struct ThreadsView {
    found: Collected<Threads>,
    table: Table,
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
    ViewerKind::new("threads", "Threads", |setup| Box::new(ThreadsView::new(setup)))
        .summary("the events of each thread of user-space traces over time")
        .action(ViewerAction::new("gap", gap, [Key::new(KeyCode::Enter)]))
}

impl ThreadsView {
    fn new(setup: &mut Setup<'_>) -> Self {
        let found = Collected::new(setup.owner());
        let needs = needs(setup.session);
        ThreadsView { found, table: Table::default(), rows: Vec::new(), most: 0, needs }
    }

    /// Makes the selected row the thread that other viewers use.
    fn select(&self, session: &mut Session) {
        let row = self.table.selected().and_then(|at| self.rows.get(at));
        session.thread = row.map(|row| (row.key, row.label.clone()));
        session.process = None;
    }
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

/// Returns the columns that fit a width, without one that is cut.
fn fitting(width: u16) -> &'static [Column] {
    let mut used = 0;
    let fits = |(_, column): &&Column| {
        used += column + 1;
        used <= width + 1
    };
    &COLUMNS[..COLUMNS.iter().take_while(fits).count().max(1)]
}

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

impl Viewer for ThreadsView {
    fn height(&self) -> (u16, u16) {
        (4, 4)
    }

    fn update(&mut self, session: &mut Session, area: Rect) -> Result<(), SubmitError> {
        let (kernel, axis) = (session.kernel, session.axis());
        self.found.set_axis(&mut session.scheduler, kernel, axis)?;
        self.rows.clear();
        if let Some(now) = self.found.now() {
            self.table.fill(now.found.all().map(|(key, of)| row(key, of)));
            self.rows.extend(now.found.all().map(|(key, of)| Row::new(key, of)));
            self.most = now.found.most();
        }
        self.table.fit(area);
        Ok(())
    }

    fn resume(&mut self, session: &mut Session) -> Result<(), SubmitError> {
        self.found.resume(&mut session.scheduler, session.kernel)
    }

    fn reset(&mut self, session: &mut Session, _: &TracesetChange) {
        self.found.clear();
        self.rows.clear();
        self.needs = needs(session);
    }

    fn draw(&self, session: &Session, pane: Pane, buffer: &mut Buffer) {
        let Pane { area, look, .. } = pane;
        let (left, chart) = split(session, area);
        canvas(look, chart, buffer);
        let scale = format!("events in a column: 1–{}", self.most.max(1));
        put(buffer, chart, chart.x, chart.y, &scale, look.canvas());
        self.table.draw(fitting(left.width), Pane { area: left, ..pane }, buffer);
        for (at, y) in self.table.visible().zip(area.y + 1..area.bottom()) {
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

    fn spot(&self, session: &Session, area: Rect, at: Position) -> Spot {
        chart_spot(session, area, at).in_row(self.table.row(area, at))
    }

    fn go(&mut self, to: Move, session: &mut Session) -> Result<bool, SubmitError> {
        self.table.go(to);
        if !matches!(to, Move::View { .. }) {
            self.select(session);
        }
        Ok(true)
    }

    fn act(&mut self, action: &str, session: &mut Session) -> Result<Reply, SubmitError> {
        let row = self.table.selected().and_then(|at| self.rows.get(at));
        if action == "gap"
            && let Some(from) = row.and_then(|row| row.gap)
        {
            session.tab.set_time(from, None);
        }
        Ok(Reply::Done)
    }

    fn has_named_rows(&self) -> bool {
        true
    }

    fn find_row(&mut self, query: &RowQuery, step: Step, session: &mut Session) -> Option<Found> {
        let found = self.table.find(query, step)?;
        self.select(session);
        Some(found)
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

    fn selected_text(&self, _: &Session) -> Option<String> {
        self.table.selected_text()
    }

    fn contents(&self, _: &Session) -> Contents {
        Contents::Table(self.table.contents("threads", &COLUMNS))
    }

    fn note(&self, _: &Session) -> String {
        match self.needs {
            Some(needs) => needs.to_owned(),
            None => format!(
                "{} with events in the window, {}",
                self.rows.len(),
                self.table.order().title()
            ),
        }
    }

    fn progress(&self) -> f64 {
        self.found.progress()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_column_is_cut() {
        let titles = |width| fitting(width).iter().map(|of| of.0).collect::<Vec<_>>();
        assert_eq!(titles(49).last(), Some(&"MAX GAP"));
        assert_eq!(titles(48).last(), Some(&"EVENTS"));
        assert_eq!(titles(14), ["COMMAND"]);
        assert_eq!(titles(3), ["COMMAND"]);
    }
}
