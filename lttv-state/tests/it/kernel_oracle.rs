//! Kernel state compared with a naive model, after every event of real traces.

use std::cell::RefCell;

use crate::support;
use crate::support::oracle::{Machine, idle};
use ltt_read::TraceIndex;
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::kernel::{KernelState, TraceState};

/// Compares the running process of each CPU, and all processes if `all` is true.
fn compare(model: &Machine, state: &TraceState, all: bool, at: &str) {
    for (cpu, tid) in &model.running {
        let running = state.running(*cpu as u32).expect("a known CPU");
        let expected = if *tid < 0 { 0 } else { *tid as i32 };
        assert_eq!(running.tid(), Some(expected), "{at}: CPU {cpu}");
        let (mode, submode) = model.doing(*tid);
        let found = (running.mode().as_str(), state.name(running.submode()));
        assert_eq!(found, (mode, &*submode), "{at}: CPU {cpu}");
    }
    if !all {
        return;
    }
    for (tid, thread) in &model.threads {
        let found = if *tid < 0 {
            let cpu = (-1 - tid) as u32;
            assert_eq!(idle(cpu.into()), *tid);
            state.process(state.cpu(cpu).expect("a known CPU").idle())
        } else {
            state.find(*tid as i32).map(|(_, process)| process)
        };
        let process = found.unwrap_or_else(|| panic!("{at}: no process {tid}: {thread:?}"));
        let name = state.name(process.name());
        assert_eq!(
            (name, process.status().as_str()),
            (&*thread.name, thread.status),
            "{at}: {tid} {process:?}"
        );
        let doing = (process.mode().as_str(), state.name(process.submode()).to_owned());
        assert_eq!(doing, model.doing(*tid), "{at}: {tid} {process:?} {thread:?}");
        if *tid > 0 {
            let ids = (process.pid().map(i64::from), process.parent().map(i64::from));
            assert_eq!(ids, (thread.pid, thread.ppid), "{at}: {tid} {process:?}");
            assert_eq!(process.cpu().map(u64::from), thread.cpu, "{at}: {tid} {process:?}");
        }
    }
    let known = state.processes().filter(|(_, process)| process.tid() > Some(0)).count();
    assert_eq!(known, model.threads.keys().filter(|tid| **tid > 0).count(), "{at}");
}

fn check(name: &str, traceset: &Traceset) {
    let [trace] = traceset.traces() else { panic!("{name}: one trace") };
    let model = RefCell::new(Machine::before(trace));
    let (model, mut count) = (&model, 0u64);
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    context.on_event("*", move |call| {
        let mut model = model.borrow_mut();
        model.step(&call.event);
        count += 1;
        let at = format!("{name}, event {count} {}", call.event.event_type().name());
        let state = call.extensions[kernel].trace(TraceIndex(0)).expect("one trace");
        compare(&model, state, count.is_multiple_of(50), &at);
    });
    _ = context.read(&Bounds::all()).expect("bounds without a position");
    assert!(context.merge().errors().is_empty(), "{name}: {:?}", context.merge().errors());
    let state = context.extensions()[kernel].trace(TraceIndex(0)).expect("one trace");
    compare(&model.borrow(), state, true, name);
    assert_eq!(state.anomalies().wrong_previous, 0, "{name}");
    assert_eq!(state.anomalies().running_twice, 0, "{name}");
}

#[test]
fn bundled_trace() {
    check("bundled", &Traceset::open(support::bundled()).expect("a trace"));
}

#[test]
fn traces_of_linux_6_1() {
    for name in ["k1-multi", "k1-8cpu", "k2-8cpu", "k2-multi", "k1-ctx", "k2-rot"] {
        if let Some(path) = support::shared(&format!("ctf/{name}")) {
            check(name, &Traceset::open(path).expect("a trace"));
        }
    }
}

#[test]
fn traces_of_older_kernels() {
    for name in ["tc-synctraces/scp_src", "tc-synctraces/scp_dest", "tc-bug446190"] {
        if let Some(path) = support::shared(&format!("ctf/{name}")) {
            check(name, &Traceset::open(path).expect("a trace"));
        }
    }
}

/// The kinds of transitions are those of the event types, each one once.
#[test]
fn kinds_are_those_of_the_event_types() {
    for (name, is_kernel) in [("kernel/kernel", true), ("ust", false)] {
        let path = format!("{}/../examples/traces/{name}", env!("CARGO_MANIFEST_DIR"));
        for trace in ltt_read::open_all(path).expect("a bundled trace") {
            let all = KernelState::transitions(&trace).map(|(_, transition)| transition);
            let kinds = KernelState::kinds(&trace);
            assert_eq!(kinds, all.collect());
            assert_eq!(!kinds.is_empty(), is_kernel);
        }
    }
}
