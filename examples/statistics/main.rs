//! Prints where the time of a machine went.
//!
//! ```text
//! cargo run --release --example statistics -- [TRACE…] [--format text|json] [--top N]
//! ```

mod json;
mod text;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use lttv_context::{Bounds, TracesetContext};
use lttv_examples::bundled::open_or_bundled;
use lttv_state::kernel::KernelState;
use lttv_state::stats::Statistics;

/// Print events, CPU times and input and output of CPUs and processes
///
/// Without TRACE the small kernel trace that comes with this program is read.
#[derive(Debug, Parser)]
#[command(name = "statistics", version)]
struct Cli {
    /// Directories of kernel traces
    traces: Vec<PathBuf>,

    /// How to print them
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Print the N busiest processes only, and leave out the tree
    #[arg(long, value_name = "N")]
    top: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Format {
    /// Tables, and the tree of all that was counted
    #[default]
    Text,
    /// One JSON object; times are in ns
    Json,
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("statistics: error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// False if part of a trace could not be read.
fn run(cli: &Cli) -> Result<bool, Box<dyn std::error::Error>> {
    let loaded = open_or_bundled("statistics", &cli.traces)?;
    let mut context = TracesetContext::new(loaded.traceset);
    let kernel = context.attach(KernelState::new());
    let statistics = Statistics::attach(&mut context, kernel);
    _ = context.middle(&Bounds::all())?;
    let statistics = Statistics::take(&mut context, statistics, kernel);

    let mut out = io::BufWriter::new(io::stdout().lock());
    match cli.format {
        Format::Text => text::print(&mut out, &statistics, cli.top)?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, &json::report(&statistics, cli.top))?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    for anomalies in context.extensions()[kernel].traces().map(|state| state.anomalies()) {
        for (name, count) in anomalies.iter().filter(|(_, count)| *count > 0) {
            eprintln!("statistics: {}: {count}", name.replace('_', " "));
        }
    }
    for error in context.errors() {
        eprintln!("statistics: {error}");
    }
    Ok(loaded.complete && context.errors().is_empty())
}
