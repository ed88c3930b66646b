//! `lttv wait`: how long threads ran and waited, for what, and the wake-ups that ended the waits.

use std::error::Error;

use lttv_common::args::Common;
use lttv_common::cache::CacheArgs;
use lttv_common::kernel_trace;
use lttv_common::report::Report;
use lttv_state::kernel::Transition;
use lttv_state::stats::StatisticsAnalysis;
use lttv_state::waits::WaitAnalysis;

use super::analysis::Analysis;
use super::selection::{ThreadArgs, ThreadFilter};
use super::wait_graph;
use crate::models::waits::CpuTimes;
use crate::tables::waits::Shown;

const EXAMPLES: &str = "\
Examples:
  lttv wait TRACE                                all threads, those that ran most first
  lttv wait --timerange +1s..+2s TRACE           the same for the second second
  lttv wait --sort blocked_ns TRACE              those that waited most first
  lttv wait --tid 215 TRACE                      one thread: its waits, their wakers, and its
                                                 critical path
  lttv wait --comm 'postgres*' --table waits --format csv TRACE

The idle threads of CPUs are left out; --tid 0 shows them.

Times are those within the window. A wait that is open at the start or end of the window counts
from there or up to there. After the end of the window, reading goes on until it is known who ended
the waits that are open there. The states and causes are those of `lttv critical-path`, which
explains them.

Needs the event sched_switch of a kernel trace, and for causes sched_waking or sched_wakeup. System
calls, irq_handler_*, irq_softirq_* and block_rq_complete tell causes more exactly.";

/// Show how long threads ran and waited, for what, and who woke them up
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct WaitArgs {
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
}

/// Shows how long threads ran and waited.
///
/// # Errors
///
/// If the command line is wrong, if no trace has the needed events, if no thread is selected, or
/// if the output cannot be written.
pub fn run(args: &WaitArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let WaitArgs { common, threads, limit, cache } = args;
    common.input.refuse_filters(
        "waits follow from all events; choose threads with --tid, --pid and --comm",
    )?;
    let select = ThreadFilter::new(threads)?;
    let needs = Some(&kernel_trace::WAIT);
    let mut analysis = Analysis::open(&common.input, Some(cache), report, needs)?;
    if analysis.events_of(|of| of == Transition::Wakeup).is_empty() {
        report
            .warning("the causes of waits are unknown: no trace has sched_waking or sched_wakeup");
    }
    let threads_of_read = common.input.threads_or_all(report);
    let both = (StatisticsAnalysis::new(), WaitAnalysis::new());
    let ((statistics, graph), mut end) = analysis.run(threads_of_read, None, both);
    let waits = wait_graph::waits(&mut analysis, threads_of_read, graph, &select, &mut end)?;
    let cpu_times = CpuTimes::of(&waits.graph, &statistics);
    let shown = Shown {
        waits: &waits,
        threads: &select.of_graph(&waits.graph),
        has_traces: analysis.spans().count() > 1,
        limit: *limit,
    };
    let mut overview = shown.threads(&cpu_times);
    if overview.is_empty() && !select.is_everything() {
        return Err(format!("no thread in the window has {select}").into());
    }
    // The column exists.
    _ = overview.sort_by("running_ns");
    let mut tables = vec![overview, shown.states()];
    match select.is_everything() {
        false => {
            tables.extend([shown.activities(&cpu_times), shown.waits()]);
            tables.extend(shown.paths());
        }
        // The waits of all threads are too many, unless they are requested.
        true if common.format.tables.iter().any(|name| name == "waits") => {
            tables.push(shown.waits());
        }
        true => {}
    }
    analysis.write(common, tables)?;
    analysis.finish(report);
    Ok(end?)
}
