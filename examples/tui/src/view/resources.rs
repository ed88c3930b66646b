//! The resources viewer: a row for each CPU, interrupt and block device.

use lttv_examples::paint::Paint;
use lttv_examples::table::{Cell, Kind, Table};
use lttv_requests::SubmitError;
use lttv_requests::views::{Resource, ResourceKey};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::{Scroll, canvas, chart_spot, marker, put, split, state_cells, states, status, strip};
use crate::keys::{Key, Move};
use crate::model::picture::Picture;
use crate::session::Session;
use crate::traceset_change::TracesetChange;
use crate::viewer::{
    Contents, Fault, Pane, Reply, Setup, Spot, Viewer, ViewerAction, ViewerKind, switch,
};

/// The states of each resource over time.
#[derive(Debug)]
pub struct ResourcesView {
    picture: Picture<ResourceKey>,
    /// The visible rows, as indices in the chart.
    order: Vec<usize>,
    scroll: Scroll,
    /// The number of rows without activity that are hidden.
    hidden: usize,
    shows_inactive: bool,
}

/// Returns the kind of the viewer.
pub fn kind() -> ViewerKind {
    let inactive = "rows without activity";
    ViewerKind::new("resources", "Resources", |setup| Box::new(ResourcesView::new(setup)))
        .summary("the states of CPUs, interrupts and block devices over time")
        .action(ViewerAction::new("inactive", inactive, [Key::char('A')]))
}

impl ResourcesView {
    fn new(setup: &mut Setup<'_>) -> Self {
        ResourcesView {
            picture: Picture::new(setup.owner()),
            order: Vec::new(),
            scroll: Scroll::default(),
            hidden: 0,
            shows_inactive: false,
        }
    }

    fn sort(&mut self) {
        let Some(chart) = self.picture.chart() else { return };
        let timeline = chart.timeline();
        let rows = timeline.rows();
        self.order = chart.order();
        self.order.retain(|at| {
            let is_cpu = matches!(rows[*at].key().resource, Resource::Cpu(_));
            self.shows_inactive || is_cpu || rows[*at].is_active()
        });
        self.hidden = rows.len() - self.order.len();
    }
}

impl Viewer for ResourcesView {
    fn height(&self) -> (u16, u16) {
        (4, 3)
    }

    fn update(&mut self, session: &mut Session, area: Rect) -> Result<(), SubmitError> {
        let (kernel, axis) = (session.kernel, session.axis());
        self.picture.set_axis(&mut session.scheduler, kernel, axis)?;
        self.sort();
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
        let Pane { area, look, has_focus } = pane;
        let (left, chart) = split(session, area);
        canvas(look, chart, buffer);
        let several = session.traceset().traces().len() > 1;
        put(buffer, left, left.x, left.y, "RESOURCE", look.faint());
        status::legend(&Paint::OF_RESOURCES, look, chart, buffer);
        let Some(drawn) = self.picture.chart() else { return };
        let (timeline, labels) = (drawn.timeline(), drawn.labels());
        let shown = self.order.iter().enumerate().skip(self.scroll.top);
        for ((at, row), y) in shown.zip(area.y + 1..area.bottom()) {
            let (Some(of), Some(label)) = (timeline.rows().get(*row), labels.get(*row)) else {
                continue;
            };
            let line = Rect { y, height: 1, ..left };
            let is_selected = has_focus && at == self.scroll.selected;
            let style = if is_selected { look.selected() } else { Default::default() };
            let trace = if several { format!("{}: ", of.key().trace.0) } else { String::new() };
            buffer.set_style(line.intersection(buffer.area), style);
            put(buffer, line, line.x, y, &format!("{trace}{label}"), style);
            let cells = self.picture.cells(*row, Paint::of_resource);
            strip(look, Rect { y, height: 1, ..chart }, buffer, &cells);
        }
        marker(session, look, Rect { y: chart.y + 1, height: chart.height - 1, ..chart }, buffer);
    }

    fn spot(&self, session: &Session, area: Rect, at: Position) -> Spot {
        let line = at.y.checked_sub(area.y + 1);
        let row = line.and_then(|line| self.scroll.row(line, self.order.len()));
        chart_spot(session, area, at).in_row(row)
    }

    fn go(&mut self, to: Move, _: &mut Session) -> Result<bool, SubmitError> {
        self.scroll.go(to, self.order.len());
        Ok(true)
    }

    fn act(&mut self, action: &str, _: &mut Session) -> Result<Reply, SubmitError> {
        self.shows_inactive ^= action == "inactive";
        Ok(Reply::Done)
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        vec![("inactive", self.shows_inactive.to_string())]
    }

    fn restore(&mut self, name: &str, value: &str, _: &mut Session) -> Result<(), Fault> {
        if name == "inactive" {
            self.shows_inactive = switch(value)?;
        }
        Ok(())
    }

    fn selected_text(&self, _: &Session) -> Option<String> {
        let labels = self.picture.chart()?.labels();
        labels.get(*self.order.get(self.scroll.selected)?).map(ToString::to_string)
    }

    /// The states of the visible rows, as far as columns of the screen tell them apart.
    fn contents(&self, _: &Session) -> Contents {
        let resource = Table::new("states", "States of resources");
        let mut table = states(resource.column("resource", "RESOURCE", Kind::Text));
        let Some(chart) = self.picture.chart() else { return Contents::Table(table) };
        let (timeline, labels) = (chart.timeline(), chart.labels());
        for row in &self.order {
            let (Some(of), Some(line)) = (labels.get(*row), timeline.rows().get(*row)) else {
                continue;
            };
            for segment in line.segments() {
                let state = Paint::of_resource(segment.state).map_or("unknown", Paint::label);
                let label = [Cell::from(of.to_string())];
                table.push([&label[..], &state_cells(&segment, state)].concat());
            }
        }
        Contents::Table(table)
    }

    fn note(&self, _: &Session) -> String {
        match self.hidden {
            0 => String::new(),
            hidden => format!("{hidden} idle hidden"),
        }
    }

    fn progress(&self) -> f64 {
        self.picture.progress()
    }
}
