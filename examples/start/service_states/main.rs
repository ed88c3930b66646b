//! Stores the states of services or sensors in a state history, queries it, and draws it. No
//! trace is involved: the history is a library of its own.
//!
//! ```text
//! cargo run --release --example service_states -- store services.history [LOG.csv]
//! cargo run --release --example service_states -- at services.history 2026-11-20T14:10:00Z
//! cargo run --release --example service_states -- draw services.history -o services.svg
//! ```
//!
//! Only the modules `history`, `tree` and `value` of `lttv-state` are used, which are
//! available without its default features.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod query;
mod store;
mod svg;
mod time;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use lttv_common::inputs;
use lttv_common::report::{self, Report, Usage};
use lttv_common::text_dump::output::Output;
use lttv_state::history::History;

use time::{Time, TimeRange};

const AFTER_HELP: &str = "\
Examples:
  service_states store day.history            store the log that comes with the example
  service_states store day.history LOG.csv
  service_states at day.history 2026-11-20T14:10:00Z
  service_states at day.history 2026-11-20T14:10:00Z 'web/*'
  service_states intervals day.history storage/database
  service_states durations day.history --from 2026-11-20T08:00:00Z --to 2026-11-20T18:00:00Z
  service_states draw day.history -o day.svg

Exit status: 0 if everything was read and written; 1 if something could not be read or written;
2 for a wrong command line.";

/// Store, query and draw the states of services or sensors over time
///
/// Times are written like 2026-11-20T14:10:00Z. A pattern is a path of names in which *
/// matches one name and ** any number of names.
#[derive(Debug, clap::Parser)]
#[command(name = "service_states", version, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Store the states of a log in a history
    ///
    /// The first line of the log names its columns, among them service, start, end and state.
    /// A service is a path of names such as web/api. Each other line is a time range in which
    /// a service has a state; the end is not included. The lines may have any order, and any
    /// number of them is sorted in little memory. Time ranges of one service must not overlap.
    Store {
        /// The history to write
        history: PathBuf,
        /// The log [default: the one that comes with the example]
        log: Option<PathBuf>,
        /// The memory for sorting, in MiB
        #[arg(long, value_name = "MIB", default_value_t = 64)]
        memory: usize,
    },
    /// Print the states of all services at an instant
    At {
        history: PathBuf,
        time: Time,
        /// Print only services that match this pattern
        #[arg(default_value = "**")]
        pattern: String,
    },
    /// Print the states of one service over time
    Intervals {
        history: PathBuf,
        service: String,
        #[command(flatten)]
        range: TimeRange,
    },
    /// Print how long each service was in each state
    Durations {
        history: PathBuf,
        /// Print only services that match this pattern
        #[arg(default_value = "**")]
        pattern: String,
        #[command(flatten)]
        range: TimeRange,
    },
    /// Draw the states of services over time as an SVG picture
    Draw {
        history: PathBuf,
        /// Draw only services that match this pattern
        #[arg(default_value = "**")]
        pattern: String,
        /// The SVG file to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        #[command(flatten)]
        range: TimeRange,
        /// Width of the picture in pixels
        #[arg(long, value_name = "PIXELS", default_value_t = 1000,
            value_parser = clap::value_parser!(u32).range(400..=10_000))]
        width: u32,
    },
}

fn main() -> ExitCode {
    report::main("service_states", run)
}

fn run(cli: &Cli, _: &mut Report) -> Result<(), Box<dyn Error>> {
    let mut out = Output::stdout();
    match &cli.command {
        Command::Store { history, log, memory } => {
            store::store(history, log.as_deref(), memory.saturating_mul(1 << 20), &mut out)?;
        }
        Command::At { history, time, pattern } => {
            query::at(&open(history)?, time.0, pattern, &mut out)?;
        }
        Command::Intervals { history, service, range } => {
            let history = open(history)?;
            query::intervals(&history, service, &range.within(&history)?, &mut out)?;
        }
        Command::Durations { history, pattern, range } => {
            let history = open(history)?;
            query::durations(&history, pattern, &range.within(&history)?, &mut out)?;
        }
        Command::Draw { history: path, pattern, output, range, width } => {
            let history = open(path)?;
            let range = range.within(&history)?;
            let services = query::services(&history, pattern)?;
            inputs::refuse(output, &[], std::slice::from_ref(path))?;
            let mut picture = Output::new(Some(output))?;
            svg::write(&mut picture, &history, &services, &range, *width)?;
            picture.finish()?;
        }
    }
    Ok(out.finish()?)
}

fn open(path: &PathBuf) -> Result<History, Box<dyn Error>> {
    if !path.exists() {
        let make = "it is made by `service_states store`";
        return Err(format!("{}: no such file: {make}", path.display()).into());
    }
    History::open(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// Converts an error of a pattern or a time to one of the command line.
fn wrong(error: impl std::fmt::Display) -> Box<dyn Error> {
    Usage::new(error).into()
}
