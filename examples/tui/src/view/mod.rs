//! Drawing what models hold.

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
    /// What it is called.
    fn title(&self) -> &'static str;

    /// How many lines it needs at least, its heading included; and how large its part
    /// of what is left over is, in comparison to others.
    fn height(&self) -> (u16, u16);

    /// Told before each frame, with the area that it will be given below its heading:
    /// looks what has changed, and asks for what it needs.
    ///
    /// # Errors
    ///
    /// If what it asks for is refused.
    fn update(&mut self, session: &mut Session, area: Rect) -> Result<(), SubmitError>;

    /// Draws it, below its heading.
    fn draw(&self, session: &Session, look: Look, area: Rect, buffer: &mut Buffer);

    /// An action, while it has the focus. Whether it was for it.
    ///
    /// # Errors
    ///
    /// If what it asks for is refused.
    fn action(&mut self, action: Action, session: &mut Session) -> Result<bool, SubmitError>;

    /// What its heading tells besides its title.
    fn note(&self, session: &Session) -> String;

    /// Which part of what it shows is there, from 0 to 1.
    fn progress(&self) -> f64;

    /// The text of a filter of its own, if it can have one.
    fn own_filter(&self) -> Option<&str> {
        None
    }

    /// Gives it a filter of its own, if it can have one.
    ///
    /// # Errors
    ///
    /// If it is none; then the one before stays.
    fn set_own_filter(&mut self, _: &mut Session, _: &str) -> Result<(), FilterError> {
        Ok(())
    }
}

/// Writes a text into a line, as far as there is room. Tells where it ends.
pub fn put(buffer: &mut Buffer, area: Rect, x: u16, y: u16, text: &str, style: Style) -> u16 {
    let area = area.intersection(buffer.area);
    if x >= area.right() || x < area.left() || y < area.top() || y >= area.bottom() {
        return x;
    }
    let room = (area.right() - x).into();
    buffer.set_stringn(x, y, escape::name(text), room, style).0
}

/// The part of an area left of charts, and that of the charts.
pub fn split(session: &Session, area: Rect) -> (Rect, Rect) {
    let left = session.label_width.min(area.width);
    (Rect { width: left, ..area }, Rect { x: area.x + left, width: area.width - left, ..area })
}

/// Fills an area with what charts are drawn on.
pub fn canvas(look: Look, area: Rect, buffer: &mut Buffer) {
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                // Whatever was there before: its style, too.
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

/// Which rows of a list are shown, so that the selected one is among them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scroll {
    /// The selected row.
    pub selected: usize,
    /// The first row that is shown.
    pub top: usize,
    height: usize,
}

impl Scroll {
    /// There are so many rows, and room for so many.
    pub fn fit(&mut self, rows: usize, height: u16) {
        self.height = usize::from(height).max(1);
        self.selected = self.selected.min(rows.saturating_sub(1));
        let first_top = (self.selected + 1).saturating_sub(self.height);
        self.top = self.top.clamp(first_top, self.selected);
        self.top = self.top.min(rows.saturating_sub(self.height));
    }

    /// Moves the selection, if the action is to. Whether it is.
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
