//! `lttv critical-path`: what threads really waited for, and the states of all threads.

use std::error::Error;
use std::ops::Range;

use ltt_read::Timestamp;
use lttv_common::args::Common;
use lttv_common::critical_path::{Tables, is_open};
use lttv_common::kernel_trace;
use lttv_common::report::{Interrupted, Report};
use lttv_common::table::Format;
use lttv_state::kernel::Tid;
use lttv_state::waits::{TimelineId, WaitGraph, WaitGraphHandle};

use super::analysis::Analysis;
use super::select::Select;

const EXAMPLES: &str = "\
Examples:
  lttv critical-path TRACE                       where the time of each thread went
  lttv critical-path --tid 215 TRACE             what thread 215 really waited for
  lttv critical-path --tid 215 --timerange +1s..+2s TRACE
                                                 the same for the second second
  lttv critical-path --comm 'postgres*' --table segments --format csv TRACE

On the critical path of a thread, each wait for another thread is replaced by what that thread did
in the meantime, and so on: it covers the time window exactly, each instant once. Waits for devices,
timers and the network that no recorded event explains stay on it.

States: `running`; `preempted` and `woken`: able to run, and waiting for a CPU since the switch or
the wake-up; `blocked:` with the cause of the wait: another `task`, a `timer`, a `block` device, the
`network`, a device interrupt (`irq`), another `softirq`, an interrupt between CPUs (`ipi`), an
`interrupt` that was not recorded, `unknown` without a wake-up in the trace, `open` if the trace ends
first; `network`: a packet on its way, or sent before the window. `unknown` is unknown.

The table `states` has the time in each state and for each cause. `path`, `kinds`, `blockers` and
`segments` are those of the selected threads; `missing` names the events that were not recorded, and
what that costs. After the end of the window, reading goes on until it is known who ended the waits
that are open there. Everything is read once, in order, on one thread.

Needs the event sched_switch of a kernel trace, and for causes sched_waking. Others tell causes more
exactly: sched_wakeup_new, sched_process_fork, irq_handler_*, irq_softirq_*, timer_hrtimer_expire_*,
block_rq_complete, net_dev_queue, net_if_receive_skb.";

/// Show what threads really waited for: the critical path
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct CriticalPathArgs {
    /// The options of all analyses.
    #[command(flatten)]
    pub common: Common,

    /// Show the critical paths of these threads
    #[arg(long, value_name = "TID,…", value_delimiter = ',')]
    pub tid: Vec<Tid>,

    /// Show the critical paths of the threads of these processes
    #[arg(long, value_name = "PID,…", value_delimiter = ',')]
    pub pid: Vec<Tid>,

    /// Show the critical paths of the threads with these commands; `*` stands for any text
    #[arg(long, value_name = "COMMAND,…", value_delimiter = ',')]
    pub comm: Vec<String>,

    /// Show at most this many segments of each path; 0 for all
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,
}

/// Shows what threads really waited for.
///
/// # Errors
///
/// If the command line is wrong, if no trace has the needed events, if no thread is selected, or
/// if the output cannot be written.
pub fn run(args: &CriticalPathArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let CriticalPathArgs { common, tid, pid, comm, limit } = args;
    common.input.refuse_filters(
        "critical paths follow from all events; choose threads with --tid, --pid and --comm",
    )?;
    let needs = Some(&kernel_trace::CRITICAL_PATH);
    let (mut analysis, waits) =
        Analysis::open_with(&common.input, report, needs, WaitGraph::attach)?;
    common.input.one_thread(report, "the events of a wait graph");
    let mut read = analysis.read();
    let Some(window) = window(&analysis) else {
        return Err("no event is in the window".into());
    };
    let select = Select::new(tid, pid, comm);
    let graph = match read {
        Ok(()) => match read_on(&mut analysis, waits, &window, &select) {
            Ok(graph) => graph,
            Err(interrupted) => {
                read = Err(interrupted);
                waits.take_until(analysis.context.extensions(), window.end)
            }
        },
        Err(_) => waits.take_until(analysis.context.extensions(), window.end),
    };
    let has_traces = analysis.spans().count() > 1;
    let mut tables = Tables::new(&graph, window.clone(), has_traces, *limit);
    let mut is_empty = true;
    for id in selected(&graph, &select) {
        if !tables.add_states(id) {
            continue;
        }
        is_empty = false;
        if !select.is_everything() {
            tables.add_path(&graph.critical_path(id, window.clone()));
        }
    }
    if is_empty && !select.is_everything() {
        return Err(format!("no thread in the window has {select}").into());
    }
    for (trace, _) in analysis.spans() {
        tables.add_missing(trace);
    }
    let all = common.format.format != Format::Text || !common.format.tables.is_empty();
    analysis.write(common, tables.finish(all))?;
    analysis.finish(report);
    Ok(read?)
}

/// Returns the part of the window in which there are events.
fn window(analysis: &Analysis) -> Option<Range<Timestamp>> {
    let spans = analysis.spans().map(|(_, span)| (span.start, span.end));
    let (start, end) = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
    Some(start..end)
}

/// Iterates over the threads that are selected.
fn selected<'s>(
    graph: &'s WaitGraph,
    select: &'s Select<'_>,
) -> impl Iterator<Item = TimelineId> + use<'s> {
    let all = graph.timelines().filter(move |(id, timeline)| {
        let has = select.has(Some(timeline.tid()), timeline.pid(), graph.command(*id));
        has && !timeline.is_idle()
    });
    all.map(|(id, _)| id)
}

/// Reads on after the window, until it is known who ended the waits that are open at its end.
fn read_on(
    analysis: &mut Analysis,
    waits: WaitGraphHandle,
    window: &Range<Timestamp>,
    select: &Select<'_>,
) -> Result<WaitGraph, Interrupted> {
    let mut until = window.end;
    let mut step = (window.end.as_ns().abs_diff(window.start.as_ns())).max(1_000_000);
    loop {
        let graph = waits.take_until(analysis.context.extensions(), until);
        let is_open = |id| match select.is_everything() {
            true => graph.intervals(id, window.clone()).last().is_some_and(|of| {
                of.state == lttv_state::waits::ThreadState::Blocked(lttv_state::waits::Cause::Open)
            }),
            false => is_open(&graph.critical_path(id, window.clone())),
        };
        if !selected(&graph, select).any(is_open) {
            return Ok(graph);
        }
        let last = analysis.context.contexts().time_span().map(|span| span.end);
        if last.is_none_or(|last| last < until) {
            return Ok(waits.take(analysis.context.extensions()));
        }
        until = until.saturating_add(step);
        step = step.saturating_mul(2);
        analysis.read_until(until)?;
    }
}
