//! `lttv history`: all kernel states of traces over time, stored in a file.

mod build;
mod intervals;
mod query;

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use ltt_read::Timestamp;
use lttv_common::args::{InputArgs, OutputArgs, threads_or_all};
use lttv_common::clocks::Corrections;
use lttv_common::inputs;
use lttv_common::report::{Report, Usage};
use lttv_common::table::Format;
use lttv_common::text::output::Output;
use lttv_common::time::parse_length;
use lttv_context::SliceThreads;
use lttv_filter::{Environment, TimeText, TraceTimes, Zone};
use lttv_state::history::History;
use lttv_state::tree::Quark;

/// Examples of use, for the help.
pub const EXAMPLES: &str = "\
FILE is a file that `build` wrote, or the directory of a trace, which is read first. A pattern
is a path in which * matches one name and ** any number of names. `+` means after the first event
also in FILE; the end of a range is not included.

Examples:
  lttv history build TRACE kernel.history
  lttv history at kernel.history +20ms '0/CPUs/*'
  lttv history range kernel.history '0/CPUs/*' --from +1s --to +2s --each 10ms
  lttv history changes kernel.history 0/CPUs/0";

const RANGE_EXAMPLES: &str = "\
Examples:
  lttv history range kernel.history '0/CPUs/*' --from +1s --to +2s --each 10ms";

/// Store all kernel states of a trace in a file, and query them
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct HistoryArgs {
    /// The task.
    #[command(subcommand)]
    pub command: Command,

    /// Format of the states
    #[arg(long, value_enum, default_value_t, global = true)]
    pub format: Format,

    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "OUTPUT", global = true)]
    pub output: Option<PathBuf>,

    /// Take times in UTC instead of the local time zone
    #[arg(long, alias = "clock-gmt", global = true)]
    pub utc: bool,

    /// Read traces with at most this many threads [default: all processors]
    #[arg(long, value_name = "N", global = true)]
    pub threads: Option<NonZeroUsize>,

    /// The corrections of the clocks of a trace.
    #[command(flatten)]
    pub clocks: Corrections,
}

/// A subcommand of `history`.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum Command {
    /// Store all kernel states of a trace in a file
    ///
    /// If FILE exists with an earlier stage of the trace, the new part is added.
    #[command(after_help = "Examples:\n  lttv history build TRACE kernel.history")]
    Build {
        /// Directory of one or more traces
        trace: PathBuf,
        /// The file to write
        file: PathBuf,
        /// Build the whole file again, even if it exists
        #[arg(long)]
        force: bool,
    },
    /// Describe a history, and verify its checksums
    #[command(after_help = "Examples:\n  lttv history info kernel.history")]
    Info {
        /// A history, or the directory of a trace
        file: PathBuf,
    },
    /// Print the values at a time
    #[command(after_help = "Examples:\n  lttv history at kernel.history +20ms '0/CPUs/*'")]
    At {
        /// A history, or the directory of a trace
        file: PathBuf,
        /// The time
        #[arg(allow_hyphen_values = true)]
        time: TimeText,
        /// Print only attributes that match this pattern
        #[arg(default_value = "**")]
        pattern: String,
    },
    /// Print the values of attributes over a time range
    #[command(after_help = RANGE_EXAMPLES)]
    Range {
        /// A history, or the directory of a trace
        file: PathBuf,
        /// The attributes
        pattern: String,
        /// The time range.
        #[command(flatten)]
        range: RangeArgs,
        /// Print one value per this length of time, such as 10ms, instead of all values
        #[arg(long, value_name = "LENGTH", value_parser = parse_length, default_value = "1ns")]
        each: u64,
    },
    /// Print all values of an attribute over time, and the total time of each value
    #[command(after_help = "Examples:\n  lttv history changes kernel.history 0/CPUs/0")]
    Changes {
        /// A history, or the directory of a trace
        file: PathBuf,
        /// The attribute
        path: String,
        /// The time range.
        #[command(flatten)]
        range: RangeArgs,
        /// Print from the last to the first value
        #[arg(long)]
        reverse: bool,
    },
}

/// A time range of a history.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct RangeArgs {
    /// Start [default: the start of the history]
    #[arg(long, visible_alias = "begin", value_name = "TIME", allow_hyphen_values = true)]
    pub from: Option<TimeText>,
    /// End, which is not included [default: the end of the history]
    #[arg(long, visible_alias = "end", value_name = "TIME", allow_hyphen_values = true)]
    pub to: Option<TimeText>,
}

/// Runs a subcommand of `history`.
///
/// # Errors
///
/// If the traces or the file cannot be read or written, or if a time, pattern or path does not
/// fit the history.
pub fn run(args: &HistoryArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let mut out = open_output(args, report)?;
    let threads = SliceThreads::new(threads_or_all(args.threads, report));
    let reading = (&args.clocks, threads);
    let done = match &args.command {
        Command::Build { trace, file, force } => {
            build::build((trace, reading), file, *force, &mut out, report)
        }
        Command::Info { file } => {
            build::open(file, reading, report).and_then(|history| query::info(&history, &mut out))
        }
        Command::At { file, time, pattern } => {
            build::open(file, reading, report).and_then(|history| {
                let time = resolve(&history, time, &zone(args))?;
                query::at(&history, time, pattern, args.format, &mut out)
            })
        }
        Command::Range { file, pattern, range, each } => build::open(file, reading, report)
            .and_then(|history| {
                let range = of_range(&history, range, &zone(args))?;
                query::range(&history, pattern, range, *each, args.format, &mut out)
            }),
        Command::Changes { file, path, range, reverse } => build::open(file, reading, report)
            .and_then(|history| {
                let range = of_range(&history, range, &zone(args))?;
                query::changes(&history, path, range, *reverse, args.format, &mut out)
            }),
    };
    // Output before an error is still useful.
    out.finish()?;
    done
}

/// Opens the output, which must not replace the history.
fn open_output(args: &HistoryArgs, report: &mut Report) -> Result<Output, Box<dyn Error>> {
    let Some(path) = args.output.as_deref() else { return Ok(Output::stdout()) };
    let (Command::Build { trace: input, .. }
    | Command::Info { file: input }
    | Command::At { file: input, .. }
    | Command::Range { file: input, .. }
    | Command::Changes { file: input, .. }) = &args.command;
    let traceset =
        if input.is_dir() { Some(lttv_common::opening::open(report, [input])?) } else { None };
    let traces = traceset.as_ref().map_or(&[][..], |traceset| traceset.traces());
    inputs::refuse(path, traces, std::slice::from_ref(input))?;
    OutputArgs { output: args.output.clone(), ..OutputArgs::default() }.open(traces)
}

fn zone(args: &HistoryArgs) -> Zone {
    InputArgs { utc: args.utc, ..InputArgs::default() }.zone()
}

/// Returns the point in time that an argument means in a history.
fn resolve(history: &History, time: &TimeText, zone: &Zone) -> Result<Timestamp, Usage> {
    let (start, end) = (origin(history), history.end());
    let times = TraceTimes::from(ltt_read::TimeSpan { start, end });
    Environment::new().in_zone(zone.clone()).resolve(time, &times).map_err(Usage::new)
}

/// Returns the time that `+20ms` counts from: the first event of a trace. A history of the kernel
/// starts 1 ns before it, another one has no events.
fn origin(history: &History) -> Timestamp {
    let is_kernel = history.tree().matching(Quark::ROOT, "*/CPUs").is_ok_and(|all| !all.is_empty());
    history.start().saturating_add(u64::from(is_kernel))
}

/// Returns a time range, and checks its order.
fn of_range(
    history: &History,
    range: &RangeArgs,
    zone: &Zone,
) -> Result<std::ops::Range<Timestamp>, Usage> {
    let side = |time: &Option<TimeText>, default| match time {
        Some(time) => resolve(history, time, zone),
        None => Ok(default),
    };
    let (from, to) = (side(&range.from, history.start())?, side(&range.to, history.end())?);
    let both = range.from.is_some() && range.to.is_some();
    if both && from > to {
        return Err(Usage::new(format_args!("--from {from} is after --to {to}")));
    }
    Ok(from..to)
}

/// Returns `true` if a path leads to a history rather than to a trace.
fn is_history(path: &Path) -> bool {
    // Recordings of ftrace and perf are files, too.
    path.is_file() && ltt_read::find_traces(path).is_err()
}
