//! The calls viewer: the flame graph and the flame chart of the time window.

use std::sync::Arc;

use ltt_read::Timestamp;
use lttv_common::paint::Color as Rgb;
use lttv_common::table::Table;
use lttv_requests::views::TimeWindow;
use lttv_requests::{Owner, SubmitError};
use lttv_state::flame_graph::FlameGraph;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style};

use super::{Scroll, canvas, chart_spot, marker, put, split};
use crate::keys::{Key, Move};
use crate::look::Look;
use crate::session::{ChartCall, ChartRow, OfWindow, Session, WindowCalls};
use crate::text::popup::{Popup, PopupLine};
use crate::time_text::length;
use crate::traceset_change::TracesetChange;
use crate::viewer::{Contents, Fault, Pane, Reply, Setup, Spot, Viewer, ViewerAction, ViewerKind};

/// The calls of the time window.
#[derive(Debug)]
struct CallsView {
    owner: Owner,
    calls: Option<Arc<OfWindow<WindowCalls>>>,
    progress: f64,
    form: Form,
    /// The names of the path that fills the flame graph, outermost first.
    zoom: Vec<Arc<str>>,
    /// The names of the selected path.
    selected: Vec<Arc<str>>,
    /// The paths that were drawn, in order of depth and place.
    frames: Vec<Frame>,
    /// The rows of the flame chart.
    rows: Scroll,
    /// The first visible depth of the flame graph.
    top: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Graph,
    Chart,
}

/// A path in the flame graph, with its columns.
#[derive(Debug, Clone, Copy)]
struct Frame {
    node: usize,
    row: usize,
    from: u16,
    to: u16,
}

const FORM: &str = "form";
const EVENT: &str = "event";
const INTO: &str = "into";
const OUT: &str = "out";
const LEFT: &str = "left";
const RIGHT: &str = "right";
const ENTER: Key = Key::new(KeyCode::Enter);
const BACKSPACE: Key = Key::new(KeyCode::Backspace);
const FORM_KEY: Key = Key::char('V');
const INTO_KEY: Key = Key::char('i');

/// Returns the kind of the viewer.
pub fn kind() -> ViewerKind {
    ViewerKind::new("calls", "Calls", |setup| Box::new(CallsView::new(setup)))
        .summary("flame graph and flame chart of the functions that programs called")
        .action(ViewerAction::new(EVENT, "the longest call", [ENTER]))
        .action(ViewerAction::new(FORM, "graph or chart", [FORM_KEY]))
        .action(ViewerAction::new(INTO, "zoom into the call", [INTO_KEY]))
        .action(ViewerAction::new(OUT, "zoom out", [Key::char('I')]))
        .action(ViewerAction::new(RIGHT, "to the right", [Key::char(' ')]))
        .action(ViewerAction::new(LEFT, "to the left", [BACKSPACE]))
}

impl CallsView {
    fn new(setup: &mut Setup<'_>) -> Self {
        CallsView {
            owner: setup.owner(),
            calls: None,
            progress: 0.0,
            form: Form::Graph,
            zoom: Vec::new(),
            selected: Vec::new(),
            frames: Vec::new(),
            rows: Scroll::default(),
            top: 0,
        }
    }

    /// Returns the calls that are shown.
    fn found(&self) -> Option<&WindowCalls> {
        self.calls.as_ref().map(|of| &of.found)
    }

    /// Returns the path that fills the flame graph.
    fn root(&self, graph: &FlameGraph) -> usize {
        graph.find(self.zoom.iter().map(|name| &**name)).unwrap_or(0)
    }

    /// Returns the selected path, or the root if it is not in the graph.
    fn node(&self, graph: &FlameGraph) -> usize {
        let selected = graph.find(self.selected.iter().map(|name| &**name));
        selected.unwrap_or_else(|| self.root(graph))
    }

    fn select(&mut self, graph: &FlameGraph, node: usize) {
        self.selected = graph.names(node).into_iter().map(Arc::from).collect();
    }

    /// Selects the frame to the left or right of the selected one, in the same row.
    fn select_beside(&mut self, graph: &FlameGraph, is_left: bool) {
        let node = self.node(graph);
        let Some(at) = self.frames.iter().position(|frame| frame.node == node) else { return };
        let beside = if is_left { at.checked_sub(1) } else { Some(at + 1) };
        let beside = beside.and_then(|beside| self.frames.get(beside).copied());
        if let Some(beside) = beside.filter(|beside| beside.row == self.frames[at].row) {
            self.select(graph, beside.node);
        }
    }

    /// Selects the caller, or the call that takes most time.
    fn select_by_depth(&mut self, graph: &FlameGraph, rows: isize) {
        for _ in 0..rows.unsigned_abs() {
            let node = graph.node(self.node(graph));
            let next = match rows < 0 {
                true => node.parent.filter(|_| self.node(graph) != self.root(graph)),
                false => {
                    let children = node.children.iter().copied();
                    children.max_by_key(|child| graph.node(*child).total)
                }
            };
            let Some(next) = next else { return };
            self.select(graph, next);
        }
    }

    /// Returns the call of the selected row of the flame chart at the current time.
    fn call<'c>(&self, calls: &'c WindowCalls, time: Timestamp) -> Option<&'c ChartCall> {
        let row = calls.rows.get(self.rows.selected)?;
        let at = row.calls.partition_point(|call| call.end <= time);
        row.calls.get(at).filter(|call| call.start <= time)
    }

    fn draw_graph(&self, calls: &WindowCalls, pane: Pane, buffer: &mut Buffer) {
        let (Pane { area, look, .. }, graph) = (pane, &calls.graph);
        let selected = self.node(graph);
        for frame in &self.frames {
            let Some(line) = frame.row.checked_sub(self.top).filter(|at| *at < area.height.into())
            else {
                continue;
            };
            let node = graph.node(frame.node);
            let name = match node.parent {
                None => format!("all calls: {}", length(node.total)),
                Some(_) => node.name.to_string(),
            };
            let style = style(look, &name, node.parent.is_none(), frame.node == selected);
            let place = Rect {
                x: area.x + frame.from,
                y: area.y + line as u16,
                width: frame.to - frame.from,
                height: 1,
            };
            bar(buffer, place, &name, style);
        }
    }

    fn draw_chart(&self, session: &Session, calls: &WindowCalls, pane: Pane, buffer: &mut Buffer) {
        let Pane { area, look, has_focus } = pane;
        let (left, chart) = split(session, area);
        canvas(look, chart, buffer);
        let axis = session.axis();
        let rows = calls.rows.iter().enumerate().skip(self.rows.top);
        for ((at, row), y) in rows.zip(area.top()..area.bottom()) {
            let label = match row.depth {
                0 => row.thread.to_string(),
                depth => format!("  {depth:>3}"),
            };
            let is_selected = at == self.rows.selected;
            let faint = if row.depth == 0 { Style::new() } else { look.faint() };
            let label_style = if is_selected && has_focus { look.selected() } else { faint };
            put(buffer, left, left.x, y, &label, label_style);
            for call in visible(row, axis.window().start(), axis.window().end()) {
                let column = |time: Timestamp| axis.column(time).unwrap_or(axis.columns());
                let from = if call.start <= axis.window().start() { 0 } else { column(call.start) };
                let to = column(call.end).max(from + 1).min(usize::from(chart.width));
                if from >= usize::from(chart.width) {
                    continue;
                }
                let name = match call.calls {
                    1 => call.name.to_string(),
                    calls => format!("{calls} × {}", call.name),
                };
                let place =
                    Rect { x: chart.x + from as u16, y, width: (to - from) as u16, height: 1 };
                bar(buffer, place, &name, style(look, &call.name, false, false));
            }
        }
        marker(session, look, chart, buffer);
    }
}

/// Returns the text about calls that are not told apart.
fn too_short() -> Popup {
    let text = "Its calls are shorter than a thousandth of the time window, next to longer ones. \
        They are told apart in a shorter window.";
    Popup::new("Calls", vec![PopupLine::text(text)])
}

/// Returns the calls of a row that overlap a window.
fn visible(row: &ChartRow, start: Timestamp, end: Timestamp) -> &[ChartCall] {
    let first = row.calls.partition_point(|call| call.end < start);
    let after = row.calls.partition_point(|call| call.start < end);
    row.calls.get(first..after).unwrap_or_default()
}

/// Returns the style of a call. Calls of one name have one colour, here and in pictures.
fn style(look: Look, name: &str, is_root: bool, is_selected: bool) -> Style {
    let style = match (look, is_root) {
        (Look::Mono, _) => Style::new().add_modifier(Modifier::UNDERLINED),
        (_, true) => Style::new().fg(Color::Black).bg(look.color(Rgb(0xd0, 0xd0, 0xd0))),
        _ => {
            let color = look.color(lttv_common::calls::color::color(name));
            Style::new().fg(look.color(Rgb(0, 0, 0))).bg(color)
        }
    };
    if is_selected { style.add_modifier(Modifier::REVERSED | Modifier::BOLD) } else { style }
}

/// Draws a call: its colour, and as much of its name as there is room for. The first column is a
/// bar, so that neighbours of one colour can be told apart.
fn bar(buffer: &mut Buffer, place: Rect, name: &str, style: Style) {
    let place = place.intersection(buffer.area);
    let name = lttv_common::escape::name(name);
    let mut characters = name.chars();
    for x in place.left()..place.right() {
        let sign = if x == place.left() { '▏' } else { characters.next().unwrap_or(' ') };
        if let Some(cell) = buffer.cell_mut((x, place.y)) {
            cell.set_char(sign).set_style(style);
        }
    }
}

/// Returns the frames of a graph below a path, callers first, in an area of some width.
fn frames(graph: &FlameGraph, root: usize, width: u16) -> Vec<Frame> {
    let all = u128::from(graph.node(root).total.max(1));
    let column = |time: u64| (u128::from(time) * u128::from(width) / all).min(width.into()) as u16;
    let mut frames = vec![Frame { node: root, row: 0, from: 0, to: width }];
    // The time to the left of each frame.
    let mut offsets = vec![0_u64];
    let mut at = 0;
    while let Some(Frame { node, row, .. }) = frames.get(at).copied() {
        let mut offset = offsets[at];
        for child in &graph.node(node).children {
            let end = offset.saturating_add(graph.node(*child).total);
            let (from, to) = (column(offset), column(end));
            if from < to {
                frames.push(Frame { node: *child, row: row + 1, from, to });
                offsets.push(offset);
            }
            offset = end;
        }
        at += 1;
    }
    frames
}

impl Viewer for CallsView {
    fn height(&self) -> (u16, u16) {
        (4, 3)
    }

    fn update(&mut self, session: &mut Session, area: Rect) -> Result<(), SubmitError> {
        session.wants_window_calls(self.owner);
        self.progress = session.window_calls_progress();
        self.calls = session.window_calls();
        let Some(of) = &self.calls else {
            self.frames.clear();
            return Ok(());
        };
        let calls = &of.found;
        let (graph, height) = (&calls.graph, usize::from(area.height).max(1));
        self.frames = frames(graph, self.root(graph), area.width);
        let selected = self.node(graph);
        if let Some(frame) = self.frames.iter().find(|frame| frame.node == selected) {
            self.top = self.top.clamp((frame.row + 1).saturating_sub(height), frame.row);
        }
        self.rows.fit(calls.rows.len(), area.height);
        Ok(())
    }

    fn resume(&mut self, session: &mut Session) -> Result<(), SubmitError> {
        session.resume_window_calls();
        Ok(())
    }

    fn reset(&mut self, _: &mut Session, _: &TracesetChange) {
        self.frames.clear();
        self.calls = None;
    }

    fn draw(&self, session: &Session, pane: Pane, buffer: &mut Buffer) {
        let Some(calls) = self.found().filter(|calls| calls.has_entries) else { return };
        match self.form {
            Form::Graph => self.draw_graph(calls, pane, buffer),
            Form::Chart => self.draw_chart(session, calls, pane, buffer),
        }
    }

    fn spot(&self, session: &Session, area: Rect, at: Position) -> Spot {
        let line = usize::from(at.y.saturating_sub(area.y));
        match self.form {
            Form::Graph => {
                let (row, column) = (self.top + line, at.x.saturating_sub(area.x));
                Spot::of_row(
                    self.frames.iter().position(|frame| {
                        frame.row == row && (frame.from..frame.to).contains(&column)
                    }),
                )
            }
            Form::Chart => {
                let rows = self.found().map_or(0, |calls| calls.rows.len());
                chart_spot(session, area, at).in_row(self.rows.row(line as u16, rows))
            }
        }
    }

    fn go(&mut self, to: Move, _: &mut Session) -> Result<bool, SubmitError> {
        let Some(of) = self.calls.clone() else { return Ok(false) };
        let calls = &of.found;
        if self.form == Form::Chart {
            self.rows.go(to, calls.rows.len());
            return Ok(true);
        }
        let graph = &calls.graph;
        match to {
            Move::Rows(rows) => self.select_by_depth(graph, rows),
            Move::Pages(pages) => self.select_by_depth(graph, pages.saturating_mul(10)),
            Move::First => self.select(graph, self.root(graph)),
            Move::Last => self.select_by_depth(graph, 1 << 10),
            Move::To(frame) => {
                if let Some(frame) = self.frames.get(frame).copied() {
                    self.select(graph, frame.node);
                }
            }
            Move::View { rows, .. } => {
                let last = self.frames.iter().map(|frame| frame.row).max().unwrap_or(0);
                self.top = self.top.saturating_add_signed(rows).min(last);
            }
        }
        Ok(true)
    }

    fn act(&mut self, action: &str, session: &mut Session) -> Result<Reply, SubmitError> {
        if action == FORM {
            self.form = if self.form == Form::Graph { Form::Chart } else { Form::Graph };
            return Ok(Reply::Done);
        }
        let Some(of) = self.calls.clone() else { return Ok(Reply::Done) };
        let calls = &of.found;
        let (graph, node) = (&calls.graph, self.node(&calls.graph));
        match (action, self.form) {
            (LEFT | RIGHT, Form::Graph) => self.select_beside(graph, action == LEFT),
            (LEFT | RIGHT, Form::Chart) => {
                // The next call of the row.
                let time = session.tab.time();
                let row = calls.rows.get(self.rows.selected);
                let calls = row.map_or(&[][..], |row| &row.calls);
                let beside = match action {
                    LEFT => calls.iter().rev().find(|call| call.start < time),
                    _ => calls.iter().find(|call| call.start > time),
                };
                if let Some(call) = beside {
                    session.tab.set_time(call.start, None);
                }
            }
            (EVENT, Form::Graph) => match calls.longest.get(node).copied().flatten() {
                Some(start) => session.tab.set_time(start, None),
                None if node == 0 => {}
                None => return Ok(Reply::Show(too_short())),
            },
            (EVENT, Form::Chart) => {
                if let Some(call) = self.call(calls, session.tab.time()) {
                    session.tab.set_time(call.start, None);
                }
            }
            (INTO, Form::Graph) => self.zoom.clone_from(&self.selected),
            (INTO, Form::Chart) => {
                let call = self.call(calls, session.tab.time());
                let window = call.and_then(|call| TimeWindow::new(call.start, call.end));
                if let Some(window) = window {
                    session.tab.set_window(window, None);
                }
            }
            (OUT, _) => _ = self.zoom.pop(),
            _ => {}
        }
        Ok(Reply::Done)
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let form = if self.form == Form::Graph { "graph" } else { "chart" };
        vec![(FORM, form.to_owned())]
    }

    fn restore(&mut self, name: &str, value: &str, _: &mut Session) -> Result<(), Fault> {
        if name == FORM {
            self.form = match value {
                "graph" => Form::Graph,
                "chart" => Form::Chart,
                _ => return Err(Fault::new(format!("`{value}` is neither graph nor chart"))),
            };
        }
        Ok(())
    }

    fn note(&self, _: &Session) -> String {
        let Some(calls) = self.found() else { return String::new() };
        if !calls.has_entries {
            return "needs lttng_ust_cyg_profile func_entry and func_exit events: compile with \
                -finstrument-functions, preload liblttng-ust-cyg-profile.so"
                .to_owned();
        }
        let lacks = match (calls.lacks_exits, calls.omitted) {
            (true, _) => "without func_exit events, calls do not end; ".to_owned(),
            (false, 0) => String::new(),
            (false, omitted) => format!("without {omitted} calls (too many); "),
        };
        match self.form {
            Form::Graph => format!(
                "{lacks}time by call path ({ENTER}: longest call, {INTO_KEY}: zoom, {FORM_KEY}: chart)"
            ),
            Form::Chart => {
                format!("{lacks}calls over time ({INTO_KEY}: zoom to the call, {FORM_KEY}: graph)")
            }
        }
    }

    fn contents(&self, _: &Session) -> Contents {
        let nodes = self.found().into_iter().flat_map(|calls| {
            let nodes = calls.graph.nodes().iter().enumerate().skip(1);
            nodes.map(|(at, node)| (calls.graph.names(at).join(";"), node))
        });
        let nodes: Vec<_> = nodes.collect();
        let table = Table::of("calls", "Calls", &nodes)
            .text("path", "CALL PATH", |row| row.0.as_str())
            .count("calls", "CALLS", |row| row.1.calls.count())
            .duration("time_ns", "TIME", |row| row.1.total)
            .duration("self_ns", "SELF", |row| row.1.own);
        Contents::Table(table.build())
    }

    fn selected_text(&self, session: &Session) -> Option<String> {
        self.detail(session)
    }

    fn detail(&self, session: &Session) -> Option<String> {
        let calls = self.found().filter(|calls| calls.has_entries)?;
        if self.form == Form::Chart {
            let call = self.call(calls, session.tab.time())?;
            let time = call.end.as_ns().saturating_sub(call.start.as_ns()).max(0) as u64;
            let calls = match call.calls {
                1 => String::new(),
                calls => format!(", {calls} short calls"),
            };
            return Some(format!("{}: {}{calls}", call.name, length(time)));
        }
        let node = calls.graph.node(self.node(&calls.graph));
        let all = calls.graph.node(0).total.max(1) as f64;
        let name = if node.parent.is_none() { "all calls" } else { &node.name };
        Some(format!(
            "{name}: {} ({:.1} %), itself {}, calls that ended: {}",
            length(node.total),
            100.0 * node.total as f64 / all,
            length(node.own),
            node.calls.count(),
        ))
    }

    fn progress(&self) -> f64 {
        self.progress
    }
}
