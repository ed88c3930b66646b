//! Numbers, durations and periods of interrupts, by CPU.

use std::collections::BTreeMap;

use ltt_read::TraceIndex;
use lttv_state::kernel::{SourceKind, TraceState, Transition};

use crate::spread::Spread;

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
    /// The number of the CPU.
    pub cpu: u32,
}

/// The measurements of an interrupt on a CPU. Times are in ns.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    /// The name of the interrupt.
    pub name: String,
    /// The durations of its handler.
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
/// use lttv_examples::interrupts::Interrupts;
/// use lttv_state::kernel::KernelState;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let kernel = context.attach(KernelState::new());
/// let interrupts = context.attach_data(Interrupts::default());
/// context.on_event("*", move |call| {
///     let (trace, event_type) = (call.trace.index(), call.event.type_id());
///     let Some(cpu) = call.extensions[kernel].cpu_of(call) else { return };
///     let time = call.time();
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
#[derive(Debug, Default)]
pub struct Interrupts {
    all: BTreeMap<InterruptKey, Interrupt>,
}

impl Interrupts {
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

    /// Returns the name of each interrupt of a trace and the durations of its handler on all
    /// CPUs, by kind and number.
    pub fn on_all_cpus(&self, trace: TraceIndex) -> BTreeMap<(SourceKind, u32), (&str, Spread)> {
        let mut sums: BTreeMap<(SourceKind, u32), (&str, Spread)> = BTreeMap::new();
        for (key, of) in self.of_trace(trace) {
            let sum = sums.entry((key.kind, key.number)).or_default();
            sum.0 = &of.name;
            sum.1.add_all(&of.durations);
        }
        sums
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
        for ended in state.effect().ended() {
            let Some((_, number)) = ended.source.filter(|(of, _)| *of == kind) else { continue };
            let known = self.all.entry(InterruptKey { trace, kind, number, cpu }).or_default();
            if known.name.is_empty() {
                state.name(ended.submode).clone_into(&mut known.name);
            }
            known.ended(ended.elapsed, time);
        }
    }
}

impl Interrupt {
    /// Adds a handler that took `elapsed` ns and ended at `time`.
    fn ended(&mut self, elapsed: u64, time: i64) {
        let begin = time.saturating_sub_unsigned(elapsed);
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
