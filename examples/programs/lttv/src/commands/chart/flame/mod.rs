//! Flame graphs of programs: an SVG picture, or collapsed stacks for other programs, such as
//! flamegraph.pl, inferno and speedscope.

mod svg;

use std::error::Error;
use std::sync::Arc;

use lttv_common::calls::names::Names;
use lttv_common::report::Report;
use lttv_state::call_stacks::{FlameGraph, ThreadCalls, ThreadId};

use super::{FlameArgs, FlameFormat, FramesBelow};
use crate::commands::calls::collect::{Collected, collect};
use crate::commands::calls::thread as thread_of;
use crate::commands::selection::ThreadFilter;

/// Draws the flame graph of a window.
pub(super) fn draw(args: &FlameArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    args.input.refuse_filters(
        "stacks follow from all events; choose threads with --tid, --pid and --comm",
    )?;
    let threads = ThreadFilter::new(&args.threads)?;
    let Collected { analysis, calls, read, .. } = collect(&args.input, &args.pairs, report)?;
    let mut names = Names::new(args.symbols.options());
    let mut graph = FlameGraph::new();
    for trace in calls.traces() {
        let place = |of: &ThreadCalls| threads.has(&thread_of(of)).then(|| place(of, args.by));
        graph.add_calls(trace, place, |function| names.name(&calls, trace, function));
    }
    names.warn(report);
    let mut out = args.output.open(analysis.traceset.traces())?;
    match args.format {
        FlameFormat::Folded => graph.write_folded(&mut out)?,
        FlameFormat::Svg => svg::write(&mut out, &graph, &args.title, args.pixels)?,
    }
    out.finish()?;
    analysis.finish(report);
    Ok(read?)
}

/// Returns the frames below the calls of a thread.
fn place(thread: &ThreadCalls, by: FramesBelow) -> Vec<Arc<str>> {
    let process = match (thread.key.process, thread.name.is_empty()) {
        (Some(process), true) => format!("process {process}"),
        (Some(process), false) => format!("{} ({process})", thread.name),
        (None, true) => "unknown process".to_owned(),
        (None, false) => thread.name.to_string(),
    };
    let id = match thread.key.thread {
        ThreadId::Tid(tid) => format!("thread {tid}"),
        ThreadId::Process => "all threads".to_owned(),
        ThreadId::Cpu(cpu) => format!("CPU {cpu}"),
    };
    match by {
        FramesBelow::All => Vec::new(),
        FramesBelow::Process => vec![process.into()],
        FramesBelow::Thread => vec![process.into(), id.into()],
    }
}
