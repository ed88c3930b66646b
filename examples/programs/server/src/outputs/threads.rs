//! The states of threads over time, with arrows from each thread to the next one on a CPU.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use lttv_common::kernel_trace::HISTORY;
use lttv_state::history::{History, Timestamp};

use super::Output;
use super::states::answer::{self, Element};
use super::states::styles;
use super::work::Work;
use crate::dataset::{Dataset, ThreadRows, clamped};
use crate::error::{OutputError, Result};
use crate::protocol::models::{
    Answer, Arrow, DataProvider, Entry, Header, Kind, MetadataValue, StyleRef, Tree,
};
use crate::protocol::parameters::Parameters;

/// The chart of the states of threads.
#[derive(Debug)]
pub(super) struct ThreadStatus;

const NAMES: [&str; 4] = ["Process", "TID", "PTID", "PID"];
const HEADERS: [Header; 4] = [
    Header::text("Process", "Name of the thread"),
    Header::text("TID", "Id of the thread"),
    Header::text("PTID", "Id of the parent"),
    Header::text("PID", "Id of the process"),
];

impl Output for ThreadStatus {
    fn description(&self) -> DataProvider {
        DataProvider {
            id: "org.eclipse.tracecompass.internal.analysis.os.linux.core.threadstatus.\
                 ThreadStatusDataProvider",
            name: "Thread Status",
            description: "The states of threads over time",
            kind: Kind::TimeGraph,
        }
    }

    fn serves(&self, dataset: &Dataset) -> bool {
        dataset.kernel().is_some_and(|kernel| kernel.serves(&HISTORY))
    }

    fn tree(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let range = parameters.range()?;
        let kernel = dataset.kernel().ok_or(OutputError::NotOffered)?;
        let Some(history) = kernel.history()? else {
            return work.json(&Answer::<Tree>::running(None));
        };
        let rows = kernel.thread_rows(&history)?;
        let (start, end) = range.unwrap_or((i64::MIN, i64::MAX));
        let overlaps = |from: i64, to: i64| from <= end && to >= start;
        let mut entries = Vec::new();
        for (trace, id) in &rows.traces {
            let group = dataset.group_of(*trace);
            let (start, end) = group.map_or(dataset.span(), |group| group.span);
            entries.push(Entry {
                id: *id,
                labels: labels(group.map_or("", |group| &group.name)),
                start: Some(start),
                end: Some(end),
                ..Entry::default()
            });
        }
        // A parent may be outside of the range: its children are then at the top of the trace.
        let shown = rows.threads.iter().filter(|row| overlaps(row.start, row.end));
        let ids: HashSet<i64> = shown.clone().map(|row| row.chart.id).collect();
        entries.extend(shown.map(|row| Entry {
            id: row.chart.id,
            parent: Some(row.parent.filter(|id| ids.contains(id)).unwrap_or(row.root)),
            labels: row.chart.labels.clone(),
            has_data: true,
            start: Some(row.start),
            end: Some(row.end),
            metadata: BTreeMap::from([("tid", vec![MetadataValue::Number(row.tid.into())])]),
            ..Entry::default()
        }));
        let tree = Tree { headers: HEADERS.into(), entries, expand: None };
        work.json(&Answer::of(tree, history.is_complete()))
    }

    fn states(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let Some((history, rows)) = both(dataset)? else {
            return answer::no_states(parameters, work);
        };
        let charts = rows.threads.iter().map(|row| &row.chart);
        answer::states((&history, None), &NAMES, charts, parameters, work)
    }

    fn arrows(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let samples = parameters.samples("nbTimes")?;
        let Some((history, rows)) = both(dataset)? else {
            return work.json(&Answer::running(Some([(); 0])));
        };
        work.text(r#"{"model":["#)?;
        let mut is_first = true;
        let (from, to) = (clamped(&history, samples.start()), clamped(&history, samples.end()));
        let (from, to) = (from.as_ns(), to.as_ns());
        let last = (samples.end() >= to).then_some(to);
        let sample = |number| samples.at(number).filter(|time| *time < to).or(last);
        for (trace, cpus) in &rows.cpus {
            for cpu in cpus {
                let mut reader = history.forward_reader(cpu.thread)?;
                let (mut number, mut reached) = (samples.first_from(from), from);
                while let Some(time) = sample(number).filter(|time| *time >= reached) {
                    let now = reader.at(Timestamp::from_ns(time))?;
                    reached = now.end.as_ns();
                    number = samples.first_from(reached).max(number + 1);
                    work.tick()?;
                    // A switch before the range does not touch it.
                    let ns = now.start.as_ns();
                    if ns < samples.start() || ns <= history.start().as_ns() {
                        continue;
                    }
                    let source = reader.before()?.and_then(|before| before.value.as_i64());
                    let find =
                        |tid: Option<i64>, at| rows.find(*trace, tid.filter(|tid| *tid > 0)?, at);
                    let target = find(now.value.as_i64(), ns);
                    if let (Some(source), Some(target)) = (find(source, ns - 1), target) {
                        let style = StyleRef::new(styles::ARROW);
                        let arrow = Arrow { source, target, start: ns, end: ns, style };
                        work.list_item(&mut is_first, &arrow)?;
                    }
                }
            }
        }
        work.text("]")?;
        work.end(history.is_complete())
    }

    fn tooltip(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let element = Element::parse(parameters)?;
        let Some((history, rows)) = both(dataset)? else {
            return work.json(&Answer::<()>::running(None));
        };
        let row = rows.threads.iter().find(|row| row.chart.id == element.entry);
        let chart = row.map(|row| &row.chart);
        let more = |facts: &mut BTreeMap<String, String>| {
            let cpu = row.and_then(|row| row.cpu);
            if let Some(cpu) = cpu {
                let value = history.at(cpu, clamped(&history, element.time))?.value;
                if !value.is_null() {
                    facts.insert("CPU".to_owned(), value.to_string());
                }
            }
            Ok(())
        };
        answer::tooltip((&history, None), chart, &NAMES, &element, more, work)
    }

    fn style(&self, _: &Dataset, _: &Parameters, work: &mut Work<'_>) -> Result {
        styles::answer(work)
    }
}

fn labels(name: &str) -> Vec<String> {
    let mut labels = vec![String::new(); HEADERS.len()];
    labels[0] = name.to_owned();
    labels
}

/// The history of threads with their rows.
type Threads = (History, Arc<ThreadRows>);

/// Returns the history with its rows, if there is one yet.
fn both(dataset: &Dataset) -> std::result::Result<Option<Threads>, OutputError> {
    let kernel = dataset.kernel().ok_or(OutputError::NotOffered)?;
    let Some(history) = kernel.history()? else { return Ok(None) };
    let rows = kernel.thread_rows(&history)?;
    Ok(Some((history, rows)))
}
