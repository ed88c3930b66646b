//! The options of formats, with the spelling of babeltrace2 where it has them, too.

use lttv_common::text::clock_text::ClockStyle;
use lttv_common::text_dump::options::{HeaderField, HeaderFields, LineOptions, NameGroup, Names};
use lttv_common::text_dump::pretty::PrettyOptions;

/// The options of the notation of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::Args)]
pub struct ClockArgs {
    /// Print times in cycles of the clock
    #[arg(long)]
    pub clock_cycles: bool,

    /// Print times in seconds since the epoch
    #[arg(long)]
    pub clock_seconds: bool,

    /// Print dates with times
    #[arg(long)]
    pub clock_date: bool,

    /// Print times in seconds since the first event of the traces
    #[arg(long, conflicts_with_all = ["clock_cycles", "clock_seconds", "clock_date"])]
    pub relative: bool,
}

/// The options of single formats.
#[derive(Debug, Clone, PartialEq, Eq, Default, clap::Args)]
pub struct StyleArgs {
    /// Do not print the time since the previous event (babeltrace)
    #[arg(long)]
    pub no_delta: bool,

    /// Names to print (babeltrace) [default: payload,context]
    #[arg(short, long, value_name = "NAME,…", value_enum, value_delimiter = ',')]
    pub names: Vec<NameGroup>,

    /// Header fields to print (babeltrace)
    /// [default: trace:hostname,trace:procname,trace:vpid]
    #[arg(short, long, value_name = "FIELD,…", value_enum, value_delimiter = ',')]
    pub fields: Vec<HeaderField>,

    /// Print the process that runs, for all kernel traces (lttv)
    #[arg(long)]
    pub process: bool,

    /// Print the process that runs with its status, for all kernel traces (lttv)
    #[arg(long)]
    pub process_state: bool,
}

impl ClockArgs {
    /// Returns the requested notation; of several, the first in the help.
    pub fn style(self) -> Option<ClockStyle> {
        let ClockArgs { clock_cycles, clock_seconds, clock_date, relative } = self;
        match () {
            () if clock_cycles => Some(ClockStyle::Cycles),
            () if clock_seconds || relative => Some(ClockStyle::Seconds),
            () if clock_date => Some(ClockStyle::DateTime),
            () => None,
        }
    }
}

impl StyleArgs {
    /// Returns the options of LTTV's lines.
    pub fn lines(&self) -> LineOptions {
        LineOptions {
            process: self.process || self.process_state,
            process_state: self.process_state,
            ..LineOptions::default()
        }
    }

    /// Returns the options of babeltrace's text, without colours.
    pub fn pretty(&self) -> PrettyOptions {
        PrettyOptions {
            names: Names::of(&self.names),
            fields: HeaderFields::of(&self.fields),
            delta: !self.no_delta,
            colored: false,
            escaped: false,
        }
    }
}
