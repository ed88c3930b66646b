//! The viewers of this crate, and drawing in general.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::keys::{Key, Move};
use crate::look::Look;
use crate::model::cells::Cell;
use crate::model::row_order::RowOrder;
use crate::session::Session;
use crate::viewer::{Fault, Spot, ViewerKind};
use lttv_common::table::{Declaration, Table};
use lttv_requests::views::Segment;

mod arrows;
pub mod calls;
pub mod candidates;
pub mod control_flow;
pub mod critical_path;
pub mod disks;
pub mod event_list;
pub mod help;
pub mod histogram;
pub mod interrupts;
pub mod latency;
mod loss_marks;
mod needs;
mod note_marks;
pub mod pick_list;
pub mod resources;
mod state_words;
pub mod statistics;
pub mod status;
pub mod svg;
pub mod table;
mod table_view;
pub mod threads;
pub mod time_bar;

pub use crate::text::{canvas, put};

/// The key that shows or hides rows without activity.
const INACTIVE: Key = Key::char('A');

/// Returns the order that a layout names.
fn order_of(name: &str) -> Result<RowOrder, Fault> {
    RowOrder::of_name(name).ok_or_else(|| Fault::new(format!("there is no order `{name}`")))
}

/// Returns the kinds of viewers of this crate, in the order in which a tab shows them.
pub fn kinds() -> Vec<ViewerKind> {
    vec![
        event_list::kind(),
        control_flow::kind(),
        resources::kind(),
        histogram::kind(),
        statistics::kind(),
        interrupts::kind(),
        disks::kind(),
        threads::kind(),
        latency::kind(),
        calls::kind(),
        critical_path::kind(),
    ]
}

/// Splits an area into the parts for labels and for charts.
pub fn split(session: &Session, area: Rect) -> (Rect, Rect) {
    let left = session.label_width.min(area.width);
    (Rect { width: left, ..area }, Rect { x: area.x + left, width: area.width - left, ..area })
}

/// Returns the content at a point of an area with labels and charts: the divider between them
/// or a column of the charts.
pub fn chart_spot(session: &Session, area: Rect, at: Position) -> Spot {
    let (left, chart) = split(session, area);
    Spot {
        column: at.x.checked_sub(chart.x).filter(|_| chart.contains(at)),
        is_divider: left.contains(at) && at.x + 1 == left.right(),
        ..Spot::default()
    }
}

/// A column of labels left of a chart: heading, width, and the least width of the area at which it is
/// visible.
pub(crate) type LabelColumn = (&'static str, u16, u16);

/// Draws a line of labels, as many as there is room for.
pub(crate) fn labels<'t>(
    columns: &[LabelColumn],
    texts: impl Iterator<Item = &'t str>,
    line: Rect,
    style: Style,
    buffer: &mut Buffer,
) {
    let mut x = line.x;
    for (text, (_, width, from)) in texts.zip(columns) {
        if line.width >= *from {
            let room = Rect { x, width: *width, ..line }.intersection(line);
            put(buffer, room, x, line.y, text, style);
            x = x.saturating_add(width + 1);
        }
    }
}

/// Draws a row of cells.
pub fn strip(look: Look, line: Rect, buffer: &mut Buffer, cells: &[Option<Cell>]) {
    for (cell, x) in cells.iter().zip(line.left()..line.right()) {
        let (sign, style) = look.cell(*cell);
        if let Some(target) = buffer.cell_mut((x, line.y)) {
            target.set_char(sign).set_style(style);
        }
    }
}

/// A state of a row of a chart: a row of a table, for a file.
pub(crate) struct StateRow<L, S> {
    /// The label of the row of the chart.
    pub label: L,
    /// The time of the state.
    pub segment: Segment<S>,
    /// The name of the state.
    pub state: &'static str,
}

/// Adds the columns of states to a table.
pub(crate) fn states<L, S>(table: Declaration<'_, StateRow<L, S>>) -> Table {
    table
        .time("start_ns", "START s", |row| row.segment.start)
        .time("end_ns", "END s", |row| row.segment.end)
        .text("state", "STATE", |row| row.state)
        .duration("active_ns", "ACTIVE", |row| row.segment.active)
        .build()
}

/// Marks the current time, the selected time range and notes in a chart.
pub fn marker(session: &Session, look: Look, chart: Rect, buffer: &mut Buffer) {
    for (start, end) in note_marks::columns(session) {
        for column in [start, end.unwrap_or(start)] {
            let x = chart.x.saturating_add(column as u16);
            let line = Rect { x, width: 1, ..chart }.intersection(chart);
            buffer.set_style(line.intersection(buffer.area), look.note_column());
        }
    }
    if let Some(columns) = session.selected_columns() {
        let [start, end] = [columns.start, columns.end].map(|column| column as u16);
        let width = end.min(chart.width).saturating_sub(start);
        let selected = Rect { x: chart.x.saturating_add(start), width, ..chart };
        buffer.set_style(selected.intersection(buffer.area), look.range());
    }
    let Some(column) = session.axis().column(session.tab.time()) else { return };
    let x = chart.x.saturating_add(column as u16);
    for y in chart.top()..chart.bottom() {
        if x < chart.right()
            && let Some(cell) = buffer.cell_mut((x, y))
        {
            cell.set_style(look.marker());
        }
    }
}

/// The scroll position of a list: the selected row is visible unless the user has scrolled
/// away from it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scroll {
    /// The index of the selected row.
    pub selected: usize,
    /// The index of the first visible row.
    pub top: usize,
    height: usize,
    /// The selected row at the time when the user scrolled away.
    left: Option<usize>,
}

impl Scroll {
    /// Adjusts the position to a number of rows and the height of the list.
    pub fn fit(&mut self, rows: usize, height: u16) {
        self.height = usize::from(height).max(1);
        self.selected = self.selected.min(rows.saturating_sub(1));
        if self.left != Some(self.selected) {
            self.left = None;
            let first_top = (self.selected + 1).saturating_sub(self.height);
            self.top = self.top.clamp(first_top, self.selected);
        }
        self.top = self.top.min(rows.saturating_sub(self.height));
    }

    /// Moves the selection among this many rows, or only the visible part.
    pub fn go(&mut self, to: Move, rows: usize) {
        let by = |by: isize| self.selected.saturating_add_signed(by);
        let page = self.height.saturating_sub(1).max(1) as isize;
        let selected = match to {
            Move::Rows(rows) => by(rows),
            Move::Pages(pages) => by(pages.saturating_mul(page)),
            Move::First => 0,
            Move::Last => usize::MAX,
            Move::To(row) => row,
            Move::View { rows: by, .. } => {
                let last = rows.saturating_sub(self.height);
                self.top = self.top.saturating_add_signed(by).min(last);
                self.left = Some(self.selected);
                return;
            }
        };
        self.selected = selected.min(rows.saturating_sub(1));
        self.left = None;
    }

    /// Returns the row at a line below the headings, among this many rows.
    pub fn row(&self, line: u16, rows: usize) -> Option<usize> {
        Some(self.top + usize::from(line)).filter(|row| *row < rows)
    }
}
