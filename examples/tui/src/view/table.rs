//! A table of which a part is shown.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::put;
use crate::look::Look;

/// A column: its heading and width. Numbers stand at its right.
pub type Column = (&'static str, u16);

/// Draws headings, and below them rows from one on. The first column is text.
pub fn draw(
    columns: &[Column],
    rows: &[Vec<String>],
    top: usize,
    selected: Option<usize>,
    look: Look,
    area: Rect,
    buffer: &mut Buffer,
) {
    let headings: Vec<String> = columns.iter().map(|(heading, _)| (*heading).to_owned()).collect();
    let line = |y| Rect { y, height: 1, ..area };
    cells(columns, &headings, look.faint(), line(area.y), buffer);
    for ((at, row), y) in rows.iter().enumerate().skip(top).zip(area.y + 1..area.bottom()) {
        let style = if selected == Some(at) { look.selected() } else { Default::default() };
        buffer.set_style(line(y).intersection(buffer.area), style);
        cells(columns, row, style, line(y), buffer);
    }
}

fn cells(
    columns: &[Column],
    row: &[String],
    style: ratatui::style::Style,
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
