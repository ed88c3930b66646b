//! Terminal colours.

/// A choice of when to print terminal colour codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Color {
    /// If the output is a terminal.
    #[default]
    Auto,
    /// Never.
    Never,
    /// Always.
    Always,
}

/// The start codes of each kind of text; `reset` ends them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    pub(super) heading: &'static str,
    pub(super) field_name: &'static str,
    pub(super) value: &'static str,
    pub(super) unknown: &'static str,
    pub(super) event_name: &'static str,
    pub(super) timestamp: &'static str,
    pub(super) reset: &'static str,
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
