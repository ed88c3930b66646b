//! The kernel events that commands need.

use std::collections::BTreeSet;

use ltt_read::schema::EventTypeId;
use ltt_read::{Trace, TraceIndex};
use lttv_context::{Traceset, TracesetContext};
use lttv_state::kernel::{KernelState, Transition};

/// A command, and the events that it needs.
#[derive(Debug, Clone, Copy)]
pub struct Needs {
    command: &'static str,
    events: &'static [Need],
}

/// Events that a command needs: one of these transitions, and its events as LTTng 2 names them.
#[derive(Debug, Clone, Copy)]
struct Need {
    one_of: &'static [Transition],
    names: &'static str,
}

/// The events that `lttv wait` needs.
pub const WAIT: Needs = Needs {
    command: "wait",
    events: &[Need { one_of: &[Transition::Switch], names: "sched_switch" }],
};

/// The events that `lttv irq` needs.
pub const IRQ: Needs = Needs {
    command: "irq",
    events: &[Need {
        one_of: &[
            Transition::IrqExit,
            Transition::SoftirqExit,
            Transition::VectorExit,
            Transition::TrapExit,
        ],
        names: "irq_handler_entry, irq_handler_exit (or irq_softirq_*)",
    }],
};

/// The events that `lttv disk` needs.
pub const DISK: Needs = Needs {
    command: "disk",
    events: &[
        Need { one_of: &[Transition::BlockIssue], names: "block_rq_issue" },
        Need { one_of: &[Transition::BlockComplete], names: "block_rq_complete" },
    ],
};

/// An error for traces that a command cannot analyse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{command}` needs a kernel trace with the events {events}: {found}")]
pub struct MissingEvents {
    /// The name of the command.
    pub command: &'static str,
    /// The events that it needs.
    pub events: String,
    /// A description of the traces.
    pub found: String,
}

/// Returns, for each trace, `true` if it declares the events that a command needs. Reads no
/// events.
///
/// # Errors
///
/// If no trace does.
pub fn require(traceset: &Traceset, needs: &Needs) -> Result<Vec<bool>, MissingEvents> {
    let Needs { command, events: needs } = *needs;
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new().without_looking_ahead());
    let kernel = &context.extensions()[kernel];
    let declared = |index: TraceIndex, trace: &Trace| -> BTreeSet<Transition> {
        let types = (0..trace.schema().event_types.len() as u32).map(EventTypeId);
        types.filter_map(|id| kernel.transition(index, id)).collect()
    };
    let names =
        |needs: &[&Need]| needs.iter().map(|need| need.names).collect::<Vec<_>>().join(", ");
    let (mut serves, mut found) = (Vec::new(), Vec::new());
    for (index, trace) in (0..).map(TraceIndex).zip(traceset.traces()) {
        let declared = declared(index, trace);
        let lacks = |need: &&Need| !need.one_of.iter().any(|of| declared.contains(of));
        let missing: Vec<&Need> = needs.iter().filter(lacks).collect();
        serves.push(missing.is_empty());
        let path = trace.path().display();
        match trace.schema().env_str("domain") {
            _ if missing.is_empty() => {}
            Some("ust") => found.push(format!("{path} is a user-space trace")),
            _ if declared.is_empty() => found.push(format!("{path} is not a kernel trace")),
            _ => found.push(format!("{path} lacks {}", names(&missing))),
        }
    }
    match serves.contains(&true) {
        true => Ok(serves),
        false => {
            let events = names(&needs.iter().collect::<Vec<_>>());
            Err(MissingEvents { command, events, found: found.join("; ") })
        }
    }
}
