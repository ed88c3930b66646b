//! Builds and queries histories of all kernel states of a trace, and measures histories of
//! known workloads.
//!
//! ```text
//! cargo run --release --example history -- build TRACE FILE
//! cargo run --release --example history -- info FILE
//! cargo run --release --example history -- at FILE TIME [PATTERN]
//! cargo run --release --example history -- range FILE PATTERN [--from T] [--to T] [--each NS]
//! cargo run --release --example history -- changes FILE PATH [--from T] [--to T] [--reverse]
//! cargo run --release --example history -- bench --workload K1-10M
//! ```
//!
//! If FILE exists with an earlier stage of the trace, `build` adds the new part. For the
//! other commands FILE is a history file, or a trace directory, which is read first. Times
//! are in ns since the epoch; ends of ranges are not included. A pattern is a path in which `*` matches one name and `**` any
//! number of names.

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::io::{self, Write};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::{Args, Subcommand};
use lttv_benches::k1;
use lttv_context::Traceset;
use lttv_examples::inputs;
use lttv_examples::opening;
use lttv_examples::progress::Progress;
use lttv_examples::report::{self, EXIT_STATUS, Report, Usage};
use lttv_examples::text_dump::output::Output;
use lttv_state::history::{History, HistoryError, Interval, Timestamp};
use lttv_state::kernel_history::{self, Recorded, Target, record};
use lttv_state::tree::Quark;

#[derive(Debug, clap::Parser)]
#[command(name = "history", version, about, after_help = EXIT_STATUS)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Store all kernel states of a trace in a file
    Build {
        /// Directory of one or more traces
        trace: PathBuf,
        file: PathBuf,
        /// Build the whole file again, even if it exists
        #[arg(long)]
        force: bool,
    },
    /// Describe a history, and verify its checksums
    Info { file: PathBuf },
    /// Print the values at a time
    At {
        file: PathBuf,
        /// The time in ns
        #[arg(allow_negative_numbers = true)]
        time: i64,
        /// Print only attributes that match this pattern
        #[arg(default_value = "**")]
        pattern: String,
    },
    /// Print the values of attributes over a time range
    Range {
        file: PathBuf,
        pattern: String,
        #[command(flatten)]
        range: TimeRange,
        /// Print one value per this many ns instead of all values
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
        each: u64,
    },
    /// Print all values of an attribute over time, and the total time of each value
    Changes {
        file: PathBuf,
        path: String,
        #[command(flatten)]
        range: TimeRange,
        /// Print from the last to the first value
        #[arg(long)]
        reverse: bool,
    },
    /// Build and query a history of a known workload, and report the costs
    Bench {
        /// The workload: K1-1M, K1-10M or K1-wide
        #[arg(long, default_value = "K1-1M")]
        workload: String,
        /// The directory of the file
        #[arg(long, default_value = ".")]
        dir: PathBuf,
        /// Keep the file
        #[arg(long)]
        keep: bool,
    },
}

#[derive(Debug, Args)]
struct TimeRange {
    /// Start in ns [default: the start of the history]
    #[arg(long, allow_negative_numbers = true)]
    from: Option<i64>,
    /// End in ns, which is not included [default: the end of the history]
    #[arg(long, allow_negative_numbers = true)]
    to: Option<i64>,
}

impl TimeRange {
    /// Returns the time range, and checks its order.
    fn of(&self, history: &History) -> std::result::Result<Range<Timestamp>, Usage> {
        if let (Some(from), Some(to)) = (self.from, self.to)
            && from > to
        {
            return Err(Usage::new(format_args!("--from {from} is after --to {to}")));
        }
        let start = self.from.map_or(history.start(), Timestamp::from_ns);
        let end = self.to.map_or(history.end(), Timestamp::from_ns);
        Ok(start..end)
    }
}

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    report::main("history", run)
}

fn run(cli: &Cli, report: &mut Report) -> Result<()> {
    let mut out = Output::stdout();
    let done = run_command(&cli.command, &mut out, report);
    // Output before an error is still useful.
    out.finish()?;
    done
}

fn run_command(command: &Command, out: &mut Output, report: &mut Report) -> Result<()> {
    match command {
        Command::Build { trace, file, force } => build(trace, file, *force, out, report)?,
        Command::Info { file } => info(&open(file, report)?, out)?,
        Command::At { file, time, pattern } => {
            let history = open(file, report)?;
            history.tree().matching(Quark::ROOT, pattern).map_err(Usage::new)?;
            let time = Timestamp::from_ns(*time);
            for interval in history.state_matching(pattern, time).map_err(query_error)? {
                print(&history, &interval, out)?;
            }
        }
        Command::Range { file, pattern, range, each } => {
            let history = open(file, report)?;
            let quarks = history.tree().matching(Quark::ROOT, pattern).map_err(Usage::new)?;
            let mut printed = Ok(());
            let flow = history.for_each_in(&quarks, range.of(&history)?, *each, |interval| {
                printed = print(&history, &interval, out);
                if printed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            let flow = flow.map_err(query_error)?;
            if flow.is_break() {
                printed?;
            }
        }
        Command::Changes { file, path, range, reverse } => {
            let history = open(file, report)?;
            let quark = history.tree().find(Quark::ROOT, path).map_err(Usage::new)?;
            let quark = quark.ok_or_else(|| Usage::new(format_args!("no attribute {path:?}")))?;
            changes(&history, quark, range.of(&history)?, *reverse, out)?;
        }
        Command::Bench { workload, dir, keep } => {
            let unknown = || Usage::new(format_args!("no workload {workload:?}"));
            let known = k1::workload(workload).ok_or_else(unknown)?;
            k1::measure(known, dir, out)?;
            if !keep {
                std::fs::remove_file(dir.join(format!("{}.history", known.name)))?;
            }
        }
    }
    Ok(())
}

/// Converts an error of a query. A time outside of the history is an error of the command
/// line.
fn query_error(error: HistoryError) -> Box<dyn std::error::Error> {
    match error {
        HistoryError::OutOfRange { .. } => Usage::new(error).into(),
        error => error.into(),
    }
}

/// Opens a history file, or builds a history of a trace in memory.
fn open(path: &Path, report: &mut Report) -> Result<History> {
    if path.is_file() {
        return Ok(History::open(path)?);
    }
    let traceset = opening::open(report, [path])?;
    Ok(read(&traceset, Target::Memory, report)?.history)
}

/// Builds a history of traces, and shows the progress.
fn read(traceset: &Traceset, target: Target<'_>, report: &mut Report) -> Result<Recorded> {
    let mut progress = Progress::new(false);
    let recorded = record(traceset, target, |(done, total)| {
        progress.update(ltt_read::Progress { done, total });
        ControlFlow::Continue(())
    })?;
    report.errors(&recorded.errors, recorded.errors_omitted);
    Ok(recorded)
}

fn build(
    trace: &Path,
    file: &Path,
    force: bool,
    out: &mut impl Write,
    report: &mut Report,
) -> Result<()> {
    let traceset = opening::open(report, [trace])?;
    inputs::refuse(file, traceset.traces(), &[])?;
    match kernel_history::open(file, &traceset) {
        Ok(_) if !force => {
            writeln!(out, "{} is up to date", file.display())?;
            return Ok(());
        }
        // Other files are not overwritten.
        Err(error @ HistoryError::NotAHistory) => return Err(error.into()),
        _ => {}
    }
    let started = Instant::now();
    let target = if force { Target::Replace(file) } else { Target::File(file) };
    let Recorded { history, events, kept, rebuilt, .. } = read(&traceset, target, report)?;
    if let Some(why) = rebuilt {
        report.message(format_args!("{}: {why}; it was built again", file.display()));
    }
    let seconds = started.elapsed().as_secs_f64();
    let bytes = std::fs::metadata(file)?.len();
    let of_trace: u64 =
        traceset.traces().iter().flat_map(|of| of.tracefiles()).map(|of| of.size()).sum();
    let intervals = history.intervals_count();
    if let Some(t) = kept {
        writeln!(out, "kept       all states before {} ns", t.as_ns())?;
    }
    writeln!(out, "events     {events} read, {of_trace} B")?;
    writeln!(out, "attributes {}", history.tree().len())?;
    writeln!(out, "intervals  {intervals}")?;
    let (each, part) = (bytes as f64 / intervals as f64, bytes as f64 / of_trace as f64);
    writeln!(out, "file       {bytes} B, {each:.2} B per interval, {part:.3} of the trace")?;
    writeln!(out, "time       {seconds:.2} s, {:.1} M events/s", events as f64 / seconds / 1e6)?;
    Ok(())
}

fn info(history: &History, out: &mut impl Write) -> Result<()> {
    history.verify()?;
    writeln!(out, "from       {} ns", history.start().as_ns())?;
    writeln!(out, "to         {} ns", history.end().as_ns())?;
    writeln!(out, "attributes {}", history.tree().len())?;
    writeln!(out, "intervals  {}", history.intervals_count())?;
    writeln!(out, "blocks     {}, all checksums correct", history.blocks())?;
    writeln!(out, "built from {}", history.identity())?;
    Ok(())
}

fn print(history: &History, interval: &Interval<'_>, out: &mut impl Write) -> io::Result<()> {
    let path = history.tree().path(interval.quark);
    let (start, end) = (interval.start.as_ns(), interval.end.as_ns());
    writeln!(out, "{start:>20} {end:>20} {path} {}", interval.value)
}

fn changes(
    history: &History,
    quark: Quark,
    range: Range<Timestamp>,
    reverse: bool,
    out: &mut impl Write,
) -> Result<()> {
    let intervals = history.intervals(quark, range.clone()).map_err(query_error)?;
    let mut each =
        |interval| print(history, &interval?, out).map_err(Box::<dyn std::error::Error>::from);
    match reverse {
        false => intervals.into_iter().try_for_each(&mut each)?,
        true => intervals.rev().try_for_each(&mut each)?,
    }
    writeln!(out, "\ntotal")?;
    for sum in history.durations(quark, range)? {
        writeln!(out, "{:>20} ns {:>10} times {}", sum.time, sum.count, sum.value)?;
    }
    Ok(())
}
