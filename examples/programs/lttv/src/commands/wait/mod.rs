//! `lttv wait`: how long threads ran and waited, for what, and the wake-ups that ended the waits.

mod tables;

use std::error::Error;

use ltt_read::Timestamp;
use lttv_common::args::Common;
use lttv_common::kernel_trace;
use lttv_common::report::{Interrupted, Report, Usage};
use lttv_state::kernel::{KernelState, StateChange, StateObserver, Tid, Transition, follow_state};

use self::tables::Tables;
use super::analysis::Analysis;
use super::select::Select;
use crate::waits::Lives;

const EXAMPLES: &str = "\
Examples:
  lttv wait TRACE                                all threads, those that ran most first
  lttv wait --timerange +1s..+2s TRACE           the same for the second second
  lttv wait --sort blocked_ns TRACE              those that waited most first
  lttv wait --tid 215 TRACE                      one thread: its waits, their wakers, and the
                                                 chain of wake-ups
  lttv wait --comm 'postgres*' --table waits --format csv TRACE

The idle threads of CPUs are left out; --tid 0 shows them.

Times are those within the window. A wait that is open at the start or end of the window counts
from there or up to there. CAUSE tells how a wait ended: by another `thread`, or by an interrupt of
a `disk`, a `timer` or the `network`, or another `interrupt`. It is `unknown` without a wake-up in the
trace, and `open` if the wait goes on after the end of the window. On the chain of wake-ups, each
wait for another thread is replaced by the activities of that thread.

Needs the event sched_switch of a kernel trace, and for causes sched_waking or sched_wakeup. System
calls, irq_handler_*, irq_softirq_* and block_rq_complete tell causes more exactly.";

/// Show how long threads ran and waited, for what, and who woke them up
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct WaitArgs {
    /// The options of all analyses.
    #[command(flatten)]
    pub common: Common,

    /// Show these threads in detail
    #[arg(long, value_name = "TID,…", value_delimiter = ',')]
    pub tid: Vec<Tid>,

    /// Show the threads of these processes in detail
    #[arg(long, value_name = "PID,…", value_delimiter = ',')]
    pub pid: Vec<Tid>,

    /// Show the threads with these commands in detail; `*` stands for any text
    #[arg(long, value_name = "COMMAND,…", value_delimiter = ',')]
    pub comm: Vec<String>,

    /// Sort the threads by this column of the table `threads`, the greatest first
    #[arg(long, value_name = "COLUMN", default_value = "running_ns")]
    pub sort: String,

    /// Show at most this many steps of each chain of wake-ups; 0 for all
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
    args.common.input.refuse_filters(
        "waits follow from all events; choose threads with --tid, --pid and --comm",
    )?;
    let mut analysis = Analysis::open(&args.common.input, report, Some(&kernel_trace::WAIT))?;
    let threads = match analysis.window.is_everything() {
        true => args.common.input.threads_or_all(),
        false => args.common.input.one_thread(report, "a time window"),
    };
    if analysis.events_of(|of| of == Transition::Wakeup).is_empty() {
        report
            .warning("the causes of waits are unknown: no trace has sched_waking or sched_wakeup");
    }
    let (mut lives, read) = collect(&mut analysis, threads);
    for (of, trace) in lives.iter_mut().zip((0..).map(ltt_read::TraceIndex)) {
        // A trace without events in the window has no threads.
        of.finish(analysis.span(trace).map_or(Timestamp::MIN, |span| span.end));
    }
    let select = Select::new(&args.tid, &args.pid, &args.comm);
    let mut tables = Tables::new(args, &select, analysis.spans().count() > 1);
    for (trace, _) in analysis.spans() {
        if let (Some(of), Some(state)) = (lives.get(trace.0), analysis.state().trace(trace)) {
            tables.add(trace, of, state);
        }
    }
    if tables.is_empty() && !select.is_everything() {
        return Err(format!("no thread in the window has {select}").into());
    }
    let tables = tables.finish().map_err(|error| Usage::new(format_args!("--sort: {error}")))?;
    analysis.write(&args.common, tables)?;
    analysis.finish(report);
    Ok(read?)
}

/// Reads the window and collects the episodes of threads, by trace. More than one thread must be for
/// whole traces only. After an interrupt, these are the episodes up to there.
fn collect(analysis: &mut Analysis, threads: usize) -> (Vec<Lives>, Result<(), Interrupted>) {
    if threads > 1 {
        return analysis.read_in_slices(threads, |context, kernel, threads, passed| {
            let mut lives = EachTrace(Lives::of_all(&kernel, None));
            let read = follow_state(context, kernel, &mut lives, threads, passed)?;
            Ok((lives.0, read.kernel, read.end))
        });
    }
    let lives = Lives::of_all(analysis.state(), analysis.window.begin);
    let lives = analysis.context.attach_data(lives);
    let kernel = analysis.kernel;
    for events in analysis.events_of(|_| true) {
        analysis.context.on_event(events, move |call| Lives::record(call, lives, kernel));
    }
    let read = analysis.read();
    (std::mem::take(&mut analysis.context.extensions_mut()[lives]), read)
}

/// The episodes of each trace.
struct EachTrace(Vec<Lives>);

impl StateObserver for EachTrace {
    #[inline]
    fn changed(&mut self, kernel: &KernelState, change: StateChange) {
        Lives::changed(&mut self.0, kernel, change);
    }
}
