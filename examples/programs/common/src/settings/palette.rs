//! The user's colours of states.

use std::str::FromStr;

use crate::paint::{Color, Paint};

/// Colours of states that differ from LTTV's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Palette {
    colors: [Option<Color>; Paint::ALL.len()],
}

impl Palette {
    /// Returns the colour of a state, if it is set.
    pub fn get(&self, paint: Paint) -> Option<Color> {
        self.colors[paint.index()]
    }

    pub(super) fn set(&mut self, paint: Paint, color: Color) {
        self.colors[paint.index()] = Some(color);
    }
}

/// Returns the name of a state in the configuration file.
pub(super) fn name(paint: Paint) -> &'static str {
    match paint {
        Paint::Unknown => "unknown",
        Paint::Running => "running",
        Paint::User => "user",
        Paint::Syscall => "syscall",
        Paint::Trap => "trap",
        Paint::Irq => "irq",
        Paint::Softirq => "softirq",
        Paint::Wait => "wait",
        Paint::WaitCpu => "wait-cpu",
        Paint::WaitFork => "wait-fork",
        Paint::Exit => "exit",
        Paint::Zombie => "zombie",
        Paint::Dead => "dead",
        Paint::Idle => "idle",
        Paint::Busy => "busy",
        Paint::Pending => "pending",
        Paint::Reading => "reading",
        Paint::Writing => "writing",
    }
}

/// An error from parsing a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a colour such as \"#019eff\"")]
pub struct ColorError;

impl FromStr for Color {
    type Err = ColorError;

    /// Parses the notation of CSS, `#rrggbb`.
    fn from_str(text: &str) -> Result<Self, ColorError> {
        let digits = text.strip_prefix('#').filter(|digits| {
            digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        });
        let [_, red, green, blue] = digits
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or(ColorError)?
            .to_be_bytes();
        Ok(Color(red, green, blue))
    }
}
