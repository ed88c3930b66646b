//! `lttv calls`: functions, call stacks and heaps of programs.

pub mod collect;
pub mod pairs;

use std::error::Error;

use crate::tables::calls::Shown;
use crate::tables::heap::ShownHeap;
use ltt_read::Timestamp;
use lttv_common::args::Common;
use lttv_common::calls::names::{Names, SymbolArgs};
use lttv_common::report::{Report, Usage};
use lttv_state::call_stacks::{ThreadCalls, ThreadId};
use lttv_state::heap::ProcessHeap;

use self::collect::{Collected, collect};
use self::pairs::PairArgs;
use super::selection::{Thread, ThreadArgs, ThreadFilter};

const EXAMPLES: &str = "\
Examples:
  lttv calls TRACE                                    functions, threads and heaps
  lttv calls --timerange +1s..+2s --pid 4711 TRACE
  lttv calls --pair request my_app:start my_app:end TRACE
  lttv calls --root /mnt/target --debug-dir /srv/debug TRACE
  lttv calls --table functions --format csv TRACE

TIME is the time during which the function was on the stack (once, if it calls itself), SELF that
during which it was the innermost one. AVERAGE, MIN and MAX are those of the calls that ended in the
window, from entry to exit. An exit from a function that has others on top of it ends these as well.

Needs the events lttng_ust_cyg_profile:func_entry and func_exit (or lttng_ust_cyg_profile_fast), or
pairs of other events; heaps need lttng_ust_libc:*. Names of functions need the events
lttng_ust_statedump:* and the binaries.

--comm selects by the name of the process, which is in the context `procname`. Heaps are those of whole
processes.";

/// Show the functions that programs called, their call stacks and heaps
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

    /// The threads.
    #[command(flatten)]
    pub threads: ThreadArgs,

    /// Sort the functions by this column, the greatest first [default: time_ns]
    #[arg(long, value_name = "COLUMN")]
    pub sort: Option<String>,
}

/// Shows the calls and heaps of a window.
///
/// # Errors
///
/// If the command line is wrong, if no trace has the needed events, or if the output cannot be
/// written.
pub fn run(args: &CallsArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    args.common.input.refuse_filters(
        "stacks follow from all events; choose threads with --tid, --pid and --comm",
    )?;
    let threads = ThreadFilter::new(&args.threads)?;
    let processes = ThreadFilter::of_processes(&args.threads)?;
    let Collected { analysis, calls, heap, read } =
        collect(&args.common.input, &args.pairs, report)?;
    let is_wanted = |of: &ThreadCalls| threads.has(&thread(of));
    let mut names = Names::new(args.symbols.options());
    let mut tables = Vec::new();
    if calls.traces().iter().any(|trace| trace.has_calls()) {
        tables.extend(Shown { calls: &calls, is_wanted }.tables(&mut names));
    }
    if heap.traces().iter().any(|trace| trace.has_allocations()) {
        // A heap is that of a whole process.
        let is_wanted = |of: &ProcessHeap| {
            processes.has(&Thread { tid: None, pid: of.process, comm: of.name.to_string() })
        };
        let end = analysis.spans().map(|(_, span)| span.end).max().unwrap_or(Timestamp::MAX);
        let shown = ShownHeap { heap: &heap, calls: &calls, is_wanted, end };
        tables.extend(shown.tables(&mut names));
    }
    if let Some(key) = &args.sort {
        let usage = |error| Usage::new(format_args!("--sort: {error}"));
        if let Some(functions) = tables.iter_mut().find(|table| table.key() == "functions") {
            functions.sort_by(key).map_err(usage)?;
        }
    }
    names.warn(report);
    analysis.write(&args.common, tables)?;
    analysis.finish(report);
    Ok(read?)
}

/// Returns the thread of calls, for a selection.
pub(crate) fn thread(calls: &ThreadCalls) -> Thread {
    let tid = match calls.key.thread {
        ThreadId::Tid(tid) => Some(tid),
        _ => None,
    };
    Thread { tid, pid: calls.key.process, comm: calls.name.to_string() }
}
