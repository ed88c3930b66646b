//! Draws the states of each process over time as an HTML page, or as a picture.
//!
//! ```text
//! cargo run --release --example control_flow -- [TRACE…] [-o FILE] [--svg]
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod page;
mod picture;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use ltt_read::Timestamp;
use lttv_context::TracesetContext;
use lttv_examples::bundled::open_or_bundled;
use lttv_examples::inputs;
use lttv_examples::report::{self, EXIT_STATUS, Report, Usage};
use lttv_examples::text_dump::output::Output;
use lttv_requests::views::{ControlFlow, TimeWindow};
use lttv_requests::{Budget, Owner, Scheduler};
use lttv_state::kernel::KernelState;

/// Draw the states of each process over time: running user code, system calls, waiting
///
/// The page is a single file: the wheel zooms, dragging moves, and pointing at a state shows
/// its details. Without TRACE, draws the bundled kernel trace.
#[derive(Debug, clap::Parser)]
#[command(name = "control_flow", version, after_help = EXIT_STATUS)]
struct Cli {
    /// Directories of kernel traces
    traces: Vec<PathBuf>,

    /// Write to this file instead of standard output
    #[arg(short, long)]
    output: Option<PathBuf>,

    /// Write only the SVG picture, without zoom
    #[arg(long)]
    svg: bool,

    /// Start of the chart, in seconds after the first event
    #[arg(long, default_value_t = 0.0, value_parser = seconds)]
    from: f64,

    /// Length of the chart in seconds [default: up to the last event]
    #[arg(long, value_parser = seconds)]
    seconds: Option<f64>,

    /// Include processes that only waited
    #[arg(long)]
    all: bool,

    /// Merge states that are shorter than the chart's time divided by this number
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
}

/// Parses a length of time, which must be finite and not negative.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds: Option<f64> = text.parse().ok();
    let seconds = seconds.filter(|seconds| (0.0..=1e9).contains(seconds));
    seconds.ok_or_else(|| "expected seconds, from 0 to 1000000000".to_owned())
}

fn main() -> ExitCode {
    report::main("control_flow", run)
}

fn run(cli: &Cli, report: &mut Report) -> Result<(), Box<dyn std::error::Error>> {
    let traceset = open_or_bundled(report, &cli.traces)?;
    if let Some(path) = &cli.output {
        inputs::refuse(path, traceset.traces(), &[])?;
    }
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let span = context.contexts().time_span().ok_or("no event has a time")?;
    let first = context.position().time().unwrap_or(span.start).max(span.start);
    let ns = |seconds: f64| (seconds * 1e9).clamp(0.0, 1e18) as i64;
    let begin = first.as_ns().saturating_add(ns(cli.from));
    // Includes the last event, and meets damage after it.
    let last = span.end.as_ns().saturating_add(1);
    let end = cli.seconds.map_or(last, |s| begin.saturating_add(ns(s)).min(last));
    let window = TimeWindow::new(Timestamp::from_ns(begin), Timestamp::from_ns(end));
    let empty = || Usage::new("--from and --seconds select no part of the trace");
    let window = window.ok_or_else(empty)?;

    let flow = ControlFlow::new(window, window.width() / cli.steps);
    let mut scheduler = Scheduler::new(context);
    scheduler.submit(flow.request(Owner::unique(), kernel))?;
    while scheduler.service_chunk(Budget::default()).has_more() {}

    let context = scheduler.context();
    let picture = picture::draw(&flow, &context.extensions()[kernel], first, cli.all);
    let text = if cli.svg { picture } else { page::around(&picture) };
    // The picture has escaped the texts of the trace.
    let mut out = Output::new(cli.output.as_deref())?;
    out.write_all(text.as_bytes())?;
    out.finish()?;
    report.errors(context.errors(), context.errors_omitted());
    Ok(())
}
