//! Flame graphs of programs and of the kernel: an SVG picture, or stacks for other programs, such as flamegraph.pl,
//! inferno and speedscope.

mod speedscope;
mod svg;

use std::error::Error;
use std::sync::Arc;

use lttv_common::calls::names::Names;
use lttv_common::report::Report;
use lttv_state::call_stacks::{CallStacks, ThreadId, ThreadKey};
use lttv_state::flame_graph::FlameGraph;
use lttv_state::stack_samples::{SampledEvents, StackSamples};

use super::{FlameArgs, FlameFormat, FramesBelow};
use crate::commands::calls::source::{Found, Stacks, find};
use crate::commands::calls::thread;
use crate::commands::selection::ThreadFilter;

/// Draws the flame graph of a window.
pub(super) fn draw(args: &FlameArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let format = args.format()?;
    let threads = ThreadFilter::new(&args.threads)?;
    let Found { analysis, stacks, read } = find(&args.input, &args.source, &args.pairs, report)?;
    let mut names = Names::new(args.symbols.options());
    let graph = match &stacks {
        Stacks::Calls(calls, _) => of_calls(args, &threads, calls, &mut names),
        Stacks::Samples(samples, _) => of_samples(args, &threads, samples, &mut names, report),
    };
    names.warn(report);
    let title = args.title.clone().unwrap_or_else(|| title(&stacks));
    let mut out = args.output.open(analysis.traceset.traces())?;
    match format {
        FlameFormat::Folded => graph.write_folded(&mut out)?,
        FlameFormat::Svg => svg::write(&mut out, &graph, &title, args.pixels)?,
        FlameFormat::Speedscope => speedscope::write(&mut out, &graph, &title)?,
    }
    out.finish()?;
    analysis.finish(report);
    Ok(read?)
}

/// Returns the title of a graph.
fn title(stacks: &Stacks) -> String {
    match stacks {
        Stacks::Calls(..) => "Flame graph".to_owned(),
        Stacks::Samples(_, SampledEvents::OffCpu) => "Flame graph of time off CPU".to_owned(),
        Stacks::Samples(_, SampledEvents::Named(name)) => format!("Flame graph of {name}"),
    }
}

fn of_calls(
    args: &FlameArgs,
    threads: &ThreadFilter,
    calls: &CallStacks,
    names: &mut Names,
) -> FlameGraph {
    let mut graph = FlameGraph::new();
    for trace in calls.traces() {
        graph.add_calls(
            trace,
            |of| place(args.by, threads, of.key, &of.name),
            |function| names.name(calls, trace, function),
        );
    }
    graph
}

fn of_samples(
    args: &FlameArgs,
    threads: &ThreadFilter,
    samples: &StackSamples,
    names: &mut Names,
    report: &Report,
) -> FlameGraph {
    let mut with_samples = samples.traces().iter().filter(|trace| trace.samples() > 0);
    let unit = with_samples.next().map(|trace| trace.unit().clone()).unwrap_or_default();
    let mut graph = FlameGraph::with_unit(unit);
    for trace in samples.traces() {
        if trace.unit() != graph.unit() && trace.samples() > 0 {
            let (path, unit) = (trace.trace().path().display(), trace.unit());
            report.warning(format_args!(
                "{path} is left out: it counts {unit}, the others {}; --weight samples adds them up",
                graph.unit()
            ));
            continue;
        }
        graph.add_samples(
            trace,
            |of| place(args.by, threads, of.key, &of.name),
            |frame| names.frame(trace, frame).to_string().into(),
        );
    }
    graph
}

/// Returns the frames below the stacks of a thread; `None` if it is not to be shown.
fn place(
    by: FramesBelow,
    threads: &ThreadFilter,
    key: ThreadKey,
    name: &str,
) -> Option<Vec<Arc<str>>> {
    if !threads.has(&thread(key, name)) {
        return None;
    }
    let process = match (key.process, name.is_empty()) {
        (Some(process), true) => format!("process {process}"),
        (Some(process), false) => format!("{name} ({process})"),
        (None, true) => "unknown process".to_owned(),
        (None, false) => name.to_owned(),
    };
    let id = match key.thread {
        ThreadId::Tid(tid) => format!("thread {tid}"),
        ThreadId::Process => "all threads".to_owned(),
        ThreadId::Cpu(cpu) => format!("CPU {cpu}"),
    };
    Some(match by {
        FramesBelow::All => Vec::new(),
        FramesBelow::Process => vec![process.into()],
        FramesBelow::Thread => vec![process.into(), id.into()],
    })
}
