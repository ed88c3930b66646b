//! The help page.

use lttv_examples::paint::Paint;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{canvas, put, status};
use crate::keys;
use crate::look::Look;
use crate::viewer::ViewerKinds;

/// The help page, which can be scrolled on small screens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Help {
    /// The first visible line, before it is limited to the number of lines.
    top: usize,
}

/// A line of the help page.
#[derive(Debug, Clone)]
enum Line {
    Title(&'static str),
    Key(String, &'static str),
    Legend(&'static str, &'static [Paint]),
    Text(&'static str),
}

/// The column of texts, after the keys.
const INDENT: u16 = 16;

impl Help {
    /// Scrolls by this many lines, down if positive.
    pub fn scroll(&mut self, lines: isize) {
        self.top = self.top.saturating_add_signed(lines);
    }

    /// Draws the page over the whole area.
    pub fn draw(&mut self, kinds: &ViewerKinds, look: Look, area: Rect, buffer: &mut Buffer) {
        canvas(look, area, buffer);
        let inner =
            Rect { x: area.x.saturating_add(2), width: area.width.saturating_sub(4), ..area };
        let heading = look.canvas().patch(look.heading());
        let legends = inner.width.saturating_sub(INDENT);
        let lines = lines_of(kinds, legends);
        let room = usize::from(area.height.saturating_sub(1));
        self.top = self.top.min(lines.len().saturating_sub(room));
        let top = self.top;
        let x = put(buffer, inner, inner.x, area.y, "Keys", heading);
        if lines.len() > room {
            let shown = format!("{}–{} of {}", top + 1, (top + room).min(lines.len()), lines.len());
            put(
                buffer,
                inner,
                x + 2,
                area.y,
                &format!("lines {shown}: ↑ ↓ PgUp PgDn"),
                look.canvas(),
            );
        }
        for (line, y) in lines.into_iter().skip(top).zip(area.y + 1..area.bottom()) {
            let text = Rect { x: inner.x.saturating_add(INDENT), y, width: legends, height: 1 };
            match line {
                Line::Title(title) => _ = put(buffer, inner, inner.x, y, title, heading),
                Line::Key(key, meaning) => {
                    put(buffer, inner, inner.x, y, &key, heading);
                    put(buffer, text, text.x, y, meaning, look.canvas());
                }
                Line::Legend(title, paints) => {
                    put(buffer, inner, inner.x, y, title, heading);
                    status::legend(paints, look, text, buffer);
                }
                Line::Text(words) => _ = put(buffer, inner, inner.x, y, words, look.canvas()),
            }
        }
    }
}

/// Returns all lines, with legends of at most this width.
fn lines_of(kinds: &ViewerKinds, width: u16) -> Vec<Line> {
    let general = keys::help().map(|(key, text)| Line::Key(key.to_owned(), text));
    let mut lines: Vec<Line> = general.collect();
    for kind in kinds.iter().filter(|kind| !kind.actions().is_empty()) {
        lines.push(Line::Title(kind.title()));
        lines.extend(kind.actions().iter().map(|action| {
            let keys: Vec<String> = action.keys().iter().map(ToString::to_string).collect();
            Line::Key(format!("  {}", keys.join(" ")), action.text())
        }));
    }
    for (title, paints) in
        [("Processes", &Paint::OF_PROCESSES[..]), ("Resources", &Paint::OF_RESOURCES)]
    {
        let (mut title, mut rest) = (title, paints);
        while !rest.is_empty() {
            let (line, more) = rest.split_at(status::fitting(rest, width).max(1));
            lines.push(Line::Legend(std::mem::take(&mut title), line));
            rest = more;
        }
    }
    lines.push(Line::Text("The height of a bar is the share of active time in its column."));
    lines
}
