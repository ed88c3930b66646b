//! A line editor, the history of its answers, and the completion of paths.

use std::ops::Range;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

mod history;
mod paths;

pub use history::{History, HistoryError};
pub use paths::{PathChoice, complete, expanded};

/// A line that the user edits.
#[derive(Debug, Clone, Default)]
pub struct Prompt {
    text: Vec<char>,
    cursor: usize,
}

/// The effect of a key on a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// Editing continues; the text or the cursor may have changed.
    Going,
    /// The line is complete.
    Done,
    /// Editing was cancelled.
    Cancelled,
}

/// The greatest length of a line in characters.
const MOST: usize = 4096;

impl Prompt {
    /// Creates a prompt with an initial text, with the cursor at its end.
    pub fn new(text: &str) -> Self {
        let text: Vec<char> = text.chars().take(MOST).collect();
        Prompt { cursor: text.len(), text }
    }

    /// Returns the edited text.
    pub fn text(&self) -> String {
        self.text.iter().collect()
    }

    /// Replaces the whole text, and moves the cursor to its end.
    pub fn set(&mut self, text: &str) {
        *self = Prompt::new(text);
    }

    /// Returns the number of characters before the cursor.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Returns the number of bytes before the cursor.
    pub fn cursor_in_bytes(&self) -> usize {
        self.text.iter().take(self.cursor).map(|c| c.len_utf8()).sum()
    }

    /// Replaces a range of bytes with a text, and moves the cursor to its end. Bounds within
    /// characters, or after the end, are moved back. Does nothing if the line would be too
    /// long.
    pub fn replace(&mut self, bytes: Range<usize>, text: &str) {
        let chars = |bytes: usize| {
            let all = self.text.iter().scan(0, |end, c| {
                *end += c.len_utf8();
                Some(*end)
            });
            all.take_while(|end| *end <= bytes).count()
        };
        let (start, end) = (chars(bytes.start), chars(bytes.end.max(bytes.start)));
        let added = text.chars().count();
        if self.text.len() - (end - start) + added <= MOST {
            self.text.splice(start..end, text.chars());
            self.cursor = start + added;
        }
    }

    /// Handles a key: edits the line, or ends editing.
    pub fn key(&mut self, key: KeyEvent) -> Edit {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => return Edit::Done,
            KeyCode::Esc => return Edit::Cancelled,
            KeyCode::Char('c' | 'g') if control => return Edit::Cancelled,
            KeyCode::Char('u') if control => {
                self.text.drain(..self.cursor);
                self.cursor = 0;
            }
            KeyCode::Char('k') if control => self.text.truncate(self.cursor),
            KeyCode::Char('w') if control => {
                let before = self.text.get(..self.cursor).unwrap_or_default();
                let kept = before.iter().rposition(|c| !c.is_whitespace()).map_or(0, |end| {
                    before[..end].iter().rposition(|c| c.is_whitespace()).map_or(0, |at| at + 1)
                });
                self.text.drain(kept..self.cursor);
                self.cursor = kept;
            }
            KeyCode::Home => self.cursor = 0,
            KeyCode::Char('a') if control => self.cursor = 0,
            KeyCode::End => self.cursor = self.text.len(),
            KeyCode::Char('e') if control => self.cursor = self.text.len(),
            KeyCode::Left => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Right => self.cursor = (self.cursor + 1).min(self.text.len()),
            KeyCode::Backspace if self.cursor > 0 => {
                self.cursor -= 1;
                self.text.remove(self.cursor);
            }
            KeyCode::Delete if self.cursor < self.text.len() => {
                self.text.remove(self.cursor);
            }
            KeyCode::Char(c) if !control && self.text.len() < MOST => {
                self.text.insert(self.cursor, c);
                self.cursor += 1;
            }
            _ => {}
        }
        Edit::Going
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(prompt: &mut Prompt, code: KeyCode) {
        _ = prompt.key(KeyEvent::new(code, KeyModifiers::NONE));
    }

    #[test]
    fn ranges_are_replaced() {
        let mut prompt = Prompt::new("a ñ == x");
        prompt.replace(2..4, "event.name");
        assert_eq!((&*prompt.text(), prompt.cursor()), ("a event.name == x", 12));
        assert_eq!(prompt.cursor_in_bytes(), 12);
        prompt.replace(16..99, "é");
        assert_eq!((&*prompt.text(), prompt.cursor()), ("a event.name == é", 17));
        assert_eq!(prompt.cursor_in_bytes(), 18);
        prompt.replace(0..0, &"z".repeat(MOST));
        assert_eq!(prompt.cursor(), 17);
    }

    #[test]
    fn text_is_edited_at_the_cursor() {
        let mut prompt = Prompt::new("añb c");
        press(&mut prompt, KeyCode::Home);
        press(&mut prompt, KeyCode::Right);
        press(&mut prompt, KeyCode::Delete);
        press(&mut prompt, KeyCode::Char('n'));
        assert_eq!((&*prompt.text(), prompt.cursor()), ("anb c", 2));
        press(&mut prompt, KeyCode::End);
        _ = prompt.key(KeyEvent::new(KeyCode::Char('w'), KeyModifiers::CONTROL));
        assert_eq!((&*prompt.text(), prompt.cursor()), ("anb ", 4));
    }
}
