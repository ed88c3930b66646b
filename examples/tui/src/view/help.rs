//! The page of help.

use lttv_requests::views::Paint;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{canvas, put, status};
use crate::keys;
use crate::look::Look;

/// Draws it over everything.
pub fn draw(look: Look, area: Rect, buffer: &mut Buffer) {
    canvas(look, area, buffer);
    let inner = Rect { x: area.x.saturating_add(2), width: area.width.saturating_sub(4), ..area };
    put(buffer, inner, inner.x, area.y, "Keys", look.canvas().patch(look.heading()));
    let mut y = area.y.saturating_add(1);
    for (key, text) in keys::help() {
        put(buffer, inner, inner.x, y, key, look.canvas().patch(look.heading()));
        put(buffer, inner, inner.x.saturating_add(16), y, text, look.canvas());
        y = y.saturating_add(1);
    }
    for (title, paints) in
        [("Processes", &Paint::OF_PROCESSES[..]), ("Resources", &Paint::OF_RESOURCES)]
    {
        y = y.saturating_add(1);
        if y >= area.bottom() {
            return;
        }
        put(buffer, inner, inner.x, y, title, look.canvas().patch(look.heading()));
        let line = Rect { x: inner.x.saturating_add(16), y, height: 1, ..inner };
        status::legend(paints, look, line.intersection(inner), buffer);
    }
    y = y.saturating_add(1);
    let text =
        "The height of a bar is the part of its column's time in which somebody was at work.";
    put(buffer, inner, inner.x, y, text, look.canvas());
}
