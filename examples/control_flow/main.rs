//! Draws what each process was doing as a page for a browser, or as a picture.
//!
//! ```text
//! cargo run --release --example control_flow -- [TRACE…] [-o FILE] [--svg]
//! ```

mod page;
mod picture;
mod segments;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use lttv_context::{Bounds, TracesetContext};
use lttv_examples::bundled::open_or_bundled;
use lttv_examples::control_flow::ControlFlow;
use lttv_hooks::Priority;
use lttv_state::kernel::KernelState;

use crate::segments::{Scale, Segments};

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
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("control_flow: error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Result<(), Box<dyn std::error::Error>> {
    let mut context = TracesetContext::new(open_or_bundled(&cli.traces)?);
    let kernel = context.attach(KernelState::new());
    let span = context.contexts().time_span().ok_or("no event has a time")?;
    let first = context.position().time().unwrap_or(span.begin).max(span.begin);
    let ns = |seconds: f64| (seconds * 1e9).clamp(0.0, 1e18) as i64;
    let begin = first.ns().saturating_add(ns(cli.from));
    let end = cli.seconds.map_or(span.end.ns(), |s| begin.saturating_add(ns(s)).min(span.end.ns()));
    if begin >= end {
        return Err("there is no time between its begin and its end".into());
    }
    let scale = Scale { begin, end, least: end.abs_diff(begin) / cli.steps };
    let window = Bounds::all().until(ltt_read::Timestamp::from_ns(end));

    context.seek_time_with_state(ltt_read::Timestamp::from_ns(begin));
    let mut flow = ControlFlow::<Segments>::new(scale);
    flow.begin(&context.extensions()[kernel], ltt_read::Timestamp::from_ns(begin));
    let flow = std::rc::Rc::new(std::cell::RefCell::new(flow));
    let followed = flow.clone();
    let all = lttv_context::Subscription::to_every_event().priority(Priority::DEFAULT);
    context.on_event(all, move |call| {
        if let Some(kernel) = call.extensions.get(kernel) {
            followed.borrow_mut().event(kernel, call);
        }
    });
    context.middle(&window)?;

    let mut flow = flow.borrow_mut();
    let (scale, tracks) = flow.tracks_mut();
    tracks.for_each(|track| track.finish(scale));
    let states = &context.extensions()[kernel];
    let picture = picture::draw(&flow, states, first, cli.all);
    let text = if cli.svg { picture } else { page::around(&picture) };
    match &cli.output {
        Some(path) => std::fs::write(path, text)?,
        None => io::stdout().lock().write_all(text.as_bytes())?,
    }
    for error in context.errors() {
        eprintln!("control_flow: {error}");
    }
    Ok(())
}
