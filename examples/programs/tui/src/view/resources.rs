//! The resources viewer: a row for each CPU, interrupt and block device.

use std::cmp::Reverse;
use std::collections::HashSet;

use lttv_common::paint::Paint;
use lttv_common::table::Table;
use lttv_requests::SubmitError;
use lttv_requests::views::{Resource, ResourceKey};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::needs::{Need, needs};
use super::{
    INACTIVE, Scroll, StateRow, canvas, chart_spot, marker, order_of, put, split, states, status,
    strip,
};
use crate::keys::Move;
use crate::model::natural_order;
use crate::model::picture::Picture;
use crate::model::row_order::RowOrder;
use crate::model::row_search::{Found, RowQuery, Step};
use crate::session::Session;
use crate::traceset_change::TracesetChange;
use crate::viewer::{
    Contents, Fault, Pane, Reply, Setup, Spot, Viewer, ViewerAction, ViewerKind, switch,
};

/// The states of each resource over time.
#[derive(Debug)]
pub struct ResourcesView {
    picture: Picture<ResourceKey>,
    /// All rows in order, as indices in the chart.
    all: Vec<usize>,
    /// The visible rows.
    shown: Vec<usize>,
    order: RowOrder,
    scroll: Scroll,
    /// The selected row, which stays selected when it moves.
    selected: Option<ResourceKey>,
    /// The rows without activity that the user has searched for.
    revealed: HashSet<ResourceKey>,
    shows_inactive: bool,
}

/// Returns the kind of the viewer.
pub fn kind() -> ViewerKind {
    let inactive = "rows without activity";
    ViewerKind::new("resources", "Resources", |setup| Box::new(ResourcesView::new(setup)))
        .summary("the states of CPUs, interrupts and block devices over time")
        .action(ViewerAction::new("inactive", inactive, [INACTIVE]))
}

impl ResourcesView {
    fn new(setup: &mut Setup<'_>) -> Self {
        ResourcesView {
            picture: Picture::new(setup.owner()),
            all: Vec::new(),
            shown: Vec::new(),
            order: RowOrder::Number,
            scroll: Scroll::default(),
            selected: None,
            revealed: HashSet::new(),
            shows_inactive: false,
        }
    }

    fn sort(&mut self) {
        let Some(chart) = self.picture.chart() else { return };
        let (timeline, labels) = (chart.timeline(), chart.labels());
        let rows = timeline.rows();
        let mut all = chart.order();
        match self.order {
            RowOrder::Number | RowOrder::Tree => {}
            RowOrder::Name => {
                all.sort_by(|a, b| natural_order::compare(name(&labels[*a]), name(&labels[*b])))
            }
            RowOrder::Busiest => all.sort_by_cached_key(|at| {
                let time: u64 = rows[*at].segments().map(|segment| segment.active).sum();
                Reverse(time)
            }),
        }
        let is_shown = |at: &usize| {
            let key = rows[*at].key();
            let is_cpu = matches!(key.resource, Resource::Cpu(_));
            self.shows_inactive || is_cpu || rows[*at].is_active() || self.revealed.contains(key)
        };
        self.shown = all.iter().copied().filter(is_shown).collect();
        self.all = all;
        let place = self.shown.iter().position(|at| Some(*rows[*at].key()) == self.selected);
        if let Some(place) = place {
            self.scroll.selected = place;
        }
    }

    /// Returns the key of a row of the chart.
    fn key(&self, at: Option<usize>) -> Option<ResourceKey> {
        let timeline = self.picture.chart()?.timeline();
        Some(*timeline.rows().get(at?)?.key())
    }
}

/// Returns the name of a resource: the text in the brackets of its label.
fn name(label: &str) -> &str {
    let name = label.split_once('[').and_then(|(_, rest)| rest.strip_suffix(']'));
    name.unwrap_or(label)
}

/// Returns the number by which a resource is found.
fn number(resource: Resource) -> Option<i64> {
    match resource {
        Resource::Cpu(number) | Resource::Source(_, number) => Some(number.into()),
        Resource::Block(_) => None,
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
        self.scroll.fit(self.shown.len(), area.height.saturating_sub(1));
        Ok(())
    }

    fn resume(&mut self, session: &mut Session) -> Result<(), SubmitError> {
        self.picture.resume(&mut session.scheduler, session.kernel)
    }

    fn reset(&mut self, _: &mut Session, _: &TracesetChange) {
        self.picture.clear();
        (self.all, self.shown) = Default::default();
        self.selected = None;
        self.revealed.clear();
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
        let shown = self.shown.iter().enumerate().skip(self.scroll.top);
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
        let row = line.and_then(|line| self.scroll.row(line, self.shown.len()));
        chart_spot(session, area, at).in_row(row)
    }

    fn go(&mut self, to: Move, _: &mut Session) -> Result<bool, SubmitError> {
        self.scroll.go(to, self.shown.len());
        if !matches!(to, Move::View { .. }) {
            self.selected = self.key(self.shown.get(self.scroll.selected).copied());
        }
        Ok(true)
    }

    fn has_named_rows(&self) -> bool {
        true
    }

    fn find_row(&mut self, query: &RowQuery, step: Step, _: &mut Session) -> Option<Found> {
        let chart = self.picture.chart()?;
        let (timeline, labels) = (chart.timeline(), chart.labels());
        let rows = self.all.iter().map(|at| (timeline.rows()[*at].key(), &*labels[*at]));
        let facts: Vec<_> = rows.map(|(key, label)| (number(key.resource), label)).collect();
        let from =
            self.selected.or_else(|| self.key(self.shown.get(self.scroll.selected).copied()));
        let from = self.all.iter().position(|at| Some(*timeline.rows()[*at].key()) == from);
        let step = if from.is_none() { Step::Here } else { step };
        let facts = facts.iter().map(|(number, label)| (number.as_slice(), *label));
        let found = query.find(facts, from.unwrap_or(0), step)?;
        self.selected = self.key(self.all.get(found.row).copied());
        self.revealed.extend(self.selected);
        Some(found)
    }

    fn sort_rows(&mut self) {
        self.selected = self.key(self.shown.get(self.scroll.selected).copied());
        self.order = self.order.next_of(&RowOrder::OF_TABLES);
    }

    fn act(&mut self, action: &str, _: &mut Session) -> Result<Reply, SubmitError> {
        if action == "inactive" {
            self.shows_inactive = !self.shows_inactive;
            self.revealed.clear();
        }
        Ok(Reply::Done)
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let order = ("order", self.order.name().to_owned());
        vec![("inactive", self.shows_inactive.to_string()), order]
    }

    fn restore(&mut self, name: &str, value: &str, _: &mut Session) -> Result<(), Fault> {
        match name {
            "inactive" => self.shows_inactive = switch(value)?,
            "order" => self.order = order_of(value)?,
            _ => {}
        }
        Ok(())
    }

    fn selected_text(&self, _: &Session) -> Option<String> {
        let labels = self.picture.chart()?.labels();
        labels.get(*self.shown.get(self.scroll.selected)?).map(ToString::to_string)
    }

    /// Returns the states of the visible rows, as far as columns of the screen tell them apart.
    fn contents(&self, _: &Session) -> Contents {
        let chart = self.picture.chart();
        let labels = chart.map(|chart| chart.labels());
        let mut rows = Vec::new();
        if let (Some(chart), Some(labels)) = (chart, &labels) {
            let timeline = chart.timeline();
            for row in &self.shown {
                let (of, line) = (labels.get(*row), timeline.rows().get(*row));
                let (Some(label), Some(line)) = (of, line) else { continue };
                rows.extend(line.segments().map(|segment| {
                    let state = Paint::of_resource(segment.state).map_or("unknown", Paint::label);
                    StateRow { label, segment, state }
                }));
            }
        }
        let table = Table::of("states", "States of resources", &rows);
        Contents::Table(states(table.text("resource", "RESOURCE", |row| row.label.to_string())))
    }

    fn note(&self, session: &Session) -> String {
        if let Some(needs) = needs(session, Need::Resources) {
            return needs;
        }
        let hidden = match self.all.len() - self.shown.len() {
            0 => String::new(),
            hidden => format!(", {hidden} idle hidden ({INACTIVE})"),
        };
        format!("{}{hidden}", self.order.title())
    }

    fn progress(&self) -> f64 {
        self.picture.progress()
    }
}
