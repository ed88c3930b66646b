//! Keys of a keyboard.

use std::fmt;
use std::str::FromStr;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A key with its modifiers. Shift is a part of characters: `H` is Shift and `h`.
///
/// ```
/// use lttv_tui::keys::Key;
/// use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
///
/// assert_eq!(Key::control('l').to_string(), "Ctrl-L");
/// assert_eq!(Key::new(KeyCode::PageDown).to_string(), "PgDn");
/// assert_eq!(Key::from(KeyEvent::new(KeyCode::Char('H'), KeyModifiers::SHIFT)), Key::char('H'));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    code: KeyCode,
    modifiers: KeyModifiers,
}

impl Key {
    /// Creates a key without modifiers.
    pub const fn new(code: KeyCode) -> Self {
        Key { code, modifiers: KeyModifiers::NONE }
    }

    /// Creates the key of a character.
    pub const fn char(c: char) -> Self {
        Key::new(KeyCode::Char(c))
    }

    /// Creates the key of a character with Ctrl.
    pub const fn control(c: char) -> Self {
        Key { code: KeyCode::Char(c), modifiers: KeyModifiers::CONTROL }
    }

    /// Creates a key with Ctrl, other than a character.
    pub const fn with_control(code: KeyCode) -> Self {
        Key { code, modifiers: KeyModifiers::CONTROL }
    }

    /// Creates a key with Shift, other than a character.
    pub const fn shift(code: KeyCode) -> Self {
        Key { code, modifiers: KeyModifiers::SHIFT }
    }
}

/// An error for a text that names no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no key: a character, F1, PgUp, Home, Space, …, after Ctrl-, Alt- or Shift-")]
pub struct NoKey(String);

/// The names of keys that are no characters.
const NAMES: [(&str, KeyCode); 18] = [
    ("Space", KeyCode::Char(' ')),
    ("←", KeyCode::Left),
    ("Left", KeyCode::Left),
    ("→", KeyCode::Right),
    ("Right", KeyCode::Right),
    ("↑", KeyCode::Up),
    ("Up", KeyCode::Up),
    ("↓", KeyCode::Down),
    ("Down", KeyCode::Down),
    ("PgUp", KeyCode::PageUp),
    ("PgDn", KeyCode::PageDown),
    ("Home", KeyCode::Home),
    ("End", KeyCode::End),
    ("Tab", KeyCode::Tab),
    ("Enter", KeyCode::Enter),
    ("Esc", KeyCode::Esc),
    ("Backspace", KeyCode::Backspace),
    ("Del", KeyCode::Delete),
];

impl FromStr for Key {
    type Err = NoKey;

    /// Parses the name of a key, as the help shows it: `g`, `Ctrl-L`, `Shift-←`, `F5`.
    fn from_str(text: &str) -> Result<Self, NoKey> {
        let mut modifiers = KeyModifiers::NONE;
        let mut name = text;
        for (prefix, modifier) in [
            ("Ctrl-", KeyModifiers::CONTROL),
            ("Alt-", KeyModifiers::ALT),
            ("Shift-", KeyModifiers::SHIFT),
        ] {
            if let Some(rest) = name.strip_prefix(prefix) {
                (name, modifiers) = (rest, modifiers | modifier);
            }
        }
        let mut chars = name.chars();
        let named = NAMES.iter().find(|(of, _)| *of == name);
        let code = match (chars.next(), chars.next()) {
            _ if named.is_some() => named.map_or(KeyCode::Null, |(_, code)| *code),
            // Shift is a part of characters, and Ctrl has small ones.
            (Some(c), None) if modifiers.is_empty() => KeyCode::Char(c),
            (Some(c), None) if !modifiers.contains(KeyModifiers::SHIFT) => {
                KeyCode::Char(c.to_ascii_lowercase())
            }
            (Some('F'), Some(_)) => {
                let number = name[1..].parse().ok().filter(|number| (1..=24).contains(number));
                KeyCode::F(number.ok_or_else(|| NoKey(text.to_owned()))?)
            }
            _ => return Err(NoKey(text.to_owned())),
        };
        let is_back_tab = code == KeyCode::Tab && modifiers == KeyModifiers::SHIFT;
        match is_back_tab {
            true => Ok(Key::new(KeyCode::BackTab)),
            false => Ok(Key { code, modifiers }),
        }
    }
}

impl From<KeyEvent> for Key {
    fn from(key: KeyEvent) -> Self {
        let modifiers = match key.code {
            KeyCode::Char(_) | KeyCode::BackTab => {
                key.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT)
            }
            _ => key.modifiers,
        };
        Key { code: key.code, modifiers }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (modifier, name) in [
            (KeyModifiers::CONTROL, "Ctrl-"),
            (KeyModifiers::ALT, "Alt-"),
            (KeyModifiers::SHIFT, "Shift-"),
        ] {
            if self.modifiers.contains(modifier) {
                f.write_str(name)?;
            }
        }
        match self.code {
            KeyCode::Char(' ') => f.write_str("Space"),
            KeyCode::Char(c) if !self.modifiers.is_empty() => write!(f, "{}", c.to_uppercase()),
            KeyCode::Char(c) => write!(f, "{c}"),
            KeyCode::Left => f.write_str("←"),
            KeyCode::Right => f.write_str("→"),
            KeyCode::Up => f.write_str("↑"),
            KeyCode::Down => f.write_str("↓"),
            KeyCode::PageUp => f.write_str("PgUp"),
            KeyCode::PageDown => f.write_str("PgDn"),
            KeyCode::BackTab => f.write_str("Shift-Tab"),
            KeyCode::Enter => f.write_str("Enter"),
            other => write!(f, "{other}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_help() {
        let keys = [
            Key::char('g'),
            Key::char('H'),
            Key::char('-'),
            Key::char('ñ'),
            Key::char(' '),
            Key::control('l'),
            Key::with_control(KeyCode::Left),
            Key::shift(KeyCode::Right),
            Key::new(KeyCode::PageDown),
            Key::new(KeyCode::BackTab),
            Key::new(KeyCode::Enter),
            Key::new(KeyCode::Esc),
            Key::new(KeyCode::F(5)),
        ];
        for key in keys {
            assert_eq!(key.to_string().parse(), Ok(key), "{key}");
        }
        assert_eq!("Ctrl-Left".parse(), Ok(Key::with_control(KeyCode::Left)));
        for text in ["", "gg", "Ctrl-", "F0", "F99", "Hyper-x", "Shift-x"] {
            assert_eq!(text.parse::<Key>(), Err(NoKey(text.to_owned())));
        }
    }
}
