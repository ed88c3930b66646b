//! The events that viewers need, in words, for traces that do not contain them.

use ltt_read::TraceIndex;
use ltt_read::schema::EventTypeId;
use lttv_state::kernel::Transition;

use crate::session::Session;

/// The content of a viewer that needs events of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// The states of processes.
    Processes,
    /// The states of CPUs, interrupts and devices.
    Resources,
    /// The times of CPUs and processes.
    CpuTimes,
    /// The handlers of interrupts.
    Interrupts,
    /// The requests to block devices.
    Disks,
}

impl Need {
    /// Returns the transitions of which one is needed, and the events in words.
    fn events(self) -> (&'static [Transition], &'static str) {
        use Transition::*;
        match self {
            Need::Processes => (&[Switch], "sched_switch events"),
            Need::Resources => (
                &[Switch, IrqEntry, VectorEntry, SoftirqEntry, TrapEntry, BlockIssue],
                "sched_switch, irq_handler or block_rq events",
            ),
            Need::CpuTimes => (&[Switch], "sched_switch events"),
            Need::Interrupts => (
                &[IrqExit, VectorExit, SoftirqExit, TrapExit],
                "irq_handler_exit or softirq_exit events",
            ),
            Need::Disks => (&[BlockComplete], "block_rq_complete events"),
        }
    }
}

/// Returns the need of a viewer in words, if no trace of the session declares such events.
pub(super) fn needs(session: &Session, need: Need) -> Option<String> {
    let (transitions, words) = need.events();
    let context = session.scheduler.context();
    let kernel = context.extensions().get(session.kernel)?;
    let mut traces = session.traceset().traces().iter().enumerate();
    let has_one = traces.any(|(at, trace)| {
        let types = 0..trace.schema().event_types.len() as u32;
        types.map(EventTypeId).any(|id| {
            let transition = kernel.transition(TraceIndex(at), id);
            transition.is_some_and(|transition| transitions.contains(&transition))
        })
    });
    (!has_one).then(|| format!("needs {words} of the kernel"))
}
