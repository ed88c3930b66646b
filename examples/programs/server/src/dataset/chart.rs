//! Rows of charts of states.

use ltt_read::TraceIndex;
use lttv_state::kernel::SourceKind;
use lttv_state::tree::Quark;

/// A row of a chart.
#[derive(Debug, Clone)]
pub struct ChartRow {
    /// The id of its entry.
    pub id: i64,
    /// The labels of its entry.
    pub labels: Vec<String>,
    /// Its attributes.
    pub lane: Lane,
}

/// The attributes of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// A thread during a part of its life.
    Thread {
        /// Its status.
        status: Quark,
        /// Its mode, if it was ever known.
        mode: Option<Quark>,
        /// The name of its system call or interrupt, if it ever had one.
        submode: Option<Quark>,
        /// The start of the part, in ns.
        start: i64,
        /// The end of the part, in ns.
        end: i64,
        /// The thread is the idle one of a CPU.
        is_idle: bool,
    },
    /// The mode of a CPU, and the thread that it runs.
    Cpu {
        /// The trace.
        trace: TraceIndex,
        /// Its mode.
        mode: Quark,
        /// The id of the running thread, if it was ever known.
        thread: Option<Quark>,
    },
    /// The running handlers of an interrupt or exception.
    Source(Quark, SourceKind),
    /// The mode of a block device.
    Device(Quark),
    /// The segments of a critical path on a thread.
    Path(Quark),
    /// Any value, as text.
    Value(Quark),
}
