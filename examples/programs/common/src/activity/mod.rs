//! The activities of processes: what a process does, since when and until when, and what woke
//! it up.

use lttv_state::kernel::{ExecutionMode, NameId, Process, ProcessStatus, Tid, TraceState};

mod stretch;

pub use stretch::{ProcessAt, Stretch, WakeUp};

/// The activity of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Doing {
    /// Unknown, or the process has ended.
    #[default]
    Unknown,
    /// The process runs on a CPU, in a mode and a system call, interrupt or exception.
    Runs(ExecutionMode, NameId),
    /// The process waits for a CPU.
    Ready,
    /// The process waits for an event, in a system call.
    Blocked(NameId),
}

impl Doing {
    /// Returns the current activity of a process.
    pub fn of(process: &Process) -> Self {
        let (mode, submode) = (process.mode(), process.submode());
        match process.status() {
            ProcessStatus::Run | ProcessStatus::Exit => Doing::Runs(mode, submode),
            ProcessStatus::WaitCpu | ProcessStatus::WaitFork => Doing::Ready,
            ProcessStatus::Wait => Doing::Blocked(submode),
            ProcessStatus::Unknown | ProcessStatus::Zombie | ProcessStatus::Dead => Doing::Unknown,
        }
    }

    /// Describes the activity as a key of tables: `SYSCALL openat`, `blocked in openat`.
    pub fn label(self, state: &TraceState) -> String {
        let named = |what: &str, name| match name_of(state, name) {
            None => what.to_owned(),
            Some(name) => format!("{what} {name}"),
        };
        match self {
            Doing::Unknown => "unknown".to_owned(),
            Doing::Runs(mode, submode) => named(mode.as_str(), submode),
            Doing::Ready => "ready".to_owned(),
            Doing::Blocked(submode) => match name_of(state, submode) {
                None => "blocked".to_owned(),
                Some(_) => named("blocked in", submode),
            },
        }
    }

    /// Describes the activity in words: `runs in system call openat`, `blocked in openat`.
    pub fn words(self, state: &TraceState) -> String {
        let (what, else_what, name) = match self {
            Doing::Unknown => return "in an unknown state".to_owned(),
            Doing::Ready => return "ready to run".to_owned(),
            Doing::Blocked(name) => ("blocked in ", "blocked", name),
            Doing::Runs(mode, name) => match mode {
                ExecutionMode::Unknown => return "runs".to_owned(),
                ExecutionMode::User => return "runs in user mode".to_owned(),
                ExecutionMode::Syscall => ("runs in system call ", "runs in the kernel", name),
                ExecutionMode::Trap => ("runs in exception ", "runs in an exception", name),
                ExecutionMode::Irq => ("interrupted by IRQ ", "interrupted by an IRQ", name),
                ExecutionMode::Softirq => {
                    ("interrupted by softirq ", "interrupted by a softirq", name)
                }
            },
        };
        match name_of(state, name) {
            None => else_what.to_owned(),
            Some(name) => format!("{what}{name}"),
        }
    }
}

/// Returns the name of a system call, interrupt or exception; `None` without one.
fn name_of(state: &TraceState, name: NameId) -> Option<&str> {
    Some(state.name(name)).filter(|name| !matches!(*name, "" | "NONE" | "UNKNOWN"))
}

/// Returns the label of a thread: its command and thread id, as in `cat (215)`.
pub fn thread_label(tid: Option<Tid>, name: &str) -> String {
    match (tid, name) {
        (Some(0), _) => "idle".to_owned(),
        (Some(tid), "") => format!("({tid})"),
        (Some(tid), name) => format!("{name} ({tid})"),
        (None, _) => "unknown".to_owned(),
    }
}
