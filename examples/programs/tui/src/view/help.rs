//! The help page.

use lttv_common::paint::Paint;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{canvas, put, status};
use crate::keys;
use crate::look::Look;
use crate::viewer::ViewerKinds;

/// The help page, which can be scrolled if it does not fit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Help {
    /// The first visible line, before it is limited to the number of lines.
    top: usize,
}

/// A line of the help page.
#[derive(Debug, Clone)]
enum Line {
    /// Keys with their texts, side by side.
    Keys(Vec<KeyText>),
    Legend(&'static str, &'static [Paint]),
    Text(&'static str),
}

/// Keys and the text of their actions.
#[derive(Debug, Clone)]
struct KeyText {
    /// The keys, or the title of a viewer.
    left: String,
    /// A key of the viewer.
    key: String,
    text: &'static str,
}

/// The width of keys, before their texts.
const INDENT: u16 = 14;
/// The least width of keys and their texts.
const CELL: u16 = 38;

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
        let room = usize::from(area.height.saturating_sub(1));
        let (cell, lines) = lines_of(kinds, inner.width, room);
        self.top = self.top.min(lines.len().saturating_sub(room));
        let top = self.top;
        let x = put(buffer, inner, inner.x, area.y, "Keys", heading);
        if lines.len() > room {
            let shown = format!("{}–{} of {}", top + 1, (top + room).min(lines.len()), lines.len());
            let more = format!("lines {shown}: ↑ ↓ PgUp PgDn");
            put(buffer, inner, x + 2, area.y, &more, look.canvas());
        }
        for (line, y) in lines.into_iter().skip(top).zip(area.y + 1..area.bottom()) {
            match line {
                Line::Keys(keys) => {
                    let mut cell = Rect { y, width: cell.min(inner.width), height: 1, ..inner };
                    for keys in keys {
                        keys.draw(look, cell, buffer);
                        cell.x = cell.x.saturating_add(cell.width);
                    }
                }
                Line::Legend(title, paints) => {
                    let text = Rect { x: inner.x + INDENT, y, width: legends, height: 1 };
                    put(buffer, inner, inner.x, y, title, heading);
                    status::legend(paints, look, text, buffer);
                }
                Line::Text(words) => _ = put(buffer, inner, inner.x, y, words, look.canvas()),
            }
        }
    }
}

impl KeyText {
    /// Returns the width of the keys and the text, with a space after it.
    fn width(&self) -> u16 {
        let key = if self.key.is_empty() { 0 } else { self.key.chars().count() + 1 };
        INDENT + (key + self.text.chars().count() + 1) as u16
    }

    fn draw(&self, look: Look, cell: Rect, buffer: &mut Buffer) {
        let heading = look.canvas().patch(look.heading());
        put(buffer, cell, cell.x, cell.y, &self.left, heading);
        let mut x = cell.x.saturating_add(INDENT);
        if !self.key.is_empty() {
            x = put(buffer, cell, x, cell.y, &self.key, heading) + 1;
        }
        put(buffer, cell, x, cell.y, self.text, look.canvas());
    }
}

/// Returns all keys: the general ones, and those of viewers after their titles.
fn keys_of(kinds: &ViewerKinds) -> Vec<KeyText> {
    let general = keys::help();
    let general =
        general.map(|(left, text)| KeyText { left: left.to_owned(), key: String::new(), text });
    let of_kind = kinds.iter().flat_map(|kind| {
        kind.actions().iter().enumerate().map(move |(number, action)| {
            let keys: Vec<String> = action.keys().iter().map(ToString::to_string).collect();
            let left = if number == 0 { kind.title() } else { "" };
            KeyText { left: left.to_owned(), key: keys.join(" "), text: action.text() }
        })
    });
    general.chain(of_kind).collect()
}

/// Returns the width of keys with their texts, and all lines of at most this width. `room` is the
/// number of lines that are visible at once.
fn lines_of(kinds: &ViewerKinds, width: u16, room: usize) -> (u16, Vec<Line>) {
    let keys = keys_of(kinds);
    let cell = keys.iter().map(KeyText::width).max().unwrap_or(0).max(CELL);
    let columns = usize::from(width / cell).max(1);
    let mut lines = Vec::new();
    // The keys of a screen are read from top to bottom, then in the next column.
    for screen in keys.chunks(room.max(1) * columns) {
        let height = screen.len().div_ceil(columns);
        lines.extend(
            (0..height).map(|line| {
                Line::Keys(screen.iter().skip(line).step_by(height).cloned().collect())
            }),
        );
    }
    lines.push(Line::Text(
        "Mouse: a click selects, a drag marks a range, the wheel zooms or scrolls.",
    ));
    lines.push(Line::Text(
        "Prompts: Tab completes, ↑ ↓ choose, Ctrl-P Ctrl-N show earlier answers.",
    ));
    let legends = width.saturating_sub(INDENT);
    for (title, paints) in
        [("Processes", &Paint::OF_PROCESSES[..]), ("Resources", &Paint::OF_RESOURCES)]
    {
        let (mut title, mut rest) = (title, paints);
        while !rest.is_empty() {
            let (line, more) = rest.split_at(status::fitting(rest, legends).max(1));
            lines.push(Line::Legend(std::mem::take(&mut title), line));
            rest = more;
        }
    }
    lines.push(Line::Text("The height of a bar is the share of active time in its column."));
    lines.push(Line::Text("! over the histogram and at times: events or packets were lost there."));
    (cell, lines)
}
