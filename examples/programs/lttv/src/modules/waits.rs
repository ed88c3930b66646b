//! Thread states, waits and critical paths.

use std::error::Error;

use ltt_read::{TimeSpan, Timestamp, TraceIndex};
use lttv_common::kernel_trace;
use lttv_common::report::Usage;
use lttv_common::table::Table;
use lttv_common::time::Times;
use lttv_context::attributes::Kind;
use lttv_context::framework::{Failure, ModuleInfo, OptionSpec};
use lttv_state::analysis::{self, Attached};
use lttv_state::kernel::Tid;
use lttv_state::waits::{Timeline, TimelineId, WaitAnalysis};

use super::Host;
use super::analysis::{AnalysisModule, Tables};
use super::core::time_option;
use super::print::Style;
use crate::models::waits::{WindowWaits, window_of};
use crate::tables::waits::{self, Shown};

/// The name and the options of the module `criticalPath`, or of `depAnalysis`, which has those that
/// LTTV had.
#[derive(Debug, Clone, Copy)]
struct Waits {
    name: &'static str,
    summary: &'static str,
    /// The option that names a thread, with its help.
    tid: (&'static str, &'static str),
    limit: &'static str,
    /// The options for the start and the end of a part of the read.
    part: Option<[&'static str; 2]>,
}

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

/// Returns the module `criticalPath`.
pub(super) fn critical_path() -> AnalysisModule {
    Waits {
        name: "criticalPath",
        summary: "Thread states by cause, and the critical path of a thread",
        tid: ("path-tid", "Report the critical path of this thread"),
        limit: "path-limit",
        part: None,
    }
    .module()
}

/// Returns the module `depAnalysis`.
pub(super) fn dep_analysis() -> AnalysisModule {
    Waits {
        name: "depAnalysis",
        summary: "The results of criticalPath, with the options of LTTV",
        tid: ("dep-pid", "Report this process in detail (by its thread id)"),
        limit: "dep-limit",
        part: Some(["dep-time-start", "dep-time-end"]),
    }
    .module()
}

impl Waits {
    fn module(self) -> AnalysisModule {
        let info = ModuleInfo {
            name: self.name,
            summary: self.summary,
            description: "Reports for each thread how long it was running, waiting for a CPU, and \
                          blocked by each cause. For one thread, reports its critical path, on \
                          which each wait for another thread is replaced by what that thread did \
                          in the meantime; and which threads and devices it waited for directly. \
                          The tables are those of lttv critical-path. What is open at --begin or \
                          --end counts from there or up to there. Keeps all intervals in memory, \
                          16 bytes each.",
            requires: &["batchAnalysis"],
        };
        let number = |name, help| OptionSpec::new(name, Kind::UInt, help);
        let limit = number(self.limit, "Print at most N segments of the critical path");
        let helps = ["Ignore what came before this time", "Ignore what came after this time"];
        let part = self.part.into_iter().flatten().zip(helps);
        let part =
            part.map(|(name, help)| OptionSpec::new(name, Kind::Text, help).value_name("TIME"));
        AnalysisModule::new(info, move |host| self.attach(host))
            .with_options([
                number(self.tid.0, self.tid.1).value_name("TID"),
                limit.value_name("N").default_value("100"),
            ])
            .with_options(part)
    }

    fn attach(self, host: &mut Host) -> Result<Option<Tables>, Failure> {
        let query = self.query(host)?;
        if !host.data.has(&kernel_trace::CRITICAL_PATH) {
            return Ok(None);
        }
        let kernel = host.data.kernel();
        let context = &mut host.data.batch.context;
        let waits = analysis::attach(context, kernel, .., WaitAnalysis::new());
        // The graph needs the events before the window, too.
        host.data.kernel_at_begin();
        Ok(Some(Box::new(move |host| tables(host, waits, query))))
    }

    fn query(self, host: &Host) -> Result<Query, Failure> {
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

fn tables(
    host: &mut Host,
    handle: Attached<WaitAnalysis>,
    query: Query,
) -> Result<Vec<Table>, Box<dyn Error>> {
    let part = |span: TimeSpan| {
        let (start, end) = (span.start.max(query.part.start), span.end.min(query.part.end));
        (start <= end).then_some(TimeSpan { start, end })
    };
    let spans = host.data.spans().into_iter().map(|span| span.and_then(part));
    let spans: Vec<_> = spans.collect();
    let window = window_of(&spans).ok_or("no event is in the window")?;
    let graph = handle.take_until(host.data.batch.context.extensions_mut(), window.end);
    let waits = WindowWaits::new(graph, window, spans.clone());
    let is_asked = |of: &Timeline| {
        spans[of.trace().0].is_some()
            && !of.is_idle()
            && query.tid.is_none_or(|tid| of.tid() == tid)
    };
    let asked = waits.graph.timelines().filter(|(_, of)| is_asked(of));
    let threads: Vec<TimelineId> = asked.map(|(id, _)| id).collect();
    if let (Some(tid), true) = (query.tid, threads.is_empty()) {
        return Err(format!("no thread in the window has TID {tid}").into());
    }
    let limit = if host.data.style == Style::Text { query.limit } else { 0 };
    let has_traces = host.data.has_traces();
    let shown = Shown { waits: &waits, threads: &threads, has_traces, limit };
    let mut tables = vec![shown.states()];
    if query.tid.is_some() {
        tables.extend(shown.paths());
        tables.push(shown.waits());
    }
    let mut missing = Vec::new();
    for (index, _) in (0..).map(TraceIndex).zip(spans).filter(|(_, span)| span.is_some()) {
        let of_trace = waits.graph.missing(index).unwrap_or_default().iter();
        missing.extend(of_trace.map(|of| (index, *of)));
    }
    tables.push(waits::missing(&missing));
    Ok(tables)
}
