//! Numbers, durations and periods of interrupts.

use std::fmt::Write;
use std::time::Duration;

use ltt_read::TraceIndex;
use lttv_context::attributes::{AttributeError, AttributeId, Attributes};
use lttv_context::framework::{Failure, Module, ModuleInfo};
use lttv_context::{Handle, Subscription};
use lttv_hooks::Priority;

use super::print::Style;
use super::table::{Table, fraction, us};
use super::{Host, places, report_with};
use crate::interrupts::{Interrupt, InterruptKey, Interrupts as Model};
use crate::spread::Spread;

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
                          handler ran, in total and per second; its total and average time, the \
                          standard deviation, and the least and greatest time with their begin \
                          and end; the average period from one start to the next, with its \
                          standard deviation and that of the frequency. The same without periods \
                          for all CPUs, in KIND/[NUMBER]. Times include nested interrupts. \
                          Handlers that are only partly in the trace are not counted.",
            requires: &["batchAnalysis"],
        }
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let work = &mut host.data;
        let kernel = work.kernel();
        let context = &mut work.batch.context;
        let traces = context.contexts().traces().len();
        let times = (0..traces).map(|_| Times::default()).collect();
        let found = context.attach_data(Found { interrupts: Model::default(), times });
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
                    found.interrupts.ended(trace, state, transition, cpu, time);
                }
            },
        );
        // Frequencies relate to the time span of all events.
        work.batch.hooks.on_event(Subscription::to_every_event(), move |call| {
            let (trace, time) = (call.trace.index(), call.time().as_ns());
            if let Some(of) = call.extensions[found].times.get_mut(trace.0) {
                of.last = time;
                of.first.get_or_insert(time);
            }
        });
        report_with(host, Priority::DEFAULT, move |host| report(host, found));
        Ok(())
    }
}

/// The interrupts of all traces.
#[derive(Debug)]
struct Found {
    interrupts: Model,
    /// The time spans by trace index.
    times: Vec<Times>,
}

/// The times of the first and the last event of a trace, in ns.
#[derive(Debug, Default)]
struct Times {
    first: Option<i64>,
    last: i64,
}

impl Times {
    /// Returns the time from the first to the last event, in ns.
    fn length(&self) -> u64 {
        self.first.map_or(0, |first| self.last.abs_diff(first))
    }
}

fn report(host: &mut Host, found: Handle<Found>) -> Result<(), AttributeError> {
    let context = &host.data.batch.context;
    let Found { interrupts, times } = &context.extensions()[found];
    for (trace, times) in context.contexts().traces().iter().zip(times) {
        let (index, time) = (trace.index(), times.length());
        if host.data.style == Style::Text {
            let mut output = host.data.output.borrow_mut();
            let durations = durations(interrupts, index, time);
            // Writing to a buffer never fails.
            _ = write!(output.buffer(), "{durations}{}", extremes(interrupts, index));
        } else {
            let place = places::of_trace(&mut host.attributes, trace)?;
            export(&mut host.attributes, place, interrupts, index, time)?;
        }
    }
    Ok(())
}

/// Returns the entries of the first columns, which identify the row.
fn names(key: &InterruptKey, of: &Interrupt) -> [String; 4] {
    [key.kind.label().to_owned(), key.number.to_string(), of.name.clone(), key.cpu.to_string()]
}

/// Creates a table with the columns of [`names`].
fn table(title: String) -> Table {
    Table::new(title).text("KIND").numbers(["NUMBER"]).text("NAME").numbers(["CPU"])
}

fn durations(of: &Model, trace: TraceIndex, time: u64) -> Table {
    let mut table = table(format!("Interrupts of trace {}", trace.0))
        .numbers(["COUNT", "COUNT/s", "TOTAL us", "AVERAGE us", "STD DEV us", "MIN us", "MAX us"])
        .numbers(["PERIOD us", "STD DEV us", "STD DEV Hz"]);
    for (key, of) in of.of_trace(trace) {
        let [kind, number, name, cpu] = names(key, of);
        let Interrupt { durations, periods, frequencies, .. } = of;
        table.row([
            kind,
            number,
            name,
            cpu,
            durations.count().to_string(),
            fraction(durations.frequency(time)),
            us(durations.total()),
            fraction(durations.mean() / 1e3),
            fraction(durations.deviation() / 1e3),
            us(durations.least().value),
            us(durations.greatest().value),
            fraction(periods.mean() / 1e3),
            fraction(periods.deviation() / 1e3),
            fraction(frequencies.deviation() / 1e3),
        ]);
    }
    table
}

fn extremes(of: &Model, trace: TraceIndex) -> Table {
    let mut table = table(format!("Shortest and longest handlers of trace {}", trace.0))
        .numbers(["MIN us", "FROM", "TO", "MAX us", "FROM", "TO"]);
    for (key, of) in of.of_trace(trace) {
        let [kind, number, name, cpu] = names(key, of);
        let (shortest, longest) = (of.durations.least(), of.durations.greatest());
        table.row([
            kind,
            number,
            name,
            cpu,
            us(shortest.value),
            shortest.begin().to_string(),
            shortest.end().to_string(),
            us(longest.value),
            longest.begin().to_string(),
            longest.end().to_string(),
        ]);
    }
    table
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
    for ((kind, number), (name, durations)) in of.on_all_cpus(trace) {
        let place = place(attributes, kind.label(), number)?;
        attributes.set(place, "name", name)?;
        export_durations(attributes, place, &durations, time)?;
    }
    for (key, of) in of.of_trace(trace) {
        let place = place(attributes, key.kind.label(), key.number)?;
        let cpus = attributes.subtree(place, "cpus")?;
        let place = attributes.subtree(cpus, u64::from(key.cpu))?;
        export_durations(attributes, place, &of.durations, time)?;
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
    runs: &Spread,
    time: u64,
) -> Result<(), AttributeError> {
    attributes.set(place, "count", runs.count())?;
    attributes.set(place, "frequency", runs.frequency(time))?;
    attributes.set(place, "total", Duration::from_nanos(runs.total()))?;
    attributes.set(place, "deviation_ns", runs.deviation())?;
    for (name, run) in [("min", runs.least()), ("max", runs.greatest())] {
        let extreme = attributes.subtree(place, name)?;
        attributes.set(extreme, "duration", Duration::from_nanos(run.value))?;
        attributes.set(extreme, "begin", run.begin())?;
        attributes.set(extreme, "end", run.end())?;
    }
    Ok(())
}
