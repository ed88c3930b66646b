//! Numbers and durations of interrupts in a time window.

use std::collections::BTreeMap;

use ltt_read::TraceIndex;
use lttv_context::EventCall;
use lttv_examples::spread::Spread;
use lttv_state::kernel::{KernelState, SourceKind, TraceState, Transition};

use super::collected::Collect;

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

/// The interrupts whose handlers ended in a time window.
#[derive(Debug, Default)]
pub struct Interrupts {
    all: BTreeMap<InterruptKey, Interrupt>,
}

impl Interrupts {
    /// Iterates over all interrupts, by key.
    pub fn all(&self) -> impl Iterator<Item = (&InterruptKey, &Interrupt)> {
        self.all.iter()
    }

    /// Adds the handlers that an event ended.
    fn ended(
        &mut self,
        trace: TraceIndex,
        state: &TraceState,
        kind: SourceKind,
        cpu: u32,
        time: i64,
    ) {
        for ended in state.effect().ended() {
            let Some((_, number)) = ended.source.filter(|(of, _)| *of == kind) else { continue };
            let known = self.all.entry(InterruptKey { trace, kind, number, cpu }).or_default();
            if known.name.is_empty() {
                state.name(ended.submode).clone_into(&mut known.name);
            }
            let begin = time.saturating_sub_unsigned(ended.elapsed);
            known.durations.add(ended.elapsed, time);
            if let Some(last) = known.last_begin.replace(begin) {
                let period = begin.abs_diff(last);
                known.periods.add(period, begin);
                if let Some(frequency) = MHZ.checked_div(period) {
                    known.frequencies.add(frequency, begin);
                }
            }
        }
    }
}

impl Collect for Interrupts {
    fn event(&mut self, kernel: &KernelState, call: &EventCall<'_, '_>) {
        let trace = call.trace.index();
        let kind = match kernel.transition(trace, call.event.type_id()) {
            Some(Transition::IrqExit) => SourceKind::Irq,
            Some(Transition::VectorExit) => SourceKind::Vector,
            Some(Transition::SoftirqExit) => SourceKind::Softirq,
            Some(Transition::TrapExit) => SourceKind::Trap,
            _ => return,
        };
        let (Some(state), Some(cpu)) = (kernel.trace(trace), kernel.cpu_of(call)) else { return };
        self.ended(trace, state, kind, cpu, call.time().as_ns());
    }
}
