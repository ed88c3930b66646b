//! The command line: what is for the program itself. Modules add options.

use std::path::PathBuf;

use jiff::tz::TimeZone;
use lttv_examples::bundled::bundled_trace;
use lttv_examples::text_dump::time_arg::TimeArg;

/// Run analyses over traces, and print what they found
///
/// Each TRACE is a directory; all traces in it, however deep, are read together,
/// once for all modules. Without TRACE the small kernel trace that comes with
/// this program is analysed.
#[derive(Debug, clap::Parser)]
#[command(name = "batch_analysis", version, after_long_help = AFTER_HELP)]
pub(crate) struct Cli {
    /// Directories that hold traces
    #[arg(value_name = "TRACE")]
    traces: Vec<PathBuf>,

    /// Run this module, and those that it requires [default: all]
    #[arg(short, long = "module", value_name = "NAME")]
    pub(crate) modules: Vec<String>,

    /// Tell which modules there are
    #[arg(long)]
    pub(crate) list_modules: bool,

    /// Skip events before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) begin: Option<TimeArg>,

    /// Stop after the events of this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) end: Option<TimeArg>,

    /// Take and print times in UTC instead of the local time zone
    #[arg(long)]
    clock_gmt: bool,

    /// How results are printed
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// A form of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Format {
    /// An indented tree
    #[default]
    Tree,
    /// One line a value, with its path
    Paths,
    /// One object
    Json,
}

const AFTER_HELP: &str = "\
Times:
  YYYY-MM-DD [hh:mm[:ss[.NANO]]]   a civil time (local, unless --clock-gmt)
  hh:mm[:ss[.NANO]]                on the day on which the traces begin
  [-]SEC[.NANO]                    seconds since the origin of the clock

Ctrl-C ends reading; what was found so far is printed.

Exit status: 0 if everything was read; 1 if something could not be read (the rest was analysed); 2
for a wrong command line; 130 if it was interrupted.";

impl Cli {
    /// The time zone of times given and printed.
    pub(crate) fn zone(&self) -> TimeZone {
        if self.clock_gmt { TimeZone::UTC } else { TimeZone::system() }
    }

    /// The traces to read: those given, else the one that comes with the
    /// examples.
    pub(crate) fn paths(&self) -> Result<Vec<PathBuf>, String> {
        if !self.traces.is_empty() {
            return Ok(self.traces.clone());
        }
        bundled_trace().map(|path| vec![path])
    }
}
