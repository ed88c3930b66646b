//! Messages between processes about traces, tables and reads.

use std::io;
use std::num::NonZeroUsize;
use std::path::{self, PathBuf};
use std::sync::Arc;

use ltt_read::{Timestamp, Trace, TraceIndex};
use lttv_arrow::Scan;
use lttv_common::fnv::Fnv;
use lttv_common::time::Window;
use lttv_context::Traceset;
use serde::{Deserialize, Serialize};

/// The metric of a leaf for the number of partitions that were read, to their end or a limit.
pub const SLICES_READ: &str = "slices_read";

/// The metric of a leaf for the number of errors that its reads met.
pub const TRACE_ERRORS: &str = "trace_errors";

/// The metric of a leaf for the number of notices that its reads met.
pub const TRACE_NOTICES: &str = "trace_notices";

/// The bytes at the start of each file of a trace that identify it.
const HEAD: usize = 4096;

/// Traces that several processes open, with the settings of a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Dataset {
    pub(crate) paths: Vec<PathBuf>,
    /// The first and the last time, in ns.
    pub(crate) window: (Option<i64>, Option<i64>),
    pub(crate) slices: NonZeroUsize,
    pub(crate) unordered: bool,
    pub(crate) kernel_state: bool,
    pub(crate) identity: u64,
}

impl Dataset {
    /// Describes traces that were opened from paths. Their events are read at once.
    ///
    /// # Errors
    ///
    /// If the working directory, to which relative paths refer, is unknown.
    pub fn new(traceset: &Traceset, paths: &[PathBuf]) -> io::Result<Dataset> {
        Ok(Dataset {
            paths: paths.iter().map(path::absolute).collect::<Result<_, _>>()?,
            window: (None, None),
            slices: NonZeroUsize::MIN,
            unordered: false,
            kernel_state: false,
            identity: identity(traceset.traces()),
        })
    }

    /// Sets the window of time of all tables of events.
    #[must_use]
    pub fn window(self, window: Window) -> Dataset {
        let ns = |time: Option<Timestamp>| time.map(Timestamp::as_ns);
        Dataset { window: (ns(window.begin), ns(window.end)), ..self }
    }

    /// Divides the events into about so many reads, each of a part of the time.
    #[must_use]
    pub fn divided(self, slices: NonZeroUsize) -> Dataset {
        Dataset { slices, ..self }
    }

    /// Sets whether the order of events by time must not be relied on.
    #[must_use]
    pub fn unordered(self, unordered: bool) -> Dataset {
        Dataset { unordered, ..self }
    }

    /// Sets whether tables of events have columns of the kernel state.
    #[must_use]
    pub fn kernel_state(self, kernel_state: bool) -> Dataset {
        Dataset { kernel_state, ..self }
    }

    /// Returns the number of reads that events are divided into.
    pub(crate) fn slices(&self) -> usize {
        self.slices.get()
    }
}

/// Computes a number that identifies traces on all machines: from their UUIDs, and from the names, sizes and
/// first bytes of their files.
pub(crate) fn identity(traces: &[Arc<Trace>]) -> u64 {
    let mut hash = Fnv::default();
    for trace in traces {
        hash.add(trace.uuid().as_ref().map_or(&[], |uuid| &uuid.0[..]));
        hash.add(&(trace.schema().event_types.len() as u64).to_le_bytes());
        for tracefile in trace.tracefiles() {
            hash.add(tracefile.name().as_bytes());
            hash.add(&tracefile.size().to_le_bytes());
            for (_, bytes) in tracefile.parts() {
                hash.add(&bytes[..bytes.len().min(HEAD)]);
            }
        }
    }
    hash.hash() as u64
}

/// A table, as told to another process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableMessage {
    /// The traces.
    pub dataset: Dataset,
    /// The name of the table in queries.
    pub name: String,
}

/// A read of some partitions of a table, as told to another process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanMessage {
    pub(crate) part: ScanPart,
    pub(crate) limit: Option<usize>,
}

impl ScanMessage {
    /// Returns the traces.
    pub fn dataset(&self) -> &Dataset {
        &self.part.table.dataset
    }

    /// Returns the number of partitions.
    pub fn partitions(&self) -> usize {
        self.part.slices.len()
    }
}

/// The columns and partitions of a read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScanPart {
    pub(crate) table: TableMessage,
    pub(crate) columns: Vec<usize>,
    /// The condition of the query that the read evaluates.
    pub(crate) filter: Option<String>,
    pub(crate) slices: Vec<Slice>,
}

/// A part of the events of a table: those of a window, in one trace or in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SliceNumbers", into = "SliceNumbers")]
pub(crate) struct Slice {
    pub(crate) window: Window,
    pub(crate) only: Option<TraceIndex>,
}

/// The first and the last time in ns, and the trace.
#[derive(Serialize, Deserialize)]
struct SliceNumbers(Option<i64>, Option<i64>, Option<usize>);

impl Slice {
    pub(crate) fn of(scan: &Scan<'_>) -> Slice {
        Slice { window: scan.time_window(), only: scan.only_trace() }
    }
}

impl From<SliceNumbers> for Slice {
    fn from(SliceNumbers(begin, end, only): SliceNumbers) -> Slice {
        let time = |ns: Option<i64>| ns.map(Timestamp::from_ns);
        let window = Window { begin: time(begin), end: time(end) };
        Slice { window, only: only.map(TraceIndex) }
    }
}

impl From<Slice> for SliceNumbers {
    fn from(Slice { window, only }: Slice) -> SliceNumbers {
        let ns = |time: Option<Timestamp>| time.map(Timestamp::as_ns);
        SliceNumbers(ns(window.begin), ns(window.end), only.map(|trace| trace.0))
    }
}
