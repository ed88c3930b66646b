//! The histogram viewer: the number of events in each column.

use lttv_common::table::Table;
use lttv_requests::views::{Histogram, ViewerId};
use lttv_requests::{Owner, SubmitError};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::{canvas, chart_spot, loss_marks, marker, put, split};
use crate::keys::{Key, Move};
use crate::model::axis::Axis;
use crate::session::Session;
use crate::time_text::length;
use crate::traceset_change::TracesetChange;
use crate::viewer::{Contents, Fault, Pane, Reply, Setup, Spot, Viewer, ViewerAction, ViewerKind};

/// The number of events in each column that pass the tab's filter.
#[derive(Debug)]
pub struct HistogramView {
    owner: Owner,
    counted: Option<(Axis, Histogram)>,
    id: ViewerId,
    /// The number of events at the top of the chart; `None` for that of the highest column.
    scale: Option<u64>,
}

/// Returns the kind of the viewer.
pub fn kind() -> ViewerKind {
    ViewerKind::new("histogram", "Histogram", |setup| Box::new(HistogramView::new(setup)))
        .summary("the numbers of events over time that pass the filter")
        .action(ViewerAction::new(HIGHER, "higher columns", [Key::char('e')]).without_focus())
        .action(ViewerAction::new(LOWER, "lower columns", [Key::char('E')]).without_focus())
        .action(ViewerAction::new(FIT, "fit the columns", [Key::char('f')]).without_focus())
}

const HIGHER: &str = "higher";
const LOWER: &str = "lower";
const FIT: &str = "fit";

/// The setting for the number of events at the top of the chart.
const TOP: &str = "top";

impl HistogramView {
    fn new(setup: &mut Setup<'_>) -> Self {
        HistogramView { owner: setup.owner(), counted: None, id: setup.viewer(), scale: None }
    }

    /// Changes the scale, by the name of an action.
    fn zoom(&mut self, action: &str) {
        let top = self.top();
        self.scale = match action {
            HIGHER => Some((top / 2).max(1)),
            LOWER => Some(top.saturating_mul(2)),
            _ => None,
        };
    }

    /// Returns the greatest number of events in a column; at least 1.
    fn most(&self) -> u64 {
        let counts = self.counted.iter().flat_map(|(_, histogram)| histogram.counts());
        counts.max().unwrap_or(0).max(1)
    }

    /// Returns the number of events at the top of the chart.
    fn top(&self) -> u64 {
        self.scale.unwrap_or_else(|| self.most())
    }

    /// Starts counting again for the columns of the session, unless nothing has changed.
    fn recount(&mut self, session: &mut Session, is_filter_new: bool) -> Result<(), SubmitError> {
        let axis = session.axis();
        match &mut self.counted {
            Some((known, histogram)) if known.columns() == axis.columns() => {
                if *known == axis && !is_filter_new {
                    return Ok(());
                }
                histogram.show(axis.window());
                if is_filter_new {
                    histogram.clear();
                }
                *known = axis;
            }
            counted => {
                *counted = Some((axis, Histogram::new(axis.window(), axis.columns())));
            }
        }
        self.count_missing(session)
    }

    /// Requests the counts that are not known.
    fn count_missing(&mut self, session: &mut Session) -> Result<(), SubmitError> {
        let Some((_, histogram)) = &self.counted else { return Ok(()) };
        let filters = session.filters.clone();
        let servers = session.servers();
        servers.reader.cancel_owner(self.owner);
        servers.follower.cancel_owner(self.owner);
        for missing in histogram.missing() {
            let request = histogram.request(self.owner, missing);
            match filters.clone() {
                // Without the kernel state, events that cannot pass are not read.
                Some(filters) if !filters.uses_state() => {
                    servers.reader.submit(request.filter(filters))?;
                }
                Some(filters) => _ = servers.follower.submit(request.filter(filters))?,
                None => _ = servers.follower.submit(request)?,
            }
        }
        Ok(())
    }
}

impl Viewer for HistogramView {
    fn height(&self) -> (u16, u16) {
        (3, 1)
    }

    fn update(&mut self, session: &mut Session, _: Rect) -> Result<(), SubmitError> {
        let is_filter_new = session.tab.take_changes(self.id).filter;
        self.recount(session, is_filter_new)
    }

    fn resume(&mut self, session: &mut Session) -> Result<(), SubmitError> {
        self.count_missing(session)
    }

    fn reset(&mut self, _: &mut Session, _: &TracesetChange) {
        self.counted = None;
    }

    fn draw(&self, session: &Session, pane: Pane, buffer: &mut Buffer) {
        let Pane { area, look, .. } = pane;
        let (left, chart) = split(session, area);
        canvas(look, chart, buffer);
        let Some((axis, histogram)) = &self.counted else { return };
        let counts = histogram.counts();
        let (most, top) = (self.most(), self.top());
        let line = match self.scale {
            None => format!("{most:>8} at most"),
            Some(top) => format!("{top:>8} at the top, {most} at most"),
        };
        put(buffer, left, left.x, left.y, &line, look.faint());
        if left.height > 1 {
            let width = format!("per {}", length(axis.step()));
            put(buffer, left, left.x, left.y + 1, &width, look.faint());
        }
        if left.height > 2 {
            let total = format!("{:>8} in all", counts.iter().sum::<u64>());
            put(buffer, left, left.x, left.y + 2, &total, look.faint());
        }
        let (marks, bars) = loss_marks::beside(session, chart);
        loss_marks::draw(session, look, marks, buffer);
        let height = u64::from(bars.height);
        for (count, x) in counts.iter().zip(chart.left()..chart.right()) {
            // Any number greater than 0 is visible.
            let eighths = (u128::from(*count) * u128::from(height * 8)).div_ceil(top.into());
            let eighths = u64::try_from(eighths).unwrap_or(u64::MAX);
            for (y, below) in (bars.top()..bars.bottom()).rev().zip(0u64..) {
                let part = eighths.saturating_sub(below * 8).min(8) as usize;
                let (sign, style) = match *count > top {
                    true => look.overflow(y == bars.top()),
                    false => look.bar(part),
                };
                if let Some(cell) = buffer.cell_mut((x, y)) {
                    cell.set_char(sign).set_style(style);
                }
            }
        }
        marker(session, look, chart, buffer);
    }

    fn spot(&self, session: &Session, area: Rect, at: Position) -> Spot {
        chart_spot(session, area, at)
    }

    /// The wheel over the labels changes the scale.
    fn go(&mut self, to: Move, _: &mut Session) -> Result<bool, SubmitError> {
        match to {
            Move::View { rows: ..0, .. } => self.zoom(HIGHER),
            Move::View { .. } => self.zoom(LOWER),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn act(&mut self, action: &str, _: &mut Session) -> Result<Reply, SubmitError> {
        self.zoom(action);
        Ok(Reply::Done)
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        self.scale.iter().map(|top| (TOP, top.to_string())).collect()
    }

    fn restore(&mut self, name: &str, value: &str, _: &mut Session) -> Result<(), Fault> {
        if name == TOP {
            let top = value.parse().ok().filter(|top| *top > 0);
            self.scale = Some(top.ok_or_else(|| Fault::new(format!("`{value}` is no scale")))?);
        }
        Ok(())
    }

    /// Returns the numbers of events of the columns of the screen.
    fn contents(&self, _: &Session) -> Contents {
        let columns = self.counted.iter().flat_map(|(axis, histogram)| {
            let counts = histogram.counts().into_iter().enumerate();
            counts.map(|(at, count)| (axis.begin_of(at), axis.step(), count))
        });
        let columns: Vec<_> = columns.collect();
        let table = Table::of("histogram", "Numbers of events", &columns)
            .time("start_ns", "START s", |column| column.0)
            .duration("width_ns", "WIDTH", |column| column.1)
            .count("events", "EVENTS", |column| column.2);
        Contents::Table(table.build())
    }

    fn note(&self, session: &Session) -> String {
        let filtered =
            if session.filters.is_some() { "of events that pass the filter" } else { "" };
        let counts = self.counted.iter().flat_map(|(_, histogram)| histogram.counts());
        let above = counts.filter(|count| *count > self.top()).count();
        let scale = match (self.scale, above) {
            (None, _) => return filtered.to_owned(),
            (Some(top), 0) => format!("scale 0–{top}"),
            (Some(top), 1) => format!("scale 0–{top}, 1 column above it"),
            (Some(top), above) => format!("scale 0–{top}, {above} columns above it"),
        };
        format!("{filtered} {scale}").trim_start().to_owned()
    }

    fn progress(&self) -> f64 {
        let Some((axis, histogram)) = &self.counted else { return 0.0 };
        let missing = histogram.missing().iter().map(|missing| missing.width()).sum::<u64>();
        1.0 - missing as f64 / (axis.step() * axis.columns() as u64).max(1) as f64
    }
}
