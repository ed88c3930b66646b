//! The kernel events of traces, and those that each command needs.
//!
//! A command that follows the kernel calls [`require`] before it reads: a user-space trace would
//! give empty results without a reason.

use std::collections::BTreeSet;
use std::fmt;

use ltt_read::Trace;
use ltt_read::schema::Format;
use lttv_context::Traceset;
use lttv_state::kernel::{KernelState, Transition};

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

/// An event that a command needs or can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// Any of these serves.
    one_of: &'static [Transition],
    /// The names of the events as LTTng 2 records them.
    pub events: &'static str,
}

const fn need(one_of: &'static [Transition], events: &'static str) -> Need {
    Need { one_of, events }
}

const SWITCH: Need = need(&[Transition::Switch], "sched_switch");
const FORKS: Need = need(&[Transition::Fork], "sched_process_fork");
const WAKING: Need = need(&[Transition::Wakeup], "sched_waking");
const SYSCALLS: Need = need(&[Transition::SyscallEntry], "syscall_entry_*, syscall_exit_*");
const IRQS: Need = need(&[Transition::IrqEntry], "irq_handler_entry, irq_handler_exit");
const SOFTIRQS: Need = need(&[Transition::SoftirqEntry], "irq_softirq_entry, irq_softirq_exit");
const INTERRUPTS: Need = need(
    &[Transition::IrqExit, Transition::SoftirqExit, Transition::VectorExit, Transition::TrapExit],
    "irq_handler_entry, irq_handler_exit (or irq_softirq_*)",
);
const ISSUE: Need = need(&[Transition::BlockIssue], "block_rq_issue");
const COMPLETE: Need = need(&[Transition::BlockComplete], "block_rq_complete");
const MIGRATE: Need = need(&[Transition::Migrate], "sched_migrate_task");
const FREQUENCY: Need = need(&[Transition::Frequency], "power_cpu_frequency");
const DUMP: Need = need(&[Transition::ProcessState], "lttng_statedump_process_state");

const ANY_BEGIN: Need = need(
    &[
        Transition::Switch,
        Transition::SyscallEntry,
        Transition::IrqEntry,
        Transition::SoftirqEntry,
        Transition::BlockIssue,
    ],
    "sched_switch (or syscall_entry_*, irq_handler_entry, irq_softirq_entry, block_rq_issue)",
);

/// A command, with the events that it needs and those that improve its results.
#[derive(Debug, Clone, Copy)]
pub struct Use {
    /// The name of the command.
    pub command: &'static str,
    /// A description of the results.
    pub purpose: &'static str,
    needs: &'static [Need],
    improves: &'static [Need],
}

/// The needs of `lttv stats`.
pub const STATS: Use = Use {
    command: "stats",
    purpose: "CPU times, input and output of CPUs and processes",
    needs: &[SWITCH],
    improves: &[SYSCALLS, IRQS, SOFTIRQS, DUMP],
};

/// The needs of `lttv state`.
pub const STATE: Use = Use {
    command: "state",
    purpose: "the state of each CPU and process at a time",
    needs: &[SWITCH],
    improves: &[SYSCALLS, IRQS, SOFTIRQS, DUMP],
};

/// The needs of `lttv critical-path`.
pub const CRITICAL_PATH: Use = Use {
    command: "critical-path",
    purpose: "what a thread really waited for",
    needs: &[SWITCH],
    improves: &[WAKING, FORKS, IRQS, SOFTIRQS, COMPLETE, SYSCALLS],
};

/// The needs of `lttv wait`.
pub const WAIT: Use =
    Use { command: "wait", purpose: "what a thread waited for, and who woke it", ..CRITICAL_PATH };

/// The needs of `lttv irq`.
pub const IRQ: Use = Use {
    command: "irq",
    purpose: "durations and rates of interrupts",
    needs: &[INTERRUPTS],
    improves: &[IRQS, SOFTIRQS],
};

/// The needs of `lttv disk`.
pub const DISK: Use = Use {
    command: "disk",
    purpose: "requests and throughput of disks",
    needs: &[ISSUE, COMPLETE],
    improves: &[SWITCH],
};

/// The needs of `lttv latency`.
pub const LATENCY: Use = Use {
    command: "latency",
    purpose: "latencies of threads, system calls, interrupts and disks",
    needs: &[ANY_BEGIN],
    improves: &[SWITCH, WAKING, SYSCALLS, IRQS, SOFTIRQS, ISSUE, COMPLETE, DUMP],
};

/// The needs of `lttv usage`.
pub const USAGE: Use = Use {
    command: "usage",
    purpose: "use of CPUs, memory and network over time",
    needs: &[SWITCH],
    improves: &[MIGRATE, FREQUENCY, DUMP],
};

/// The needs of `lttv history`.
pub const HISTORY: Use = Use {
    command: "history",
    purpose: "all states over time, in a file",
    needs: &[SWITCH],
    improves: &[SYSCALLS, IRQS, SOFTIRQS, DUMP],
};

/// The needs of `lttv chart`.
pub const CHART: Use = Use {
    command: "chart",
    purpose: "pictures of CPUs and processes over time",
    needs: &[SWITCH],
    improves: &[SYSCALLS, IRQS, SOFTIRQS, DUMP],
};

/// The commands that follow the kernel.
pub const USES: [Use; 10] =
    [STATS, STATE, WAIT, CRITICAL_PATH, LATENCY, USAGE, IRQ, DISK, HISTORY, CHART];

/// The kinds of kernel events that a trace declares.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelEvents(BTreeSet<Transition>);

impl KernelEvents {
    /// Returns the kinds of kernel events of each trace. Reads no events.
    pub fn of(traceset: &Traceset) -> Vec<KernelEvents> {
        traceset.traces().iter().map(|trace| KernelEvents(KernelState::kinds(trace))).collect()
    }

    /// Returns `true` if no event of the trace changes the state of the kernel.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the events that the trace lacks for a command.
    pub fn missing(&self, of: &Use) -> Vec<&'static str> {
        self.without(of.needs)
    }

    /// Returns the events that the trace lacks, and that would improve the results of a command.
    pub fn useful(&self, of: &Use) -> Vec<&'static str> {
        self.without(of.improves)
    }

    fn without(&self, needs: &[Need]) -> Vec<&'static str> {
        let lacks = |need: &&Need| !need.one_of.iter().any(|of| self.0.contains(of));
        let missing = needs.iter().filter(lacks);
        missing.map(|need| need.events).collect()
    }

    /// Returns the origin of the events of a trace, which must be that of these events.
    pub fn domain(&self, trace: &Trace) -> Domain {
        let schema = trace.schema();
        match schema.env_str("domain") {
            Some("kernel") => Domain::Kernel,
            Some("ust") => Domain::UserSpace,
            _ if self.0.contains(&Transition::Switch) => Domain::Kernel,
            _ if schema.format == Format::Legacy && !self.0.is_empty() => Domain::Kernel,
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

/// Returns, for each trace, `true` if a command can analyse it. Reads no events.
///
/// # Errors
///
/// If all traces lack events that the command needs.
pub fn require(traceset: &Traceset, of: &Use) -> Result<Vec<bool>, NotServed> {
    let events = KernelEvents::of(traceset);
    let serves: Vec<bool> = events.iter().map(|events| events.missing(of).is_empty()).collect();
    if serves.contains(&true) {
        return Ok(serves);
    }
    let traces = traceset.traces().iter().zip(&events);
    let found: Vec<String> = traces.map(|(trace, events)| reason(trace, events, of)).collect();
    let events: Vec<_> = of.needs.iter().map(|need| need.events).collect();
    Err(NotServed { command: of.command, events: events.join(", "), found: found.join("; ") })
}

/// Returns, for each trace, `true` if a command can analyse it. Warns of the others.
///
/// # Errors
///
/// If all traces lack events that the command needs.
pub fn require_one(traceset: &Traceset, of: &Use, report: &Report) -> Result<Vec<bool>, NotServed> {
    let serves = require(traceset, of)?;
    if serves.contains(&false) {
        let traces = traceset.traces().iter().zip(KernelEvents::of(traceset));
        for ((trace, events), _) in traces.zip(&serves).filter(|(_, serves)| !**serves) {
            report.warning(reason(trace, &events, of));
        }
    }
    Ok(serves)
}

/// Returns the reason for which a command cannot analyse a trace.
fn reason(trace: &Trace, events: &KernelEvents, of: &Use) -> String {
    let path = trace.path().display();
    match events.domain(trace) {
        Domain::UserSpace => format!("{path} is a user-space trace"),
        Domain::Kernel => format!("{path} lacks {}", events.missing(of).join(", ")),
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
        let events = &KernelEvents::of(&kernel)[0];
        assert_eq!(events.domain(&kernel.traces()[0]), Domain::Kernel);
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
