//! The critical-path viewer: what the selected thread really waited for in the time window.

use std::sync::Arc;

use ltt_read::Timestamp;
use lttv_common::critical_path::{label, words};
use lttv_common::table::Table;
use lttv_requests::views::TimeWindow;
use lttv_requests::{Owner, SubmitError};
use lttv_state::waits::{TimelineId, WaitGraph};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Position, Rect};

use super::needs::{Need, needs};
use super::{LabelColumn, Scroll, canvas, chart_spot, labels, marker, split, strip};
use crate::keys::{Key, Move};
use crate::model::critical_path::{PathRows, busiest};
use crate::model::row_search::{Found, RowQuery, Step};
use crate::session::{OfWindow, Session};
use crate::time_text::length;
use crate::traceset_change::TracesetChange;
use crate::viewer::{Contents, Pane, Reply, Setup, Spot, Viewer, ViewerAction, ViewerKind};

/// The critical path of the selected thread, or of the one that runs longest: a row for each thread
/// on it.
#[derive(Debug)]
struct CriticalPathView {
    owner: Owner,
    graph: Option<Arc<OfWindow<WaitGraph>>>,
    progress: f64,
    /// The path, with what it was found for.
    found: Option<(Wanted, Option<PathRows>)>,
    rows: Scroll,
}

/// The question that a path answers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wanted {
    graph: u64,
    /// The selected thread; `None` for the one that runs longest.
    thread: Option<TimelineId>,
    window: TimeWindow,
}

const LONGEST: &str = "longest";
const NEXT: &str = "next";
const PREVIOUS: &str = "previous";
const ENTER: Key = Key::new(KeyCode::Enter);
const NEXT_KEY: Key = Key::char('V');
const BACKSPACE: Key = Key::new(KeyCode::Backspace);

/// The number of kinds in the heading.
const SHARES: usize = 3;

/// The columns left of the chart.
const COLUMNS: [LabelColumn; 3] = [("THREAD", 22, 1), ("TIME", 10, 34), ("%", 5, 40)];

/// Returns the kind of the viewer.
pub fn kind() -> ViewerKind {
    let new = |setup: &mut Setup<'_>| -> Box<dyn Viewer> { Box::new(CriticalPathView::new(setup)) };
    ViewerKind::new("critical-path", "Critical path", new)
        .summary("what the selected thread really waited for in the time window")
        .action(ViewerAction::new(LONGEST, "its longest part", [ENTER]))
        .action(ViewerAction::new(NEXT, "next part", [NEXT_KEY]))
        .action(ViewerAction::new(PREVIOUS, "part before", [BACKSPACE]))
}

impl CriticalPathView {
    fn new(setup: &mut Setup<'_>) -> Self {
        let owner = setup.owner();
        let rows = Scroll::default();
        CriticalPathView { owner, graph: None, progress: 0.0, found: None, rows }
    }

    fn path(&self) -> Option<&PathRows> {
        self.found.as_ref()?.1.as_ref()
    }

    /// Returns the graph.
    fn graph(&self) -> Option<&WaitGraph> {
        self.graph.as_ref().map(|of| &of.found)
    }

    /// Finds the path again, if the question has changed.
    fn find(&mut self, session: &Session) {
        let Some(of) = &self.graph else {
            self.found = None;
            return;
        };
        let (graph, window) = (&of.found, session.tab.window());
        let thread = session.process.as_ref().and_then(|process| process.timeline(graph));
        let wanted = Wanted { graph: of.number, thread, window };
        if self.found.as_ref().is_none_or(|(known, _)| *known != wanted) {
            let thread = thread.or_else(|| busiest(graph, window));
            let path = thread.and_then(|thread| PathRows::find(graph, thread, window));
            self.found = Some((wanted, path));
        }
    }

    /// Goes to the start of a part of the path, and selects its thread.
    fn go_to(&mut self, start: Timestamp, session: &mut Session) {
        session.tab.set_time(start, None);
        let path = self.path();
        let row = path.and_then(|path| path.row_of(path.segment_at(start)?.thread));
        if let Some(row) = row {
            self.rows.go(Move::To(row), self.path().map_or(0, |path| path.rows().len()));
        }
    }
}

/// Returns a part in percent.
fn percent(part: u64, of: u64) -> String {
    format!("{:.1}", 100.0 * part as f64 / of.max(1) as f64)
}

/// Returns the length of the window of a path, in ns.
fn length_of(path: &PathRows) -> u64 {
    let window = path.path().window();
    window.end.as_ns().abs_diff(window.start.as_ns())
}

impl Viewer for CriticalPathView {
    fn height(&self) -> (u16, u16) {
        (4, 3)
    }

    fn update(&mut self, session: &mut Session, area: Rect) -> Result<(), SubmitError> {
        session.wants_wait_graph(self.owner);
        self.progress = session.wait_graph_progress();
        self.graph = session.wait_graph();
        self.find(session);
        let rows = self.path().map_or(0, |path| path.rows().len());
        self.rows.fit(rows, area.height.saturating_sub(1));
        Ok(())
    }

    fn resume(&mut self, session: &mut Session) -> Result<(), SubmitError> {
        session.resume_wait_graph();
        Ok(())
    }

    fn reset(&mut self, _: &mut Session, _: &TracesetChange) {
        (self.graph, self.found) = (None, None);
    }

    fn draw(&self, session: &Session, pane: Pane, buffer: &mut Buffer) {
        let Pane { area, look, has_focus } = pane;
        let (left, chart) = split(session, area);
        canvas(look, chart, buffer);
        let headings = COLUMNS.iter().map(|column| column.0);
        labels(&COLUMNS, headings, Rect { height: 1, ..left }, look.faint(), buffer);
        super::status::legend(&lttv_common::critical_path::PAINTS, look, chart, buffer);
        let Some(path) = self.path() else { return };
        let all = length_of(path);
        let rows = path.rows().iter().enumerate().skip(self.rows.top);
        for ((at, row), y) in rows.zip(area.y + 1..area.bottom()) {
            let is_selected = at == self.rows.selected && has_focus;
            let style = if is_selected { look.selected() } else { Default::default() };
            let line = Rect { y, height: 1, ..left };
            buffer.set_style(line.intersection(buffer.area), style);
            let cells = [row.label.clone(), length(row.time), percent(row.time, all)];
            labels(&COLUMNS, cells.iter().map(|cell| &**cell), line, style, buffer);
            strip(look, Rect { y, height: 1, ..chart }, buffer, &path.cells(at, session.axis()));
        }
        let below = Rect { y: chart.y + 1, height: chart.height.saturating_sub(1), ..chart };
        marker(session, look, below, buffer);
    }

    fn spot(&self, session: &Session, area: Rect, at: Position) -> Spot {
        let rows = self.path().map_or(0, |path| path.rows().len());
        let line = at.y.checked_sub(area.y + 1);
        let row = line.and_then(|line| self.rows.row(line, rows));
        chart_spot(session, area, at).in_row(row)
    }

    fn go(&mut self, to: Move, _: &mut Session) -> Result<bool, SubmitError> {
        self.rows.go(to, self.path().map_or(0, |path| path.rows().len()));
        Ok(true)
    }

    fn has_named_rows(&self) -> bool {
        true
    }

    fn find_row(&mut self, query: &RowQuery, step: Step, _: &mut Session) -> Option<Found> {
        let rows = self.path()?.rows();
        let ids: Vec<_> = rows.iter().map(|row| [i64::from(row.tid)]).collect();
        let named = ids.iter().zip(rows).map(|(ids, row)| (&ids[..], &*row.label));
        let found = query.find(named, self.rows.selected, step)?;
        self.rows.go(Move::To(found.row), self.path()?.rows().len());
        Some(found)
    }

    fn act(&mut self, action: &str, session: &mut Session) -> Result<Reply, SubmitError> {
        let (Some(path), time) = (self.path(), session.tab.time()) else {
            return Ok(Reply::Done);
        };
        let segment = match action {
            // The first of several.
            LONGEST => path.segments(self.rows.selected).rev().max_by_key(|segment| segment.time()),
            NEXT => path.next(time),
            PREVIOUS => path.previous(time),
            _ => None,
        };
        if let Some(start) = segment.map(|segment| segment.start) {
            self.go_to(start, session);
        }
        Ok(Reply::Done)
    }

    fn note(&self, session: &Session) -> String {
        if let Some(needs) = needs(session, Need::Processes) {
            return needs;
        }
        let (Some(graph), Some(path)) = (self.graph(), self.path()) else {
            let is_complete = self.graph.is_some() && self.progress >= 1.0;
            let text = if is_complete { "no state of the thread in the window" } else { "" };
            return text.to_owned();
        };
        let all = length_of(path);
        let kinds = path.path().by_kind();
        let shares = kinds.iter().take(SHARES);
        let shares =
            shares.map(|(kind, times)| format!("{kind} {} %", percent(times.total(), all)));
        let is_selected = self.found.as_ref().is_some_and(|(wanted, _)| wanted.thread.is_some());
        let whose = if is_selected { "" } else { ", which runs longest" };
        let trace = graph.timeline(path.path().thread()).map(|timeline| timeline.trace());
        let missing = trace.and_then(|trace| graph.missing(trace)).unwrap_or_default();
        let missing = missing.first().map(|of| format!("; without {of}"));
        format!(
            "of {}{whose}: {} ({ENTER}: longest part, {NEXT_KEY}: next){}",
            label(graph, path.path().thread()),
            shares.collect::<Vec<_>>().join(", "),
            missing.unwrap_or_default(),
        )
    }

    fn contents(&self, _: &Session) -> Contents {
        let graph = self.graph();
        let path = self.path().filter(|_| graph.is_some());
        let segments = path.map_or(&[][..], |path| path.path().segments());
        let table = Table::of("critical-path", "Critical path", segments)
            .time("start_ns", "START s", |segment| segment.start)
            .time("end_ns", "END s", |segment| segment.end)
            .text("thread", "THREAD", |segment| graph.map(|graph| label(graph, segment.thread)))
            .text("state", "STATE", |segment| segment.kind.label())
            .duration("time_ns", "TIME", |segment| segment.time());
        Contents::Table(table.build())
    }

    fn selected_text(&self, _: &Session) -> Option<String> {
        let path = self.path()?;
        let row = path.rows().get(self.rows.selected)?;
        let share = percent(row.time, length_of(path));
        Some(format!("{}: {} ({share} %)", row.label, length(row.time)))
    }

    fn detail(&self, session: &Session) -> Option<String> {
        let segment = self.path()?.segment_at(session.tab.time())?;
        Some(format!("{}, {}", words(self.graph()?, segment), length(segment.time())))
    }

    fn progress(&self) -> f64 {
        self.progress
    }
}
