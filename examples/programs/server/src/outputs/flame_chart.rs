//! The calls of functions over time, with a row for each number of callers.

use lttv_state::history::History;
use lttv_state::tree::Quark;

use super::Output;
use super::states::answer::{self, Element};
use super::states::styles;
use super::work::Work;
use crate::dataset::{CallThread, Calls, Dataset};
use crate::dataset::{ChartRow, Lane};
use crate::error::Result;
use crate::protocol::models::{Answer, DataProvider, Entry, Header, Kind, Tree};
use crate::protocol::parameters::Parameters;

/// The flame chart of the calls of functions in user space programs.
#[derive(Debug)]
pub(super) struct FlameChart;

const NAMES: [&str; 3] = ["Name", "TID", "PID"];
const HEADERS: [Header; 3] = [
    Header::text("Name", "Trace, thread, or number of callers"),
    Header::text("TID", "Id of the thread"),
    Header::text("PID", "Id of the process"),
];

impl Output for FlameChart {
    fn description(&self) -> DataProvider {
        DataProvider {
            id: "org.eclipse.tracecompass.internal.analysis.profiling.callstack.provider.\
                 CallStackDataProvider",
            name: "Flame Chart",
            description: "The calls of functions over time",
            kind: Kind::TimeGraph,
        }
    }

    fn serves(&self, dataset: &Dataset) -> bool {
        dataset.has_calls()
    }

    fn tree(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        parameters.range()?;
        let Some(calls) = dataset.calls() else {
            return work.json(&Answer::<Tree>::running(None));
        };
        let (start, end) = dataset.span();
        let entry = |quark: Quark, labels: Vec<String>| Entry {
            id: id(quark),
            labels,
            start: Some(start),
            end: Some(end),
            ..Entry::default()
        };
        let mut entries = Vec::new();
        let mut last = None;
        for thread in &calls.threads {
            let Some(root) = trace(&calls.history, thread) else { continue };
            if last != Some(root) {
                last = Some(root);
                let group = dataset.group_of(thread.trace);
                let name = group.map_or("", |group| &group.name).to_owned();
                entries.push(entry(root, vec![name, String::new(), String::new()]));
            }
            let parent = Some(id(root));
            entries.push(Entry { parent, ..entry(thread.quark, labels(thread, None)) });
            entries.extend(thread.depths.iter().enumerate().map(|(depth, quark)| Entry {
                parent: Some(id(thread.quark)),
                has_data: true,
                ..entry(*quark, labels(thread, Some(depth)))
            }));
        }
        work.json(&Answer::complete(Tree { headers: HEADERS.into(), entries, expand: None }))
    }

    fn states(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let Some(calls) = dataset.calls() else { return answer::no_states(parameters, work) };
        let rows: Vec<ChartRow> = rows(calls).collect();
        answer::states((&calls.history, None), &NAMES, rows.iter(), parameters, work)
    }

    fn arrows(&self, _: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        parameters.samples("nbTimes")?;
        work.json(&Answer::complete([(); 0]))
    }

    fn tooltip(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let element = Element::parse(parameters)?;
        let Some(calls) = dataset.calls() else {
            return work.json(&Answer::<()>::running(None));
        };
        let row = rows(calls).find(|row| row.id == element.entry);
        answer::tooltip((&calls.history, None), row.as_ref(), &NAMES, &element, |_| Ok(()), work)
    }

    fn style(&self, _: &Dataset, _: &Parameters, work: &mut Work<'_>) -> Result {
        styles::answer(work)
    }
}

fn id(quark: Quark) -> i64 {
    quark.index() as i64
}

/// Returns the attribute of the trace of a thread.
fn trace(history: &History, thread: &CallThread) -> Option<Quark> {
    history.tree().child(Quark::ROOT, &thread.trace.0.to_string())
}

/// Returns the labels of a thread, or of its calls with a number of callers.
fn labels(thread: &CallThread, depth: Option<usize>) -> Vec<String> {
    let name = match depth {
        Some(depth) => depth.to_string(),
        None if thread.name.is_empty() => format!("[{}]", thread.id),
        None => thread.name.to_string(),
    };
    let process = thread.process.map_or(String::new(), |process| process.to_string());
    vec![name, thread.id.clone(), process]
}

fn rows(calls: &Calls) -> impl Iterator<Item = ChartRow> {
    calls.threads.iter().flat_map(|thread| {
        thread.depths.iter().enumerate().map(move |(depth, quark)| {
            let (id, labels) = (id(*quark), labels(thread, Some(depth)));
            ChartRow { id, labels, lane: Lane::Value(*quark) }
        })
    })
}
