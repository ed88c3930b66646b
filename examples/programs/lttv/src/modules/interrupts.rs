//! Numbers, durations and periods of interrupts.

use std::time::Duration;

use ltt_read::TraceIndex;
use lttv_common::interrupts::{Interrupts as Model, frequency};
use lttv_common::kernel_trace;
use lttv_context::Handle;
use lttv_context::attributes::{AttributeError, AttributeId, Attributes};
use lttv_context::framework::{Failure, Module, ModuleInfo};
use lttv_hooks::Priority;
use lttv_state::kernel::KernelState;
use lttv_state::latency::Spread;

use super::print::{self, Style};
use super::{Host, places, report_with};
use crate::tables::interrupts as tables;

/// The module `interrupts`.
#[derive(Debug)]
pub(super) struct Interrupts;

impl Module<Host> for Interrupts {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "interrupts",
            summary: "Count, frequency, durations and periods of each interrupt",
            description: "Reports for each interrupt, soft interrupt and exception on each CPU, in \
                          traces/[TRACE]/interrupts/KIND/[NUMBER]/cpus/[CPU]: how often its \
                          handler ended, in total and per second; its total and average time, the \
                          standard deviation, and the least and greatest time with their begin \
                          and end; the average period from one start to the next, with its \
                          standard deviation and that of the frequency. The same without periods \
                          for all CPUs, in KIND/[NUMBER]. Times include nested interrupts. \
                          Handlers that are only partly between --begin and --end add that part \
                          to the total time, and nothing to the other times.",
            requires: &["batchAnalysis"],
        }
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let work = &mut host.data;
        if !work.has(&kernel_trace::IRQ) {
            return Ok(());
        }
        let kernel = work.kernel_at_begin();
        let found = work.window.begin.map_or_else(Model::default, Model::since);
        let found = work.batch.context.attach_data(found);
        work.on_transitions(
            |of| Model::ended_by(of).is_some(),
            move |call| {
                let (trace, time) = (call.trace.index(), call.time().as_ns());
                let state = &call.extensions[kernel];
                let (Some(cpu), Some(transition)) =
                    (state.cpu_of(call), state.transition(trace, call.event.type_id()))
                else {
                    return;
                };
                let Some((found, kernel)) = call.extensions.get_pair_mut(found, kernel) else {
                    return;
                };
                if let Some(state) = kernel.trace(trace) {
                    found.ended(trace, state, transition, cpu, time);
                }
            },
        );
        report_with(host, Priority::DEFAULT, move |host| report(host, found, kernel));
        Ok(())
    }
}

fn report(
    host: &mut Host,
    found: Handle<Model>,
    kernel: Handle<KernelState>,
) -> Result<(), AttributeError> {
    let spans = host.data.spans();
    let context = &mut host.data.batch.context;
    let Some((interrupts, kernel)) = context.extensions_mut().get_pair_mut(found, kernel) else {
        return Ok(());
    };
    for (index, state) in (0..).map(TraceIndex).zip(kernel.traces()) {
        if let Some(span) = spans[index.0] {
            interrupts.still_open(index, state, span.end, |_, _, _| true);
        }
    }
    let context = &host.data.batch.context;
    let interrupts = &context.extensions()[found];
    for (trace, span) in context.contexts().traces().iter().zip(spans) {
        let index = trace.index();
        let time = span.map_or(0, |span| span.end.since(span.start));
        if host.data.style == Style::Text {
            let rows = interrupts.of_trace(index).map(|(key, of)| tables::Row { key, of, time });
            let rows: Vec<_> = rows.collect();
            let title = format!("Interrupts of trace {}", index.0);
            let durations = tables::durations(title, false, &rows);
            let title = format!("Shortest and longest handlers of trace {}", index.0);
            let extremes = tables::extremes(title, false, &rows);
            print::tables(&mut host.data.output.borrow_mut(), &[durations, extremes]);
        } else {
            let place = places::of_trace(&mut host.attributes, trace)?;
            export(&mut host.attributes, place, interrupts, index, time)?;
        }
    }
    Ok(())
}

fn export(
    attributes: &mut Attributes,
    place: AttributeId,
    of: &Model,
    trace: TraceIndex,
    time: u64,
) -> Result<(), AttributeError> {
    let all = attributes.subtree(place, "interrupts")?;
    let place = |attributes: &mut Attributes, kind: &str, number: u32| {
        let of_kind = attributes.subtree(all, kind)?;
        attributes.subtree(of_kind, u64::from(number))
    };
    for ((kind, number), of) in of.on_all_cpus(trace) {
        let place = place(attributes, kind.label(), number)?;
        attributes.set(place, "name", of.name)?;
        export_durations(attributes, place, (of.count, of.time), &of.durations, time)?;
    }
    for (key, of) in of.of_trace(trace) {
        let place = place(attributes, key.kind.label(), key.number)?;
        let cpus = attributes.subtree(place, "cpus")?;
        let place = attributes.subtree(cpus, u64::from(key.cpu))?;
        export_durations(attributes, place, (of.count, of.time), &of.durations, time)?;
        if of.periods.count() > 0 {
            attributes.set(place, "period_ns", of.periods.mean())?;
            attributes.set(place, "period_deviation_ns", of.periods.deviation())?;
            attributes.set(place, "frequency_deviation", of.frequencies.deviation() / 1e3)?;
        }
    }
    Ok(())
}

fn export_durations(
    attributes: &mut Attributes,
    place: AttributeId,
    (count, total): (u64, u64),
    runs: &Spread,
    time: u64,
) -> Result<(), AttributeError> {
    attributes.set(place, "count", count)?;
    attributes.set(place, "frequency", frequency(count, time))?;
    attributes.set(place, "total", Duration::from_nanos(total))?;
    if runs.count() == 0 {
        return Ok(());
    }
    attributes.set(place, "deviation_ns", runs.deviation())?;
    for (name, run) in [("min", runs.least()), ("max", runs.greatest())] {
        let extreme = attributes.subtree(place, name)?;
        attributes.set(extreme, "duration", Duration::from_nanos(run.value))?;
        attributes.set(extreme, "begin", run.begin())?;
        attributes.set(extreme, "end", run.end())?;
    }
    Ok(())
}
