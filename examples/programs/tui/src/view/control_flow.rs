//! The control flow viewer: a row for each process.

use lttv_common::paint::Paint;
use lttv_common::table::Table;
use lttv_requests::SubmitError;
use lttv_requests::views::ProcessKey;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Position, Rect};

use super::needs::{Need, needs};
use super::{
    INACTIVE, LabelColumn, Scroll, StateRow, arrows, canvas, chart_spot, labels, marker, order_of,
    split, state_words, states, strip,
};
use crate::keys::{Key, Move};
use crate::model::arrows::Arrows;
use crate::model::picture::Picture;
use crate::model::process_rows::{ProcessRow, ProcessRows};
use crate::model::row_order::RowOrder;
use crate::model::row_search::{Found, RowQuery, Step};
use crate::model::state_at::StateAt;
use crate::session::{SelectedProcess, Session};
use crate::traceset_change::TracesetChange;
use crate::viewer::{
    Contents, Fault, Pane, Reply, Setup, Spot, Viewer, ViewerAction, ViewerKind, switch,
};

/// The states of each process over time.
#[derive(Debug)]
pub struct ControlFlowView {
    picture: Picture<ProcessKey>,
    arrows: Arrows,
    hides_messages: bool,
    rows: ProcessRows,
    scroll: Scroll,
    state: StateAt,
}

/// Returns the kind of the viewer.
pub fn kind() -> ViewerKind {
    let inactive = "rows without activity";
    ViewerKind::new("control-flow", "Control flow", |setup| Box::new(ControlFlowView::new(setup)))
        .summary("the states of each process over time")
        .action(ViewerAction::new("inactive", inactive, [INACTIVE]))
        .action(ViewerAction::new("messages", "arrows of messages", [Key::char('M')]))
        .action(ViewerAction::new("state", "state in words", [Key::new(KeyCode::Enter)]))
}

impl ControlFlowView {
    fn new(setup: &mut Setup<'_>) -> Self {
        ControlFlowView {
            picture: Picture::new(setup.owner()),
            arrows: Arrows::new(setup.owner()),
            hides_messages: false,
            rows: ProcessRows::default(),
            scroll: Scroll::default(),
            state: StateAt::new(setup.owner()),
        }
    }

    /// Returns the selected process, and its label.
    fn select(&self, row: Option<ProcessRow>) -> Option<SelectedProcess> {
        let labels = self.picture.chart()?.labels();
        let of = labels.get(row?.at)?;
        let label = format!("{} ({})", of.title(), number(of.tid));
        Some(SelectedProcess { key: row?.key, tid: of.tid, time: of.birth, label })
    }
}

/// The columns left of the chart.
const COLUMNS: [LabelColumn; 9] = [
    ("COMMAND", 16, 1),
    ("TID", 7, 24),
    ("PID", 7, 42),
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
        if !self.hides_messages {
            let traceset = session.traceset().clone();
            self.arrows.set_axis(&mut session.scheduler, kernel, &traceset, axis)?;
        }
        if let Some(chart) = self.picture.chart() {
            self.rows.update(chart);
        }
        let selected = session.process.as_ref().map(|of| of.key);
        let rows = self.rows.shown();
        if let Some(at) = rows.iter().position(|row| Some(row.key) == selected) {
            self.scroll.selected = at;
        }
        self.scroll.fit(rows.len(), area.height.saturating_sub(1));
        let place = selected.map(|process| (process, session.tab.time()));
        self.state.ask(&mut session.scheduler, session.kernel, place)
    }

    fn resume(&mut self, session: &mut Session) -> Result<(), SubmitError> {
        self.state.clear();
        self.arrows.resume(&mut session.scheduler, session.kernel)?;
        self.picture.resume(&mut session.scheduler, session.kernel)
    }

    fn reset(&mut self, _: &mut Session, _: &TracesetChange) {
        self.picture.clear();
        self.arrows.clear();
        self.rows.clear();
        self.state.clear();
    }

    fn draw(&self, session: &Session, pane: Pane, buffer: &mut Buffer) {
        let Pane { area, look, .. } = pane;
        let (left, chart) = split(session, area);
        canvas(look, chart, buffer);
        let headings = COLUMNS.iter().map(|column| column.0);
        labels(&COLUMNS, headings, Rect { height: 1, ..left }, look.faint(), buffer);
        super::status::legend(&Paint::OF_PROCESSES, look, chart, buffer);
        let Some(drawn) = self.picture.chart() else { return };
        let processes = drawn.labels();
        let shown = self.rows.shown().iter().enumerate().skip(self.scroll.top);
        for ((at, row), y) in shown.zip(area.y + 1..area.bottom()) {
            let Some(of) = processes.get(row.at) else { continue };
            let is_selected = session.process.as_ref().is_some_and(|of| of.key == row.key);
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
            let cells = cells.iter().map(|cell| &**cell);
            labels(&COLUMNS, cells, line, style, buffer);
            let cells = self.picture.cells(row.at, |state| Some(state.into()));
            strip(look, Rect { y, height: 1, ..chart }, buffer, &cells);
        }
        let chart = Rect { y: chart.y + 1, height: chart.height - 1, ..chart };
        if !self.hides_messages {
            let keys: Vec<_> = self.rows.shown().iter().map(|row| row.key).collect();
            let selected = session.process.as_ref().map(|of| of.key);
            arrows::draw(&self.arrows.all(), &keys, self.scroll.top, selected, look, chart, buffer);
        }
        marker(session, look, chart, buffer);
    }

    fn spot(&self, session: &Session, area: Rect, at: Position) -> Spot {
        let line = at.y.checked_sub(area.y + 1);
        let row = line.and_then(|line| self.scroll.row(line, self.rows.shown().len()));
        chart_spot(session, area, at).in_row(row)
    }

    fn go(&mut self, to: Move, session: &mut Session) -> Result<bool, SubmitError> {
        self.scroll.go(to, self.rows.shown().len());
        if let Move::View { .. } = to {
            return Ok(true);
        }
        session.process = self.select(self.rows.shown().get(self.scroll.selected).copied());
        Ok(true)
    }

    fn act(&mut self, action: &str, session: &mut Session) -> Result<Reply, SubmitError> {
        match action {
            "inactive" => self.rows.show_inactive(!self.rows.shows_inactive()),
            "messages" => {
                self.hides_messages = !self.hides_messages;
                if self.hides_messages {
                    self.arrows.stop(&mut session.scheduler);
                }
            }
            "state" => match state_words::popup(&self.state, session) {
                Some(popup) => return Ok(Reply::Show(popup)),
                None => session.message = Some("no state of a selected process here".to_owned()),
            },
            _ => {}
        }
        Ok(Reply::Done)
    }

    fn has_named_rows(&self) -> bool {
        true
    }

    fn find_row(&mut self, query: &RowQuery, step: Step, session: &mut Session) -> Option<Found> {
        let labels = self.picture.chart()?.labels();
        let shown = self.rows.shown().get(self.scroll.selected).map(|row| row.key);
        let from = session.process.as_ref().map(|of| of.key).or(shown);
        let (row, found) = self.rows.find(&labels, query, from, step)?;
        session.process = self.select(Some(row));
        Some(found)
    }

    fn sort_rows(&mut self) {
        self.rows.set_order(self.rows.order().next_of(&RowOrder::OF_PROCESSES));
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let order = ("order", self.rows.order().name().to_owned());
        let messages = ("messages", (!self.hides_messages).to_string());
        vec![("inactive", self.rows.shows_inactive().to_string()), order, messages]
    }

    fn restore(&mut self, name: &str, value: &str, _: &mut Session) -> Result<(), Fault> {
        match name {
            "inactive" => self.rows.show_inactive(switch(value)?),
            "order" => self.rows.set_order(order_of(value)?),
            "messages" => self.hides_messages = !switch(value)?,
            // A setting of former versions.
            "tree" if switch(value)? => self.rows.set_order(RowOrder::Tree),
            _ => {}
        }
        Ok(())
    }

    fn selected_text(&self, _: &Session) -> Option<String> {
        let labels = self.picture.chart()?.labels();
        let of = labels.get(self.rows.shown().get(self.scroll.selected)?.at)?;
        let (tid, pid, parent) = (number(of.tid), number(of.pid), number(of.parent));
        Some(format!("{}  TID {tid}  PID {pid}  parent {parent}", of.title()))
    }

    /// Returns the states of the visible rows, as far as columns of the screen tell them apart.
    fn contents(&self, _: &Session) -> Contents {
        let chart = self.picture.chart();
        let labels = chart.map(|chart| chart.labels());
        let mut rows = Vec::new();
        if let (Some(chart), Some(labels)) = (chart, &labels) {
            let timeline = chart.timeline();
            for row in self.rows.shown() {
                let (of, line) = (labels.get(row.at), timeline.rows().get(row.at));
                let (Some(label), Some(line)) = (of, line) else { continue };
                rows.extend(line.segments().map(|segment| {
                    let state = Paint::from(segment.state).label();
                    StateRow { label, segment, state }
                }));
            }
        }
        let table = Table::of("states", "States of processes", &rows)
            .text("comm", "COMMAND", |row| row.label.title().to_string())
            .integer("tid", "TID", |row| row.label.tid)
            .integer("pid", "PID", |row| row.label.pid);
        Contents::Table(states(table))
    }

    fn note(&self, session: &Session) -> String {
        if let Some(needs) = needs(session, Need::Processes) {
            return needs;
        }
        let hidden = match self.rows.hidden() {
            0 => String::new(),
            hidden => format!(", {hidden} that did not run are hidden ({INACTIVE})"),
        };
        let order = match self.rows.order() {
            RowOrder::Number => "by TID",
            other => other.title(),
        };
        let number = self.rows.shown().len();
        let noun = if number == 1 { "process" } else { "processes" };
        let messages = match self.arrows.count().filter(|_| !self.hides_messages) {
            None => String::new(),
            Some(1) => ", 1 message between hosts".to_owned(),
            Some(count) => format!(", {count} messages between hosts"),
        };
        format!("{number} {noun} {order}{hidden}{messages}")
    }

    fn detail(&self, session: &Session) -> Option<String> {
        state_words::line(&self.state, session)
    }

    fn progress(&self) -> f64 {
        self.picture.progress()
    }
}
