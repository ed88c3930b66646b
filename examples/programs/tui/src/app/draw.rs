//! Drawing of frames.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::App;
use crate::text::message;
use crate::view::{put, status, time_bar};

/// The end of a text that is longer than its line.
const MORE: &str = " … (! shows all)";

impl App {
    /// Draws the screen, and submits requests for missing data.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        self.area = area;
        let lines = Lines::of(area);
        let page = &mut self.tabs[self.current];
        let updated = page.update(lines.viewers);
        let page = &self.tabs[self.current];
        let buffer = frame.buffer_mut();
        page.draw(self.look, lines.viewers, buffer);
        if let Some(line) = lines.time {
            time_bar::draw(&page.session, self.look, line, buffer);
        }
        if let Some(line) = lines.status {
            status::draw(&page.session, self.look, line, buffer);
        }
        if let Some(line) = lines.tabs {
            self.draw_tabs(line, buffer);
        }
        if let Some(help) = &mut self.help {
            help.draw(&self.kinds, self.look, area, buffer);
        }
        if let Some(pick) = &mut self.pick {
            pick.list.draw(self.look, lines.viewers, buffer);
        }
        if let Some(popup) = &mut self.popup {
            popup.draw(self.look, lines.viewers, buffer);
        }
        let cursor = lines.bottom.and_then(|line| self.draw_bottom(area, line, buffer));
        if let Some(cursor) = cursor {
            frame.set_cursor_position(cursor);
        }
        self.note(updated);
    }

    fn draw_tabs(&self, line: Rect, buffer: &mut Buffer) {
        let mut x = line.x;
        for (number, (page, area)) in self.tabs.iter().zip(self.tab_areas(line)).enumerate() {
            let style = if number == self.current { self.look.focus() } else { self.look.faint() };
            put(buffer, line, area.x, line.y, &format!(" {} ", page.session.name), style);
            x = area.right();
        }
        let hint = "? keys  q quit";
        let at = line.right().saturating_sub(hint.len() as u16);
        if at > x {
            put(buffer, line, at, line.y, hint, self.look.faint());
        }
    }

    /// Draws the line for questions and messages. Returns the position of the cursor if a
    /// question is open.
    fn draw_bottom(&mut self, area: Rect, line: Rect, buffer: &mut Buffer) -> Option<Position> {
        if let Some(question) = &mut self.question {
            return Some(question.draw(self.look, area, line, buffer));
        }
        let told = self.message.clone().or_else(|| self.session().message.clone());
        if let Some(message) = &told {
            self.remember(message.clone());
        }
        if let Some(text) = told.filter(|text| !message::fits(text, line.width)) {
            // Until the next key, it may cover other lines. The key ! shows what is hidden.
            let half = (area.height / 2).max(1);
            let place = Rect { y: area.bottom() - half, height: half, ..area };
            message::draw(&text, self.look.heading(), self.look, place, 0, buffer);
            return None;
        }
        let page = &self.tabs[self.current];
        let told = self.message.clone().or_else(|| page.session.message.clone());
        let told = told.or_else(|| page.session.export_progress());
        let message = told.or_else(|| page.message()).or_else(|| page.session.note_here());
        let Some(text) = message else {
            self.draw_detail(line, buffer);
            return None;
        };
        let style = self.look.heading();
        put(buffer, line, line.x, line.y, &text, style);
        if !message::fits(&text, line.width) {
            let x = line.right().saturating_sub(MORE.chars().count() as u16).max(line.x);
            put(buffer, line, x, line.y, MORE, style);
        }
        None
    }

    /// Draws the line about the selected row, and errors of reading.
    fn draw_detail(&self, line: Rect, buffer: &mut Buffer) {
        let page = &self.tabs[self.current];
        let mut x = line.x;
        let detail = page.detail().map(|detail| (detail, Style::new()));
        let found = self.found_row.clone().map(|found| (found, self.look.heading()));
        for (text, style) in found.into_iter().chain(detail) {
            x = put(buffer, line, x, line.y, &text, style) + 2;
        }
        if let Some(damage) = page.session.damage() {
            // At least a part of it stays visible.
            let middle = line.x + line.width / 2;
            let x =
                if x > middle { put(buffer, line, middle, line.y, "  ", Style::new()) } else { x };
            put(buffer, line, x, line.y, &damage, self.look.error());
        }
    }
}

/// The lines of a screen; `None` for those without space.
pub(super) struct Lines {
    pub(super) tabs: Option<Rect>,
    pub(super) viewers: Rect,
    pub(super) time: Option<Rect>,
    status: Option<Rect>,
    bottom: Option<Rect>,
}

impl Lines {
    /// Divides a screen.
    pub(super) fn of(area: Rect) -> Self {
        let line = |y| Some(Rect { y, height: 1, ..area });
        let (top, bottom) = (area.y, area.bottom());
        let (tabs, time, status) = (area.height >= 8, area.height >= 7, area.height >= 6);
        let viewers = Rect {
            y: top + u16::from(tabs),
            height: area.height
                - u16::from(tabs)
                - u16::from(time)
                - u16::from(status)
                - u16::from(area.height > 1),
            ..area
        };
        Lines {
            tabs: line(top).filter(|_| tabs),
            viewers,
            time: line(viewers.bottom()).filter(|_| time),
            status: line(viewers.bottom() + u16::from(time)).filter(|_| status),
            // If there is only one line, questions are drawn over it.
            bottom: line(bottom.saturating_sub(1)).filter(|_| area.height > 0),
        }
    }
}
