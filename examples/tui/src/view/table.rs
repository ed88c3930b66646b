//! A table with a selected row.

use lttv_examples::table::{self, Cell, Kind};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::{Scroll, put};
use crate::keys::Move;
use crate::viewer::Pane;

/// A column: heading and width. The first column contains text; the others contain numbers,
/// aligned to the right.
pub type Column = (&'static str, u16);

/// Rows of texts, one of them selected.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    scroll: Scroll,
}

impl Table {
    /// Replaces the rows. The index of the selection stays the same.
    pub fn fill(&mut self, rows: impl Iterator<Item = Vec<String>>) {
        self.rows.clear();
        self.rows.extend(rows);
    }

    /// Adjusts the scroll position to an area, headings included.
    pub fn fit(&mut self, area: Rect) {
        self.scroll.fit(self.rows.len(), area.height.saturating_sub(1));
    }

    /// Returns `true` if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the index of the selected row.
    pub fn selected(&self) -> usize {
        self.scroll.selected
    }

    /// Moves the selection.
    pub fn go(&mut self, to: Move) {
        self.scroll.go(to, self.rows.len());
    }

    /// Returns the row at a point of an area, headings included.
    pub fn row(&self, area: Rect, at: Position) -> Option<usize> {
        let line = at.y.checked_sub(area.y + 1).filter(|_| area.contains(at))?;
        self.scroll.row(line, self.rows.len())
    }

    /// Returns the texts of the selected row, with a space between them.
    pub fn selected_text(&self) -> Option<String> {
        Some(self.rows.get(self.scroll.selected)?.join("  "))
    }

    /// Returns all rows, for a file.
    pub fn contents(&self, key: &'static str, columns: &[Column]) -> table::Table {
        let empty = table::Table::new(key, key);
        let named =
            |all: table::Table, (heading, _): &Column| all.column(heading, *heading, Kind::Text);
        let mut all = columns.iter().fold(empty, named);
        for row in &self.rows {
            // A row has a text for each column.
            let texts = row.iter().map(|text| Cell::from(text.clone()));
            let missing = columns.len().saturating_sub(row.len());
            let cells = texts.chain(std::iter::repeat_n(Cell::Empty, missing));
            all.push(cells.take(columns.len()).collect());
        }
        all
    }

    /// Draws the headings and the rows below them. The selected row is highlighted if the
    /// table has the focus.
    pub fn draw(&self, columns: &[Column], pane: Pane, buffer: &mut Buffer) {
        let Pane { area, look, has_focus, .. } = pane;
        let line = |y| Rect { y, height: 1, ..area };
        let headings = columns.iter().map(|(heading, _)| *heading);
        cells(columns, headings, look.faint(), line(area.y), buffer);
        let shown = self.rows.iter().enumerate().skip(self.scroll.top);
        for ((at, row), y) in shown.zip(area.y + 1..area.bottom()) {
            let is_selected = has_focus && at == self.scroll.selected;
            let style = if is_selected { look.selected() } else { Style::new() };
            buffer.set_style(line(y).intersection(buffer.area), style);
            cells(columns, row.iter().map(String::as_str), style, line(y), buffer);
        }
    }
}

fn cells<'c>(
    columns: &[Column],
    row: impl Iterator<Item = &'c str>,
    style: Style,
    line: Rect,
    buffer: &mut Buffer,
) {
    let mut x = line.x;
    for (number, ((_, width), cell)) in columns.iter().zip(row).enumerate() {
        let room = Rect { x, width: *width, ..line }.intersection(line);
        let length = cell.chars().count().min(usize::from(*width)) as u16;
        let at = if number == 0 { x } else { x.saturating_add(width - length) };
        put(buffer, room, at, line.y, cell, style);
        x = x.saturating_add(width + 1);
    }
}
