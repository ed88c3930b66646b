//! `lttv usage`: the use of CPUs, memory and network, over time if wanted.

use std::error::Error;

use ltt_read::{TimeSpan, TraceIndex};
use lttv_state::kernel::needs::Need;
use lttv_state::usage::{UsageAnalysis, UsageOptions};

use super::analysis::Analysis;
use super::every::{Every, check_count};
use super::selection::{CpuArgs, Thread, ThreadArgs, ThreadFilter};
use crate::tables::usage::Shown;
use lttv_common::args::Common;
use lttv_common::cache::CacheArgs;
use lttv_common::kernel_trace;
use lttv_common::report::Report;

const EXAMPLES: &str = "\
Examples:
  lttv usage TRACE                                  CPUs, threads, processes, pages, interfaces
  lttv usage --every 100ms TRACE                    also over time
  lttv usage --every 1s --table intervals --format csv TRACE
  lttv usage --timerange +1s..+1.1s TRACE           within 100 ms
  lttv usage --comm 'make*' --every 100ms TRACE     of some threads, over time
  lttv usage --cpu 0,1 TRACE                        of some CPUs

With --tid, --pid, --comm or --cpu the tables are those of threads, processes and CPUs: the use of interfaces
and of everything is not known of a part. `lttv stats --cpu` tells the time of threads on a CPU.

A CPU is BUSY while a thread runs other than its idle thread, including interrupts. The time of a
thread includes the interrupts of it; its pages and packets do not. PAGES are those that were
allocated and freed while the thread ran: others may have allocated what it frees. Packets are sent
by threads, but received in interrupts.

Needs the event sched_switch of a kernel trace. MIGRATIONS need sched_migrate_task, FREQUENCY
power_cpu_frequency, PAGES kmem_mm_page_alloc and kmem_mm_page_free, SENT net_dev_xmit (or
net_dev_queue), RECEIVED net_if_receive_skb. What is not recorded is missing in the tables.";

/// Show the use of CPUs, memory and network
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct UsageArgs {
    /// The options of all analyses.
    #[command(flatten)]
    pub common: Common,
    /// The place of saved states.
    #[command(flatten)]
    pub cache: CacheArgs,

    /// The threads.
    #[command(flatten)]
    pub threads: ThreadArgs,

    /// The CPUs.
    #[command(flatten)]
    pub cpus: CpuArgs,

    /// Show the use in intervals of this length, such as 100ms; at most 65,536 of them
    #[arg(long, value_name = "TIME")]
    pub every: Option<Every>,
}

/// Shows the use of CPUs, memory and network in a window.
///
/// # Errors
///
/// If the command line is wrong, if no trace has the needed events, or if the output cannot be
/// written.
pub fn run(args: &UsageArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let input = &args.common.input;
    input.refuse_filters("times follow from all events; choose rows of the results")?;
    let (of_threads, of_processes) =
        (ThreadFilter::new(&args.threads)?, ThreadFilter::of_processes(&args.threads)?);
    let mut analysis =
        Analysis::open(input, Some(&args.cache), report, Some(&kernel_trace::USAGE))?;
    if let Some(every) = args.every {
        let whole = analysis.spans().map(|(_, span)| span).reduce(TimeSpan::join);
        whole.map_or(Ok(()), |span| check_count(every.length(), span))?;
    }
    let options = UsageOptions::new();
    let options = args.every.map_or(options, |every| options.every(every.length()));
    let (usage, read) =
        analysis.run(input.threads_or_all(report), None, UsageAnalysis::new(options));
    let served = analysis.spans().map(|(trace, _)| trace);
    let traces: Vec<(TraceIndex, _)> =
        served.filter_map(|index| Some((index, usage.traces().get(index.0)?))).collect();
    for (_, trace) in &traces {
        let missing = Need::list(trace.missing());
        if !missing.is_empty() {
            report.message(format_args!("not recorded: {}", missing));
        }
    }
    let omitted = traces.iter().map(|(_, of)| of.omitted_time()).fold(0, u64::saturating_add);
    if omitted > 0 {
        report.error(format!(
            "--every: {omitted} ns of CPU time are in no interval, since there are too many intervals \
             with many threads"
        ));
    }
    let has_traces = analysis.spans().count() > 1;
    let is_thread = |tid, pid, name: &str| of_threads.has(&thread(tid, pid, name));
    let is_process = |tid, pid, name: &str| of_processes.has(&thread(tid, pid, name));
    let shown = Shown {
        traces,
        has_traces,
        has_intervals: args.every.is_some(),
        threads: (!of_threads.is_everything()).then_some(&is_thread),
        processes: (!of_processes.is_everything()).then_some(&is_process),
        cpus: &args.cpus.cpu,
    };
    analysis.write(&args.common, shown.tables())?;
    analysis.finish(report);
    Ok(read?)
}

fn thread(tid: Option<i32>, pid: Option<i32>, name: &str) -> Thread {
    Thread { tid: tid.map(i64::from), pid: pid.map(i64::from), comm: name.to_owned() }
}
