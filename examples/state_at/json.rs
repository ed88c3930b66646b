//! The state as JSON: what is not known is null.

use lttv_state::kernel::{CpuMode, ExecutionMode, NameId, Process, ProcessStatus, TraceState};
use serde_json::{Value, json};

/// One object; the CPUs and processes of all traces are in common lists, with the
/// index of their trace.
pub(crate) fn report<'s>(time: i64, states: impl Iterator<Item = &'s TraceState>) -> Value {
    let (mut cpus, mut processes) = (Vec::new(), Vec::new());
    for (trace, state) in states.enumerate() {
        for (number, _) in state.cpus() {
            let mode = Some(state.cpu_mode(number)).filter(|mode| *mode != CpuMode::Unknown);
            cpus.push(json!({
                "trace": trace,
                "cpu": number,
                "tid": state.running(number).and_then(Process::tid),
                "mode": mode.map(CpuMode::as_str),
            }));
        }
        let mut known: Vec<_> = state.processes().map(|(_, process)| process).collect();
        known.retain(|process| process.tid().is_some());
        known.sort_by_key(|process| (process.tid(), process.cpu(), process.serial()));
        processes.extend(known.into_iter().map(|of| process(trace, state, of)));
    }
    json!({ "time_ns": time, "cpus": cpus, "processes": processes })
}

fn process(trace: usize, state: &TraceState, process: &Process) -> Value {
    let name = |id: NameId| Some(state.name(id)).filter(|name| !name.is_empty());
    let mode = Some(process.mode()).filter(|mode| *mode != ExecutionMode::Unknown);
    let status = Some(process.status()).filter(|status| *status != ProcessStatus::Unnamed);
    json!({
        "trace": trace,
        "tid": process.tid(),
        "pid": process.pid(),
        "ppid": process.parent(),
        "name": name(process.name()),
        "mode": mode.map(ExecutionMode::as_str),
        "submode": mode.and_then(|_| name(process.submode())),
        "status": status.map(ProcessStatus::as_str),
        "cpu": process.cpu(),
    })
}
