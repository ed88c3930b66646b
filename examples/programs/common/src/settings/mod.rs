//! The user's settings, from a configuration file.
//!
//! They apply where neither an option nor an environment variable for one program says
//! otherwise. The program `lttv` [loads](Settings::load) and [installs](install) them before
//! anything else; other programs have the defaults. Like the time zone and the colours of the
//! environment, they are those of the process.

mod file;
mod palette;
mod place;

use std::sync::OnceLock;

use lttv_filter::Zone;

pub use file::{KeyBinding, SettingsError};
pub use palette::Palette;
pub use place::Place;

use crate::paint::{self, Paint};
use crate::text::clock_text::ClockStyle;
use crate::text::palette::Color;

/// The settings of a user. The default ones are those without a configuration file.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    color: Option<Color>,
    /// The zone of the system, unless it is set.
    zone: Option<Zone>,
    time_format: Option<TimeFormat>,
    thousands: Thousands,
    palette: Palette,
    keys: Vec<KeyBinding>,
}

/// A notation of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeFormat {
    /// Seconds since the epoch.
    Seconds,
    /// The time of day.
    Time,
    /// Date and time.
    Date,
}

/// The text between the thousands of counts in tables for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Thousands(&'static str);

impl Default for Thousands {
    fn default() -> Self {
        Thousands(",")
    }
}

static CURRENT: OnceLock<Settings> = OnceLock::new();

/// Sets the settings of the process. Later calls have no effect.
pub fn install(settings: Settings) {
    _ = CURRENT.set(settings);
}

/// Returns the settings of the process; the default ones before [`install`].
pub fn current() -> &'static Settings {
    static DEFAULT: OnceLock<Settings> = OnceLock::new();
    CURRENT.get().unwrap_or_else(|| DEFAULT.get_or_init(Settings::default))
}

/// Returns the colour of a state in the settings of the process, or else LTTV's.
pub fn color_of(paint: Paint) -> paint::Color {
    current().palette().get(paint).unwrap_or(paint.color())
}

impl Settings {
    /// Returns the use of colours, if it is set.
    pub fn color(&self) -> Option<Color> {
        self.color
    }

    /// Returns the time zone of times that are parsed and printed.
    pub fn zone(&self) -> Zone {
        self.zone.clone().unwrap_or_else(Zone::local)
    }

    /// Returns the text between the thousands of counts in tables for people.
    pub fn thousands(&self) -> &'static str {
        self.thousands.0
    }

    /// Returns the notation of times in tables and lists of events for people, if it is set.
    pub fn time_format(&self) -> Option<TimeFormat> {
        self.time_format
    }

    /// Returns the notation of times in tables and lines of events for people: the time of day,
    /// unless it is set.
    pub fn clock(&self) -> ClockStyle {
        match self.time_format {
            Some(TimeFormat::Seconds) => ClockStyle::Seconds,
            None | Some(TimeFormat::Time) => ClockStyle::TimeOfDay,
            Some(TimeFormat::Date) => ClockStyle::DateTime,
        }
    }

    /// Returns the colours of states that differ from LTTV's.
    pub fn palette(&self) -> &Palette {
        &self.palette
    }

    /// Returns the keys of the terminal program that have the action of another key, in the
    /// order of the file.
    pub fn keys(&self) -> &[KeyBinding] {
        &self.keys
    }
}
