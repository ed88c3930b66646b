//! Thread states, waits and critical paths.

use std::collections::BTreeMap;
use std::time::Duration;

use ltt_read::{TimeSpan, Timestamp, TraceIndex};
use lttv_common::critical_path::label;
use lttv_common::kernel_trace;
use lttv_common::report::Usage;
use lttv_common::time::Times;
use lttv_context::attributes::{AttributeError, AttributeId, Attributes, Kind};
use lttv_context::framework::{Failure, Module, ModuleInfo, OptionSpec};
use lttv_hooks::Priority;
use lttv_state::analysis::{Attached, attach};
use lttv_state::kernel::Tid;
use lttv_state::waits::{ThreadState, Timeline, TimelineId, WaitAnalysis};

use super::core::time_option;
use super::print::{self, Style};
use super::{Host, places, report_with};
use crate::tables::waits::{self, Shown};
use crate::waits::{WindowWaits, window_of};

/// The module `criticalPath`, or `depAnalysis`: the name and the options that LTTV had.
#[derive(Debug)]
pub(super) struct Waits {
    name: &'static str,
    summary: &'static str,
    /// The option that names a thread, with its help.
    tid: (&'static str, &'static str),
    limit: &'static str,
    /// The options for the start and the end of a part of the read.
    part: Option<[&'static str; 2]>,
}

/// The module `criticalPath`.
pub(super) const CRITICAL_PATH: Waits = Waits {
    name: "criticalPath",
    summary: "Thread states by cause, and the critical path of a thread",
    tid: ("path-tid", "Report the critical path of this thread"),
    limit: "path-limit",
    part: None,
};

/// The module `depAnalysis`.
pub(super) const DEP_ANALYSIS: Waits = Waits {
    name: "depAnalysis",
    summary: "The results of criticalPath, with the options of LTTV",
    tid: ("dep-pid", "Report this process in detail (by its thread id)"),
    limit: "dep-limit",
    part: Some(["dep-time-start", "dep-time-end"]),
};

/// The parameters of a report.
#[derive(Debug, Clone, Copy)]
struct Query {
    /// The thread whose path is reported; `None` for the states of all threads alone.
    tid: Option<Tid>,
    /// The greatest number of segments of a path to print; 0 for all.
    limit: usize,
    /// The part of the read that is reported.
    part: TimeSpan,
}

impl Module<Host> for Waits {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: self.name,
            summary: self.summary,
            description: "Reports for each thread how long it was running, waiting for a CPU, and \
                          blocked by each cause. For one thread, reports its critical path, on \
                          which each wait for another thread is replaced by what that thread did \
                          in the meantime; and which threads and devices it waited for directly. \
                          In traces/[TRACE]/waits. What is open at --begin or --end counts from \
                          there or up to there. Keeps all intervals in memory, 16 bytes each.",
            requires: &["batchAnalysis"],
        }
    }

    fn options(&self) -> Vec<OptionSpec> {
        let mut options = vec![
            OptionSpec::new(self.tid.0, Kind::UInt, self.tid.1).value_name("TID"),
            OptionSpec::new(
                self.limit,
                Kind::UInt,
                "Print at most N segments of the critical path",
            )
            .value_name("N")
            .default_value("100"),
        ];
        let helps = ["Ignore what came before this time", "Ignore what came after this time"];
        let part = self.part.into_iter().flatten().zip(helps);
        options.extend(
            part.map(|(name, help)| OptionSpec::new(name, Kind::Text, help).value_name("TIME")),
        );
        options
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let query = self.query(host)?;
        if !host.data.has(&kernel_trace::CRITICAL_PATH) {
            return Ok(());
        }
        let kernel = host.data.kernel();
        let waits = attach(&mut host.data.batch.context, kernel, .., WaitAnalysis::new());
        // The graph needs the events before the window, too.
        host.data.kernel_at_begin();
        report_with(host, Priority::DEFAULT, move |host| report(host, waits, query));
        Ok(())
    }
}

impl Waits {
    fn query(&self, host: &Host) -> Result<Query, Failure> {
        let options = &host.options;
        let times = Times::new(host.data.zone.clone(), host.data.batch.context.traceset().traces());
        let time = |name| {
            let time = time_option(options, name)?;
            let resolved = time.map(|time| times.resolve(&time)).transpose();
            resolved.map_err(|error| Usage::new(format_args!("--{name}: {error}")))
        };
        let mut part = TimeSpan { start: Timestamp::MIN, end: Timestamp::MAX };
        if let Some([start, end]) = self.part {
            part.start = time(start)?.unwrap_or(part.start);
            part.end = time(end)?.unwrap_or(part.end);
        }
        let name = self.tid.0;
        let tid = options.get::<u64>(name)?.map(|tid| Tid::try_from(*tid)).transpose();
        let tid =
            tid.map_err(|_| Usage::new(format_args!("--{name}: the thread id is out of range")))?;
        let limit = usize::try_from(options.get(self.limit)?.copied().unwrap_or(100_u64))?;
        Ok(Query { tid, limit, part })
    }
}

fn report(
    host: &mut Host,
    handle: Attached<WaitAnalysis>,
    query: Query,
) -> Result<(), AttributeError> {
    let part = |span: TimeSpan| {
        let (start, end) = (span.start.max(query.part.start), span.end.min(query.part.end));
        (start <= end).then_some(TimeSpan { start, end })
    };
    let spans = host.data.spans().into_iter().map(|span| span.and_then(part));
    let spans: Vec<_> = spans.collect();
    let Some(window) = window_of(&spans) else { return Ok(()) };
    let graph = handle.take_until(host.data.batch.context.extensions_mut(), window.end);
    let waits = WindowWaits::new(graph, window, spans.clone());
    for (index, _) in (0..).map(TraceIndex).zip(spans).filter(|(_, span)| span.is_some()) {
        let Some(missing) = waits.graph.missing(index) else { continue };
        let of_trace = |of: &Timeline| of.trace() == index && !of.is_idle();
        let all = waits.graph.timelines().filter(|(_, of)| of_trace(of));
        let asked = |tid| query.tid.is_some_and(|asked| asked == tid);
        let threads: Vec<TimelineId> = match (host.data.style, query.tid) {
            (Style::Text, Some(_)) => {
                all.filter(|(_, of)| asked(of.tid())).map(|of| of.0).collect()
            }
            _ => all.map(|of| of.0).collect(),
        };
        if host.data.style == Style::Text {
            let output = &mut host.data.output.borrow_mut();
            if let (Some(tid), true) = (query.tid, threads.is_empty()) {
                let none = format!("Trace {index} has no thread {tid}\n\n", index = index.0);
                output.buffer().append(none.as_bytes());
                continue;
            }
            let (has_traces, limit) = (false, query.limit);
            let shown = Shown { waits: &waits, threads: &threads, has_traces, limit };
            let mut tables = vec![shown.states()];
            if query.tid.is_some() {
                tables.extend(shown.paths());
                tables.push(shown.waits());
            }
            let missing: Vec<_> = missing.iter().map(|of| (index, *of)).collect();
            tables.push(waits::missing(&missing));
            tables.retain(|table| !table.rows().is_empty());
            print::tables(output, &tables);
            continue;
        }
        let of = &host.data.batch.context.contexts().traces()[index.0];
        let place = places::of_trace(&mut host.attributes, of)?;
        let place = host.attributes.subtree(place, "waits")?;
        export_states(&mut host.attributes, place, &waits, &threads)?;
        for id in threads {
            if waits.graph.timeline(id).is_some_and(|of| asked(of.tid())) {
                export_path(&mut host.attributes, place, &waits, id)?;
            }
        }
        let missing_events = host.attributes.subtree(place, "missing_events")?;
        for of in missing {
            host.attributes.set(missing_events, of.names(), of.consequence())?;
        }
    }
    Ok(())
}

/// Returns the subtree of a thread.
fn place_of(
    attributes: &mut Attributes,
    place: AttributeId,
    tid: Tid,
) -> Result<AttributeId, AttributeError> {
    let threads = attributes.subtree(place, "threads")?;
    attributes.subtree(threads, &*tid.to_string())
}

/// Sets the times of threads by state. Threads with one id, one after the other, are added up.
fn export_states(
    attributes: &mut Attributes,
    place: AttributeId,
    waits: &WindowWaits,
    threads: &[TimelineId],
) -> Result<(), AttributeError> {
    let mut sums: BTreeMap<Tid, BTreeMap<ThreadState, u64>> = BTreeMap::new();
    for id in threads {
        let (times, timeline) = (waits.times(*id), waits.graph.timeline(*id));
        let Some(timeline) = timeline.filter(|_| times.total() > 0) else { continue };
        let of_thread = sums.entry(timeline.tid()).or_default();
        for (state, times) in times.all() {
            *of_thread.entry(state).or_default() += times.total;
        }
        let thread = place_of(attributes, place, timeline.tid())?;
        attributes.set(thread, "command", waits.command(*id))?;
    }
    for (tid, times) in sums {
        let thread = place_of(attributes, place, tid)?;
        let states = attributes.subtree(thread, "states")?;
        for (state, time) in times {
            attributes.set(states, state.label(), Duration::from_nanos(time))?;
        }
    }
    Ok(())
}

/// Sets the critical path of a thread: the times by thread and state, and the segments.
fn export_path(
    attributes: &mut Attributes,
    place: AttributeId,
    waits: &WindowWaits,
    id: TimelineId,
) -> Result<(), AttributeError> {
    let Some(tid) = waits.graph.timeline(id).map(Timeline::tid) else { return Ok(()) };
    let thread = place_of(attributes, place, tid)?;
    let path = waits.critical_path(id);
    let shares = attributes.subtree(thread, "critical_path")?;
    for share in path.shares() {
        let of = attributes.subtree(shares, &*label(&waits.graph, share.thread))?;
        attributes.set(of, share.kind.label(), Duration::from_nanos(share.times.total))?;
    }
    let segments = attributes.subtree(thread, "segments")?;
    for (number, segment) in (0_u64..).zip(path.segments()) {
        let place = attributes.subtree(segments, number)?;
        attributes.set(place, "begin", segment.start)?;
        attributes.set(place, "end", segment.end)?;
        attributes.set(place, "thread", &*label(&waits.graph, segment.thread))?;
        attributes.set(place, "state", segment.kind.label())?;
    }
    Ok(())
}
