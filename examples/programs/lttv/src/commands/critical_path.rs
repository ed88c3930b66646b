//! `lttv critical-path`: what threads really waited for, and the states of all threads.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use lttv_common::args::Common;
use lttv_common::cache::CacheArgs;
use lttv_common::critical_path::picture;
use lttv_common::inputs;
use lttv_common::kernel_trace;
use lttv_common::report::Report;
use lttv_common::table::{Format, Table};
use lttv_common::text::output::Output;
use lttv_state::waits::{ThreadState, TimelineId, WaitAnalysis};

use super::analysis::Analysis;
use super::selection::{ThreadArgs, ThreadFilter};
use super::wait_graph;
use crate::models::waits::WindowWaits;
use crate::tables::waits::{self, Shown};

const EXAMPLES: &str = "\
Examples:
  lttv critical-path TRACE                       where the time of each thread went
  lttv critical-path --tid 215 TRACE             what thread 215 really waited for
  lttv critical-path --tid 215 --timerange +1s..+2s TRACE
                                                 the same for the second second
  lttv critical-path --comm 'postgres*' --table segments --format csv TRACE
  lttv critical-path --tid 215 --picture path.svg TRACE

On the critical path of a thread, each wait for another thread is replaced by what that thread did
in the meantime, and so on: it covers the time window exactly, each instant once. Waits for devices,
timers and the network that no recorded event explains stay on it.

States: `running`; `preempted` and `woken`: able to run, and waiting for a CPU since the switch or
the wake-up; `blocked:` with the cause of the wait: another `task`, a `timer`, a `block` device, the
`network`, a device interrupt (`irq`), another `softirq`, an interrupt between CPUs (`ipi`), an
`interrupt` that was not recorded, `unknown` without a wake-up in the trace, `open` if the trace ends
first; `network`: a packet on its way, or sent before the window. `unknown` is unknown.

The table `states` has the time in each state and for each cause. `path`, `kinds`, `segments` and
`waits` are those of the selected threads; `missing` names the events that were not recorded, and
what that costs. After the end of the window, reading goes on until it is known who ended the waits
that are open there. The picture has a row for each thread on the path; vertical lines are hand-overs
from one thread to another. Everything is read once.

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
    /// The place of saved states.
    #[command(flatten)]
    pub cache: CacheArgs,

    /// The threads, which are then shown in detail.
    #[command(flatten)]
    pub threads: ThreadArgs,

    /// Show at most this many segments of each critical path; 0 for all
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,

    /// Draw the path of the selected thread, or of the one of them that ran longest
    #[arg(long, value_name = "FILE.svg")]
    pub picture: Option<PathBuf>,
}

/// Shows what threads really waited for.
///
/// # Errors
///
/// If the command line is wrong, if no trace has the needed events, if no thread is selected, or
/// if the output cannot be written.
pub fn run(args: &CriticalPathArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let CriticalPathArgs { common, threads, limit, picture, cache } = args;
    common.input.refuse_filters(
        "critical paths follow from all events; choose threads with --tid, --pid and --comm",
    )?;
    let select = ThreadFilter::new(threads)?;
    let needs = Some(&kernel_trace::CRITICAL_PATH);
    let mut analysis = Analysis::open(&common.input, Some(cache), report, needs)?;
    if let Some(path) = picture {
        inputs::refuse(path, analysis.traceset.traces(), &[])?;
    }
    let threads_of_read = common.input.threads_or_all(report);
    let (graph, mut end) = analysis.run(threads_of_read, None, WaitAnalysis::new());
    let waits = wait_graph::waits(&mut analysis, threads_of_read, graph, &select, &mut end)?;
    let mut ids = select.of_graph(&waits.graph);
    ids.retain(|id| waits.times(*id).total() > 0);
    if ids.is_empty() && !select.is_everything() {
        return Err(format!("no thread in the window has {select}").into());
    }
    let missing = wait_graph::missing(&analysis, &waits.graph);
    let has_traces = analysis.spans().count() > 1;
    let shown = |threads| Shown { waits: &waits, threads, has_traces, limit: *limit };
    let detailed = shown(if select.is_everything() { &[] } else { &ids });
    let mut tables = vec![shown(&ids).states()];
    tables.extend(detailed.paths());
    tables.extend([detailed.waits(), waits::missing(&missing)]);
    let all = common.format.format != Format::Text || !common.format.tables.is_empty();
    tables.retain(|table: &Table| all || !table.is_empty());
    analysis.write(common, tables)?;
    if let Some(path) = picture {
        draw(path, &waits, &ids, common)?;
    }
    analysis.finish(report);
    Ok(end?)
}

/// Draws the critical path of the thread that ran longest.
fn draw(
    path: &Path,
    waits: &WindowWaits,
    threads: &[TimelineId],
    common: &Common,
) -> Result<(), Box<dyn Error>> {
    let running = |id: TimelineId| waits.times(id).of(ThreadState::Running).total();
    // Of several, the one that was mentioned first.
    let thread = threads.iter().copied().rev().max_by_key(|id| running(*id));
    let thread = thread.ok_or("no thread is in the window")?;
    let svg = picture(&waits.graph, &waits.critical_path(thread), &common.input.zone());
    let mut out = Output::new(Some(path))?;
    out.write_all(svg.as_bytes())?;
    Ok(out.finish()?)
}
