//! Numbers and durations of interrupts.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use lttv_context::attributes::{AttributeError, AttributeId, Attributes};
use lttv_context::framework::{Failure, Module, ModuleInfo};
use lttv_context::{Handle, Subscription};
use lttv_hooks::Priority;
use lttv_state::kernel::{KernelState, NameId, SourceKind, TraceState, Transition};

use super::print::Style;
use super::table::{Table, fraction, us};
use super::{Host, places, report_with};
use crate::spread::Spread;

/// The module `interrupts`.
#[derive(Debug)]
pub(super) struct Interrupts;

impl Module<Host> for Interrupts {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "interrupts",
            summary: "Count, frequency and durations of each interrupt",
            description: "Reports for each interrupt and soft interrupt, in \
                          traces/[TRACE]/interrupts/KIND/[NUMBER]: how often its handler ran, \
                          in total and per second; its total and average time, the standard \
                          deviation, and the least and greatest time with their begin and end. \
                          Times include nested interrupts. Handlers that are only partly in \
                          the trace are not counted.",
            requires: &["batchAnalysis"],
        }
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let work = &mut host.data;
        let kernel = work.kernel();
        let context = &mut work.batch.context;
        let traces = context.contexts().traces().len();
        let handlers = (0..traces).map(|_| Handlers::new()).collect::<Vec<_>>();
        let handlers = context.attach_data(handlers);
        work.on_transitions(ends_handler, move |call| {
            let trace = call.trace.index();
            let Some((handlers, kernel)) = call.extensions.get_pair_mut(handlers, kernel) else {
                return;
            };
            if let (Some(of), Some(state)) = (handlers.get_mut(trace.0), kernel.trace(trace)) {
                of.ended(state);
            }
        });
        // Frequencies relate to the time span of all events.
        work.batch.hooks.on_event(Subscription::to_every_event(), move |call| {
            let (trace, time) = (call.trace.index(), call.time().as_ns());
            if let Some(of) = call.extensions[handlers].get_mut(trace.0) {
                of.last = time;
                of.first.get_or_insert(time);
            }
        });
        report_with(host, Priority::DEFAULT, move |host| report(host, handlers, kernel));
        Ok(())
    }
}

/// Returns `true` if the transition ends a handler.
fn ends_handler(transition: Transition) -> bool {
    matches!(transition, Transition::IrqExit | Transition::VectorExit | Transition::SoftirqExit)
}

/// The interrupt handlers of a trace.
#[derive(Debug)]
struct Handlers {
    /// The handlers of each kind, by interrupt number.
    of: BTreeMap<SourceKind, Vec<Handler>>,
    /// The times of the first and the last event, in ns.
    first: Option<i64>,
    last: i64,
}

/// The name and the durations of the handler of an interrupt.
#[derive(Debug, Clone, Copy, Default)]
struct Handler {
    name: NameId,
    /// The duration of each execution, in ns.
    runs: Spread,
}

impl Handlers {
    fn new() -> Self {
        let kinds = [SourceKind::Irq, SourceKind::Vector, SourceKind::Softirq];
        Handlers { of: kinds.map(|kind| (kind, Vec::new())).into(), first: None, last: 0 }
    }

    /// Returns the time from the first to the last event, in ns.
    fn time(&self) -> u64 {
        self.first.map_or(0, |first| self.last.abs_diff(first))
    }

    /// Records the handlers that the last event ended.
    fn ended(&mut self, state: &TraceState) {
        let effect = state.effect();
        for ended in effect.ended() {
            let Some((kind, number)) = ended.source else { continue };
            let Some(of_kind) = self.of.get_mut(&kind) else { continue };
            // Bounded by the state, whose own lists have the same length.
            let number = number as usize;
            if of_kind.len() <= number {
                of_kind.resize(number + 1, Handler::default());
            }
            let handler = &mut of_kind[number];
            handler.name = ended.submode;
            handler.runs.add(ended.elapsed, effect.time().as_ns());
        }
    }

    /// Iterates over the handlers that ran, with their kind and number.
    fn all(&self) -> impl Iterator<Item = (SourceKind, u64, &Handler)> {
        self.of.iter().flat_map(|(kind, of_kind)| {
            let numbered = (0..).zip(of_kind).filter(|(_, handler)| handler.runs.count() > 0);
            numbered.map(|(number, handler)| (*kind, number, handler))
        })
    }
}

fn report(
    host: &mut Host,
    handlers: Handle<Vec<Handlers>>,
    kernel: Handle<KernelState>,
) -> Result<(), AttributeError> {
    let context = &host.data.batch.context;
    for (trace, of) in context.contexts().traces().iter().zip(&context.extensions()[handlers]) {
        let Some(state) = context.extensions()[kernel].trace(trace.index()) else { continue };
        if host.data.style == Style::Text {
            let mut output = host.data.output.borrow_mut();
            let durations = durations(of, state, trace.index().0);
            // Writing to a buffer never fails.
            _ = write!(output.buffer(), "{durations}{}", extremes(of, state, trace.index().0));
        } else {
            let place = places::of_trace(&mut host.attributes, trace)?;
            export(&mut host.attributes, place, of, state)?;
        }
    }
    Ok(())
}

fn durations(of: &Handlers, state: &TraceState, trace: usize) -> Table {
    let mut table = Table::new(format!("Interrupts of trace {trace}"))
        .text("KIND")
        .numbers(["NUMBER"])
        .text("NAME")
        .numbers(["COUNT", "COUNT/s", "TOTAL us", "AVERAGE us", "STD DEV us", "MIN us", "MAX us"]);
    for (kind, number, Handler { name, runs }) in of.all() {
        table.row([
            kind.label().to_owned(),
            number.to_string(),
            state.name(*name).to_owned(),
            runs.count().to_string(),
            fraction(runs.frequency(of.time())),
            us(runs.total()),
            fraction(runs.mean() / 1e3),
            fraction(runs.deviation() / 1e3),
            us(runs.least().value),
            us(runs.greatest().value),
        ]);
    }
    table
}

fn extremes(of: &Handlers, state: &TraceState, trace: usize) -> Table {
    let mut table = Table::new(format!("Shortest and longest handlers of trace {trace}"))
        .text("KIND")
        .numbers(["NUMBER"])
        .text("NAME")
        .numbers(["MIN us", "FROM", "TO", "MAX us", "FROM", "TO"]);
    for (kind, number, Handler { name, runs }) in of.all() {
        let (shortest, longest) = (runs.least(), runs.greatest());
        table.row([
            kind.label().to_owned(),
            number.to_string(),
            state.name(*name).to_owned(),
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
    of: &Handlers,
    state: &TraceState,
) -> Result<(), AttributeError> {
    let all = attributes.subtree(place, "interrupts")?;
    for (kind, number, Handler { name, runs }) in of.all() {
        let of_kind = attributes.subtree(all, kind.label())?;
        let place = attributes.subtree(of_kind, number)?;
        attributes.set(place, "name", state.name(*name))?;
        attributes.set(place, "count", runs.count())?;
        attributes.set(place, "frequency", runs.frequency(of.time()))?;
        attributes.set(place, "total", Duration::from_nanos(runs.total()))?;
        attributes.set(place, "deviation_ns", runs.deviation())?;
        for (name, run) in [("min", runs.least()), ("max", runs.greatest())] {
            let extreme = attributes.subtree(place, name)?;
            attributes.set(extreme, "duration", Duration::from_nanos(run.value))?;
            attributes.set(extreme, "begin", run.begin())?;
            attributes.set(extreme, "end", run.end())?;
        }
    }
    Ok(())
}
