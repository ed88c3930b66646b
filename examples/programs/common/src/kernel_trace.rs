//! The kernel events of traces, and those that each command needs.
//!
//! A command that follows the kernel calls [`require`] before it reads: a user-space trace would
//! give empty results without a reason.

use std::fmt;

use ltt_read::Trace;
use ltt_read::schema::Format;
use lttv_context::Traceset;
use lttv_state::kernel::needs::{EventKind, Need, RecordedEvents};
use lttv_state::kernel::{self, Transition};
use lttv_state::{latency, stack_samples, stats, usage, waits};

use crate::report::Report;

/// The origin of a trace's events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// The kernel.
    Kernel,
    /// Programs, traced in user space.
    UserSpace,
    /// Unknown.
    Other,
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Domain::Kernel => "kernel",
            Domain::UserSpace => "user space",
            Domain::Other => "unknown",
        })
    }
}

/// A command, with the events that it needs and those that improve its results.
#[derive(Debug, Clone, Copy)]
pub struct Use {
    /// The name of the command.
    pub command: &'static str,
    /// A description of the results.
    pub purpose: &'static str,
    /// The events that it needs or can use.
    pub needs: &'static [Need],
}

impl Use {
    /// Returns the events without which there are no results.
    pub fn required(&self) -> impl Iterator<Item = &'static Need> {
        self.needs.iter().filter(|need| need.is_required)
    }

    /// Returns the events that a trace lacks, and without which there are no results.
    pub fn missing(&self, recorded: &RecordedEvents) -> Vec<&'static Need> {
        recorded.missing(self.needs).filter(|need| need.is_required).collect()
    }

    /// Returns the events that a trace lacks, and that would improve the results.
    pub fn useful(&self, recorded: &RecordedEvents) -> Vec<&'static Need> {
        recorded.missing(self.needs).filter(|need| !need.is_required).collect()
    }

    /// Returns `true` if a trace has the events that are required.
    pub fn is_served(&self, recorded: &RecordedEvents) -> bool {
        self.missing(recorded).is_empty()
    }
}

/// The needs of `lttv stats`.
pub const STATS: Use = Use {
    command: "stats",
    purpose: "CPU times, input and output of CPUs and processes",
    needs: stats::NEEDS,
};

/// The needs of `lttv state`.
pub const STATE: Use = Use {
    command: "state",
    purpose: "the state of each CPU and process at a time",
    needs: stats::NEEDS,
};

/// The needs of `lttv critical-path`.
pub const CRITICAL_PATH: Use = Use {
    command: "critical-path",
    purpose: "what a thread really waited for",
    needs: waits::NEEDS,
};

/// The needs of `lttv wait`.
pub const WAIT: Use =
    Use { command: "wait", purpose: "what a thread waited for, and who woke it", ..CRITICAL_PATH };

/// The events that interrupts need.
const IRQ_NEEDS: &[Need] = &[
    Need::any(
        &[
            EventKind::Transition(Transition::IrqExit),
            EventKind::Transition(Transition::SoftirqExit),
            EventKind::Transition(Transition::VectorExit),
            EventKind::Transition(Transition::TrapExit),
        ],
        "irq_handler_entry, irq_handler_exit (or irq_softirq_*)",
        "there are no interrupts",
    )
    .required(),
    Need::all(
        &[EventKind::Transition(Transition::IrqEntry), EventKind::Transition(Transition::IrqExit)],
        "irq_handler_entry, irq_handler_exit",
        "there are no interrupts of devices",
    ),
    Need::all(
        &[
            EventKind::Transition(Transition::SoftirqEntry),
            EventKind::Transition(Transition::SoftirqExit),
        ],
        "irq_softirq_entry, irq_softirq_exit",
        "there are no softirqs",
    ),
];

/// The needs of `lttv irq`.
pub const IRQ: Use =
    Use { command: "irq", purpose: "durations and rates of interrupts", needs: IRQ_NEEDS };

/// The needs of `lttv disk`.
pub const DISK: Use =
    Use { command: "disk", purpose: "requests and throughput of disks", needs: stats::DISK_NEEDS };

/// The needs of `lttv latency`.
pub const LATENCY: Use = Use {
    command: "latency",
    purpose: "latencies of threads, system calls, interrupts and disks",
    needs: latency::NEEDS,
};

/// The needs of `lttv spans`.
pub const SPANS: Use = Use {
    command: "spans",
    purpose: "single system calls, runs, waits, interrupts and disk requests",
    ..LATENCY
};

/// The needs of `lttv why`.
pub const WHY: Use = Use {
    command: "why",
    purpose: "where the time of one system call, wait or interrupt went",
    ..LATENCY
};

/// The needs of `lttv usage`.
pub const USAGE: Use = Use {
    command: "usage",
    purpose: "use of CPUs, memory and network over time",
    needs: usage::NEEDS,
};

/// The needs of `lttv history`.
pub const HISTORY: Use =
    Use { command: "history", purpose: "all states over time, in a file", needs: kernel::NEEDS };

/// The needs of `lttv chart`.
pub const CHART: Use = Use {
    command: "chart",
    purpose: "pictures of CPUs and processes over time",
    needs: kernel::NEEDS,
};

/// The needs of `lttv chart flame`, which does not follow the kernel alone.
pub const FLAME: Use = Use {
    command: "chart flame",
    purpose: "stacks of samples, calls and waits",
    needs: stack_samples::NEEDS,
};

/// The commands that follow the kernel.
pub const USES: [Use; 12] =
    [STATS, STATE, WAIT, CRITICAL_PATH, LATENCY, SPANS, WHY, USAGE, IRQ, DISK, HISTORY, CHART];

/// Returns the kinds of events of each trace.
pub fn recorded(traceset: &Traceset) -> Vec<RecordedEvents> {
    traceset.traces().iter().map(RecordedEvents::of).collect()
}

impl Domain {
    /// Returns the origin of the events of a trace, given their kinds.
    pub fn of(trace: &Trace, recorded: &RecordedEvents) -> Domain {
        let schema = trace.schema();
        match schema.env_str("domain") {
            Some("kernel") => Domain::Kernel,
            Some("ust") => Domain::UserSpace,
            _ if recorded.has(EventKind::Transition(Transition::Switch))
                || recorded.has(EventKind::Transition(Transition::Context)) =>
            {
                Domain::Kernel
            }
            _ if schema.format == Format::Legacy && recorded.has_kernel() => Domain::Kernel,
            _ => Domain::Other,
        }
    }
}

/// An error for traces that a command cannot analyse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{command}` needs a kernel trace with the events {events}: {found}")]
pub struct NotServed {
    /// The name of the command.
    pub command: &'static str,
    /// The events that it needs.
    pub events: String,
    /// A description of the traces.
    pub found: String,
}

/// Returns, for each trace, `true` if a command can analyse it.
///
/// # Errors
///
/// If all traces lack events that the command needs.
pub fn require(traceset: &Traceset, of: &Use) -> Result<Vec<bool>, NotServed> {
    let events = recorded(traceset);
    let serves: Vec<bool> = events.iter().map(|events| of.is_served(events)).collect();
    if serves.contains(&true) {
        return Ok(serves);
    }
    let traces = traceset.traces().iter().zip(&events);
    let found: Vec<String> = traces.map(|(trace, events)| reason(trace, events, of)).collect();
    let events = Need::list(of.required());
    Err(NotServed { command: of.command, events, found: found.join("; ") })
}

/// Returns, for each trace, `true` if a command can analyse it. Warns of the others.
///
/// # Errors
///
/// If all traces lack events that the command needs.
pub fn require_one(traceset: &Traceset, of: &Use, report: &Report) -> Result<Vec<bool>, NotServed> {
    let serves = require(traceset, of)?;
    if serves.contains(&false) {
        let traces = traceset.traces().iter().zip(recorded(traceset));
        for ((trace, events), _) in traces.zip(&serves).filter(|(_, serves)| !**serves) {
            report.warning(reason(trace, &events, of));
        }
    }
    Ok(serves)
}

/// Returns the reason for which a command cannot analyse a trace.
fn reason(trace: &Trace, events: &RecordedEvents, of: &Use) -> String {
    let path = trace.path().display();
    match Domain::of(trace, events) {
        Domain::UserSpace => format!("{path} is a user-space trace"),
        Domain::Kernel => format!("{path} lacks {}", Need::list(of.missing(events))),
        Domain::Other => format!("{path} is not a kernel trace"),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn bundled(name: &str) -> Traceset {
        Traceset::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces").join(name))
            .unwrap()
    }

    #[test]
    fn kernel_traces_serve_all_commands() {
        let kernel = bundled("kernel");
        for of in &USES {
            assert_eq!(require(&kernel, of), Ok(vec![true]), "{}", of.command);
        }
        assert_eq!(Domain::of(&kernel.traces()[0], &recorded(&kernel)[0]), Domain::Kernel);
    }

    #[test]
    fn user_space_traces_are_refused_in_words() {
        let ust = bundled("ust");
        let refused = require(&ust, &WAIT).unwrap_err().to_string();
        let start = "`wait` needs a kernel trace with the events sched_switch: ";
        assert!(refused.starts_with(start), "{refused}");
        assert!(refused.ends_with(" is a user-space trace"), "{refused}");
    }
}
