//! The analysis of interrupts, all or those that a filter selects.

mod entries;

use std::ops::RangeInclusive;

use ltt_read::{TimeSpan, TraceIndex};
use lttv_common::interrupts::Interrupts;
use lttv_state::analysis::{End, KernelAnalysis, Window};
use lttv_state::kernel::{KernelState, StateChange};

use self::entries::Entries;

/// The analysis of interrupts. A filter selects the entries of handlers, also of those that are open at
/// the start of the window.
#[derive(Default)]
pub(crate) struct InterruptAnalysis {
    /// `true` if there is a filter.
    pub(crate) is_filtered: bool,
    /// The durations of the handlers that count, in ns; `None` for all, also unknown ones.
    pub(crate) durations: Option<RangeInclusive<u64>>,
}

/// The interrupts so far.
#[derive(Clone)]
pub(crate) struct Found {
    interrupts: Interrupts,
    /// The handlers that run and whose entries pass, by trace; empty without a filter.
    entries: Vec<Entries>,
    /// `true` if handlers whose durations are unknown count.
    has_unknown: bool,
}

impl Found {
    /// Returns the interrupts, of which those that are open in a state count up to the end of the span of
    /// their trace.
    pub(crate) fn up_to(self, kernel: &KernelState, spans: &[Option<TimeSpan>]) -> Interrupts {
        let Found { mut interrupts, entries, has_unknown } = self;
        if !has_unknown {
            return interrupts;
        }
        for ((trace, state), span) in (0..).map(TraceIndex).zip(kernel.traces()).zip(spans) {
            let (Some(span), entries) = (span, entries.get(trace.0)) else { continue };
            interrupts.still_open(trace, state, span.end, |process, depth, frame| {
                entries.is_none_or(|entries| entries.has(process, depth, frame))
            });
        }
        interrupts
    }
}

impl KernelAnalysis for InterruptAnalysis {
    type State = Found;
    type Slice = ();
    type Part = ();
    type Output = Found;

    fn keeps_state(&self) -> bool {
        self.is_filtered
    }

    fn begin(&self, kernel: &KernelState, window: Window) -> (Found, ()) {
        let interrupts = window.start().map_or_else(Interrupts::default, Interrupts::since);
        let filtered = kernel.traces().filter(|_| self.is_filtered);
        let entries = filtered.map(|_| Entries::default()).collect();
        (Found { interrupts, entries, has_unknown: self.durations.is_none() }, ())
    }

    #[inline]
    fn changed(&self, found: &mut Found, (): &mut (), kernel: &KernelState, change: StateChange) {
        let StateChange { trace, transition, time, .. } = change;
        let (is_start, is_end) =
            (Interrupts::is_start(transition), Interrupts::ended_by(transition).is_some());
        if !is_start && !is_end {
            return;
        }
        let cpu = kernel.cpu_of_tracefile(change.tracefile);
        let (Some(state), Some(cpu)) = (kernel.trace(trace), cpu) else { return };
        let Found { interrupts, entries, .. } = found;
        if let Some(entries) = entries.get_mut(trace.0) {
            if is_start {
                if let Some(process) = state.running(cpu) {
                    entries.entered(process, change.is_selected);
                }
                return;
            }
            let ended = state.effect().ended();
            let process = ended.and_then(|ended| Some((ended, state.process(ended.process)?)));
            let Some((ended, process)) = process else { return };
            if !entries.ended(process, time.as_ns().saturating_sub_unsigned(ended.elapsed)) {
                return;
            }
        }
        let is_wanted = |of: &RangeInclusive<u64>| {
            state.effect().ended().is_some_and(|ended| of.contains(&ended.elapsed))
        };
        if change.counts && self.durations.as_ref().is_none_or(is_wanted) {
            interrupts.ended(trace, state, transition, cpu, time.as_ns());
        }
    }

    fn finish(&self, found: Found, (): (), _: End<'_>) -> Found {
        found
    }
}
