//! The durations of a family, by length and time.

use std::ops::Range;

use ltt_read::Timestamp;
use lttv_state::kernel::needs::Need;
use lttv_state::latency::{Family, Sample, TraceLatency};

/// The durations of a family of a trace.
pub(super) struct Panel {
    pub(super) title: String,
    /// The key of the family.
    pub(super) key: &'static str,
    pub(super) count: u64,
    pub(super) median: u64,
    pub(super) p99: u64,
    /// The numbers of all durations between powers of two, from the shortest on.
    pub(super) bins: Vec<Bin>,
    /// The numbers of durations by the column of their end, without those that are 0.
    pub(super) cells: Vec<Cell>,
    pub(super) longest: Option<Longest>,
}

/// The number of durations in a range of ns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bin {
    pub(super) range: Range<u64>,
    pub(super) count: u64,
}

/// The number of durations of a length that ended in a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) column: u64,
    pub(super) bin: Bin,
}

/// The longest duration.
pub(super) struct Longest {
    pub(super) begin: Timestamp,
    pub(super) end: Timestamp,
    pub(super) duration: u64,
    /// The thread and what took the time.
    pub(super) text: String,
    /// The options of `lttv why`, without its time; `None` for durations without a thread.
    pub(super) why: Option<String>,
}

impl Panel {
    /// Returns the durations of a family, whose intervals are columns; `None` if there are none.
    pub(super) fn new(
        of: &TraceLatency,
        family: Family,
        columns: u64,
        label: &str,
    ) -> Option<Self> {
        let total = of.total(family);
        let durations = total.durations();
        let bins = durations.log2_bins().map(|(range, count)| Bin { range, count }).collect();
        let mut cells = Vec::new();
        for column in 0..columns {
            let ended = of.in_interval(column, family).into_iter().flat_map(|of| of.log2_bins());
            let ended = ended.filter(|(_, count)| *count > 0);
            cells.extend(ended.map(|(range, count)| Cell { column, bin: Bin { range, count } }));
        }
        Some(Panel {
            title: format!("{}{label}", family.title()),
            key: family.key(),
            count: durations.count(),
            median: durations.percentile(50.0)?,
            p99: durations.percentile(99.0)?,
            bins,
            cells,
            longest: of.top(family).first().map(|sample| Longest::new(of, sample)),
        })
    }
}

impl Longest {
    fn new(of: &TraceLatency, sample: &Sample) -> Self {
        let thread = of.thread(sample.thread);
        let text = match thread {
            Some(thread) => {
                format!("{}, {} ({})", of.subject_of(sample), of.name(thread.name), thread.tid)
            }
            None => of.subject_of(sample),
        };
        let family = sample.family.key();
        let why = thread.map(|thread| format!("--tid {} --family {family}", thread.tid));
        let duration = sample.duration();
        Longest { begin: sample.begin, end: sample.end, duration, text, why }
    }
}

/// Returns a line about a family whose events were not recorded.
pub(super) fn missing(of: &TraceLatency, family: Family, label: &str) -> Option<String> {
    let needs = of.missing(family);
    (!needs.is_empty())
        .then(|| format!("{}{label}: {} not recorded", family.key(), Need::list(needs)))
}
