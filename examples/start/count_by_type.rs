//! Counts the events of a trace by their type.
//!
//! ```text
//! cargo run --release --example count_by_type -- [TRACE] [PATTERN]
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use lttv_common::bundled::open_or_bundled;
use lttv_common::report::{self, Report};
use lttv_common::text_dump::output::Output;
use lttv_context::{Bounds, TracesetContext};

/// Count the events of a trace by their type
#[derive(Debug, clap::Parser)]
#[command(name = "count_by_type", version, after_help = report::EXIT_STATUS)]
struct Cli {
    /// Directory of a trace [default: the bundled trace]
    trace: Option<PathBuf>,

    /// Count only events of this name, with the wildcards * and ?
    #[arg(default_value = "*")]
    pattern: String,
}

fn main() -> ExitCode {
    report::main("count_by_type", run)
}

fn run(cli: &Cli, report: &mut Report) -> Result<(), Box<dyn std::error::Error>> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let traceset = open_or_bundled(report, cli.trace.as_slice())?;
    let mut context = TracesetContext::new(traceset);
    context.on_event(&cli.pattern, |call| {
        let name = call.event.event_type().name();
        match counts.get_mut(name) {
            Some(count) => *count += 1,
            None => drop(counts.insert(name.to_owned(), 1)),
        }
    });
    let read = context.read(&Bounds::all())?;
    report.errors(context.errors(), context.errors_omitted());
    drop(context);

    let mut out = Output::stdout();
    for (name, count) in &counts {
        writeln!(out, "{count:>10}  {name}")?;
    }
    writeln!(out, "{:>10}  events in all", read.events)?;
    Ok(out.finish()?)
}
