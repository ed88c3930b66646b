//! A list over the viewers, from which the user picks an item.

use std::collections::BTreeSet;

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Position, Rect};

use super::{Scroll, canvas, put};
use crate::keys::Move;
use crate::look::Look;

/// A list of items with a selected one.
#[derive(Debug, Clone)]
pub struct PickList {
    title: String,
    /// The items: label and explanation.
    items: Vec<(String, String)>,
    scroll: Scroll,
    /// The keys with other meanings than picking.
    keys: &'static [char],
    hint: &'static str,
    /// The items that the user has marked; `None` if items cannot be marked.
    marks: Option<BTreeSet<usize>>,
    /// The area in which the list was drawn.
    area: Rect,
}

/// The effect of a key on a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Picked {
    /// The user still picks.
    Going,
    /// The item at this index was picked.
    Item(usize),
    /// The user pressed one of the list's own keys at the item of this index.
    Key(char, usize),
    /// The user picks no item.
    Cancelled,
}

/// The least width of a list, if there is space.
const LEAST_WIDTH: u16 = 30;

impl PickList {
    /// Creates a list of items with labels and explanations. The first one is selected.
    pub fn new(
        title: impl Into<String>,
        items: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let items = items.into_iter().collect();
        let hint = "Enter picks, Esc leaves";
        let (scroll, area) = (Scroll::default(), Rect::ZERO);
        PickList { title: title.into(), items, scroll, keys: &[], hint, marks: None, area }
    }

    /// Adds keys of its own, with a hint that explains all keys.
    #[must_use]
    pub fn with_keys(self, keys: &'static [char], hint: &'static str) -> Self {
        PickList { keys, hint, ..self }
    }

    /// Lets the user mark items, with a hint that explains all keys.
    #[must_use]
    pub fn with_marks(self, hint: &'static str) -> Self {
        PickList { marks: Some(BTreeSet::new()), hint, ..self }
    }

    /// Returns the indices of the marked items.
    pub fn marked(&self) -> Vec<usize> {
        self.marks.iter().flatten().copied().collect()
    }

    /// Selects an item.
    #[must_use]
    pub fn with_selected(mut self, item: usize) -> Self {
        self.scroll.go(Move::To(item), self.items.len());
        self
    }

    /// Handles a key: moves the selection, or ends picking. Digits pick one of the first nine
    /// items.
    pub fn key(&mut self, key: KeyEvent) -> Picked {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if let (Some(marks), KeyCode::Char(' ')) = (&mut self.marks, key.code) {
            let selected = self.scroll.selected;
            if !marks.remove(&selected) {
                marks.insert(selected);
            }
            self.scroll.go(Move::Rows(1), self.items.len());
            return Picked::Going;
        }
        let to = match key.code {
            KeyCode::Esc => return Picked::Cancelled,
            KeyCode::Char('c' | 'g') if control => return Picked::Cancelled,
            KeyCode::Char('q') => return Picked::Cancelled,
            KeyCode::Char(c) if !control && self.keys.contains(&c) && !self.items.is_empty() => {
                return Picked::Key(c, self.scroll.selected);
            }
            KeyCode::Enter if self.items.is_empty() => return Picked::Cancelled,
            KeyCode::Enter => return Picked::Item(self.scroll.selected),
            KeyCode::Char(c @ '1'..='9') if self.marks.is_none() => {
                let at = c as usize - '1' as usize;
                return if at < self.items.len() { Picked::Item(at) } else { Picked::Going };
            }
            KeyCode::Up | KeyCode::BackTab | KeyCode::Char('k') => Move::Rows(-1),
            KeyCode::Down | KeyCode::Tab | KeyCode::Char('j') => Move::Rows(1),
            KeyCode::PageUp => Move::Pages(-1),
            KeyCode::PageDown => Move::Pages(1),
            KeyCode::Home => Move::First,
            KeyCode::End => Move::Last,
            _ => return Picked::Going,
        };
        self.scroll.go(to, self.items.len());
        Picked::Going
    }

    /// Handles a click: picks the item at a point, or none outside of the list.
    pub fn click(&self, at: Position) -> Picked {
        if !self.area.contains(at) {
            return Picked::Cancelled;
        }
        let line = at.y.checked_sub(self.area.y + 1).filter(|_| at.y + 1 < self.area.bottom());
        let item = line.and_then(|line| self.scroll.row(line, self.items.len()));
        item.map_or(Picked::Going, Picked::Item)
    }

    /// Scrolls by this many items, down if positive.
    pub fn wheel(&mut self, rows: isize) {
        self.scroll.go(Move::View { rows, over: None }, self.items.len());
    }

    /// Draws the list in the middle of an area.
    pub fn draw(&mut self, look: Look, area: Rect, buffer: &mut Buffer) {
        let chars = |text: &String| text.chars().count() as u16;
        let label = self.items.iter().map(|(label, _)| chars(label)).max().unwrap_or(0);
        let detail = self.items.iter().map(|(_, detail)| chars(detail)).max().unwrap_or(0);
        let wanted = (label + detail + 9)
            .max(chars(&self.title) + 4)
            .max(self.hint.len() as u16 + 4)
            .max(LEAST_WIDTH);
        let (width, height) = (wanted.min(area.width), self.items.len() as u16 + 2);
        let height = height.min(area.height);
        let inside = Rect {
            x: area.x + (area.width - width) / 2,
            y: area.y + (area.height - height) / 2,
            width,
            height,
        };
        self.area = inside;
        canvas(look, inside, buffer);
        let heading = look.canvas().patch(look.heading());
        put(buffer, inside, inside.x.saturating_add(2), inside.y, &self.title, heading);
        self.scroll.fit(self.items.len(), height.saturating_sub(2));
        let shown = self.items.iter().enumerate().skip(self.scroll.top);
        for ((at, (text, more)), y) in
            shown.zip(inside.y + 1..inside.bottom().saturating_sub(1).max(inside.y + 1))
        {
            let is_selected = at == self.scroll.selected;
            let style = if is_selected { look.selected() } else { look.canvas() };
            let line = Rect { y, height: 1, ..inside };
            buffer.set_style(line.intersection(buffer.area), style);
            let is_marked = self.marks.as_ref().is_some_and(|marks| marks.contains(&at));
            let number = match (is_marked, &self.marks) {
                (true, _) => "[x]".to_owned(),
                (false, Some(_)) => "[ ]".to_owned(),
                (false, None) if at < 9 => (at + 1).to_string(),
                _ => String::new(),
            };
            let indent = if self.marks.is_some() { 1 } else { 2 };
            put(buffer, line, line.x.saturating_add(indent), y, &number, style);
            put(buffer, line, line.x.saturating_add(5), y, text, style);
            put(buffer, line, line.x.saturating_add(7).saturating_add(label), y, more, style);
        }
        if height > 1 {
            let y = inside.bottom() - 1;
            put(buffer, inside, inside.x.saturating_add(2), y, self.hint, look.canvas());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(list: &mut PickList, code: KeyCode) -> Picked {
        list.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn items_are_picked_by_selection_or_number() {
        let item = |name: &str| (name.to_owned(), String::new());
        let mut list = PickList::new("Which", ["a", "b", "c"].map(item));
        assert_eq!(press(&mut list, KeyCode::Down), Picked::Going);
        assert_eq!(press(&mut list, KeyCode::Enter), Picked::Item(1));
        assert_eq!(press(&mut list, KeyCode::Char('3')), Picked::Item(2));
        assert_eq!(press(&mut list, KeyCode::Char('4')), Picked::Going);
        assert_eq!(press(&mut list, KeyCode::End), Picked::Going);
        assert_eq!(press(&mut list, KeyCode::Enter), Picked::Item(2));
        assert_eq!(press(&mut list, KeyCode::Esc), Picked::Cancelled);
        let mut empty = PickList::new("Which", []);
        assert_eq!(press(&mut empty, KeyCode::Enter), Picked::Cancelled);
    }
}
