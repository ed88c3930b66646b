//! Numbers, durations and periods of interrupts, by CPU.

use std::collections::BTreeMap;

use ltt_read::{Timestamp, TraceIndex};
use lttv_state::durations::Spread;
use lttv_state::kernel::{Frame, NameId, Process, SourceKind, TraceState, Transition};

/// The frequency of a period of 1 ns, in mHz.
const MHZ: u64 = 1_000_000_000_000;

/// An interrupt on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct InterruptKey {
    /// The index of the trace.
    pub trace: TraceIndex,
    /// The kind of interrupt.
    pub kind: SourceKind,
    /// The number of the interrupt.
    pub number: u32,
    /// The handler, if it is not the first one of a shared interrupt.
    pub handler: Option<NameId>,
    /// The number of the CPU.
    pub cpu: u32,
}

/// The measurements of an interrupt on a CPU. Times are in ns.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    /// The name of the interrupt.
    pub name: String,
    /// The number of handlers that ended, also of those that started before the window.
    pub count: u64,
    /// The time of handlers in the window, also of those that are only partly in it.
    pub time: u64,
    /// The durations of the handlers that are wholly in the window.
    pub durations: Spread,
    /// The times between the starts of successive handlers.
    pub periods: Spread,
    /// The frequencies that correspond to the periods, in mHz.
    pub frequencies: Spread,
    /// The start of the last handler.
    last_begin: Option<i64>,
}

/// The interrupts, softirqs and exceptions whose handlers ended, by CPU.
///
/// ```
/// use lttv_context::{Bounds, Traceset, TracesetContext};
/// use lttv_common::interrupts::Interrupts;
/// use lttv_state::kernel::KernelState;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let kernel = context.attach(KernelState::new());
/// let interrupts = context.attach_data(Interrupts::default());
/// context.on_event("*", move |call| {
///     let (trace, event_type) = (call.trace.index(), call.event.type_id());
///     let Some(cpu) = call.extensions[kernel].cpu_of(call) else { return };
///     let time = call.delivery_time();
///     let Some((all, kernel)) = call.extensions.get_pair_mut(interrupts, kernel) else { return };
///     if let (Some(transition), Some(state)) =
///         (kernel.transition(trace, event_type), kernel.trace(trace))
///     {
///         all.ended(trace, state, transition, cpu, time.as_ns());
///     }
/// });
/// assert_eq!(context.read(&Bounds::all())?.errors, 0);
/// for (key, of) in context.extensions()[interrupts].all() {
///     println!("{} on CPU {}: every {} ns", of.name, key.cpu, of.periods.mean());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Interrupts {
    all: BTreeMap<InterruptKey, Interrupt>,
    /// The start of the window, in ns.
    since: i64,
}

impl Default for Interrupts {
    fn default() -> Self {
        Interrupts { all: BTreeMap::new(), since: i64::MIN }
    }
}

impl Interrupts {
    /// Creates the interrupts of a window, without any. Handlers that started before it count
    /// from its start.
    pub fn since(start: Timestamp) -> Self {
        Interrupts { since: start.as_ns(), ..Interrupts::default() }
    }

    /// Returns `true` for a transition that starts a handler.
    pub fn is_start(transition: Transition) -> bool {
        use Transition::{IrqEntry, SoftirqEntry, TrapEntry, VectorEntry};
        matches!(transition, IrqEntry | SoftirqEntry | TrapEntry | VectorEntry)
    }

    /// Returns the kind of the handlers that a transition ends; `None` if it ends none.
    pub fn ended_by(transition: Transition) -> Option<SourceKind> {
        match transition {
            Transition::IrqExit => Some(SourceKind::Irq),
            Transition::VectorExit => Some(SourceKind::Vector),
            Transition::SoftirqExit => Some(SourceKind::Softirq),
            Transition::TrapExit => Some(SourceKind::Trap),
            _ => None,
        }
    }

    /// Iterates over all interrupts, by key.
    pub fn all(&self) -> impl Iterator<Item = (&InterruptKey, &Interrupt)> {
        self.all.iter()
    }

    /// Iterates over the interrupts of a trace, by key.
    pub fn of_trace(&self, trace: TraceIndex) -> impl Iterator<Item = (&InterruptKey, &Interrupt)> {
        self.all().filter(move |(key, _)| key.trace == trace)
    }

    /// Adds the handler that an event of a CPU ended, if it did. `state` is that after the
    /// event, `transition` that of the event, and `time` its time in ns.
    pub fn ended(
        &mut self,
        trace: TraceIndex,
        state: &TraceState,
        transition: Transition,
        cpu: u32,
        time: i64,
    ) {
        let Some(kind) = Self::ended_by(transition) else { return };
        let Some(ended) = state.effect().ended() else { return };
        let Some((_, number)) = ended.source.filter(|(of, _)| *of == kind) else { return };
        let since = self.since;
        let handler = handler(state, kind, number, ended.submode);
        let key = InterruptKey { trace, kind, number, handler, cpu };
        let known = self.entry(key, state.name(ended.submode));
        known.count += 1;
        let begin = time.saturating_sub_unsigned(ended.elapsed);
        match begin < since {
            true => known.add_time(time.abs_diff(since.min(time))),
            false => known.ended(ended.elapsed, time),
        }
    }

    /// Adds the time of the handlers that are open at the end of the window. `state` is that at
    /// its end. `is_wanted` decides by the process, the depth on its stack and the frame.
    pub fn still_open(
        &mut self,
        trace: TraceIndex,
        state: &TraceState,
        end: Timestamp,
        is_wanted: impl Fn(&Process, usize, &Frame) -> bool,
    ) {
        for (_, process) in state.processes() {
            let frames = process.stack().iter().enumerate();
            for (_, frame) in frames.filter(|(depth, frame)| is_wanted(process, *depth, frame)) {
                let (Some((kind, number)), Some(cpu)) = (frame.source(), process.cpu()) else {
                    continue;
                };
                let (begin, end) = (frame.entry().as_ns().max(self.since), end.as_ns());
                if begin < end {
                    let handler = handler(state, kind, number, frame.submode());
                    let key = InterruptKey { trace, kind, number, handler, cpu };
                    self.entry(key, state.name(frame.submode())).add_time(end.abs_diff(begin));
                }
            }
        }
    }

    /// Returns the interrupt with a key, which is added if it is new.
    fn entry(&mut self, key: InterruptKey, name: &str) -> &mut Interrupt {
        let known = self.all.entry(key).or_default();
        if known.name.is_empty() {
            name.clone_into(&mut known.name);
        }
        known
    }
}

/// Returns the handler of an interrupt, if it is not the first one.
fn handler(state: &TraceState, kind: SourceKind, number: u32, name: NameId) -> Option<NameId> {
    let source = state.sources(kind).get(number as usize);
    source.filter(|of| kind == SourceKind::Irq && of.name() != name).map(|_| name)
}

impl Interrupt {
    /// Returns the number of handlers per second over a time in ns; 0 for no time.
    pub fn frequency(&self, time: u64) -> f64 {
        frequency(self.count, time)
    }

    /// Adds the time of a handler in the window, in ns.
    fn add_time(&mut self, time: u64) {
        self.time = self.time.saturating_add(time);
    }

    /// Adds a handler that took `elapsed` ns and ended at `time`.
    fn ended(&mut self, elapsed: u64, time: i64) {
        let begin = time.saturating_sub_unsigned(elapsed);
        self.add_time(elapsed);
        self.durations.add(elapsed, time);
        if let Some(last) = self.last_begin.replace(begin) {
            let period = begin.abs_diff(last);
            self.periods.add(period, begin);
            if let Some(frequency) = MHZ.checked_div(period) {
                self.frequencies.add(frequency, begin);
            }
        }
    }
}

/// Returns a number per second over a time in ns; 0 for no time.
pub fn frequency(count: u64, time: u64) -> f64 {
    if time == 0 { 0.0 } else { count as f64 * 1e9 / time as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_handlers_do_not_overflow() {
        let mut interrupt = Interrupt::default();
        for _ in 0..2 {
            interrupt.ended(u64::MAX, i64::MAX);
        }
        assert_eq!((interrupt.time, interrupt.durations.total()), (u64::MAX, u64::MAX));
    }
}
