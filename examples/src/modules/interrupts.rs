//! How often interrupts came, and how long their handlers took.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use ltt_read::Timestamp;
use lttv_context::attributes::{AttributeError, AttributeId, Attributes};
use lttv_context::modules::{Failure, Module, ModuleInfo};
use lttv_context::{Handle, Subscription};
use lttv_hooks::Priority;
use lttv_state::kernel::{NameId, SourceKind, TraceState, Transition};

use super::print::Style;
use super::table::{Table, fraction, us};
use super::{Host, places, report_with};

/// The module `interrupts`.
#[derive(Debug)]
pub(super) struct Interrupts;

impl Module<Host> for Interrupts {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "interrupts",
            summary: "Count, frequency and durations of each interrupt",
            description: "Tells for each interrupt and soft interrupt, in \
                          traces/[TRACE]/interrupts/KIND/[NUMBER]: how often its handler ran, \
                          altogether and in a second; how long it took in all, on average, with \
                          its standard deviation, at least and at most, and when that was. \
                          Handlers that were interrupted took that time, too. Those that are \
                          seen only in part do not count.",
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
            let Some((handlers, kernel)) = call.extensions.both_mut(handlers, kernel) else {
                return;
            };
            if let (Some(of), Some(state)) = (handlers.get_mut(trace), kernel.trace(trace)) {
                of.ended(state);
            }
        });
        // Rates are over the time of all events.
        work.batch.hooks.on_event(Subscription::to_every_event(), move |call| {
            let (trace, time) = (call.trace.index(), call.time().ns());
            if let Some(of) = call.extensions[handlers].get_mut(trace) {
                of.last = time;
                of.first.get_or_insert(time);
            }
        });
        report_with(host, Priority::DEFAULT, move |host| report(host, handlers));
        Ok(())
    }
}

fn ends_handler(transition: Transition) -> bool {
    matches!(transition, Transition::IrqExit | Transition::VectorExit | Transition::SoftirqExit)
}

/// The handlers of a trace.
#[derive(Debug)]
struct Handlers {
    /// For each kind, by number.
    of: BTreeMap<SourceKind, Vec<Handler>>,
    /// Times of the first event and the last one, in ns.
    first: Option<i64>,
    last: i64,
}

/// What is known of the handler of an interrupt. Times are in ns.
#[derive(Debug, Clone, Copy, Default)]
struct Handler {
    name: NameId,
    count: u64,
    total: u64,
    /// The sum of the squares.
    squares: u128,
    shortest: Run,
    longest: Run,
}

/// One time that it ran.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    end: i64,
    duration: u64,
}

impl Handlers {
    fn new() -> Self {
        let kinds = [SourceKind::Irq, SourceKind::Vector, SourceKind::Softirq];
        Handlers { of: kinds.map(|kind| (kind, Vec::new())).into(), first: None, last: 0 }
    }

    /// From the first event to the last one, in ns.
    fn time(&self) -> u64 {
        self.first.map_or(0, |first| self.last.abs_diff(first))
    }

    /// An event ended handlers.
    fn ended(&mut self, state: &TraceState) {
        let effect = state.effect();
        for ended in effect.ended() {
            let Some((kind, number)) = ended.source else { continue };
            let Some(of_kind) = self.of.get_mut(&kind) else { continue };
            // Numbers are bounded: those of the state are as long.
            let number = number as usize;
            if of_kind.len() <= number {
                of_kind.resize(number + 1, Handler::default());
            }
            let handler = &mut of_kind[number];
            handler.name = ended.submode;
            handler.ran(Run { end: effect.time().ns(), duration: ended.elapsed });
        }
    }

    /// Those that ran, with kind and number.
    fn all(&self) -> impl Iterator<Item = (SourceKind, u64, &Handler)> {
        self.of.iter().flat_map(|(kind, of_kind)| {
            let numbered = (0..).zip(of_kind).filter(|(_, handler)| handler.count > 0);
            numbered.map(|(number, handler)| (*kind, number, handler))
        })
    }
}

impl Handler {
    fn ran(&mut self, run: Run) {
        if self.count == 0 || run.duration < self.shortest.duration {
            self.shortest = run;
        }
        if self.count == 0 || run.duration > self.longest.duration {
            self.longest = run;
        }
        self.count += 1;
        self.total += run.duration;
        self.squares += u128::from(run.duration).pow(2);
    }

    fn average(&self) -> f64 {
        self.total as f64 / self.count.max(1) as f64
    }

    /// The standard deviation of its durations, in ns.
    fn deviation(&self) -> f64 {
        let (count, total) = (u128::from(self.count), u128::from(self.total));
        // n Σd² - (Σd)² is never negative, and exact in integers.
        let spread = count.saturating_mul(self.squares).saturating_sub(total.saturating_mul(total));
        (spread as f64).sqrt() / self.count.max(1) as f64
    }

    /// How often it ran in a second, of a time in ns.
    fn frequency(&self, time: u64) -> f64 {
        if time == 0 { 0.0 } else { self.count as f64 * 1e9 / time as f64 }
    }
}

impl Run {
    fn begin(self) -> Timestamp {
        Timestamp::from_ns(self.end.saturating_sub_unsigned(self.duration))
    }

    fn end(self) -> Timestamp {
        Timestamp::from_ns(self.end)
    }
}

fn report(host: &mut Host, handlers: Handle<Vec<Handlers>>) -> Result<(), AttributeError> {
    let context = &host.data.batch.context;
    let kernel = context.extensions().find::<lttv_state::kernel::KernelState>();
    let Some(kernel) = kernel else { return Ok(()) };
    for (trace, of) in context.contexts().traces().iter().zip(&context.extensions()[handlers]) {
        let Some(state) = context.extensions()[kernel].trace(trace.index()) else { continue };
        if host.data.style == Style::Text {
            let mut output = host.data.output.borrow_mut();
            let durations = durations(of, state, trace.index());
            // Writing to a buffer cannot fail.
            _ = write!(output.buffer(), "{durations}{}", extremes(of, state, trace.index()));
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
    for (kind, number, handler) in of.all() {
        table.row([
            label(kind).to_owned(),
            number.to_string(),
            state.name(handler.name).to_owned(),
            handler.count.to_string(),
            fraction(handler.frequency(of.time())),
            us(handler.total),
            fraction(handler.average() / 1e3),
            fraction(handler.deviation() / 1e3),
            us(handler.shortest.duration),
            us(handler.longest.duration),
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
    for (kind, number, handler) in of.all() {
        let Handler { shortest, longest, .. } = handler;
        table.row([
            label(kind).to_owned(),
            number.to_string(),
            state.name(handler.name).to_owned(),
            us(shortest.duration),
            shortest.begin().to_string(),
            shortest.end().to_string(),
            us(longest.duration),
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
    for (kind, number, handler) in of.all() {
        let of_kind = attributes.subtree(all, label(kind))?;
        let place = attributes.subtree(of_kind, number)?;
        attributes.set(place, "name", state.name(handler.name))?;
        attributes.set(place, "count", handler.count)?;
        attributes.set(place, "frequency", handler.frequency(of.time()))?;
        attributes.set(place, "total", Duration::from_nanos(handler.total))?;
        attributes.set(place, "deviation_ns", handler.deviation())?;
        for (name, run) in [("min", handler.shortest), ("max", handler.longest)] {
            let extreme = attributes.subtree(place, name)?;
            attributes.set(extreme, "duration", Duration::from_nanos(run.duration))?;
            attributes.set(extreme, "begin", run.begin())?;
            attributes.set(extreme, "end", run.end())?;
        }
    }
    Ok(())
}

fn label(kind: SourceKind) -> &'static str {
    match kind {
        SourceKind::Irq => "irq",
        SourceKind::Vector => "vector",
        SourceKind::Softirq => "softirq",
        SourceKind::Trap => "trap",
    }
}
