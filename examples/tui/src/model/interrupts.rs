//! How often each interrupt came in a time window, and how long it took.

use std::collections::BTreeMap;

use lttv_context::EventCall;
use lttv_state::kernel::{KernelState, SourceKind, TraceState, Transition};

use super::collected::Collect;

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
    /// How often it came in a second, by each of these.
    pub frequencies: Spread,
    last_begin: Option<i64>,
}

/// Numbers, as far as their mean, deviation and extremes tell.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spread {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub total: f64,
    mean: f64,
    /// Sum of the squares of their distances from the mean.
    squares: f64,
    /// The least, and the time at which it began.
    pub min: Option<(f64, i64)>,
    /// The greatest, and the time at which it began.
    pub max: Option<(f64, i64)>,
}

impl Spread {
    /// Adds a number.
    pub fn add(&mut self, value: f64, begin: i64) {
        self.count += 1;
        self.total += value;
        // Welford's way, which stays exact where values are large and close.
        let distance = value - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (value - self.mean);
        if self.min.is_none_or(|(min, _)| value < min) {
            self.min = Some((value, begin));
        }
        if self.max.is_none_or(|(max, _)| value > max) {
            self.max = Some((value, begin));
        }
    }

    /// Their mean; 0 of none.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Their standard deviation, as of a sample; 0 of less than two.
    pub fn deviation(&self) -> f64 {
        if self.count < 2 { 0.0 } else { (self.squares / (self.count - 1) as f64).sqrt() }
    }
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
            known.durations.add(ended.elapsed as f64, begin);
            if let Some(last) = known.last_begin.replace(begin) {
                let period = begin.abs_diff(last) as f64;
                known.periods.add(period, last);
                if period > 0.0 {
                    known.frequencies.add(1e9 / period, last);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_are_those_of_the_textbook() {
        let mut spread = Spread::default();
        for (value, begin) in [(2.0, 1), (4.0, 2), (4.0, 3), (4.0, 4), (5.0, 5), (7.0, 6)] {
            spread.add(value, begin);
        }
        assert!((spread.mean() - 26.0 / 6.0).abs() < 1e-12);
        assert!((spread.deviation() - (40.0f64 / 3.0 / 5.0).sqrt()).abs() < 1e-12);
        assert_eq!((spread.min, spread.max), (Some((2.0, 1)), Some((7.0, 6))));
    }
}
