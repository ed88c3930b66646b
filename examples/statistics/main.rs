//! Prints statistics of events and CPU times.
//!
//! ```text
//! cargo run --release --example statistics -- [TRACE…] [--format text|json] [--top N]
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod json;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use lttv_context::{Bounds, TracesetContext};
use lttv_examples::bundled::open_or_bundled;
use lttv_examples::report::{self, EXIT_STATUS, Report};
use lttv_examples::text_dump::output::Output;
use lttv_state::kernel::KernelState;
use lttv_state::stats::Statistics;

/// Print events, CPU times, input and output of CPUs and processes
///
/// Without TRACE, reads the bundled kernel trace.
#[derive(Debug, clap::Parser)]
#[command(name = "statistics", version, after_help = EXIT_STATUS)]
struct Cli {
    /// Directories of kernel traces
    traces: Vec<PathBuf>,

    /// Format of the output
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Print only the N busiest processes, and no tree
    #[arg(long, value_name = "N")]
    top: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Format {
    /// Tables, and a tree of all counts
    #[default]
    Text,
    /// One JSON object; times are in ns
    Json,
}

fn main() -> ExitCode {
    report::main("statistics", run)
}

fn run(cli: &Cli, report: &mut Report) -> Result<(), Box<dyn std::error::Error>> {
    let mut context = TracesetContext::new(open_or_bundled(report, &cli.traces)?);
    let kernel = context.attach(KernelState::new());
    let statistics = Statistics::attach(&mut context, kernel);
    _ = context.read(&Bounds::all())?;
    let statistics = statistics.take(context.extensions());

    let mut out = Output::stdout();
    match cli.format {
        Format::Text => text::print(&mut out, &statistics, cli.top)?,
        Format::Json => out.json(&json::report(&statistics, cli.top))?,
    }
    out.finish()?;
    for anomalies in context.extensions()[kernel].traces().map(|state| state.anomalies()) {
        for (name, count) in anomalies.iter().filter(|(_, count)| *count > 0) {
            report.message(format_args!("{}: {count}", name.replace('_', " ")));
        }
    }
    report.errors(context.errors(), context.errors_omitted());
    Ok(())
}
