//! Relates the clocks of several machines by the messages between them, and prints the first events
//! of all in one order.
//!
//! ```text
//! cargo run --release --example synchronize -- TRACE…
//! ```
//!
//! `lttv sync` does the same with tables, files and pictures.

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use ltt_read::{ClockTransform, Merge, TraceIndex};
use lttv_common::bundled::open_or_bundled;
use lttv_common::escape;
use lttv_common::report::{self, Report};
use lttv_common::text_dump::output::Output;
use lttv_context::synchronize::{Options, synchronize};

/// Relate the clocks of several machines, and print the first events of all in one order
#[derive(Debug, clap::Parser)]
#[command(name = "synchronize", version, after_help = report::EXIT_STATUS)]
struct Cli {
    /// Directories that contain traces of machines that exchange messages
    #[arg(value_name = "TRACE")]
    traces: Vec<PathBuf>,

    /// The number of events to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    events: usize,
}

fn main() -> ExitCode {
    report::main("synchronize", run)
}

fn run(cli: &Cli, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let recorded = open_or_bundled(report, &cli.traces)?;
    let found = synchronize(&recorded, &Options::default());
    let mut out = Output::stdout();
    for (host, clock) in found.hosts.all().iter().zip(found.clocks.hosts()) {
        let name = escape::name(host.name.as_deref().unwrap_or(&host.id));
        match clock.transform() {
            Some(of) => writeln!(out, "{name}: a rate of {:.9}", of.slope_f64())?,
            None => writeln!(out, "{name}: no messages in both directions")?,
        }
    }
    // The traces again, with the times of the reference.
    let mut traces = Vec::new();
    for (index, trace) in recorded.traces().iter().enumerate() {
        let host = found.hosts.of_trace(TraceIndex(index));
        let clock = host.and_then(|host| found.clocks.host(host));
        let transform = clock.and_then(|clock| clock.transform());
        let transform = transform.unwrap_or(ClockTransform::IDENTITY);
        traces.push(trace.with_clock_transforms(|_| transform)?);
    }
    let (mut events, mut count) = (Merge::new(&traces), 0);
    while let Some(event) = events.next() {
        if count < cli.events {
            let trace = event.trace_index().0;
            let (time, name) = (event.timestamp(), event.event_type().name());
            writeln!(out, "{:>20} trace {trace} {name}", time.map_or(0, |time| time.as_ns()))?;
        }
        count += 1;
    }
    writeln!(out, "{count} events in all")?;
    out.finish()?;
    report.errors(events.errors(), events.errors_omitted());
    Ok(())
}
