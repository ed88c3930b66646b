//! Latencies: figures, the single durations, durations over time, and their distributions.
//!
//! Each analysis has the four views. Clients know some analyses by their ids.

mod distribution;
mod scatter;
mod statistics;
mod table;

use ltt_read::TraceIndex;
use lttv_state::latency::{Family, Latency, TraceLatency};

use self::distribution::Distribution;
use self::scatter::Scatter;
use self::statistics::Statistics;
use self::table::Table;
use super::work::Work;
use super::{Output, xy};
use crate::dataset::Dataset;
use crate::error::Result;
use crate::protocol::models::{Answer, DataProvider, Entry, Header, Kind, Style, Tree};
use crate::protocol::parameters::Parameters;

/// Kinds of durations that are shown together.
#[derive(Debug)]
struct Analysis {
    families: &'static [Family],
    statistics: DataProvider,
    table: DataProvider,
    scatter: DataProvider,
    distribution: DataProvider,
}

/// Defines an analysis by its id, its name and its families.
macro_rules! analysis {
    ($constant:ident, $id:literal, $name:literal, $families:expr) => {
        static $constant: Analysis = Analysis {
            families: &$families,
            statistics: DataProvider {
                id: concat!(
                    "org.eclipse.tracecompass.analysis.timing.core.segmentstore",
                    ".SegmentStoreStatisticsDataProvider:",
                    $id
                ),
                name: concat!($name, " - Latency Statistics"),
                description: "Number and figures of durations, by what took the time",
                kind: Kind::DataTree,
            },
            table: DataProvider {
                id: concat!(
                    "org.eclipse.tracecompass.analysis.timing.core.segmentstore",
                    ".SegmentStoreTableDataProvider:",
                    $id
                ),
                name: concat!($name, " - Latency Table"),
                description: "Durations in the order of their begin; of many, the longest",
                kind: Kind::Table,
            },
            scatter: DataProvider {
                id: concat!(
                    "org.eclipse.tracecompass.internal.analysis.timing.core.segmentstore",
                    ".scatter.dataprovider:",
                    $id
                ),
                name: concat!($name, " - Latency vs Time"),
                description: "Durations by the time of their end; of many, the longest",
                kind: Kind::TreeTimeXy,
            },
            distribution: DataProvider {
                id: concat!("org.lttv.latency.distribution:", $id),
                name: concat!($name, " - Distribution"),
                description: "Number of durations by their length",
                kind: Kind::TreeGenericXy,
            },
        };
    };
}

analysis!(
    SYSTEM_CALLS,
    "org.eclipse.tracecompass.analysis.os.linux.latency.syscall",
    "System Calls",
    [Family::Syscall]
);
analysis!(
    SCHEDULER,
    "org.lttv.latency.scheduler",
    "Run Queue",
    [Family::WakeUp, Family::Preemption]
);
analysis!(
    INTERRUPTS,
    "lttng.analysis.irq",
    "Interrupts",
    [Family::HardIrq, Family::Vector, Family::Softirq, Family::SoftirqRaise]
);
analysis!(DISKS, "org.lttv.latency.disk", "Disks", [Family::DiskQueue, Family::DiskDevice]);
analysis!(
    FILES,
    "org.lttv.latency.file",
    "Files",
    [Family::FileOpen, Family::FileRead, Family::FileWrite, Family::FileSync]
);
analysis!(FUTEXES, "lttng.analysis.futex", "Futexes", [Family::Futex]);
analysis!(PERIODS, "org.lttv.latency.period", "Periods", [Family::Period]);

/// The views of all analyses.
pub(super) const ALL: &[&dyn Output] = &[
    &Statistics(&SYSTEM_CALLS),
    &Table(&SYSTEM_CALLS),
    &Scatter(&SYSTEM_CALLS),
    &Distribution(&SYSTEM_CALLS),
    &Statistics(&SCHEDULER),
    &Table(&SCHEDULER),
    &Scatter(&SCHEDULER),
    &Distribution(&SCHEDULER),
    &Statistics(&INTERRUPTS),
    &Table(&INTERRUPTS),
    &Scatter(&INTERRUPTS),
    &Distribution(&INTERRUPTS),
    &Statistics(&DISKS),
    &Table(&DISKS),
    &Scatter(&DISKS),
    &Distribution(&DISKS),
    &Statistics(&FILES),
    &Table(&FILES),
    &Scatter(&FILES),
    &Distribution(&FILES),
    &Statistics(&FUTEXES),
    &Table(&FUTEXES),
    &Scatter(&FUTEXES),
    &Distribution(&FUTEXES),
    &Statistics(&PERIODS),
    &Table(&PERIODS),
    &Scatter(&PERIODS),
    &Distribution(&PERIODS),
];

/// The number of ids for each trace: one for each family, and one for the trace.
const STRIDE: i64 = 64;
/// The id of a trace among those of its families.
const TRACE: i64 = STRIDE - 1;

const COLORS: [&str; 4] = ["#4e79a7", "#c46a2b", "#59a14f", "#b07aa1"];

impl Analysis {
    /// Returns `true` if a traceset contains the events of a family.
    fn serves(&self, dataset: &Dataset) -> bool {
        self.families.iter().any(|family| dataset.families().contains(family))
    }

    /// Returns the latencies of each trace that contains the events of a family.
    fn traces<'l>(
        &'l self,
        dataset: &'l Dataset,
        latency: &'l Latency,
    ) -> impl Iterator<Item = (TraceIndex, &'l TraceLatency)> {
        let traces = (0..dataset.traceset().traces().len()).map(TraceIndex);
        let traces = traces.filter_map(|trace| Some((trace, latency.trace(trace)?)));
        traces.filter(|(trace, of)| self.families(dataset, *trace, of).next().is_some())
    }

    /// Returns the recorded families of a trace, each with its id and its number.
    fn families<'l>(
        &'l self,
        dataset: &'l Dataset,
        trace: TraceIndex,
        of: &'l TraceLatency,
    ) -> impl Iterator<Item = (i64, usize, Family)> + 'l {
        let is_kernel = dataset.kernel().is_some_and(|of| of.traces().contains(&trace));
        let is_recorded = move |family: Family| match family {
            Family::Period => dataset.has_periods(trace),
            family => is_kernel && of.missing(family).is_empty(),
        };
        let families = self.families.iter().enumerate();
        let recorded = families.filter(move |(_, family)| is_recorded(**family));
        recorded.map(move |(at, family)| (trace.0 as i64 * STRIDE + *family as i64, at, *family))
    }

    /// Answers with the tree of the series, once there are latencies.
    fn answer(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        parameters.range()?;
        match dataset.latency(None) {
            None => work.json(&Answer::<Tree>::running(None)),
            Some(latency) => work.json(&Answer::complete(self.series(dataset, &latency))),
        }
    }

    /// Returns the tree of the series: one for each trace and family.
    fn series(&self, dataset: &Dataset, latency: &Latency) -> Tree {
        let mut entries = Vec::new();
        for (trace, of) in self.traces(dataset, latency) {
            let root = trace.0 as i64 * STRIDE + TRACE;
            let name = dataset.group_of(trace).map_or("", |group| &group.name).to_owned();
            entries.push(Entry { id: root, labels: vec![name], ..Entry::default() });
            entries.extend(self.families(dataset, trace, of).map(|(id, _, family)| Entry {
                id,
                parent: Some(root),
                labels: vec![family.title().to_owned()],
                has_data: true,
                is_default: Some(true),
                ..Entry::default()
            }));
        }
        Tree { headers: vec![Header::text("Name", "What takes the time")], entries, expand: None }
    }

    /// Returns the styles of the series.
    fn styles(
        &self,
        kind: &str,
    ) -> Answer<
        std::collections::BTreeMap<&'static str, std::collections::BTreeMap<&'static str, Style>>,
    > {
        let families = self.families.iter().zip(COLORS);
        xy::styles(families.map(|(of, color)| (of.key(), xy::style(of.title(), color, kind))))
    }
}
