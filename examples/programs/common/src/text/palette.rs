//! Terminal colours.

use std::env;
use std::ffi::OsString;

/// A choice of when to print terminal colour codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Color {
    /// If the output is a terminal, unless NO_COLOR or CLICOLOR_FORCE is set.
    #[default]
    Auto,
    /// Never.
    Never,
    /// Always.
    Always,
}

impl Color {
    /// Returns `true` if an output is coloured.
    pub fn is_on(self, is_terminal: bool) -> bool {
        self.is_on_in(is_terminal, |name| env::var_os(name))
    }

    /// Returns `true` if an output is coloured in an environment: [`Auto`](Self::Auto) follows
    /// `NO_COLOR`, then `CLICOLOR_FORCE`, then whether the output is a terminal.
    ///
    /// ```
    /// use lttv_common::text::palette::Color;
    ///
    /// let set = |name: &'static str| move |asked: &str| (asked == name).then(|| "1".into());
    /// assert!(!Color::Auto.is_on_in(true, set("NO_COLOR")));
    /// assert!(Color::Always.is_on_in(true, set("NO_COLOR")));
    /// assert!(Color::Auto.is_on_in(false, set("CLICOLOR_FORCE")));
    /// assert!(Color::Auto.is_on_in(true, |_| None));
    /// ```
    pub fn is_on_in(self, is_terminal: bool, env: impl Fn(&str) -> Option<OsString>) -> bool {
        let is_set = |name| env(name).is_some_and(|value| !value.is_empty());
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto if is_set("NO_COLOR") => false,
            Color::Auto if is_set("CLICOLOR_FORCE") => {
                env("CLICOLOR_FORCE").is_some_and(|value| value != "0") || is_terminal
            }
            Color::Auto => is_terminal,
        }
    }
}

/// The start codes of each kind of text; `reset` ends them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    pub(crate) heading: &'static str,
    pub(crate) field_name: &'static str,
    pub(crate) value: &'static str,
    pub(crate) unknown: &'static str,
    pub(crate) event_name: &'static str,
    pub(crate) timestamp: &'static str,
    pub(crate) reset: &'static str,
}

impl Palette {
    /// The palette without codes.
    pub const PLAIN: Palette = Palette {
        heading: "",
        field_name: "",
        value: "",
        unknown: "",
        event_name: "",
        timestamp: "",
        reset: "",
    };

    /// The default colours of babeltrace2, in which bold also means bright.
    pub const COLORED: Palette = Palette {
        heading: "\x1b[1m",
        field_name: "\x1b[36m",
        value: "\x1b[1m",
        unknown: "\x1b[1m\x1b[1m\x1b[31m",
        event_name: "\x1b[1m\x1b[1m\x1b[35m",
        timestamp: "\x1b[1m\x1b[1m\x1b[33m",
        reset: "\x1b[0m",
    };
}
