//! Draws the states of CPUs and of the busiest processes over time.
//!
//! ```text
//! cargo run --release --example resource_usage -- TRACE -o FILE.svg [--top N]
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod rows;
mod svg;

use std::path::PathBuf;
use std::process::ExitCode;

use lttv_context::{Bounds, Subscription, TracesetContext};
use lttv_examples::bundled::bundled_trace;
use lttv_examples::inputs;
use lttv_examples::opening::open;
use lttv_examples::report::{self, EXIT_STATUS, Report};
use lttv_examples::text_dump::output::Output;
use lttv_hooks::Priority;
use lttv_state::kernel::KernelState;
use lttv_state::stats::Statistics;

/// Draw the states of CPUs and of the busiest processes over time, in LTTV's colours
///
/// Without TRACE, reads the bundled kernel trace.
#[derive(Debug, clap::Parser)]
#[command(name = "resource_usage", version, after_help = EXIT_STATUS)]
struct Cli {
    /// Directory of a kernel trace
    trace: Option<PathBuf>,

    /// The SVG file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Draw the N processes with the most CPU time
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,

    /// Width of the picture in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 1200,
        value_parser = clap::value_parser!(u32).range(400..=10_000))]
    width: u32,
}

fn main() -> ExitCode {
    report::main("resource_usage", run)
}

fn run(cli: &Cli, report: &mut Report) -> Result<(), Box<dyn std::error::Error>> {
    let path = cli.trace.clone().map_or_else(bundled_trace, Ok)?;
    let traceset = open(report, [path])?;
    inputs::refuse(&cli.output, traceset.traces(), &[])?;
    // A first read determines the busiest processes.
    let mut context = TracesetContext::new(&traceset);
    let kernel = context.attach(KernelState::new());
    let statistics = Statistics::attach(&mut context, kernel);
    _ = context.read(&Bounds::all())?;
    let statistics = statistics.take(context.extensions());
    drop(context);
    let trace = statistics.traces().first().ok_or("there is no trace")?;
    if trace.cpus().is_empty() {
        return Err("not a kernel trace: it has no CPUs".into());
    }

    let rows = rows::Rows::new(trace, cli.top, svg::columns(cli.width));
    let rows = std::rc::Rc::new(std::cell::RefCell::new(rows));
    let mut context = TracesetContext::new(&traceset);
    let kernel = context.attach(KernelState::new());
    let after_state = Priority::new(30)?;
    let seen = rows.clone();
    context.on_event(Subscription::to_every_event().priority(after_state), move |call| {
        let kernel = &call.extensions[kernel];
        if call.trace.index() == ltt_read::TraceIndex(0)
            && kernel.transition(ltt_read::TraceIndex(0), call.event.type_id()).is_some()
            && let Some(state) = kernel.trace(ltt_read::TraceIndex(0))
        {
            seen.borrow_mut().event(state, call.time().as_ns());
        }
    });
    _ = context.read(&Bounds::all())?;
    report.errors(context.errors(), context.errors_omitted());
    drop(context);

    let mut rows = rows.borrow_mut();
    rows.finish();
    let mut out = Output::new(Some(&cli.output))?;
    svg::write(&mut out, &rows, trace, cli.width)?;
    Ok(out.finish()?)
}
