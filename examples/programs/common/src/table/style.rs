//! The look of tables for people.

use std::io::{self, IsTerminal};

use lttv_filter::Zone;

use crate::settings;
use crate::text::clock_text::ClockStyle;

/// The look of tables for people. The default one has rounded numbers and lines of any length,
/// with times in seconds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextStyle {
    /// The number of columns of characters that lines fit in; `None` for any.
    pub width: Option<usize>,
    /// `true` for all digits of numbers, lengths of time and bytes.
    pub is_exact: bool,
    /// The text between the thousands of counts.
    pub thousands: &'static str,
    /// The notation of points in time.
    pub clock: ClockStyle,
    /// The time zone of dates and times of day.
    pub zone: Zone,
}

impl TextStyle {
    /// Returns the style of standard output in the user's settings. Its
    /// width is that of the environment variable `COLUMNS`, or else of the terminal; files and pipes
    /// have none.
    pub fn of_output(zone: Zone) -> Self {
        let settings = settings::current();
        TextStyle {
            width: terminal_width(),
            is_exact: false,
            thousands: settings.thousands(),
            clock: settings.clock(),
            zone,
        }
    }
}

/// Returns the number of columns of characters of standard output: that of the environment variable
/// `COLUMNS`, or else of the terminal. Returns `None` for files and pipes.
fn terminal_width() -> Option<usize> {
    let given = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let of_terminal = || {
        let out = io::stdout();
        let size = out.is_terminal().then(|| rustix::termios::tcgetwinsize(&out))?.ok()?;
        Some(usize::from(size.ws_col))
    };
    given.or_else(of_terminal).filter(|width| *width > 0)
}
