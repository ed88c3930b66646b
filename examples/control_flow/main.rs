//! Draws what each process was doing as a page for a browser, or as a picture.
//!
//! ```text
//! cargo run --release --example control_flow -- [TRACE…] [-o FILE] [--svg]
//! ```

mod page;
mod picture;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use ltt_read::Timestamp;
use lttv_context::TracesetContext;
use lttv_examples::bundled::open_or_bundled;
use lttv_requests::views::ControlFlow;
use lttv_requests::{Budget, Owner, Scheduler, TimeWindow};
use lttv_state::kernel::KernelState;

/// Draw what each process was doing: running user code, in which system call, waiting
///
/// The page is one file without anything else: the wheel zooms, dragging moves,
/// pointing at a state tells what it is. Without TRACE the small kernel trace that comes
/// with this program is drawn.
#[derive(Debug, Parser)]
#[command(name = "control_flow", version)]
struct Cli {
    /// Directories of kernel traces
    traces: Vec<PathBuf>,

    /// Where to write it, instead of to the standard output
    #[arg(short, long)]
    output: Option<PathBuf>,

    /// Write the picture alone, without what makes it zoom
    #[arg(long)]
    svg: bool,

    /// Seconds from the first event to where it begins
    #[arg(long, default_value_t = 0.0)]
    from: f64,

    /// Seconds that it shows; to the last event, if not given
    #[arg(long)]
    seconds: Option<f64>,

    /// Draw processes that only waited, too
    #[arg(long)]
    all: bool,

    /// States shorter than the time shown divided by this are drawn together
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("control_flow: error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// False if part of a trace could not be opened.
fn run(cli: &Cli) -> Result<bool, Box<dyn std::error::Error>> {
    let loaded = open_or_bundled("control_flow", &cli.traces)?;
    let mut context = TracesetContext::new(loaded.traceset);
    let kernel = context.attach(KernelState::new());
    let span = context.contexts().time_span().ok_or("no event has a time")?;
    let first = context.position().time().unwrap_or(span.begin).max(span.begin);
    let ns = |seconds: f64| (seconds * 1e9).clamp(0.0, 1e18) as i64;
    let begin = first.ns().saturating_add(ns(cli.from));
    let end = cli.seconds.map_or(span.end.ns(), |s| begin.saturating_add(ns(s)).min(span.end.ns()));
    let window = TimeWindow::new(Timestamp::from_ns(begin), Timestamp::from_ns(end));
    let window = window.ok_or("there is no time between its begin and its end")?;

    let flow = ControlFlow::new(window, window.width() / cli.steps);
    let mut scheduler = Scheduler::new(context);
    scheduler.submit(flow.request(Owner::fresh(), kernel))?;
    while scheduler.service_chunk(Budget::default()).has_more() {}

    let context = scheduler.context();
    let picture = picture::draw(&flow, &context.extensions()[kernel], first, cli.all);
    let text = if cli.svg { picture } else { page::around(&picture) };
    match &cli.output {
        Some(path) => std::fs::write(path, text)?,
        None => io::stdout().lock().write_all(text.as_bytes())?,
    }
    for error in context.errors() {
        eprintln!("control_flow: {error}");
    }
    Ok(loaded.complete && context.errors().is_empty())
}
