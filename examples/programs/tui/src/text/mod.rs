//! Drawing of texts, also of those that are longer than a line.

use lttv_common::escape;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::look::Look;

pub mod message;
pub mod popup;
pub mod wrap;

/// Draws a text, clipped to the area. Returns the column after it.
pub fn put(buffer: &mut Buffer, area: Rect, x: u16, y: u16, text: &str, style: Style) -> u16 {
    let area = area.intersection(buffer.area);
    if x >= area.right() || x < area.left() || y < area.top() || y >= area.bottom() {
        return x;
    }
    let room = (area.right() - x).into();
    buffer.set_stringn(x, y, escape::name(text), room, style).0
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
