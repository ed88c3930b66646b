//! Advice on the events that traces lack for call stacks and heaps.

use std::sync::Arc;

use ltt_read::Trace;
use lttv_state::call_stacks::{CallStacks, CallTarget, Function};
use lttv_state::heap::Heap;

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

/// Returns an error if no trace contains calls or allocations, according to the declared events.
///
/// # Errors
///
/// If no trace does.
pub fn require(calls: &CallStacks, heap: &Heap) -> Result<(), NotRecorded> {
    let has_calls = calls.traces().iter().any(|trace| trace.missing().is_served());
    let has_heap = heap.traces().iter().any(|trace| !trace.missing().allocations);
    if has_calls || has_heap { Ok(()) } else { Err(NotRecorded) }
}

/// Returns `true` for a function that an address stands for, `false` for a pair of events.
fn has_address(function: &Function) -> bool {
    matches!(function.code, CallTarget::Address(_))
}

/// Warns of what the traces with calls or allocations lack.
pub fn warn(report: &Report, traces: &[Arc<Trace>], calls: &CallStacks, heap: &Heap) {
    for (trace, calls) in traces.iter().zip(calls.traces()) {
        let (path, missing) = (trace.path().display(), calls.missing());
        if !missing.is_served() {
            continue;
        }
        if missing.exits {
            report.warning(format_args!(
                "{path} contains no exits of functions: calls do not end, and have no durations"
            ));
        }
        if missing.threads {
            report.warning(format_args!(
                "{path} lacks the context vtid: the calls of all threads of a process, or of a CPU, \
                 are on one stack, which is wrong unless there is one thread"
            ));
        } else if missing.processes && calls.functions().iter().any(has_address) {
            report.warning(format_args!(
                "{path} lacks the context vpid: equal addresses of several processes are shown as \
                 one function"
            ));
        }
    }
    for (trace, heap) in traces.iter().zip(heap.traces()) {
        let (path, missing) = (trace.path().display(), heap.missing());
        if missing.allocations {
            continue;
        }
        if missing.processes {
            report.warning(format_args!(
                "{path} lacks the context vpid: figures of the heap are not to be trusted if several \
                 processes were traced"
            ));
        }
        if missing.frees {
            report.warning(format_args!("{path} contains no frees: all blocks stay live"));
        }
        if heap.omitted_blocks() > 0 {
            let blocks = heap.omitted_blocks();
            report.warning(format_args!("{path}: {blocks} blocks were too many to follow"));
        }
    }
}
