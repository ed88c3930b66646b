//! Prints the process that each CPU runs at a time, in seconds after the first event.
//!
//! ```text
//! cargo run --release --example state_at -- [SECONDS [TRACE]]
//! ```
//!
//! `lttv state` prints more of the state, and has more notations of times.

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use lttv_common::bundled::open_or_bundled;
use lttv_common::report::{self, EXIT_STATUS, Report};
use lttv_common::text_dump::output::Output;
use lttv_context::TracesetContext;
use lttv_state::kernel::KernelState;

/// Print the process that each CPU runs at a time
#[derive(Debug, clap::Parser)]
#[command(name = "state_at", version, after_help = EXIT_STATUS)]
struct Cli {
    /// The time, in seconds after the first event
    #[arg(default_value_t = 1, value_parser = clap::value_parser!(u64).range(..1_000_000_000))]
    seconds: u64,
    /// Directory of a kernel trace [default: the bundled one]
    trace: Option<std::path::PathBuf>,
}

fn main() -> ExitCode {
    report::main("state_at", run)
}

fn run(cli: &Cli, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let mut context = TracesetContext::new(open_or_bundled(report, cli.trace.as_slice())?);
    // The state follows the events of every read and seek from now on.
    let kernel = context.attach(KernelState::new());
    let first = context.position().time().ok_or("no event has a time")?;
    context.seek_time_with_state(first + Duration::from_secs(cli.seconds));

    let mut out = Output::stdout();
    for state in context.extensions()[kernel].traces() {
        for (cpu, _) in state.cpus() {
            let running = state.running(cpu).map_or("", |process| state.name(process.name()));
            writeln!(out, "CPU {cpu}: {} {running}", state.cpu_mode(cpu))?;
        }
    }
    out.finish()?;
    report.errors(context.errors(), context.errors_omitted());
    Ok(())
}
