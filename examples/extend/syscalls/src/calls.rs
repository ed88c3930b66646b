//! The system calls that ended in a time window.

use std::collections::BTreeMap;

use ltt_read::Timestamp;
use lttv_context::EventCall;
use lttv_state::kernel::{KernelState, Transition};
use lttv_tui::model::collected::Collect;

/// The system calls of one name. Times are in ns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Call {
    /// The number of calls.
    pub count: u64,
    /// The number of calls that returned an error.
    pub failed: u64,
    /// The times from entry to exit.
    pub total: u64,
    /// The parts of `total` on a CPU.
    pub on_cpu: u64,
    /// The longest time from entry to exit, and its start.
    pub longest: (u64, Option<Timestamp>),
}

/// The system calls that ended in a time window, by name.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub by_name: BTreeMap<String, Call>,
}

impl Collect for Calls {
    fn event(&mut self, kernel: &KernelState, call: &EventCall<'_, '_>) {
        let trace = call.trace.index();
        if kernel.transition(trace, call.event.type_id()) != Some(Transition::SyscallExit) {
            return;
        }
        let Some(state) = kernel.trace(trace) else { return };
        let result = call.event.field("ret").and_then(|result| result.as_i64());
        if let Some(ended) = state.effect().ended() {
            let name = state.name(ended.submode);
            if !self.by_name.contains_key(name) {
                self.by_name.insert(name.to_owned(), Call::default());
            }
            let Some(of) = self.by_name.get_mut(name) else { return };
            of.count += 1;
            of.failed += u64::from(result.is_some_and(|result| result < 0));
            of.total = of.total.saturating_add(ended.elapsed);
            of.on_cpu = of.on_cpu.saturating_add(ended.cpu_time);
            if of.longest.1.is_none() || ended.elapsed > of.longest.0 {
                let ns = call.delivery_time().as_ns().saturating_sub_unsigned(ended.elapsed);
                of.longest = (ended.elapsed, Some(Timestamp::from_ns(ns)));
            }
        }
    }
}
