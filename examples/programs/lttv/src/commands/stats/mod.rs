//! Statistics of a time window: who used the CPUs, and what for.

mod args;
mod collect;
mod json;
mod longest;

use std::error::Error;
use std::io::Write;

use lttv_context::attributes::{AttributeId, Attributes, Indented};

pub use args::StatsArgs;

use super::analysis::Analysis;
use super::selection::{ThreadFilter, with_conditions};
use crate::models::statistics::Collected;
use crate::tables::stats::{self as tables, BY_CPU, CALL};
use lttv_common::escape::Escapes;
use lttv_common::host;
use lttv_common::kernel_trace;
use lttv_common::losses::Losses;
use lttv_common::report::{Report, Usage};
use lttv_common::table::Format;

/// The tables in text, unless others are selected.
const USUAL: [&str; 6] = ["traces", "cpus", "processes", "devices", "events", "contradictions"];

/// The tables in text of the time of a system call, unless others are selected.
const USUAL_OF_CALL: [&str; 3] = [CALL, "cpus", BY_CPU];

/// The tables that a trace has even if it is not a kernel trace.
const OF_ANY_TRACE: [&str; 3] = ["traces", "events", Losses::TABLE];

/// Prints the statistics of the traces in the window.
///
/// # Errors
///
/// If the command line is wrong, if no trace is a kernel trace, or if the output cannot be
/// written.
pub fn run(args: &StatsArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    args.check()?;
    let input = &args.common.input;
    // A wrong expression is reported before anything is read.
    input.expression()?;
    let of_threads = ThreadFilter::new(&args.threads)?;
    let selected = &args.common.format.tables;
    let follows_kernel = args.longest.is_some()
        || selected.is_empty()
        || selected.iter().any(|table| !OF_ANY_TRACE.contains(&&**table));
    let needs = follows_kernel.then_some(&kernel_trace::STATS);
    let mut analysis = Analysis::open(input, Some(&args.cache), report, needs)?;
    // The events of the selected threads and CPUs are counted, unless no table shows them.
    let input = &match args.counts_events() {
        true => with_conditions(input, args.threads.conditions().chain(args.cpus.conditions())),
        false => input.clone(),
    };
    let filters = input.filters(report, analysis.traceset.traces())?;
    let threads = input.threads_or_all(report);
    let longest = match &args.longest {
        Some(name) => {
            let call = longest::find(&mut analysis, threads, name)?;
            analysis.narrow(call.span);
            Some(call)
        }
        None => None,
    };
    let (found, read) =
        collect::collect(&mut analysis, threads, filters, longest, (&of_threads, &args.cpus.cpu));
    write(args, &found, &analysis)?;
    host::forget_at_end(found);
    analysis.finish(report);
    Ok(read?)
}

fn write(args: &StatsArgs, found: &Collected, analysis: &Analysis) -> Result<(), Box<dyn Error>> {
    let (common, traces) = (&args.common, analysis.traceset.traces());
    let selects = !common.format.tables.is_empty() || !common.format.columns.is_empty();
    if common.format.format == Format::Json && !selects && host::current().is_none() {
        let mut out = common.output.open(traces)?.escaping(Escapes::Json);
        let losses = analysis.losses().table(traces);
        let mut report = json::report(found, &losses, args.top().unwrap_or(usize::MAX));
        if found.longest.is_some() {
            let tables = tables::tables(found, args.top(), Format::Json, true);
            for table in tables.iter().filter(|table| [CALL, BY_CPU].contains(&table.key())) {
                report[table.key()] = table.to_json();
            }
        }
        out.json(&report)?;
        return Ok(out.finish()?);
    }
    let by_cpu = found.longest.is_some() || common.format.tables.iter().any(|of| of == BY_CPU);
    let mut tables = tables::tables(found, args.top(), common.format.format, by_cpu);
    if common.format.format == Format::Text && !selects {
        let usual: &[&str] = if found.longest.is_some() { &USUAL_OF_CALL } else { &USUAL };
        tables.retain(|table| usual.contains(&table.key()));
    }
    if !args.tree {
        return analysis.write(common, tables);
    }
    let mut tree = Attributes::new();
    found.statistics.export(&mut tree, AttributeId::ROOT)?;
    common.write_and(tables, traces, |out| writeln!(out, "{}", Indented(&tree)))
}

impl StatsArgs {
    /// Returns the greatest number of rows; `None` for all.
    fn top(&self) -> Option<usize> {
        self.common.format.top.filter(|rows| *rows > 0)
    }

    /// Returns `true` if events are counted by name.
    fn counts_events(&self) -> bool {
        let tables = &self.common.format.tables;
        tables.is_empty() || tables.iter().any(|it| it == "events")
    }

    /// Checks the options that depend on each other.
    fn check(&self) -> Result<(), Usage> {
        let format = &self.common.format;
        if self.tree && format.format != Format::Text {
            return Err(Usage::new(
                "--tree is printed with --format text only; \
                 `lttv run -m statistics --json` writes it as JSON",
            ));
        }
        let is_report = format.tables.is_empty() && format.columns.is_empty();
        if format.format == Format::Json && is_report && format.sort.is_some() {
            return Err(Usage::new("--sort needs --table or --columns with --format json"));
        }
        if !self.counts_events() {
            self.common.input.refuse_filters(
                "it selects what the table `events` counts; CPU times cannot be filtered, since \
                 they follow from the events that do not match, too",
            )?;
        }
        Ok(())
    }
}
