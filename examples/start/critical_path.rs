//! Finds the critical path of a thread, prints where its time went, and draws it as an SVG picture.
//!
//! ```text
//! cargo run --release --example critical_path -- TRACE --tid 215 --svg path.svg
//! ```
//!
//! `lttv critical-path` prints more, for a time window and for several threads.

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use jiff::tz::TimeZone;
use lttv_common::bundled::open_or_bundled;
use lttv_common::critical_path::{busiest, label, picture};
use lttv_common::escape;
use lttv_common::report::{self, Report};
use lttv_common::text_dump::output::Output;
use lttv_context::{Bounds, TracesetContext};
use lttv_state::kernel::{KernelState, Tid};
use lttv_state::waits::WaitGraph;

/// Find the critical path of a thread: what it really waited for
#[derive(Debug, clap::Parser)]
#[command(name = "critical_path", version, after_help = report::EXIT_STATUS)]
struct Cli {
    /// Directories that contain kernel traces
    #[arg(value_name = "TRACE")]
    traces: Vec<PathBuf>,

    /// The thread [default: the one that ran longest]
    #[arg(long, value_name = "TID")]
    tid: Option<Tid>,

    /// Draw the path to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

fn main() -> ExitCode {
    report::main("critical_path", run)
}

fn run(cli: &Cli, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let traceset = open_or_bundled(report, &cli.traces)?;
    let mut context = TracesetContext::new(&traceset);
    let kernel = context.attach(KernelState::new());
    let waits = WaitGraph::attach(&mut context, kernel);
    _ = context.read(&Bounds::all())?;
    report.errors(&context.take_errors(), context.errors_omitted());

    let graph = waits.take(context.extensions());
    let window = graph.begin()..graph.end();
    let thread = match cli.tid {
        Some(tid) => graph.timelines().find(|(_, of)| of.tid() == tid).map(|(id, _)| id),
        None => busiest(&graph, &window),
    };
    let thread = thread.ok_or("there is no such thread")?;
    let path = graph.critical_path(thread, window);
    let mut out = Output::stdout();
    let (name, hand_overs) = (label(&graph, thread), path.hand_overs());
    writeln!(out, "Critical path of {}: {hand_overs} hand-overs", escape::name(&name))?;
    for share in path.shares() {
        let (us, of) = (share.times.total as f64 / 1e3, label(&graph, share.thread));
        writeln!(out, "{us:>16.3} us  {:<18} {}", share.kind, escape::name(&of))?;
    }
    if let Some(file) = &cli.svg {
        std::fs::write(file, picture(&graph, &path, &TimeZone::UTC))?;
    }
    Ok(out.finish()?)
}
