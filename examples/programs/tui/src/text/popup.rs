//! A text over the viewers, which the user reads, scrolls and copies.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Position, Rect};

use super::wrap::{columns, wrap};
use crate::look::Look;
use crate::text::{canvas, put};

/// A text in lines, in a frame over the viewers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Popup {
    title: String,
    lines: Vec<PopupLine>,
    /// The first visible line, before it is limited to the number of lines.
    top: usize,
    /// The number of lines of a page at the last frame.
    page: usize,
    /// The area in which the text was drawn.
    area: Rect,
}

/// A line of a popup. A long one takes several lines of the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PopupLine {
    /// The number of columns before the label.
    pub indent: u16,
    /// The name of the value.
    pub label: String,
    /// The value.
    pub text: String,
    /// A remark after the value, such as its type.
    pub remark: String,
}

/// The effect of a key on a popup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PopupKey {
    /// The popup stays open.
    Going,
    /// The user has closed it.
    Closed,
    /// The user wants to copy this text.
    Copy(String),
}

/// The greatest width of a popup.
const MOST_WIDTH: u16 = 110;
/// The greatest width of labels with their indent, if they share a column.
const MOST_LABEL: usize = 32;

const HINT: &str = "↑ ↓ PgUp PgDn scroll  y copies  Esc closes";

/// A line of the screen.
struct Row<'l> {
    /// The label, in the first row of a line.
    of: Option<&'l PopupLine>,
    text: String,
    /// The column of the text.
    at: u16,
    remark: &'l str,
}

impl PopupLine {
    /// Creates a line without a label.
    pub fn text(text: impl Into<String>) -> Self {
        PopupLine { text: text.into(), ..PopupLine::default() }
    }

    /// Creates a line with a label and a value.
    pub fn new(label: impl Into<String>, text: impl Into<String>) -> Self {
        PopupLine { label: label.into(), text: text.into(), ..PopupLine::default() }
    }

    /// Returns the width of the label with its indent.
    fn label_width(&self) -> usize {
        usize::from(self.indent) + columns(&lttv_common::escape::name(&self.label))
    }
}

impl Popup {
    /// Creates a popup that shows the first lines.
    pub fn new(title: impl Into<String>, lines: Vec<PopupLine>) -> Self {
        Popup { title: title.into(), lines, ..Popup::default() }
    }

    /// Returns the whole text, as it is copied.
    pub fn copied(&self) -> String {
        let mut text = format!("{}\n", self.title);
        for line in &self.lines {
            let indent = " ".repeat(line.indent.into());
            let separator = if line.label.is_empty() || line.text.is_empty() { "" } else { ": " };
            let remark = match &*line.remark {
                "" => String::new(),
                remark => format!("  ({remark})"),
            };
            text += &format!("{indent}{}{separator}{}{remark}\n", line.label, line.text);
        }
        text
    }

    /// Handles a key: scrolls, copies or closes the popup.
    pub fn key(&mut self, key: KeyEvent) -> PopupKey {
        let page = self.page.max(2) as isize - 1;
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let by = match key.code {
            KeyCode::Char('c' | 'g') if control => return PopupKey::Closed,
            KeyCode::Char('b') if control => -page,
            KeyCode::Char('f') if control => page,
            KeyCode::Char('y') => return PopupKey::Copy(self.copied()),
            KeyCode::Up | KeyCode::Char('k') => -1,
            KeyCode::Down | KeyCode::Char('j') => 1,
            KeyCode::PageUp => -page,
            KeyCode::PageDown | KeyCode::Char(' ') => page,
            KeyCode::Home => isize::MIN,
            KeyCode::End => isize::MAX,
            KeyCode::Esc | KeyCode::Enter | KeyCode::Char('q') => return PopupKey::Closed,
            _ => 0,
        };
        self.scroll(by);
        PopupKey::Going
    }

    /// Scrolls by this many lines, down if positive.
    pub fn scroll(&mut self, lines: isize) {
        self.top = self.top.saturating_add_signed(lines);
    }

    /// Returns `true` if a point is in the popup.
    pub fn contains(&self, at: Position) -> bool {
        self.area.contains(at)
    }

    /// Draws the popup in the middle of an area.
    pub fn draw(&mut self, look: Look, area: Rect, buffer: &mut Buffer) {
        let width = area.width.min(MOST_WIDTH);
        let inside = width.saturating_sub(4);
        let labels = self.lines.iter().filter(|line| !line.text.is_empty());
        let labels = labels.map(PopupLine::label_width).filter(|width| *width <= MOST_LABEL);
        let label = labels.max().unwrap_or(0).min(usize::from(inside / 2)) as u16;
        let rows: Vec<Row<'_>> =
            self.lines.iter().flat_map(|line| rows_of(line, label, inside)).collect();
        let height = (rows.len() + 2).min(area.height.into()) as u16;
        self.area = Rect {
            x: area.x + (area.width - width) / 2,
            y: area.y + (area.height - height) / 2,
            width,
            height,
        };
        canvas(look, self.area, buffer);
        let page = usize::from(height.saturating_sub(2));
        self.top = self.top.min(rows.len().saturating_sub(page));
        self.page = page;
        let (left, heading) = (self.area.x.saturating_add(2), look.canvas().patch(look.heading()));
        let faint = look.faint_on_canvas();
        let x = put(buffer, self.area, left, self.area.y, &self.title, heading);
        if rows.len() > page {
            let last = (self.top + page).min(rows.len());
            let shown = format!("lines {}–{last} of {}", self.top + 1, rows.len());
            put(buffer, self.area, x + 2, self.area.y, &shown, faint);
        }
        let room = Rect { width: width.saturating_sub(2), ..self.area };
        for (row, y) in rows.iter().skip(self.top).take(page).zip(self.area.y + 1..) {
            if let Some(line) = row.of {
                put(buffer, room, left + line.indent, y, &line.label, heading);
            }
            let x = put(buffer, room, left + row.at, y, &row.text, look.canvas());
            put(buffer, room, x + 2, y, row.remark, faint);
        }
        if height > 1 {
            put(buffer, self.area, left, self.area.bottom() - 1, HINT, faint);
        }
    }
}

/// Returns the lines of the screen for a line, given the width of labels and of the whole.
fn rows_of(line: &PopupLine, label: u16, width: u16) -> Vec<Row<'_>> {
    let own = line.label_width() as u16;
    if line.text.is_empty() {
        return vec![Row { of: Some(line), text: String::new(), at: own, remark: &line.remark }];
    }
    let at = match own {
        0 => 0,
        // A long label takes a line of its own.
        _ if own > label => line.indent + 2,
        _ => label + 2,
    };
    let texts = wrap(&line.text, width.saturating_sub(at).max(1));
    let last = texts.len() - 1;
    let mut rows = Vec::new();
    let is_beside = own <= label;
    if !is_beside {
        rows.push(Row { of: Some(line), text: String::new(), at: own, remark: "" });
    }
    rows.extend(texts.into_iter().enumerate().map(|(number, text)| Row {
        of: (number == 0 && is_beside).then_some(line),
        text,
        at,
        remark: if number == last { &line.remark } else { "" },
    }));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(popup: &mut Popup, width: u16, height: u16) -> Vec<String> {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        popup.draw(Look::Mono, area, &mut buffer);
        let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..height).map(|y| line(y).trim().to_owned()).collect()
    }

    #[test]
    fn the_whole_text_can_be_read_and_copied() {
        let long = (0..100).map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ");
        let lines = vec![
            PopupLine { remark: "uint8".to_owned(), ..PopupLine::new("tid", "7") },
            PopupLine::new("text", long.clone()),
        ];
        let mut popup = Popup::new("Event", lines);
        let mut seen = String::new();
        loop {
            let before = drawn(&mut popup, 60, 10);
            seen += &before[1..9].join(" ");
            popup.key(KeyEvent::new(KeyCode::PageDown, KeyModifiers::NONE));
            if drawn(&mut popup, 60, 10) == before {
                break;
            }
        }
        assert!(seen.contains("7  uint8") && seen.contains("word0 ") && seen.contains("word99"));
        let copy = popup.key(KeyEvent::new(KeyCode::Char('y'), KeyModifiers::NONE));
        assert_eq!(copy, PopupKey::Copy(format!("Event\ntid: 7  (uint8)\ntext: {long}\n")));
        let close = popup.key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
        assert_eq!(close, PopupKey::Closed);
        // Drawing works in any area.
        for (width, height) in (0..12).flat_map(|w| (0..5).map(move |h| (w, h))) {
            _ = drawn(&mut popup, width, height);
        }
    }
}
