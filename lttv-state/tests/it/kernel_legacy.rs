//! The kernel state of the bundled trace of LTTng 0.x.

use ltt_read::TraceIndex;
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::analysis::attach;
use lttv_state::kernel::{CpuMode, ExecutionMode, KernelState, ProcessStatus};
use lttv_state::stats::StatisticsAnalysis;

use crate::support;

#[test]
fn processes_start_run_and_exit() {
    let path = support::bundled().with_file_name("legacy");
    let mut context = TracesetContext::new(Traceset::open(path).expect("a trace"));
    let kernel = context.attach(KernelState::new());
    let statistics = attach(&mut context, kernel, .., StatisticsAnalysis::new());
    let (mut forked, mut busy) = (0u64, 0u64);
    loop {
        if context.read(&Bounds::all().events(1)).expect("bounds without a position").events == 0 {
            break;
        }
        let state = context.extensions()[kernel].trace(TraceIndex(0)).expect("one trace");
        let born = state.processes().filter(|(_, process)| process.creation().is_some());
        forked = forked.max(born.count() as u64);
        busy += u64::from(state.cpu_mode(0) == CpuMode::Busy);
    }
    assert!(forked > 3, "no more than {forked} processes at a time");
    assert!(busy > 1000, "busy after {busy} events only");

    let state = context.extensions()[kernel].trace(TraceIndex(0)).expect("one trace");
    // The dump puts all sleeping processes into a system call, including the shell; the
    // start of that call is not in the trace.
    assert_eq!(state.anomalies().unmatched_entries, 1);
    assert_eq!(state.anomalies().total(), 1, "{:?}", state.anomalies());
    let (_, shell) = state.find(1840).expect("the shell");
    assert_eq!((state.name(shell.name()), shell.parent()), ("bash", Some(1)));
    assert!(state.find(1841).is_none(), "the first program is gone");
    assert!(state.processes().any(|(_, process)| process.mode() == ExecutionMode::User));
    assert!(state.processes().all(|(_, process)| process.status() != ProcessStatus::Zombie));

    let statistics = statistics.take(context.extensions_mut());
    let trace = &statistics.traces()[0];
    for cpu in trace.cpus() {
        assert_eq!(cpu.busy_time + cpu.idle_time + cpu.unknown_time, trace.time());
        assert!(cpu.busy_time > 0 && cpu.idle_time > 0 && cpu.interrupt_time > 0);
    }
    let ended: Vec<_> = trace.process_facts().iter().filter(|facts| facts.end.is_some()).collect();
    assert!(ended.len() > 10, "{} programs ended", ended.len());
    for facts in ended {
        let name = &facts.name;
        assert!(name.starts_with("/bin/") || name.starts_with("/usr/bin/"), "{name}");
        assert_eq!(facts.parent, Some(1840));
    }
    let calls = trace.syscalls();
    let all = calls.values().flat_map(|calls| calls.iter());
    let reads = all.filter(|(name, _)| name.starts_with("sys_read"));
    assert!(reads.map(|(_, durations)| durations.count()).sum::<u64>() > 100, "{calls:?}");
}
