//! `lttv chart`: pictures of processes and CPUs over time, and of the functions of programs.

mod args;
mod axis;
mod counters;
mod flame;
mod flow;
mod hatch;
mod page;
mod span;
mod usage;

use std::error::Error;
use std::io::Write;

use lttv_common::clocks::Corrected;
use lttv_common::escape;
use lttv_common::inputs;
use lttv_common::kernel_trace;
use lttv_common::report::Report;
use lttv_common::text::output::Output;
use lttv_context::Traceset;

pub use args::{
    ChartArgs, ChartFormat, CountersChartArgs, FlameArgs, FlameFormat, FlowArgs, FramesBelow, Kind,
    PageArgs, SecondsArgs, UsageArgs,
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
    let (input, page) = match &args.kind {
        Kind::Flow(FlowArgs { input, page, .. })
        | Kind::Usage(UsageArgs { input, page, .. })
        | Kind::Counters(CountersChartArgs { input, page, .. }) => (input, page),
        Kind::Flame(args) => return flame::draw(args, report),
    };
    input.refuse_filters("a chart follows all events")?;
    let format = page.format()?;
    let Corrected { traceset, times } = input.open_corrected(report)?;
    let clock = times.clock_text();
    if let Some(path) = &page.output {
        inputs::refuse(path, traceset.traces(), &[])?;
    }
    // Counters are those of any trace.
    let needs_kernel = !matches!(args.kind, Kind::Counters(_));
    let served = match needs_kernel {
        true => kernel_trace::require(&traceset, &kernel_trace::CHART).map(drop),
        false => Ok(()),
    };
    if let Err(error) = served {
        write(page, &page::notice(format, &error.to_string()))?;
        report.error(error);
        return Ok(());
    }
    match &args.kind {
        Kind::Flow(args) => flow::draw(args, format, &traceset, clock.as_deref(), report),
        Kind::Usage(args) => usage::draw(args, format, &traceset, clock.as_deref(), report),
        Kind::Counters(args) => counters::draw(args, format, &traceset, clock.as_deref(), report),
        Kind::Flame(args) => flame::draw(args, report),
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
