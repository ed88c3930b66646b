//! Numbers and durations of interrupts in a time window.

pub use lttv_common::interrupts::{Interrupt, InterruptKey, Interrupts};
use lttv_context::EventCall;
use lttv_state::kernel::KernelState;

use super::collected::Collect;

impl Collect for Interrupts {
    fn event(&mut self, kernel: &KernelState, call: &EventCall<'_, '_>) {
        let trace = call.trace.index();
        let transition = kernel.transition(trace, call.event.type_id());
        let Some(transition) = transition.filter(|of| Interrupts::ended_by(*of).is_some()) else {
            return;
        };
        let (Some(state), Some(cpu)) = (kernel.trace(trace), kernel.cpu_of(call)) else { return };
        self.ended(trace, state, transition, cpu, call.delivery_time().as_ns());
    }
}
