//! The command line of `lttv dump`.

use super::{ClockArgs, Form, Job, StyleArgs};
use crate::commands::common::{InputArgs, OutputArgs};
use crate::report::Usage;
use crate::text_dump::clock_text::ClockStyle;

/// Print the events of traces, in time order
///
/// Each TRACE is a directory; all traces in it are read, at any depth.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct DumpArgs {
    /// The traces and events to read.
    #[command(flatten)]
    pub input: InputArgs,

    /// Format of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: DumpFormat,

    /// The notation of times.
    #[command(flatten)]
    pub clock: ClockArgs,

    /// The options of single formats.
    #[command(flatten)]
    pub style: StyleArgs,

    /// The destination.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Read and order all events, but print only their number
    #[arg(long)]
    pub count: bool,
}

/// A format of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum DumpFormat {
    /// channel.event: sec.nsec (trace/tracefile), context = value { field = value }
    #[default]
    #[value(alias = "lttv")]
    Text,
    /// Byte for byte the output of babeltrace2
    Babeltrace,
    /// One JSON object per line
    Json,
}

impl DumpArgs {
    /// Returns the job of the command line.
    ///
    /// # Errors
    ///
    /// If an option has no effect.
    pub fn job(&self) -> Result<Job, Usage> {
        let usual = match self.format {
            DumpFormat::Babeltrace => ClockStyle::TimeOfDay,
            DumpFormat::Text | DumpFormat::Json => ClockStyle::Seconds,
        };
        Ok(Job {
            input: self.input.clone(),
            output: self.output.clone(),
            form: match self.format {
                _ if self.count => Form::Count,
                DumpFormat::Text => Form::Lttv(self.style.lines()),
                DumpFormat::Babeltrace => Form::Babeltrace(self.style.pretty()),
                DumpFormat::Json => Form::Json,
            },
            clock: self.clock.style().unwrap_or(usual),
        })
    }
}
