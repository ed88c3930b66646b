//! Prints what a machine was doing at an instant of its kernel trace.
//!
//! ```text
//! cargo run --release --example state_at -- TRACE --time NS [--format text|json]
//! ```

mod json;
mod text;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use ltt_read::Timestamp;
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_examples::bundled::bundled_trace;
use lttv_state::kernel::KernelState;

/// Print what each CPU and process was doing at an instant
///
/// It is the state before the first event of that time or later. Without TRACE the
/// small kernel trace that comes with this program is read.
#[derive(Debug, Parser)]
#[command(name = "state_at", version)]
struct Cli {
    /// Directory of a kernel trace
    trace: Option<PathBuf>,

    /// The instant, in ns since the epoch
    #[arg(long, value_name = "NS", allow_hyphen_values = true)]
    time: i64,

    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// How to get there
    #[arg(long, value_enum, default_value_t)]
    method: Method,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Format {
    /// Tables
    #[default]
    Text,
    /// One JSON object
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Method {
    /// Read all events from the begin
    #[default]
    Replay,
    /// Read the whole trace once, then go back to the last checkpoint before the
    /// instant and on from there: gives the same
    Checkpoint,
}

/// Events between checkpoints, and how many of these there may be.
const CHECKPOINTS: (u64, usize) = (50_000, 1000);

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("state_at: error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// False if part of the trace could not be read.
fn run(cli: &Cli) -> Result<bool, Box<dyn std::error::Error>> {
    let path = cli.trace.clone().map_or_else(bundled_trace, Ok)?;
    let mut context = TracesetContext::new(Traceset::open(path)?);
    let kernel = context.attach(KernelState::new());
    if cli.method == Method::Checkpoint {
        context.save_checkpoints(CHECKPOINTS.0, CHECKPOINTS.1);
        _ = context.replay(&Bounds::all())?;
    }
    context.seek_time_with_state(Timestamp::from_ns(cli.time));

    let mut out = io::BufWriter::new(io::stdout().lock());
    let states = context.extensions()[kernel].traces();
    match cli.format {
        Format::Text => text::print(&mut out, cli.time, states)?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, &json::report(cli.time, states))?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    for error in context.errors() {
        eprintln!("state_at: {error}");
    }
    Ok(context.errors().is_empty())
}
