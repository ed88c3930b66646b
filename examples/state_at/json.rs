//! The state as JSON, with null for unknown values.

use lttv_state::kernel::{CpuMode, ExecutionMode, ProcessStatus};
use lttv_state::kernel_history::{Snapshot, ThreadState};
use serde_json::{Value, json};

/// Returns one object with the CPUs and processes of all traces in common lists, each with
/// the index of its trace.
pub(crate) fn report(time: i64, states: &[Snapshot]) -> Value {
    let (mut cpus, mut processes) = (Vec::new(), Vec::new());
    for (trace, state) in states.iter().enumerate() {
        for cpu in &state.cpus {
            let mode = Some(cpu.mode).filter(|mode| *mode != CpuMode::Unknown);
            cpus.push(json!({
                "trace": trace,
                "cpu": cpu.number,
                "tid": cpu.thread,
                "mode": mode.map(CpuMode::as_str),
            }));
        }
        processes.extend(state.threads.iter().map(|of| process(trace, of)));
    }
    json!({ "time_ns": time, "cpus": cpus, "processes": processes })
}

fn process(trace: usize, process: &ThreadState) -> Value {
    fn known(text: &str) -> Option<&str> {
        Some(text).filter(|text| !text.is_empty())
    }
    let mode = Some(process.mode).filter(|mode| *mode != ExecutionMode::Unknown);
    let status = Some(process.status).filter(|status| *status != ProcessStatus::Unknown);
    json!({
        "trace": trace,
        "tid": process.tid,
        "pid": process.pid,
        "ppid": process.parent,
        "name": known(&process.name),
        "mode": mode.map(ExecutionMode::as_str),
        "submode": mode.and_then(|_| known(&process.submode)),
        "status": status.map(ProcessStatus::as_str),
        "cpu": process.cpu,
    })
}
