//! `lttv chart flow`: the thread on each CPU and the states of each process over time.

mod arrows;
mod cpus;
mod hint;
mod picture;

use std::error::Error;

use arrows::Arrows;
use ltt_read::{Timestamp, TraceIndex};
use lttv_common::clocks::labels;
use lttv_common::losses::Losses;
use lttv_common::report::Report;
use lttv_context::synchronize::matching::{Hosts, Rules};
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_requests::views::{ControlFlow, CpuThreads, HostMessages, TimeWindow};
use lttv_requests::{Budget, Owner, Scheduler};
use lttv_state::kernel::KernelState;
use picture::Picture;

use super::span::Span;
use super::{ChartFormat, FlowArgs, page, write};

/// The width of the chart.
const WIDTH: f64 = 1100.0;
/// The height of a row.
const ROW: f64 = 18.0;

/// Draws the thread on each CPU and the states of each process.
pub(super) fn draw(
    args: &FlowArgs,
    format: ChartFormat,
    traceset: &Traceset,
    clock: Option<&str>,
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    let traces = traceset.traces();
    let span = Span::of(&args.input, args.seconds, traces)?;
    let losses = Losses::of(traces, span.window);
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let end = Timestamp::from_ns(span.from.as_ns().saturating_add_unsigned(span.length()));
    let window = TimeWindow::new(span.from, end).ok_or("the window is empty")?;

    let flow = ControlFlow::new(window, window.width() / args.steps);
    let mut scheduler = Scheduler::new(context);
    scheduler.submit(flow.request(Owner::unique(), kernel))?;
    let cpus = CpuThreads::new(window, window.width() / args.steps);
    scheduler.submit(cpus.request(Owner::unique(), kernel))?;
    let hosts = Hosts::of(traceset);
    let messages = HostMessages::new(traceset, &hosts, &Rules::built_in(), window);
    if messages.can_exist() {
        scheduler.submit(messages.request(Owner::unique(), kernel))?;
    }
    while scheduler.service_chunk(Budget::default()).has_more() {}

    let state = &scheduler.context().extensions()[kernel];
    let (messages, names) = (messages.messages(), labels(&hosts));
    let arrows = Arrows { messages: &messages, hosts: &names, steps: args.steps };
    let host = |trace| hosts.of_trace(TraceIndex(trace)).and_then(|host| names.get(host.0));
    let host = |trace| host(trace).map_or("?", String::as_str);
    let hosts_of_traces = (names.len() > 1).then(|| (0..traces.len()).map(host).collect());
    let picture = Picture {
        flow: &flow,
        cpus: &cpus,
        kernel: state,
        span: &span,
        losses: &losses,
        arrows,
        clock,
        hosts_of_traces,
    };
    let picture = picture.draw(args.all, &args.input.zone());
    let text = match format {
        ChartFormat::Svg => picture,
        ChartFormat::Html => page::zoomed(&picture),
    };
    write(&args.page, &text)?;
    if span.window.end.is_none() {
        // Meets damage after the last event.
        _ = scheduler.context_mut().read(&Bounds::all())?;
    }
    let context = scheduler.context();
    report.errors(context.merge().errors(), context.merge().errors_omitted());
    report.losses(&losses, None);
    Ok(())
}
