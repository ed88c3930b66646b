//! The command line of `lttv stats`.

use lttv_common::args::Common;
use lttv_common::cache::CacheArgs;

use crate::commands::selection::{CpuArgs, ThreadArgs};

/// Show who used the CPUs between two times, and what for: CPUs, processes, disks, events
///
/// Everything is measured right at the borders of the window. What is open at its start (running
/// threads, system calls, interrupts, waits, requests to disks) counts from there; what is open at
/// its end counts up to the end. Events of exactly the end time are included. Minimum, maximum and
/// mean of system calls and wake-ups in JSON are those of the ones that ended in the window, from
/// their true start.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = HELP)]
pub struct StatsArgs {
    /// The traces, the window and the form of the results.
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

    /// Use the time of the longest system call of this name in the window, such as `openat`, and
    /// show the call and the threads on its CPUs meanwhile
    #[arg(long, value_name = "CALL")]
    pub longest: Option<String>,

    /// Print the tree of all counts after the tables: by process, CPU, function, mode and submode
    #[arg(long)]
    pub tree: bool,
}

const HELP: &str = "\
Tables: traces, cpus, processes (one row for each TID), groups (by PID, the thread group), commands
(by name), cpu_processes (one row for each CPU and TID), devices, events, contradictions (events that
do not fit the state, such as an exit without an entry), losses; with --longest also call. In text,
--longest prints call, cpus and cpu_processes; otherwise cpu_processes, groups, commands and losses
are printed only if --table names them.
Threads are ordered by their CPU time; idle threads come last.

A call counts from its entry or the start of the window up to its exit or the end of the window. With
--longest, cpu_processes has the CPUs that executed its thread.

BUSY %: a thread other than the idle one is on the CPU. An interrupt counts for the thread that it
interrupts, so interrupts during idle are idle time. The other columns of the CPUs divide the time
by what the CPU executes and add up to 100 %: USER, SYSTEM (system calls, exceptions, kernel
threads), INTERRUPT (all interrupts, also during idle; SOFTIRQ is a part of it), IDLE (without
interrupts), ? (unknown).

--tid, --pid, --comm and --cpu select the threads and CPUs of the tables, and the events of the table
`events`. With --cpu, CPU times and events of threads are those on these CPUs; blocked and ready times,
bytes and switches are those on all.

--filter selects the events that the table `events` counts. CPU times cannot be filtered: they
follow from all events.

Examples:
  lttv stats TRACE --timerange 14:03:05..14:03:06 --top 10    one second, the ten busiest threads
  lttv stats TRACE --begin +1s --end +1.5s                    half a second of the recording
  lttv stats TRACE --table commands --format csv              CPU time by command, for a spreadsheet
  lttv stats TRACE --longest openat                           its longest call, its CPUs meanwhile
  lttv stats TRACE --cpu 2 --timerange +10s..+12s             who used a CPU, its events";
