//! Thread states and critical paths.

use std::ops::Range;
use std::time::Duration;

use ltt_read::{Timestamp, TraceIndex};
use lttv_common::critical_path::{Tables, label};
use lttv_common::kernel_trace;
use lttv_common::report::Usage;
use lttv_context::attributes::{AttributeError, AttributeId, Attributes, Kind};
use lttv_context::framework::{Failure, Module, ModuleInfo, OptionSpec};
use lttv_hooks::Priority;
use lttv_state::kernel::Tid;
use lttv_state::waits::{TimelineId, WaitGraph, WaitGraphHandle};

use super::print::{self, Style};
use super::{Host, places, report_with};

/// The module `criticalPath`.
#[derive(Debug)]
pub(super) struct CriticalPaths;

/// The parameters of the module.
#[derive(Debug, Clone, Copy)]
struct Query {
    /// The thread whose path is reported; `None` for the states of all threads alone.
    tid: Option<Tid>,
    /// The greatest number of segments of a path to print.
    limit: usize,
}

impl Module<Host> for CriticalPaths {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "criticalPath",
            summary: "Thread states by cause, and the critical path of a thread",
            description: "Reports for each thread how long it was running, waiting for a CPU, and \
                          blocked by each cause. For the thread --path-tid, reports its critical \
                          path, on which each wait for another thread is replaced by what that \
                          thread did in the meantime; and which threads and devices it waited for \
                          directly. In traces/[TRACE]/waits. What is open at --begin or --end \
                          counts from there or up to there. Keeps all intervals in memory, 16 \
                          bytes each.",
            requires: &["batchAnalysis"],
        }
    }

    fn options(&self) -> Vec<OptionSpec> {
        let option = |name, kind, help| OptionSpec::new(name, kind, help);
        vec![
            option("path-tid", Kind::UInt, "Report the critical path of this thread")
                .value_name("TID"),
            option("path-limit", Kind::UInt, "Print at most N segments of the critical path")
                .value_name("N")
                .default_value("100"),
        ]
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let options = &host.options;
        let tid = options.get::<u64>("path-tid")?.map(|tid| Tid::try_from(*tid)).transpose();
        let tid = tid.map_err(|_| Usage::new("--path-tid: the thread id is out of range"))?;
        let limit = usize::try_from(options.get("path-limit")?.copied().unwrap_or(100_u64))?;
        if !host.data.has(&kernel_trace::CRITICAL_PATH) {
            return Ok(());
        }
        let kernel = host.data.kernel();
        let waits = WaitGraph::attach(&mut host.data.batch.context, kernel);
        // The graph needs the events before the window, too.
        host.data.kernel_at_begin();
        let query = Query { tid, limit };
        report_with(host, Priority::DEFAULT, move |host| report(host, waits, query));
        Ok(())
    }
}

fn report(host: &mut Host, waits: WaitGraphHandle, query: Query) -> Result<(), AttributeError> {
    let spans = host.data.spans();
    let ends = spans.iter().flatten().map(|span| span.end);
    let Some(end) = ends.max() else { return Ok(()) };
    let graph = waits.take_until(host.data.batch.context.extensions(), end);
    for (index, span) in (0..).map(TraceIndex).zip(spans) {
        let Some(span) = span.filter(|_| graph.missing(index).is_some()) else { continue };
        let window = span.start..span.end;
        let threads = graph.timelines().filter(|(_, of)| of.trace() == index && !of.is_idle());
        let threads: Vec<TimelineId> = threads.map(|(id, _)| id).collect();
        let is_asked = |id: &TimelineId| {
            query.tid.is_some() && graph.timeline(*id).map(|of| of.tid()) == query.tid
        };
        if host.data.style == Style::Text {
            let mut tables = Tables::new(&graph, window.clone(), false, query.limit);
            for id in &threads {
                if tables.add_states(*id) && is_asked(id) {
                    tables.add_path(&graph.critical_path(*id, window.clone()));
                }
            }
            tables.add_missing(index);
            print::tables(&mut host.data.output.borrow_mut(), &tables.finish(false));
        } else {
            let of = &host.data.batch.context.contexts().traces()[index.0];
            let place = places::of_trace(&mut host.attributes, of)?;
            let place = host.attributes.subtree(place, "waits")?;
            for id in &threads {
                export(&mut host.attributes, place, &graph, *id, &window, is_asked(id))?;
            }
            let missing = host.attributes.subtree(place, "missing_events")?;
            for of in graph.missing(index).unwrap_or_default() {
                host.attributes.set(missing, of.names(), of.consequence())?;
            }
        }
    }
    Ok(())
}

fn export(
    attributes: &mut Attributes,
    place: AttributeId,
    graph: &WaitGraph,
    id: TimelineId,
    window: &Range<Timestamp>,
    with_path: bool,
) -> Result<(), AttributeError> {
    let times = graph.times(id, window.clone());
    let Some(timeline) = graph.timeline(id).filter(|_| times.total() > 0) else { return Ok(()) };
    let threads = attributes.subtree(place, "threads")?;
    let thread = attributes.subtree(threads, &*timeline.tid().to_string())?;
    attributes.set(thread, "command", graph.command(id))?;
    let states = attributes.subtree(thread, "states")?;
    for (state, times) in times.all() {
        attributes.set(states, state.label(), Duration::from_nanos(times.total))?;
    }
    if !with_path {
        return Ok(());
    }
    let path = attributes.subtree(thread, "critical_path")?;
    for share in graph.critical_path(id, window.clone()).shares() {
        let of = attributes.subtree(path, &*label(graph, share.thread))?;
        attributes.set(of, share.kind.label(), Duration::from_nanos(share.times.total))?;
    }
    Ok(())
}
