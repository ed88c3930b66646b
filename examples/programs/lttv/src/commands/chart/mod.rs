//! `lttv chart`: pictures of processes, CPUs and latencies over time, and of the functions of programs.

mod args;
mod axis;
mod counters;
mod flame;
mod flow;
mod hatch;
mod latency;
mod page;
mod span;
mod usage;

use std::error::Error;
use std::io::Write;

use lttv_common::args::InputArgs;
use lttv_common::clocks::Corrected;
use lttv_common::escape;
use lttv_common::inputs;
use lttv_common::kernel_trace;
use lttv_common::report::Report;
use lttv_common::text::output::Output;
use lttv_context::Traceset;

pub use args::{
    ChartArgs, ChartFormat, CountersChartArgs, FlameArgs, FlameFormat, FlowArgs, FramesBelow, Kind,
    LatencyChartArgs, PageArgs, SecondsArgs, UsageArgs,
};

/// Draws a chart.
///
/// Traces of user space have no states to draw: the page says so, and it is an error.
///
/// # Errors
///
/// If the traces cannot be read, if the window is outside of them, or if the output cannot be
/// written.
pub fn run(args: &ChartArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    match &args.kind {
        Kind::Flow(args) => of_all(&args.input, &args.page, true, report, |format, of, report| {
            flow::draw(args, format, &of.traceset, of.times.clock_text().as_deref(), report)
        }),
        Kind::Usage(args) => of_all(&args.input, &args.page, true, report, |format, of, report| {
            usage::draw(args, format, &of.traceset, of.times.clock_text().as_deref(), report)
        }),
        Kind::Counters(args) => {
            of_all(&args.input, &args.page, false, report, |format, of, report| {
                counters::draw(args, format, &of.traceset, of.times.clock_text().as_deref(), report)
            })
        }
        Kind::Latency(args) => latency::draw(args, report),
        Kind::Flame(args) => flame::draw(args, report),
    }
}

/// Draws a flame graph.
///
/// # Errors
///
/// If the traces cannot be read, if they have no stacks, or if the output cannot be written.
pub fn flame(args: &FlameArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    flame::draw(args, report)
}

/// Draws a chart that follows all events, of traces of a kernel only if it shows states.
fn of_all(
    input: &InputArgs,
    page: &PageArgs,
    has_states: bool,
    report: &mut Report,
    draw: impl FnOnce(ChartFormat, &Corrected, &mut Report) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    input.refuse_filters("a chart follows all events")?;
    let format = page.format()?;
    let corrected = input.open_corrected(report)?;
    if let Some(path) = &page.output {
        inputs::refuse(path, corrected.traceset.traces(), &[])?;
    }
    if has_states
        && let Err(error) = kernel_trace::require(&corrected.traceset, &kernel_trace::CHART)
    {
        write(page, &page::notice(format, &error.to_string()))?;
        report.error(error);
        return Ok(());
    }
    draw(format, &corrected, report)
}

/// Writes a picture in a format.
fn write_picture(
    page: &PageArgs,
    format: ChartFormat,
    picture: String,
) -> Result<(), Box<dyn Error>> {
    match format {
        ChartFormat::Svg => write(page, &picture),
        ChartFormat::Html => write(page, &page::around(&picture)),
    }
}

/// Writes a page, in which the texts of the trace are escaped.
fn write(page: &PageArgs, text: &str) -> Result<(), Box<dyn Error>> {
    let mut out = Output::new(page.output.as_deref())?;
    out.write_all(text.as_bytes())?;
    Ok(out.finish()?)
}

/// Returns the part of a heading that names the clocks of the times, if they are corrected.
fn clock_note(clock: Option<&str>) -> String {
    clock.map_or_else(String::new, |clock| format!("; clock: {}", escape::xml(clock)))
}

/// Returns the names of traces: their index, if there are several.
fn trace_label(traceset: &Traceset, index: usize) -> String {
    if traceset.traces().len() > 1 { format!(" of trace {index}") } else { String::new() }
}
