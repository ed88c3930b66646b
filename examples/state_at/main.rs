//! Prints the state of a machine at an instant of its kernel trace.
//!
//! ```text
//! cargo run --release --example state_at -- TRACE --time NS [--format text|json]
//! cargo run --release --example state_at -- TRACE --time NS --method checkpoint --checkpoints FILE
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod json;
mod text;

use std::error::Error;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use ltt_read::{Timestamp, TraceIndex};
use lttv_context::{
    Bounds, CheckpointFileError, CheckpointFileFault, CheckpointPolicy, Traceset, TracesetContext,
};
use lttv_examples::bundled::bundled_trace;
use lttv_examples::inputs;
use lttv_examples::opening::open;
use lttv_examples::report::{self, EXIT_STATUS, Report, Usage};
use lttv_examples::text_dump::output::Output;
use lttv_state::kernel::KernelState;
use lttv_state::kernel_history::{Snapshot, Target, record};

/// Print the state of each CPU and process at an instant
///
/// This is the state before the first event of that time or later. Without TRACE, reads the
/// bundled kernel trace.
#[derive(Debug, clap::Parser)]
#[command(name = "state_at", version, after_help = EXIT_STATUS)]
struct Cli {
    /// Directory of a kernel trace
    trace: Option<PathBuf>,

    /// The instant, in ns since the epoch
    #[arg(long, value_name = "NS", allow_hyphen_values = true)]
    time: i64,

    /// Format of the output
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Way to compute the state; all give the same result
    #[arg(long, value_enum, default_value_t)]
    method: Method,

    /// Continue from the checkpoints in FILE, so that at most 50 000 events are read. If FILE
    /// does not exist or belongs to other traces, it is written first
    #[arg(long, value_name = "FILE")]
    checkpoints: Option<PathBuf>,
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
    /// Read all events from the start
    #[default]
    Replay,
    /// Read the whole trace once, then continue from the last checkpoint before the instant
    Checkpoint,
    /// Read the whole trace once, store every state, then look it up
    History,
}

fn main() -> ExitCode {
    report::main("state_at", run)
}

fn run(cli: &Cli, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let file = cli.checkpoints.as_deref();
    if file.is_some() && cli.method != Method::Checkpoint {
        return Err(Usage::new("--checkpoints requires --method checkpoint").into());
    }
    let path = cli.trace.clone().map_or_else(bundled_trace, Ok)?;
    let traceset = open(report, [path])?;
    if let Some(file) = file {
        inputs::refuse(file, traceset.traces(), &[])?;
    }
    let (states, errors, omitted) = match cli.method {
        Method::Replay => replay(&traceset, cli.time),
        Method::Checkpoint => checkpoint(&traceset, cli.time, file, report)?,
        Method::History => history(&traceset, cli.time)?,
    };
    let mut out = Output::stdout();
    match cli.format {
        Format::Text => text::print(&mut out, cli.time, &states)?,
        Format::Json => out.json(&json::report(cli.time, &states))?,
    }
    out.finish()?;
    report.errors(&errors, omitted);
    Ok(())
}

/// The state of each trace, the errors of reading that were kept, and the number of those
/// omitted.
type States = (Vec<Snapshot>, Vec<ltt_read::Error>, u64);

/// Computes the state from all events before the time.
fn replay(traceset: &Traceset, time: i64) -> States {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    context.seek_time_with_state(Timestamp::from_ns(time));
    let states = context.extensions()[kernel].traces().map(Snapshot::from_state).collect();
    (states, context.take_errors(), context.errors_omitted())
}

/// Computes the state from the events after a checkpoint.
fn checkpoint(
    traceset: &Traceset,
    time: i64,
    file: Option<&Path>,
    report: &Report,
) -> Result<States, Box<dyn Error>> {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    if !file.map_or(Ok(false), |file| load(&mut context, file, report))? {
        context.set_checkpoint_policy(CheckpointPolicy::default());
        _ = context.replay_state(&Bounds::all())?;
        if let Some(file) = file {
            context.store_checkpoints(file)?;
        }
    }
    context.seek_time_with_state(Timestamp::from_ns(time));
    let states = context.extensions()[kernel].traces().map(Snapshot::from_state).collect();
    Ok((states, context.take_errors(), context.errors_omitted()))
}

/// Loads checkpoints from a file. Returns `false` if the file must be written. A file of
/// another kind is an error, since it must not be overwritten.
fn load(
    context: &mut TracesetContext<'_>,
    file: &Path,
    report: &Report,
) -> Result<bool, CheckpointFileError> {
    match context.load_checkpoints(file) {
        Ok(_) => Ok(true),
        Err(error) => match &error.fault {
            CheckpointFileFault::Io(io) if io.kind() == io::ErrorKind::NotFound => Ok(false),
            CheckpointFileFault::Io(_) | CheckpointFileFault::NotCheckpoints => Err(error),
            _ => {
                report.warning(format_args!("{error}; it is written again"));
                Ok(false)
            }
        },
    }
}

/// Looks the state up in a history of all states.
fn history(traceset: &Traceset, time: i64) -> Result<States, Box<dyn Error>> {
    let recorded = record(traceset, Target::Memory, |_| ControlFlow::Continue(()))?;
    // The state before the events of that time.
    let before = Timestamp::from_ns(time).saturating_sub(1);
    let traces = 0..traceset.traces().len();
    let states =
        traces.map(|trace| Snapshot::from_history(&recorded.history, TraceIndex(trace), before));
    Ok((states.collect::<Result<_, _>>()?, recorded.errors, recorded.errors_omitted))
}
