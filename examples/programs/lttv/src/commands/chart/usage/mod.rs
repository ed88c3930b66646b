//! `lttv chart usage`: CPUs and the busiest processes over time.

mod rows;
mod shares;
mod svg;

use std::cell::RefCell;
use std::error::Error;
use std::rc::Rc;

use ltt_read::TraceIndex;
use lttv_common::losses::Losses;
use lttv_common::report::Report;
use lttv_context::{Bounds, Subscription, Traceset, TracesetContext};
use lttv_hooks::Priority;
use lttv_state::analysis::read;
use lttv_state::kernel::KernelState;
use lttv_state::stats::{StatisticsAnalysis, TraceStatistics};
use rows::Rows;
use svg::Picture;

use super::span::Span;
use super::{ChartFormat, UsageArgs, trace_label, write_picture};

/// The rows of a trace, with their titles.
struct TraceRows {
    index: TraceIndex,
    label: String,
    rows: Rows,
}

/// Draws the use of CPUs and processes.
pub(super) fn draw(
    args: &UsageArgs,
    format: ChartFormat,
    traceset: &Traceset,
    clock: Option<&str>,
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    let span = Span::of(&args.input, args.seconds, traceset.traces())?;
    // A first read determines the busiest processes.
    let threads = args.input.threads_or_all(report);
    let read = read(traceset).window(span.window.range()).threads(threads);
    // The second read reports damage.
    let statistics = read.run(StatisticsAnalysis::new()).output;
    let columns = svg::columns(args.pixels);
    let of_trace = |(index, trace): (usize, &TraceStatistics)| TraceRows {
        index: TraceIndex(index),
        label: trace_label(traceset, index),
        rows: Rows::new(trace, args.top, columns, &span),
    };
    let is_kernel = |(_, trace): &(usize, &TraceStatistics)| !trace.cpus().is_empty();
    let kernel_traces = statistics.traces().iter().enumerate().filter(is_kernel);
    let rows: Vec<TraceRows> = kernel_traces.map(of_trace).collect();
    let rows = follow(traceset, &span, rows, report)?;

    let losses = Losses::of(traceset.traces(), span.window);
    let events = statistics.traces().iter().map(|trace| trace.total().events.total()).sum();
    let picture = Picture {
        traces: &rows,
        span: &span,
        losses: &losses,
        traceset,
        events,
        clock,
        width: args.pixels,
        zone: args.input.zone(),
    };
    write_picture(&args.page, format, picture.draw())?;
    report.losses(&losses, Some(events));
    Ok(())
}

/// Follows the state over the window, in which the first state is that of its start. Reports
/// damage.
fn follow(
    traceset: &Traceset,
    span: &Span,
    rows: Vec<TraceRows>,
    report: &mut Report,
) -> Result<Vec<TraceRows>, Box<dyn Error>> {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    if span.window.begin.is_some() {
        context.state().seek_time(span.from);
    }
    let mut rows = rows;
    for TraceRows { index, rows, .. } in &mut rows {
        if let Some(state) = context.extensions()[kernel].trace(*index) {
            rows.start(state);
        }
    }
    let rows = Rc::new(RefCell::new(rows));
    let seen = Rc::clone(&rows);
    let after_state = Priority::new(30)?;
    context.on_event(Subscription::to_every_event().priority(after_state), move |call| {
        let (kernel, index) = (&call.extensions[kernel], call.trace.index());
        if kernel.transition(index, call.event.type_id()).is_some()
            && let Some(state) = kernel.trace(index)
            && let Some(of) = seen.borrow_mut().iter_mut().find(|of| of.index == index)
        {
            of.rows.event(state, call.delivery_time().as_ns());
        }
    });
    _ = context.read(&span.window.bounds())?;
    if span.window.end.is_none() {
        _ = context.read(&Bounds::all())?;
    }
    report.errors(context.merge().errors(), context.merge().errors_omitted());
    for TraceRows { index, rows, .. } in &mut *rows.borrow_mut() {
        rows.finish(context.extensions()[kernel].trace(*index));
    }
    Ok(rows.take())
}
