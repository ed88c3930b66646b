//! Messages of any length at the bottom of the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::wrap::{columns, wrap};
use crate::look::Look;
use crate::text::{canvas, put};

/// Returns `true` if a text fits into a line of this width.
pub fn fits(text: &str, width: u16) -> bool {
    !text.contains('\n') && columns(&lttv_common::escape::name(text)) <= usize::from(width)
}

/// Draws a text in as many lines as it needs, upwards from the last line of an area. If there
/// is no space for all of them, it draws those from `top` on, and a line about the others.
/// Returns the number of lines by which the text can be scrolled.
pub fn draw(
    text: &str,
    style: Style,
    look: Look,
    area: Rect,
    top: usize,
    buffer: &mut Buffer,
) -> usize {
    let inside = area.width.saturating_sub(2).max(1);
    let lines = wrap(text, inside);
    let height = lines.len().min(area.height.into());
    let hidden = lines.len() - height;
    let (top, height) = (top.min(hidden), height as u16);
    let place = Rect { y: area.bottom() - height, height, ..area };
    canvas(look, place, buffer);
    let style = look.canvas().patch(style);
    let room = usize::from(height);
    for ((at, line), y) in lines.iter().enumerate().skip(top).take(room).zip(place.y..) {
        let is_last = at + 1 == top + room && top < hidden;
        let more = format!("… {} more lines", lines.len() - at);
        put(buffer, place, place.x + 1, y, if is_last { &more } else { line }, style);
    }
    hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_read_line_by_line() {
        let text = (0..60).map(|number| format!("w{number}")).collect::<Vec<_>>().join(" ");
        assert!(fits("short", 5) && !fits("short", 4) && !fits("a\nb", 9));
        let area = Rect::new(0, 0, 20, 5);
        let drawn = |top| {
            let mut buffer = Buffer::empty(area);
            let hidden = draw(&text, Style::new(), Look::Mono, area, top, &mut buffer);
            let line = |y| (0..20).map(|x| buffer[(x, y)].symbol()).collect::<String>();
            (hidden, (0..5).map(line).collect::<Vec<_>>())
        };
        let (hidden, lines) = drawn(0);
        assert!(hidden > 0 && lines[0].contains("w0 w1") && lines[4].contains("more lines"));
        let (_, lines) = drawn(hidden);
        assert!(lines[4].trim().ends_with("w59"), "{lines:?}");
        // One line is enough for a short one.
        let mut buffer = Buffer::empty(area);
        assert_eq!(draw("short", Style::new(), Look::Mono, area, 0, &mut buffer), 0);
        assert_eq!((buffer[(1, 4)].symbol(), buffer[(1, 3)].symbol()), ("s", " "));
    }
}
