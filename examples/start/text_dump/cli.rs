//! The command line. Options that babeltrace2 also has are spelt as there.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use lttv::commands::dump::help;
use lttv::commands::dump::{ClockArgs, Form, Job, StyleArgs};
use lttv_common::args::{InputArgs, OutputArgs};
use lttv_common::cache::CacheArgs;
use lttv_common::clocks::Corrections;
use lttv_common::follow::FollowArgs;
use lttv_common::text_dump::clock_text::ClockStyle;
use lttv_common::text_dump::palette::Color;
use lttv_common::time::{TimeArg, TimeRange};

/// Print the events of traces as text, in time order
///
/// Each TRACE is a directory; all traces in it are read, at any depth. Without TRACE, prints
/// the bundled kernel trace. A TRACE of the form net://HOST:PORT/host/NAME/SESSION is a live
/// session of LTTng; net://HOST lists the sessions.
#[derive(Debug, clap::Parser)]
#[command(name = "text_dump", version, after_long_help = format!("{AFTER_HELP}{}", help::COMMON))]
pub(crate) struct Cli {
    /// Directories that contain traces
    #[arg(value_name = "TRACE")]
    traces: Vec<PathBuf>,

    /// Format of the output
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Skip events before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    begin: Option<TimeArg>,

    /// Stop after the events of this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    end: Option<TimeArg>,

    /// Same as --begin=FROM --end=TO; each may be empty
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["begin", "end"])]
    timerange: Option<TimeRange>,

    /// Print only events for which this expression is true; several must all be true
    #[arg(short = 'e', long = "filter", value_name = "EXPR", allow_hyphen_values = true)]
    filters: Vec<String>,

    #[command(flatten)]
    clock: ClockArgs,

    /// Read with at most this many threads; with 1, one event after the other [default: all
    /// processors]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// Take and print times in UTC instead of the local time zone
    #[arg(long)]
    clock_gmt: bool,

    #[command(flatten)]
    style: StyleArgs,

    /// Use of colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    color: Color,

    /// Write to a file instead of standard output
    #[arg(short, short_alias = 'w', long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Read all events, but print only their number; with --threads 1, order them as well
    #[arg(long)]
    count: bool,

    #[command(flatten)]
    clocks: Corrections,

    #[command(flatten)]
    follow: FollowArgs,

    #[command(flatten)]
    cache: CacheArgs,
}

/// A format of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Format {
    /// channel.event: sec.nsec (trace/tracefile), context = value { field = value }
    #[default]
    Lttv,
    /// Byte for byte the output of babeltrace2
    Babeltrace,
    /// One JSON object per line
    Json,
}

const AFTER_HELP: &str = "\
Times:
  YYYY-MM-DD [hh:mm[:ss[.NANO]]]   a date and time (local, unless --clock-gmt)
  hh:mm[:ss[.NANO]]                on the day of the first event
  [-]SEC[.NANO]                    seconds since the origin of the clock
  +TIME, -TIME                     after the first, before the last event: +1.5, +20ms, -1s
A Z after a date or a time of day means UTC. Units are ns, us, ms, s, min and h.
Events without a time are omitted if a begin or an end is given.

";

impl Cli {
    /// Returns the job of the command line.
    pub(crate) fn job(&self) -> Job {
        let usual = match self.format {
            Format::Babeltrace => ClockStyle::TimeOfDay,
            Format::Lttv | Format::Json => ClockStyle::Seconds,
        };
        Job {
            form: match self.format {
                _ if self.count => Form::Count,
                Format::Lttv => Form::Lttv(self.style.lines()),
                Format::Babeltrace => Form::Babeltrace(self.style.pretty()),
                Format::Json => Form::Json,
            },
            input: InputArgs {
                traces: self.traces.clone(),
                begin: self.begin.clone(),
                end: self.end.clone(),
                timerange: self.timerange.clone(),
                filters: self.filters.clone(),
                threads: self.threads,
                utc: self.clock_gmt,
                clocks: self.clocks.clone(),
            },
            output: OutputArgs { output: self.output.clone(), color: Some(self.color) },
            clock: self.clock.style().unwrap_or(usual),
            follow: self.follow,
            cache: self.cache.clone(),
        }
    }
}
