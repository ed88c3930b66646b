//! `lttv calls`: functions, call stacks and heaps of programs.

pub mod collect;
pub mod pairs;
pub mod source;

use std::error::Error;

use crate::tables::calls::Shown;
use crate::tables::heap::ShownHeap;
use crate::tables::samples::ShownSamples;
use ltt_read::Timestamp;
use lttv_common::args::Common;
use lttv_common::calls::names::{Names, SymbolArgs};
use lttv_common::report::Report;
use lttv_state::call_stacks::{ThreadCalls, ThreadId, ThreadKey};
use lttv_state::heap::ProcessHeap;

use self::pairs::PairArgs;
use self::source::{Found, SourceArgs, Stacks, find};
use super::selection::{Thread, ThreadArgs, ThreadFilter};

const EXAMPLES: &str = "\
Examples:
  lttv calls TRACE                                    functions, threads and heaps
  lttv calls --timerange +1s..+2s --pid 4711 TRACE
  lttv calls --pair request my_app:start my_app:end TRACE
  lttv calls --root /mnt/target --debug-dir /srv/debug TRACE
  lttv calls --table functions --format csv TRACE
  lttv calls perf.data                                functions in samples
  lttv calls --of off-cpu perf.data                   functions that wait

TIME is the time during which the function was on the stack (once, if it calls itself), SELF that
during which it was the innermost one. AVERAGE, MIN and MAX are those of the calls that ended in the
window, from entry to exit. An exit from a function that has others on top of it ends these as well.

Of samples, TOTAL is the weight of the stacks with the function, and SELF that of those with it on top.

Needs the events lttng_ust_cyg_profile:func_entry and func_exit (or lttng_ust_cyg_profile_fast), those of
`trace-cmd record -p function_graph`, pairs of other events, or events with stacks; heaps need lttng_ust_libc:*. Names of functions need the events
lttng_ust_statedump:* and the binaries.

--comm selects by the name of the process, which is in the context `procname`. Heaps are those of whole
processes.";

/// Show the functions of calls and samples, their call stacks and heaps
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct CallsArgs {
    /// The options of all analyses.
    #[command(flatten)]
    pub common: Common,

    /// The options of names.
    #[command(flatten)]
    pub symbols: SymbolArgs,

    /// The pairs of events.
    #[command(flatten)]
    pub pairs: PairArgs,

    /// The choice of stacks.
    #[command(flatten)]
    pub source: SourceArgs,

    /// The threads.
    #[command(flatten)]
    pub threads: ThreadArgs,
}

/// Shows the calls and heaps of a window.
///
/// # Errors
///
/// If the command line is wrong, if no trace has the needed events, or if the output cannot be
/// written.
pub fn run(args: &CallsArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let Found { analysis, stacks, read } =
        find(&args.common.input, &args.source, &args.pairs, report)?;
    let threads = ThreadFilter::new(&args.threads)?;
    let processes = ThreadFilter::of_processes(&args.threads)?;
    let has = |key: ThreadKey, name: &str| threads.has(&thread(key, name));
    let mut names = Names::new(args.symbols.options());
    let mut tables = Vec::new();
    match &stacks {
        Stacks::Samples(samples, _) => {
            tables.extend(ShownSamples { samples, is_wanted: has }.tables(&mut names));
        }
        Stacks::Calls(calls, heap) => {
            if calls.traces().iter().any(|trace| trace.has_calls()) {
                let is_wanted = |of: &ThreadCalls| has(of.key, &of.name);
                tables.extend(Shown { calls, is_wanted }.tables(&mut names));
            }
            if heap.traces().iter().any(|trace| trace.has_allocations()) {
                // A heap is that of a whole process.
                let is_wanted = |of: &ProcessHeap| {
                    processes.has(&Thread { tid: None, pid: of.process, comm: of.name.to_string() })
                };
                let end = analysis.spans().map(|(_, span)| span.end).max();
                let end = end.unwrap_or(Timestamp::MAX);
                let shown = ShownHeap { heap, calls, is_wanted, end };
                tables.extend(shown.tables(&mut names));
            }
        }
    }
    names.warn(report);
    analysis.write(&args.common, tables)?;
    analysis.finish(report);
    Ok(read?)
}

/// Returns the thread of stacks, for a selection.
pub(crate) fn thread(key: ThreadKey, name: &str) -> Thread {
    let tid = match key.thread {
        ThreadId::Tid(tid) => Some(tid),
        _ => None,
    };
    Thread { tid, pid: key.process, comm: name.to_owned() }
}
