//! Writes the flame graph of a program from its trace: as an SVG picture, or as collapsed stacks for
//! other programs, such as flamegraph.pl, inferno and speedscope.
//!
//! ```text
//! cargo run --release --example flame_graph -- -o calls.svg TRACE
//! cargo run --release --example flame_graph -- --form folded TRACE > calls.folded
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod svg;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use lttv::commands::calls::args::{PairArgs, ThreadArgs};
use lttv::commands::calls::collect::{Collected, collect};
use lttv_common::args::{InputArgs, OutputArgs};
use lttv_common::calls::names::{Names, SymbolArgs};
use lttv_common::report::{self, Report};
use lttv_state::call_stacks::{FlameGraph, ThreadCalls, ThreadId};

/// Write the flame graph of a program as an SVG picture or as collapsed stacks
#[derive(Debug, clap::Parser)]
#[command(name = "flame_graph", version, after_help = report::EXIT_STATUS)]
struct Cli {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    symbols: SymbolArgs,

    #[command(flatten)]
    pairs: PairArgs,

    #[command(flatten)]
    threads: ThreadArgs,

    /// The form of the graph
    #[arg(long, value_enum, default_value_t)]
    form: Form,

    /// The frames below those of functions
    #[arg(long, value_enum, default_value_t)]
    by: By,

    /// The width of the picture in pixels
    #[arg(long, value_name = "N", default_value_t = 1200, value_parser = clap::value_parser!(u32).range(200..=20_000))]
    width: u32,

    /// The title of the picture
    #[arg(long, default_value = "Flame graph")]
    title: String,
}

/// A form of graphs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// A picture, with the figures of each frame in its title
    #[default]
    Svg,
    /// Lines of stacks with their time in ns
    Folded,
}

/// The threads whose calls are put together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum By {
    /// All together
    #[default]
    All,
    /// Each process has a frame
    Process,
    /// Each process and each thread has a frame
    Thread,
}

fn main() -> ExitCode {
    report::main("flame_graph", run)
}

fn run(cli: &Cli, report: &mut Report) -> Result<(), Box<dyn Error>> {
    cli.input.refuse_filters(
        "stacks follow from all events; choose processes and threads with --process and --thread",
    )?;
    let Collected { analysis, calls, read, .. } = collect(&cli.input, &cli.pairs, report)?;
    let mut names = Names::new(cli.symbols.options());
    let mut graph = FlameGraph::new();
    for trace in calls.traces() {
        let place =
            |thread: &ThreadCalls| cli.threads.has(thread.key).then(|| place(thread, cli.by));
        graph.add_calls(trace, place, |function| names.name(&calls, trace, function));
    }
    names.warn(report);
    let mut out = cli.output.open(analysis.traceset.traces())?;
    match cli.form {
        Form::Folded => graph.write_folded(&mut out)?,
        Form::Svg => svg::write(&mut out, &graph, &cli.title, cli.width)?,
    }
    out.finish()?;
    analysis.finish(report);
    Ok(read?)
}

/// Returns the frames below the calls of a thread.
fn place(thread: &ThreadCalls, by: By) -> Vec<Arc<str>> {
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
        By::All => Vec::new(),
        By::Process => vec![process.into()],
        By::Thread => vec![process.into(), id.into()],
    }
}
