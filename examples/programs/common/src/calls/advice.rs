//! Advice on the events that traces lack for call stacks and heaps.

use std::sync::Arc;

use ltt_read::Trace;
use lttv_state::call_stacks::{CallStacks, CallTarget, Function, PROCESSES, TraceCalls};
use lttv_state::heap::Heap;
use lttv_state::kernel::needs::Need;
use lttv_state::stack_samples::{SampleAnomalies, StackSamples};

use crate::report::Report;

/// The way to record calls.
pub const RECORD_CALLS: &str = "compile the program with -g -finstrument-functions, enable the \
    events `lttng enable-event -u 'lttng_ust_cyg_profile*,lttng_ust_statedump:*'`, add the contexts \
    `lttng add-context -u -t vpid -t vtid -t procname`, and start it with \
    LD_PRELOAD=liblttng-ust-cyg-profile.so";

/// The way to record heaps.
pub const RECORD_HEAP: &str = "enable the events `lttng enable-event -u 'lttng_ust_libc:*'`, add the \
    contexts `lttng add-context -u -t vpid -t vtid -t procname`, and start the program with \
    LD_PRELOAD=liblttng-ust-libc-wrapper.so";

/// An error for traces without calls and allocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the traces contain neither calls of functions (lttng_ust_cyg_profile:func_entry and func_exit, \
     or those of lttng_ust_cyg_profile_fast) nor allocations (lttng_ust_libc:malloc, free, …); to \
     record calls: {RECORD_CALLS}; to record allocations: {RECORD_HEAP}; or name events that begin \
     and end calls with --pair"
)]
pub struct NotRecorded;

/// The way to record stacks.
pub const RECORD_STACKS: &str = "`perf record -g` for what runs on CPUs, \
    `perf record -g -a -e sched:sched_switch` for what waits, \
    `lttng add-context -k -t callstack-kernel -t callstack-user`, `trace-cmd record -T -e EVENT`";

/// An error for traces without stacks and calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the traces contain neither stacks nor calls of functions; to record stacks: {RECORD_STACKS}; to \
     record calls: `trace-cmd record -p function_graph` for the kernel; of a program: {RECORD_CALLS}; \
     or name events that begin and end calls with --pair"
)]
pub struct NoStacks;

/// An error for traces without the stacks that were requested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}; {found}; to record others: {RECORD_STACKS}")]
pub struct OtherStacks {
    /// A description of what is missing.
    pub what: String,
    /// A description of the events that have stacks.
    pub found: String,
}

/// Returns an error if no trace contains calls or allocations, according to the declared events.
///
/// # Errors
///
/// If no trace does.
pub fn require(calls: &CallStacks, heap: &Heap) -> Result<(), NotRecorded> {
    let has_calls = calls.traces().iter().any(|trace| trace.has_calls());
    let has_heap = heap.traces().iter().any(|trace| trace.has_allocations());
    if has_calls || has_heap { Ok(()) } else { Err(NotRecorded) }
}

/// Returns `true` if a missing context matters: a process only tells equal addresses apart.
fn matters(need: &Need, calls: &TraceCalls) -> bool {
    let has_address = |function: &Function| matches!(function.code, CallTarget::Address(_));
    *need != PROCESSES || calls.functions().iter().any(has_address)
}

/// Warns of the samples that are not among the stacks.
pub fn warn_of_samples(report: &Report, samples: &StackSamples) {
    for of in samples.traces() {
        let SampleAnomalies { omitted_stacks, omitted_threads, omitted_frames, lost, .. } =
            of.anomalies();
        let path = of.trace().path().display();
        for (count, what) in [
            (omitted_stacks, "samples were too many different stacks to follow"),
            (omitted_threads, "samples were of too many threads to follow"),
            (omitted_frames, "frames were too many different ones: they are shown as unknown"),
            (lost, "waits are left out, since events were lost meanwhile"),
        ] {
            if count > 0 {
                report.warning(format_args!("{path}: {count} {what}"));
            }
        }
    }
}

/// Warns of what the traces with calls or allocations lack.
pub fn warn(report: &Report, traces: &[Arc<Trace>], calls: &CallStacks, heap: &Heap) {
    let lacks = |trace: &Trace, need: &Need| {
        let path = trace.path().display();
        report.warning(format_args!("{path} lacks {need}: {}", need.consequence));
    };
    for (trace, calls) in traces.iter().zip(calls.traces()) {
        for need in calls.missing().iter().filter(|need| calls.has_calls() && matters(need, calls))
        {
            lacks(trace, need);
        }
    }
    for (trace, heap) in traces.iter().zip(heap.traces()) {
        for need in heap.missing().iter().filter(|_| heap.has_allocations()) {
            lacks(trace, need);
        }
        if heap.omitted_blocks() > 0 {
            let blocks = heap.omitted_blocks();
            let path = trace.path().display();
            report.warning(format_args!("{path}: {blocks} blocks were too many to follow"));
        }
    }
}
