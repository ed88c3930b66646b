//! How often each interrupt came in a time window, and how long it took.

use std::collections::BTreeMap;

use lttv_context::EventCall;
use lttv_examples::spread::Spread;
use lttv_state::kernel::{KernelState, SourceKind, TraceState, Transition};

use super::collected::Collect;

/// The frequency of what comes each ns, in mHz.
const MHZ: u64 = 1_000_000_000_000;

/// Which interrupt, on which CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct InterruptKey {
    /// The trace.
    pub trace: usize,
    /// What kind of interrupt.
    pub kind: SourceKind,
    /// Its number.
    pub number: u32,
    /// The CPU.
    pub cpu: u32,
}

/// What is known of an interrupt on a CPU. Times are in ns.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    /// Its name.
    pub name: String,
    /// How long its handler took.
    pub durations: Spread,
    /// How long it was from one begin of its handler to the next.
    pub periods: Spread,
    /// How often it came in a second, by each of these, in mHz.
    pub frequencies: Spread,
    last_begin: Option<i64>,
}

/// The interrupts that ended in a time window.
#[derive(Debug, Default)]
pub struct Interrupts {
    all: BTreeMap<InterruptKey, Interrupt>,
}

impl Interrupts {
    /// All that there were, in order.
    pub fn all(&self) -> impl Iterator<Item = (&InterruptKey, &Interrupt)> {
        self.all.iter()
    }

    fn ended(&mut self, trace: usize, state: &TraceState, kind: SourceKind, cpu: u32, time: i64) {
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
        self.ended(trace, state, kind, cpu, call.time().ns());
    }
}
