//! The control flow viewer: a row for each process.

use ltt_read::TraceIndex;
use lttv_examples::paint::Paint;
use lttv_examples::table::{Cell, Kind, Table};
use lttv_requests::SubmitError;
use lttv_requests::views::{ProcessKey, ProcessLabel};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::{Scroll, canvas, chart_spot, marker, put, split, state_cells, states, strip};
use crate::keys::{Key, Move};
use crate::model::picture::Picture;
use crate::session::Session;
use crate::traceset_change::TracesetChange;
use crate::viewer::{
    Contents, Fault, Pane, Reply, Setup, Spot, Viewer, ViewerAction, ViewerKind, switch,
};

/// The states of each process over time.
#[derive(Debug)]
pub struct ControlFlowView {
    picture: Picture<ProcessKey>,
    order: Vec<Row>,
    scroll: Scroll,
    shows_inactive: bool,
    is_tree: bool,
    /// The number of rows without activity that are hidden.
    hidden: usize,
}

/// Returns the kind of the viewer.
pub fn kind() -> ViewerKind {
    let inactive = "rows without activity";
    let tree = "sort by pid, or tree";
    ViewerKind::new("control-flow", "Control flow", |setup| Box::new(ControlFlowView::new(setup)))
        .summary("the states of each process over time")
        .action(ViewerAction::new("inactive", inactive, [Key::char('A')]))
        .action(ViewerAction::new("tree", tree, [Key::char('S')]))
}

/// A visible row: its index in the chart, and its depth in the tree of processes.
#[derive(Debug, Clone, Copy)]
struct Row {
    at: usize,
    key: ProcessKey,
    depth: usize,
}

impl ControlFlowView {
    fn new(setup: &mut Setup<'_>) -> Self {
        ControlFlowView {
            picture: Picture::new(setup.owner()),
            order: Vec::new(),
            scroll: Scroll::default(),
            shows_inactive: false,
            is_tree: false,
            hidden: 0,
        }
    }

    /// Sorts rows in LTTV's order, or as a tree with children below their parents.
    fn sort(&mut self) {
        self.order.clear();
        self.hidden = 0;
        let Some(chart) = self.picture.chart() else { return };
        let (timeline, labels) = (chart.timeline(), chart.labels());
        let rows = timeline.rows();
        // Idle processes are visible as idle CPUs among the resources.
        let is_shown =
            |at: &usize| self.shows_inactive || rows[*at].is_active() && labels[*at].tid != Some(0);
        let order = chart.order().into_iter().filter(is_shown);
        let order: Vec<_> = order.map(|at| Row { at, key: *rows[at].key(), depth: 0 }).collect();
        self.hidden = rows.len() - order.len();
        self.order = if self.is_tree { tree(&labels, &order) } else { order };
    }
}

/// Returns the rows sorted as a tree, with children below their parents.
fn tree(labels: &[ProcessLabel], order: &[Row]) -> Vec<Row> {
    let id = |row: &Row| (row.key.trace, labels[row.at].tid);
    let parent = |row: &Row| (row.key.trace, labels[row.at].parent);
    let is_idle = |of: (TraceIndex, Option<i32>)| of.1.is_none_or(|tid| tid == 0);
    let known: std::collections::HashSet<_> = order.iter().map(id).collect();
    let mut children: std::collections::HashMap<_, Vec<Row>> = Default::default();
    let mut todo = Vec::new();
    for row in order {
        let of = parent(row);
        // A thread is below its process.
        let pid = labels[row.at].pid.filter(|pid| Some(*pid) != labels[row.at].tid);
        let above = match pid.map(|pid| (row.key.trace, Some(pid))) {
            Some(process) if known.contains(&process) => Some(process),
            _ => Some(of).filter(|of| !is_idle(*of) && known.contains(of) && *of != id(row)),
        };
        match above {
            Some(above) => children.entry(above).or_default().push(*row),
            None => todo.push(*row),
        }
    }
    todo.reverse();
    let mut sorted = Vec::new();
    let mut seen = vec![false; labels.len()];
    while let Some(row) = todo.pop() {
        if std::mem::replace(&mut seen[row.at], true) {
            continue;
        }
        sorted.push(row);
        if is_idle(id(&row)) {
            continue;
        }
        let below = children.remove(&id(&row)).unwrap_or_default();
        todo.extend(below.into_iter().rev().map(|below| Row { depth: row.depth + 1, ..below }));
    }
    // Damaged traces may contain cycles of parents.
    sorted.extend(order.iter().filter(|row| !seen[row.at]).copied());
    sorted
}

/// The columns left of the chart: heading, width, and the least width of the label area at
/// which the column is visible.
const COLUMNS: [(&str, u16, u16); 9] = [
    ("PROCESS", 16, 1),
    ("PID", 7, 24),
    ("TGID", 7, 42),
    ("PPID", 7, 50),
    ("CPU", 3, 28),
    ("BRAND", 10, 90),
    ("BIRTH s", 11, 90),
    ("BIRTH ns", 9, 90),
    ("TRACE", 5, 90),
];

fn number(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "?".to_owned(), |value| value.to_string())
}

impl Viewer for ControlFlowView {
    fn height(&self) -> (u16, u16) {
        (4, 4)
    }

    fn update(&mut self, session: &mut Session, area: Rect) -> Result<(), SubmitError> {
        let (kernel, axis) = (session.kernel, session.axis());
        self.picture.set_axis(&mut session.scheduler, kernel, axis)?;
        self.sort();
        if let Some((process, _)) = session.process
            && let Some(at) = self.order.iter().position(|row| row.key == process)
        {
            self.scroll.selected = at;
        }
        self.scroll.fit(self.order.len(), area.height.saturating_sub(1));
        Ok(())
    }

    fn resume(&mut self, session: &mut Session) -> Result<(), SubmitError> {
        self.picture.resume(&mut session.scheduler, session.kernel)
    }

    fn reset(&mut self, _: &mut Session, _: &TracesetChange) {
        self.picture.clear();
        self.order.clear();
    }

    fn draw(&self, session: &Session, pane: Pane, buffer: &mut Buffer) {
        let Pane { area, look, .. } = pane;
        let (left, chart) = split(session, area);
        canvas(look, chart, buffer);
        let columns = || COLUMNS.iter().filter(|column| left.width >= column.2);
        let mut x = left.x;
        for (heading, width, _) in columns() {
            put(buffer, left, x, left.y, heading, look.faint());
            x = x.saturating_add(width + 1);
        }
        super::status::legend(&Paint::OF_PROCESSES, look, chart, buffer);
        let Some(drawn) = self.picture.chart() else { return };
        let labels = drawn.labels();
        let shown = self.order.iter().enumerate().skip(self.scroll.top);
        for ((at, row), y) in shown.zip(area.y + 1..area.bottom()) {
            let Some(of) = labels.get(row.at) else { continue };
            let is_selected = session.process.as_ref().is_some_and(|(key, _)| *key == row.key);
            let is_selected =
                is_selected || session.process.is_none() && at == self.scroll.selected;
            let style = if is_selected { look.selected() } else { Default::default() };
            let line = Rect { y, height: 1, ..left };
            if is_selected {
                buffer.set_style(line.intersection(buffer.area), style);
            }
            let name = format!("{:>1$}{2}", "", row.depth.min(8), of.title());
            let cells = [
                name,
                number(of.tid),
                number(of.pid),
                number(of.parent),
                number(of.cpu),
                of.brand.clone(),
                (of.birth.as_ns() / 1_000_000_000).to_string(),
                format!("{:09}", of.birth.as_ns().rem_euclid(1_000_000_000)),
                row.key.trace.0.to_string(),
            ];
            let mut x = left.x;
            for (cell, (_, width, from)) in cells.iter().zip(&COLUMNS) {
                if left.width >= *from {
                    let room = Rect { x, width: *width, ..line }.intersection(line);
                    put(buffer, room, x, y, cell, style);
                    x = x.saturating_add(width + 1);
                }
            }
            let cells = self.picture.cells(row.at, |state| Some(state.into()));
            strip(look, Rect { y, height: 1, ..chart }, buffer, &cells);
        }
        marker(session, look, Rect { y: chart.y + 1, height: chart.height - 1, ..chart }, buffer);
    }

    fn spot(&self, session: &Session, area: Rect, at: Position) -> Spot {
        let line = at.y.checked_sub(area.y + 1);
        let row = line.and_then(|line| self.scroll.row(line, self.order.len()));
        chart_spot(session, area, at).in_row(row)
    }

    fn go(&mut self, to: Move, session: &mut Session) -> Result<bool, SubmitError> {
        self.scroll.go(to, self.order.len());
        if let Move::View { .. } = to {
            return Ok(true);
        }
        let row = self.order.get(self.scroll.selected).copied();
        let labels = self.picture.chart().map(|chart| chart.labels());
        session.process = row.and_then(|row| {
            let of = labels.as_ref()?.get(row.at)?;
            Some((row.key, format!("{} ({})", of.title(), number(of.tid))))
        });
        Ok(true)
    }

    fn act(&mut self, action: &str, _: &mut Session) -> Result<Reply, SubmitError> {
        match action {
            "inactive" => self.shows_inactive = !self.shows_inactive,
            "tree" => self.is_tree = !self.is_tree,
            _ => {}
        }
        Ok(Reply::Done)
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let settings = [("inactive", self.shows_inactive), ("tree", self.is_tree)];
        settings.map(|(name, is_on)| (name, is_on.to_string())).into()
    }

    fn restore(&mut self, name: &str, value: &str, _: &mut Session) -> Result<(), Fault> {
        match name {
            "inactive" => self.shows_inactive = switch(value)?,
            "tree" => self.is_tree = switch(value)?,
            _ => {}
        }
        Ok(())
    }

    fn selected_text(&self, _: &Session) -> Option<String> {
        let labels = self.picture.chart()?.labels();
        let of = labels.get(self.order.get(self.scroll.selected)?.at)?;
        let (tid, pid, parent) = (number(of.tid), number(of.pid), number(of.parent));
        Some(format!("{}  TID {tid}  PID {pid}  parent {parent}", of.title()))
    }

    /// The states of the visible rows, as far as columns of the screen tell them apart.
    fn contents(&self, _: &Session) -> Contents {
        let mut table = states(
            Table::new("states", "States of processes")
                .column("comm", "COMMAND", Kind::Text)
                .column("tid", "TID", Kind::Integer)
                .column("pid", "PID", Kind::Integer),
        );
        let Some(chart) = self.picture.chart() else { return Contents::Table(table) };
        let (timeline, labels) = (chart.timeline(), chart.labels());
        let integer = |id: Option<i32>| id.map_or(Cell::Empty, |id| Cell::from(i64::from(id)));
        for row in &self.order {
            let (Some(of), Some(line)) = (labels.get(row.at), timeline.rows().get(row.at)) else {
                continue;
            };
            let label = [Cell::from(of.title().to_string()), integer(of.tid), integer(of.pid)];
            for segment in line.segments() {
                let state = Paint::from(segment.state).label();
                table.push([&label[..], &state_cells(&segment, state)].concat());
            }
        }
        Contents::Table(table)
    }

    fn note(&self, _: &Session) -> String {
        let sorted = if self.is_tree { "tree" } else { "by pid" };
        let hidden = match self.hidden {
            0 => String::new(),
            hidden => format!(", {hidden} idle hidden"),
        };
        format!("{} processes, {sorted}{hidden}", self.order.len())
    }

    fn progress(&self) -> f64 {
        self.picture.progress()
    }
}
