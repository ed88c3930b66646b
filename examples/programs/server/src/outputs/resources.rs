//! The states of CPUs, interrupts and devices over time.

use ltt_read::{Timestamp, TraceIndex};
use lttv_state::history::{History, HistoryError};
use lttv_state::kernel::SourceKind;
use lttv_state::tree::Quark;

use super::Output;
use super::states::answer::{self, Element};
use super::states::styles;
use super::work::Work;
use crate::dataset::Dataset;
use crate::dataset::{ChartRow, Lane};
use crate::error::{OutputError, Result};
use crate::protocol::models::{Answer, DataProvider, Entry, Header, Kind, Tree};
use crate::protocol::parameters::Parameters;

/// The chart of the states of resources.
#[derive(Debug)]
pub(super) struct Resources;

const NAMES: [&str; 1] = ["Resource"];

impl Output for Resources {
    fn description(&self) -> DataProvider {
        DataProvider {
            id: "org.eclipse.tracecompass.internal.analysis.os.linux.core.threadstatus.\
                 ResourcesStatusDataProvider",
            name: "Resources Status",
            description: "The states of CPUs, interrupts and devices over time",
            kind: Kind::TimeGraph,
        }
    }

    fn serves(&self, dataset: &Dataset) -> bool {
        dataset.kernel().is_some()
    }

    fn tree(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        parameters.range()?;
        let kernel = dataset.kernel().ok_or(OutputError::NotOffered)?;
        let Some(history) = kernel.history()? else {
            return work.json(&Answer::<Tree>::running(None));
        };
        let mut entries = Vec::new();
        for trace in kernel.traces() {
            let Some(base) = history.tree().child(Quark::ROOT, &trace.0.to_string()) else {
                continue;
            };
            let group = dataset.group_of(*trace);
            let (start, end) = group.map_or(dataset.span(), |group| group.span);
            let entry = |id: Quark, label: String| Entry {
                id: id.index() as i64,
                labels: vec![label],
                start: Some(start),
                end: Some(end),
                ..Entry::default()
            };
            entries.push(entry(base, group.map_or("", |group| &group.name).to_owned()));
            entries.extend(rows(&history, *trace, base)?.into_iter().map(|(quark, row)| Entry {
                parent: Some(base.index() as i64),
                has_data: true,
                ..entry(quark, row.labels.into_iter().next().unwrap_or_default())
            }));
        }
        let headers = vec![Header::text("Resource", "CPU, interrupt or device")];
        let tree = Tree { headers, entries, expand: None };
        work.json(&Answer::of(tree, history.is_complete()))
    }

    fn states(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let Some((history, rows)) = all(dataset)? else {
            return answer::no_states(parameters, work);
        };
        let kernel = dataset.kernel().ok_or(OutputError::NotOffered)?;
        let threads = kernel.thread_rows(&history)?;
        answer::states((&history, Some(&threads)), &NAMES, rows.iter(), parameters, work)
    }

    fn arrows(&self, _: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        parameters.samples("nbTimes")?;
        work.json(&Answer::complete([(); 0]))
    }

    fn tooltip(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let element = Element::parse(parameters)?;
        let Some((history, rows)) = all(dataset)? else {
            return work.json(&Answer::<()>::running(None));
        };
        let row = rows.iter().find(|row| row.id == element.entry);
        let kernel = dataset.kernel().ok_or(OutputError::NotOffered)?;
        let threads = kernel.thread_rows(&history)?;
        answer::tooltip((&history, Some(&threads)), row, &NAMES, &element, |_| Ok(()), work)
    }

    fn style(&self, _: &Dataset, _: &Parameters, work: &mut Work<'_>) -> Result {
        styles::answer(work)
    }
}

/// Returns the history with the rows of all traces, if there is one yet.
fn all(dataset: &Dataset) -> std::result::Result<Option<(History, Vec<ChartRow>)>, OutputError> {
    let kernel = dataset.kernel().ok_or(OutputError::NotOffered)?;
    let Some(history) = kernel.history()? else { return Ok(None) };
    let mut all = Vec::new();
    for trace in kernel.traces() {
        if let Some(base) = history.tree().child(Quark::ROOT, &trace.0.to_string()) {
            all.extend(rows(&history, *trace, base)?.into_iter().map(|(_, row)| row));
        }
    }
    Ok(Some((history, all)))
}

/// Creates the lane of an attribute.
type LaneOf = fn(Quark, &History, TraceIndex) -> Lane;

/// Returns the rows of a trace. The name of a resource may become known later, so labels have only numbers while
/// the history grows.
pub(crate) fn rows(
    history: &History,
    trace: TraceIndex,
    base: Quark,
) -> std::result::Result<Vec<(Quark, ChartRow)>, HistoryError> {
    let tree = history.tree();
    let mut rows = Vec::new();
    let groups: [(&str, &str, LaneOf); 6] = [
        ("CPUs", "CPU", |mode, history, trace| Lane::Cpu {
            trace,
            mode,
            thread: history.tree().child(mode, "Thread"),
        }),
        ("IRQs", "IRQ", |quark, _, _| Lane::Source(quark, SourceKind::Irq)),
        ("Vectors", "Vector", |quark, _, _| Lane::Source(quark, SourceKind::Vector)),
        ("Softirqs", "SoftIRQ", |quark, _, _| Lane::Source(quark, SourceKind::Softirq)),
        ("Traps", "Trap", |quark, _, _| Lane::Source(quark, SourceKind::Trap)),
        ("Devices", "Disk", |quark, _, _| Lane::Device(quark)),
    ];
    let last = Timestamp::from_ns(history.end().as_ns().saturating_sub(1));
    for (group, title, lane) in groups {
        let members = tree.child(base, group).into_iter().flat_map(|of| tree.children(of));
        let members = members.filter_map(|quark| Some((tree.name(quark)?, quark)));
        let mut members: Vec<_> = members.collect();
        members.sort_by_key(|(number, _)| (number.len(), *number));
        for (number, quark) in members {
            let of = tree.child(quark, "Name").filter(|_| history.is_complete());
            let name = of.map(|of| history.at(of, last)).transpose()?;
            let name = name.as_ref().and_then(|name| name.value.as_str());
            let name = name.filter(|name| !name.is_empty() && *name != number);
            let label = match name {
                Some(name) => format!("{title} {name} ({number})"),
                None => format!("{title} {number}"),
            };
            let id = quark.index() as i64;
            let lane = lane(quark, history, trace);
            rows.push((quark, ChartRow { id, labels: vec![label], lane }));
        }
    }
    Ok(rows)
}
