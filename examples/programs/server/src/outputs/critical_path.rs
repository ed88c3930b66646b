//! The critical path of a thread: what it really waited for.

use std::collections::BTreeMap;
use std::sync::Arc;

use ltt_read::Timestamp;
use lttv_common::critical_path::words;
use lttv_common::kernel_trace::CRITICAL_PATH;
use lttv_state::waits::{Segment, TimelineId, WaitGraph};

use super::Output;
use super::states::answer::{self, Element};
use super::states::styles;
use super::work::Work;
use crate::dataset::{ChartRow, Lane};
use crate::dataset::{Dataset, PathHistory, PathRow, Waits};
use crate::error::Result;
use crate::protocol::models::{
    Answer, Arrow, DataProvider, DataType, Entry, Header, Kind, MetadataValue, StyleRef, Tree,
};
use crate::protocol::parameters::{ParameterError, Parameters};

/// The chart of the critical path of the thread in the parameter `lttv_thread`, or else of the one
/// that runs longest.
#[derive(Debug)]
pub(super) struct CriticalPath;

/// The parameter with the id of a thread, which other servers ignore.
const THREAD: &str = "lttv_thread";
/// The id of the first entry of a trace. The entries of threads have those of timelines.
const TRACES: i64 = 1 << 40;

const NAMES: [&str; 4] = ["Process", "TID", "Elapsed", "Percent"];
const HEADERS: [Header; 4] = [
    Header::text("Process", "Name of the thread"),
    Header::text("TID", "Id of the thread"),
    Header::of("Elapsed", "Time for which the path is on the thread, in ns", DataType::Duration),
    Header::of("Percent", "This time, in percent of the path", DataType::Number),
];

impl Output for CriticalPath {
    fn description(&self) -> DataProvider {
        DataProvider {
            id: "org.eclipse.tracecompass.analysis.graph.core.dataprovider.CriticalPathDataProvider",
            name: "Critical Path",
            description: "What a thread really waited for: the one that runs longest, or another",
            kind: Kind::TimeGraph,
        }
    }

    fn serves(&self, dataset: &Dataset) -> bool {
        dataset.kernel().is_some_and(|kernel| kernel.serves(&CRITICAL_PATH))
    }

    fn tree(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        parameters.range()?;
        let found = match find(dataset, parameters)? {
            Found::Path(graph, path) => (graph, path),
            Found::Nothing => return work.json(&Answer::complete(tree_of(Vec::new()))),
            Found::Later => return work.json(&Answer::<Tree>::running(None)),
        };
        let (graph, path) = found;
        let window = path.path.window();
        let (start, end) = (Some(window.start.as_ns()), Some(window.end.as_ns()));
        let mut entries = Vec::new();
        let mut roots = BTreeMap::new();
        for row in &path.rows {
            let Some(timeline) = graph.timeline(row.thread) else { continue };
            let parent = *roots.entry(timeline.trace()).or_insert_with(|| {
                let id = TRACES + timeline.trace().0 as i64;
                let name = dataset.group_of(timeline.trace()).map_or("", |group| &group.name);
                let mut labels = vec![String::new(); HEADERS.len()];
                labels[0] = name.to_owned();
                entries.push(Entry { id, labels, start, end, ..Entry::default() });
                id
            });
            entries.push(Entry {
                id: id(row.thread),
                parent: Some(parent),
                labels: labels(graph, &path, row),
                has_data: true,
                start,
                end,
                metadata: BTreeMap::from([(
                    "tid",
                    vec![MetadataValue::Number(timeline.tid().into())],
                )]),
                ..Entry::default()
            });
        }
        work.json(&Answer::complete(tree_of(entries)))
    }

    fn states(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let Found::Path(graph, path) = find(dataset, parameters)? else {
            return answer::no_states(parameters, work);
        };
        let rows: Vec<ChartRow> =
            path.rows.iter().map(|row| chart_row(graph, &path, row)).collect();
        answer::states((&path.history, None), &NAMES, rows.iter(), parameters, work)
    }

    fn arrows(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let samples = parameters.samples("nbTimes")?;
        let Found::Path(_, path) = find(dataset, parameters)? else {
            return work.json(&Answer::running(Some([(); 0])));
        };
        work.text(r#"{"model":["#)?;
        let segments = path.path.segments();
        let before = |of: &&[Segment; 2]| of[1].start.as_ns() < samples.start();
        let pairs = segments.array_windows();
        let mut is_first = true;
        // A zoomed out view needs no more arrows than it has times.
        let mut next = samples.start();
        let step = samples.end().saturating_sub(samples.start()) / samples.len() as i64;
        for [from, to] in pairs.skip_while(before) {
            let start = to.start.as_ns();
            if start > samples.end() {
                break;
            }
            if from.thread == to.thread || start < next {
                continue;
            }
            next = start.saturating_add(step);
            let (source, target) = (id(from.thread), id(to.thread));
            let style = StyleRef::new(styles::ARROW);
            let arrow = Arrow { source, target, start, end: start, style };
            work.list_item(&mut is_first, &arrow)?;
        }
        work.text("]")?;
        work.end(true)
    }

    fn tooltip(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let element = Element::parse(parameters)?;
        let Found::Path(graph, path) = find(dataset, parameters)? else {
            return work.json(&Answer::<()>::running(None));
        };
        let row = path.rows.iter().find(|row| id(row.thread) == element.entry);
        let chart = row.map(|row| chart_row(graph, &path, row));
        let more = |facts: &mut BTreeMap<String, String>| {
            let time = Timestamp::from_ns(element.time);
            let segments = path.path.segments();
            let at = segments.partition_point(|segment| segment.end <= time);
            if let Some(segment) = segments.get(at).filter(|of| id(of.thread) == element.entry) {
                facts.insert("Segment".to_owned(), words(graph, segment));
                if let Some(cpu) = segment.cpu {
                    facts.insert("CPU".to_owned(), cpu.to_string());
                }
            }
            Ok(())
        };
        answer::tooltip((&path.history, None), chart.as_ref(), &NAMES, &element, more, work)
    }

    fn style(&self, _: &Dataset, _: &Parameters, work: &mut Work<'_>) -> Result {
        styles::answer(work)
    }
}

/// The path of a request.
enum Found<'d> {
    Path(&'d WaitGraph, Arc<PathHistory>),
    /// The traces contain no threads.
    Nothing,
    /// A path that is still being computed.
    Later,
}

fn find<'d>(
    dataset: &'d Dataset,
    parameters: &Parameters,
) -> std::result::Result<Found<'d>, ParameterError> {
    let tid = parameters.integer(THREAD)?;
    let Some(waits) = dataset.waits() else { return Ok(Found::Later) };
    let thread = match tid {
        Some(tid) => Some(thread(waits, tid)?),
        None => waits.busiest,
    };
    let Some(thread) = thread else { return Ok(Found::Nothing) };
    let path = dataset.critical_path(thread);
    Ok(path.map_or(Found::Later, |path| Found::Path(&waits.graph, path)))
}

fn thread(waits: &Waits, tid: i64) -> std::result::Result<TimelineId, ParameterError> {
    let thread = i32::try_from(tid).ok().and_then(|tid| waits.thread(tid));
    thread.ok_or_else(|| ParameterError::invalid(THREAD, "no such thread"))
}

fn id(thread: TimelineId) -> i64 {
    i64::from(thread.0)
}

fn tree_of(entries: Vec<Entry>) -> Tree {
    Tree { headers: HEADERS.into(), entries, expand: None }
}

fn labels(graph: &WaitGraph, path: &PathHistory, row: &PathRow) -> Vec<String> {
    let tid = graph.timeline(row.thread).map_or(String::new(), |of| of.tid().to_string());
    let window = path.path.window();
    let width = window.end.as_ns().abs_diff(window.start.as_ns()).max(1);
    let percent = row.time as f64 * 100.0 / width as f64;
    let name = graph.command(row.thread).to_owned();
    vec![name, tid, row.time.to_string(), format!("{percent:.2}")]
}

fn chart_row(graph: &WaitGraph, path: &PathHistory, row: &PathRow) -> ChartRow {
    let (id, labels) = (id(row.thread), labels(graph, path, row));
    ChartRow { id, labels, lane: Lane::Path(row.segments) }
}
