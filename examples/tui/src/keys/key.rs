//! Keys of a keyboard.

use std::fmt;

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
