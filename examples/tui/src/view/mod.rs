//! Drawing of models.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use lttv_examples::escape;
use lttv_filter::FilterError;
use lttv_requests::SubmitError;

use crate::keys::Action;
use crate::look::Look;
use crate::model::cells::Cell;
use crate::session::Session;

pub mod control_flow;
pub mod disks;
pub mod event_list;
pub mod help;
pub mod histogram;
pub mod interrupts;
pub mod resources;
pub mod statistics;
pub mod status;
pub mod table;
pub mod time_bar;

/// A viewer of a tab.
pub trait Viewer: std::fmt::Debug {
    /// Returns the title.
    fn title(&self) -> &'static str;

    /// Returns the least number of lines that it needs, heading included, and the weight of
    /// its share of the remaining lines.
    fn height(&self) -> (u16, u16);

    /// Updates the viewer for changes of the session and submits requests for missing data.
    /// Called before each frame, with the area below the heading.
    ///
    /// # Errors
    ///
    /// If a request is refused.
    fn update(&mut self, session: &mut Session, area: Rect) -> Result<(), SubmitError>;

    /// Draws the viewer into the area below its heading.
    fn draw(&self, session: &Session, look: Look, area: Rect, buffer: &mut Buffer);

    /// Performs an action while the viewer has the focus. Returns `true` if the action
    /// applies to the viewer.
    ///
    /// # Errors
    ///
    /// If a request is refused.
    fn action(&mut self, action: Action, session: &mut Session) -> Result<bool, SubmitError>;

    /// Returns the text in its heading after the title.
    fn note(&self, session: &Session) -> String;

    /// Returns the part of its data that is available, from 0 to 1.
    fn progress(&self) -> f64;

    /// Returns the text of its own filter; `None` if it cannot have one.
    fn own_filter(&self) -> Option<&str> {
        None
    }

    /// Sets its own filter, if it can have one.
    ///
    /// # Errors
    ///
    /// If the text is not a filter; the previous filter stays.
    fn set_own_filter(&mut self, _: &mut Session, _: &str) -> Result<(), FilterError> {
        Ok(())
    }
}

/// Draws a text, clipped to the area. Returns the column after it.
pub fn put(buffer: &mut Buffer, area: Rect, x: u16, y: u16, text: &str, style: Style) -> u16 {
    let area = area.intersection(buffer.area);
    if x >= area.right() || x < area.left() || y < area.top() || y >= area.bottom() {
        return x;
    }
    let room = (area.right() - x).into();
    buffer.set_stringn(x, y, escape::name(text), room, style).0
}

/// Splits an area into the parts for labels and for charts.
pub fn split(session: &Session, area: Rect) -> (Rect, Rect) {
    let left = session.label_width.min(area.width);
    (Rect { width: left, ..area }, Rect { x: area.x + left, width: area.width - left, ..area })
}

/// Fills an area with the background of charts.
pub fn canvas(look: Look, area: Rect, buffer: &mut Buffer) {
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                // Also reset the previous style.
                cell.reset();
                cell.set_style(look.canvas());
            }
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

/// Marks the current time in a chart.
pub fn marker(session: &Session, look: Look, chart: Rect, buffer: &mut Buffer) {
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

/// The scroll position of a list: the selected row is always visible.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scroll {
    /// The index of the selected row.
    pub selected: usize,
    /// The index of the first visible row.
    pub top: usize,
    height: usize,
}

impl Scroll {
    /// Adjusts the position to a number of rows and the height of the list.
    pub fn fit(&mut self, rows: usize, height: u16) {
        self.height = usize::from(height).max(1);
        self.selected = self.selected.min(rows.saturating_sub(1));
        let first_top = (self.selected + 1).saturating_sub(self.height);
        self.top = self.top.clamp(first_top, self.selected);
        self.top = self.top.min(rows.saturating_sub(self.height));
    }

    /// Moves the selection. Returns `false` if the action does not move it.
    pub fn action(&mut self, action: Action, rows: usize) -> bool {
        let to = |by: isize| self.selected.saturating_add_signed(by);
        let page = self.height.saturating_sub(1).max(1) as isize;
        let selected = match action {
            Action::Rows(by) => to(by),
            Action::Pages(by) => to(by * page),
            Action::Edge { last: true } => usize::MAX,
            Action::Edge { last: false } => 0,
            _ => return false,
        };
        self.selected = selected.min(rows.saturating_sub(1));
        true
    }
}
